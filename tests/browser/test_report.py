#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens reports in headless Chromium and checks what a reader would see: every figure against the record that it comes from
(worked out here, not by the program under test), names as text, unique ids, links that lead somewhere, tables with captions and
scopes, nothing loaded from elsewhere, and both colour schemes drawn.

Usage: test_report.py ASSAY [RESULT...]   (without results: those of sample.py and of tests/data). Exit 77: no Chromium."""
import html.parser
import json
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

import sample

SKIPPED = 77
TESTS = pathlib.Path(__file__).resolve().parent.parent
VOID = {"meta", "br", "img", "link", "input", "hr", "col", "wbr", "area", "base", "embed", "source", "track"}
ALLOWED = set("html head meta title style body header h1 h2 h3 h4 p ul li nav a main section div table caption thead tbody tfoot "
              "tr th td b small span data figure figcaption svg desc defs g path circle rect use text tspan polygon dl dt dd details "
              "summary pre code".split())


class Page(html.parser.HTMLParser):
    """Elements of the DOM as Chromium built it."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.ids, self.links, self.stack, self.references = [], [], [], [], []
        self.rows, self.texts = {}, []
        self.tables, self.row = [], None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("href", "xlink:href"):
            if name in attributes:
                self.links.append(attributes[name])
        for name, value in attributes.items():
            if name in ("src", "srcset", "data", "action", "poster") or name.startswith("on"):
                self.references.append(f"<{tag} {name}={value}>")
        if tag == "table":
            self.tables.append({"captions": 0, "unscoped": 0})
        if tag == "caption":
            self.tables[-1]["captions"] += 1
        if tag == "th" and attributes.get("scope") not in ("row", "col", "rowgroup", "colgroup"):
            self.tables[-1]["unscoped"] += 1
        if tag == "tr":
            self.row = attributes.get("id")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.stack:
            return
        self.texts.append(data)
        if self.row and "tr" in self.stack:
            self.rows[self.row] = self.rows.get(self.row, "") + data

    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    print("no Chromium on this machine: skipped", file=sys.stderr)
    sys.exit(SKIPPED)


def browse(browser, page, *options):
    """One run of the browser on a file, with a profile of its own that goes away."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   f"--user-data-dir={profile}", *options, page.resolve().as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def read_png(path):
    """Rows of pixels of an 8-bit RGB or RGBA picture, as (channels, [bytes])."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6)
            channels = 3 if colour == 2 else 4
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    return channels, unfilter(zlib.decompress(packed), width * channels, height, channels)


def unfilter(raw, stride, height, channels):
    rows, before = [], bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride if kind else 0):
            left = row[x - channels] if x >= channels else 0
            corner = before[x - channels] if x >= channels else 0
            row[x] = (row[x] + predicted(kind, left, before[x], corner)) & 255
        rows.append(row)
        before = row
    return rows


def predicted(kind, left, up, corner):
    if kind == 1:
        return left
    if kind == 2:
        return up
    if kind == 3:
        return (left + up) // 2
    near = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))
    return near[2]


def three_digits(value, unit):
    """48213456789.0, "B/s" -> "48.2 GB/s"."""
    prefixes = ["", "k", "M", "G", "T", "P", "E"]
    power = 0
    while value >= 999.5 and power < len(prefixes) - 1:
        value, power = value / 1000, power + 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {prefixes[power]}{unit}"


def load(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return lines[0], [line for line in lines if line["kind"] == "record"]


def expected_rate(record):
    samples = [ns for part in record["samples"]["rounds"] for ns in part]
    work = record["work"]
    amount = work["operations"] if work["by_operations"] else work["bytes"]
    return three_digits(amount / statistics.median(samples) * 1e9, work["unit"]), len(samples)


def row_order(header, records):
    """Cases in the order of the table: planned first, one suite after another."""
    keys = []
    for key in [item["case"] for item in header["planned"]] + [record["key"] for record in records]:
        if key not in keys:
            keys.append(key)
    suites = []
    for key in keys:
        suite = key.split(" ")[0]
        if suite not in suites:
            suites.append(suite)
    return sorted(keys, key=lambda key: suites.index(key.split(" ")[0]))


def squeeze(text):
    """As the page shows it: one blank for many, control characters replaced."""
    return re.sub(r"\s+", " ", re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "\ufffd", text))


def check_figures(page, header, records, problems):
    order = row_order(header, records)
    devices = [device["id"] for device in header["devices"]]
    passed = 0
    for record in records:
        anchor = f"m-{order.index(record['key'])}-{devices.index(record['device'])}"
        row = squeeze(page.rows.get(anchor, ""))
        if record["state"] == "ok":
            passed += 1
            rate, count = expected_rate(record)
            wanted = [rate, f"{count}in {len(record['samples']['rounds'])} rounds", record["clock"]["source"],
                      "before and after", record["work"]["bytes_counted"] if not record["work"]["by_operations"]
                      else "operations"]
        else:
            wanted = [squeeze(record["reason"])]
        for text in wanted:
            if text not in row:
                problems.append(f"{anchor} ({record['key']} on {record['device']}): lacks '{text}' in '{row[:300]}'")
    headline = f"{passed} of {max(len(header['planned']), len(records))} measurements passed"
    if headline not in page.text():
        problems.append(f"lacks '{headline}'")


def check_structure(page, source, problems):
    problems += [f"element <{tag}> is not one of the report's" for tag in sorted(set(page.elements) - ALLOWED)]
    problems += [f"id '{name}' is used twice" for name in sorted({name for name in page.ids if page.ids.count(name) > 1})]
    problems += [f"link '{link}' leads nowhere" for link in page.links
                 if not link.startswith("#") or link[1:] not in page.ids]
    problems += page.references
    for number, table in enumerate(page.tables):
        if table["captions"] != 1 or table["unscoped"]:
            problems.append(f"table {number}: {table['captions']} captions, {table['unscoped']} th without scope")
    style = source[source.index("<style>"):source.index("</style>")]
    if re.search(r"https?:|@import|url\(|//", style):
        problems.append("the style loads something from elsewhere")
    if not source.startswith("<!DOCTYPE html>"):
        problems.append("no doctype")


def check_charts(page, records, problems):
    drawn = page.elements.count("svg")
    if shutil.which("gnuplot") and any(record["state"] == "ok" for record in records) and drawn == 0:
        problems.append("no charts")
    if "_L0" in page.text():
        problems.append("a placeholder of a chart was not replaced")


def check_schemes(browser, report, folder, problems):
    """The page is drawn in both schemes: another paper, and something on it."""
    papers = []
    for number, scheme in enumerate(("1", "0")):
        picture = folder / f"{number}.png"
        browse(browser, report, f"--screenshot={picture}", "--window-size=900,700",
               f"--blink-settings=preferredColorScheme={scheme}")
        channels, rows = read_png(picture)
        paper = bytes(rows[2][:3])
        inked = sum(1 for row in rows if any(bytes(row[x:x + 3]) != paper for x in range(0, len(row), channels)))
        if inked < 100:
            problems.append(f"scheme {scheme}: an empty page")
        papers.append(sum(paper) / 3)
    if not papers[0] > 200 or not papers[1] < 60:
        problems.append(f"paper is {papers[0]:.0f} in the light scheme and {papers[1]:.0f} in the dark one")


def check_print(browser, report, folder, problems):
    printed = folder / "report.pdf"
    browse(browser, report, f"--print-to-pdf={printed}")
    if not printed.read_bytes().startswith(b"%PDF"):
        problems.append("printing failed")


def check_result(assay, browser, path, folder, first):
    problems = []
    report = folder / (path.stem + ".html")
    subprocess.run([assay, "report", str(path), "-o", str(report)], check=True, capture_output=True)
    source = report.read_text(encoding="utf-8")
    page = Page()
    page.feed(browse(browser, report, "--dump-dom"))
    header, records = load(path)
    check_figures(page, header, records, problems)
    check_structure(page, source, problems)
    check_charts(page, records, problems)
    if first:
        check_schemes(browser, report, folder, problems)
        check_print(browser, report, folder, problems)
    for problem in problems:
        print(f"{path.name}: {problem}", file=sys.stderr)
    print(f"{path.name}: {len(records)} records, {page.elements.count('svg')} charts, {len(problems)} problems")
    return not problems


def check_fleet(assay, browser, folder):
    """200 devices, 40 cases, 30 samples each: one page that opens, below 20 MB, with the summary first."""
    path, report = folder / "fleet.jsonl", folder / "fleet.html"
    sample.write(path, 200)
    subprocess.run([assay, "report", str(path), "-o", str(report)], check=True, capture_output=True)
    megabytes = report.stat().st_size / 1e6
    page = Page()
    page.feed(browse(browser, report, "--dump-dom"))
    text = page.text()
    good = (megabytes < 20 and "8000 of 8000 measurements passed" in text and "m-39-199" in page.rows
            and text.index("Devices at a glance") < text.index("Verdicts against"))
    print(f"fleet: {megabytes:.1f} MB, {len(page.rows)} measurements, {'good' if good else 'BAD'}")
    return good


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    browser = chromium()
    paths = [pathlib.Path(name) for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        if not paths:
            paths = [pathlib.Path(folder) / "sample.jsonl"]
            sample.write(paths[0])
            paths += [TESTS / "data" / f"{name}.jsonl" for name in ("card", "hostile", "large-integers")]
        results = [check_result(sys.argv[1], browser, path, pathlib.Path(folder), path == paths[0]) for path in paths]
        if len(sys.argv) == 2:
            results.append(check_fleet(sys.argv[1], browser, pathlib.Path(folder)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
