#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sample result files next to it: *.jsonl are results, bad/*.jsonl are refused by every reader.

  generate.py          writes them
  generate.py --check  fails if a file is not what this script writes

The files follow docs/formats.md: one JSON object a line, each with the SHA-256 of the line before. All figures are chosen by hand
here, so that a test can say what a reader must find without asking the reader.
"""
import copy
import hashlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 10
# Relative spread of the three samples of a round, the same in each: the median of all samples is the figure asked for.
SPREAD = (0.999, 1.0, 1.001)
# A slow wave over the rounds that host and device share, +-0.4 %; its median is 1.
WAVE = (1.0, 1.004, 0.996, 1.002, 0.998, 1.0, 1.003, 0.997, 1.001, 0.999)


def chain(lines):
    """The bytes of a file: each object gets the digest of the line before it."""
    previous, out = None, b""
    for line in lines:
        text = json.dumps({**line, "previous": previous}, ensure_ascii=False, separators=(",", ":")).encode()
        previous = hashlib.sha256(text).hexdigest()
        out += text + b"\n"
    return out


POCL = {
    "id": "opencl:pocl:0", "name": "pthread-example CPU", "vendor": "Example", "driver": "3.1", "api": "OpenCL 3.0",
    "platform": "Portable Computing Language", "type": "cpu", "software": True, "pci": None, "uuid": None, "physical": "cpu:0",
    "compute_units": 2, "clock_mhz": 2000, "memory_bytes": 8589934592, "max_alloc_bytes": 2147483648, "local_bytes": 524288,
    "cache_bytes": 33554432, "max_group_items": 4096, "timer_step_ns": 1, "has_f64": True, "has_f16": False,
    "unified_memory": True, "clock": {"source": "host", "reason": "device stamps do not advance", "slope": None},
    "wait": {"way": "finish", "refused": []}, "overhead_ns": 4000.0,
    "ceilings": {"bytes_per_s": None, "operations_per_s": None, "copy_bytes_per_s": None, "source": None},
    "reason": None, "notes": [],
}
CARD = {
    **POCL, "id": "opencl:card:0", "name": "Example X1", "driver": "550.1", "platform": "Example Cards", "type": "gpu",
    "software": False, "pci": "0000:41:00.0", "uuid": "8a1c0000-0000-0000-0000-000000000001", "physical": "pci:0000:41:00.0",
    "unified_memory": False, "clock": {"source": "device", "reason": None, "slope": 1.0},
}


def header(run, devices, planned, created="2026-01-10T09:00:00Z"):
    return {
        "kind": "header", "schema": 1, "tool": {"name": "assay", "version": "0.1.0", "build": "release"}, "created": created,
        "run": run * 32, "seed": "18446744073709551557",
        "config": {"name": "sample", "path": "sample.yaml", "sha256": "0" * 64, "resolved": "schema: 1\n"},
        "policy": {"rounds_min": ROUNDS, "rounds_max": 40, "samples_min": 30, "interval": 0.01, "budget_ns": 3000000000,
                   "warmup_ns": 500000000, "step_timeout_ns": 120000000000, "difference": 0.02},
        "host": {"cpu": "Example CPU", "kernel": "6.1.0", "hostname": "bench1", "memory_bytes": 25769803776, "online_cpus": 2, "load_1min": 0.1,
                 "topology": {"pus": 2}},
        "environment": {}, "devices": devices, "planned": planned,
    }


def rounds_of(median, count=ROUNDS):
    return [[round(median * WAVE[r % len(WAVE)] * s, 3) for s in SPREAD] for r in range(count)]


def check():
    return {"elements": 262144, "mismatches": 0, "nonfinite": 0, "first_bad": None, "max_error": 1.5e-06, "rms_error": 2e-07,
            "absolute": 0.0, "relative": 1e-05, "derivation": "k rounding errors of f32"}


def record(suite, parameters, device, median_ns, work, **changes):
    """An ok record; changes replace members."""
    text = " ".join(f"{k}={v}" for k, v in parameters.items())
    line = {
        "kind": "record", "key": f"{suite}@1 {text} tier=portable",
        "case": {"suite": suite, "version": 1, "tier": "portable", "parameters": parameters},
        "device": device["id"], "state": "ok", "reason": None, "work": work,
        "samples": {"unit": "ns", "rounds": rounds_of(median_ns)}, "phases": None, "batch": {"steps": 4},
        "clock": {"source": device["clock"]["source"], "reason": device["clock"]["reason"], "rejected": 0}, "converged": True,
        "check": {"before": check(), "after": check()}, "doubling": 2.01,
        "build": {"options": "-cl-std=CL1.2 -D TILE=16", "kernel_sha256": "ab" * 32, "build_ns": 1000000,
                  "shape": "group 16x16", "log": None},
        "memory": {"device_bytes": 3145728, "working_set_bytes": 3145728, "residence": "cache",
                   "same_memory": device["type"] == "cpu"},
        "conditions": {"sentinel": {"compute_ns": [1000.0] * ROUNDS, "memory_ns": [2000.0] * ROUNDS}, "load_1min": 0.1,
                       "telemetry": None, "telemetry_reason": "no telemetry library"},
        "notes": [], "started": "2026-01-10T09:01:00Z", "elapsed_ns": 3000000000,
    }
    line.update(changes)
    return line


def failed(line, state, reason):
    """The same case without a result."""
    line = copy.deepcopy(line)
    line.update(state=state, reason=reason, samples=None, clock=None, check=None, converged=None, batch=None, doubling=None,
                conditions=None)
    return line


def gemm(device, median_ns, n=512, type_="f32", **changes):
    work = {"bytes": 12 * n * n, "operations": 2 * n ** 3, "bytes_counted": "read+write", "by_operations": True, "unit": "FLOP/s"}
    return record("gemm", {"m": n, "n": n, "k": n, "type": type_}, device, median_ns, work, **changes)


def copying(device, median_ns, size=1000000, **changes):
    work = {"bytes": size, "operations": 0, "bytes_counted": "payload", "by_operations": False, "unit": "B/s"}
    return record("copy", {"direction": "h2d", "memory": "pinned", "size": size}, device, median_ns, work, **changes)


def pixel(device, median_ns, **changes):
    work = {"bytes": 2000000, "operations": 0, "bytes_counted": "read+write", "by_operations": False, "unit": "B/s"}
    return record("pixel", {"width": 1000, "height": 1000, "partition": "linear"}, device, median_ns, work, **changes)


def end(records, complete=True, reason=None):
    return {"kind": "end", "complete": complete, "reason": reason, "records": records, "created": "2026-01-10T09:10:00Z"}


def whole(run, devices, records, created="2026-01-10T09:00:00Z"):
    planned = [{"case": r["key"], "device": r["device"]} for r in records]
    return [header(run, devices, planned, created), *records, end(len(records))]


def with_noise(line, compute, memory):
    line = copy.deepcopy(line)
    line["conditions"]["sentinel"] = {"compute_ns": [compute] * ROUNDS, "memory_ns": [memory] * ROUNDS}
    return line


def changed(line, path, value):
    """A copy with one member replaced; path is a list of keys."""
    line = copy.deepcopy(line)
    inner = line
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return line


def card_run(run, factor=1.0, created="2026-01-10T09:00:00Z", **changes):
    """Three cases on the card; factor stretches each time."""
    return whole(run, [CARD], [gemm(CARD, 100000.0 * factor, **changes), copying(CARD, 50000.0 * factor),
                               pixel(CARD, 20000.0 * factor)], created)


def good_files():
    both = [gemm(POCL, 10000000.0), gemm(CARD, 100000.0), copying(POCL, 400000.0), copying(CARD, 50000.0),
            gemm(POCL, 20000000.0, type_="f64"), failed(gemm(CARD, 1.0, type_="f64"), "unsupported", "the device has no f64"),
            failed(pixel(POCL, 1.0), "failed-verification", "17 of 1000000 elements are wrong, the first at 3"),
            pixel(CARD, 20000.0)]
    card = card_run("b")
    files = {
        "two-devices.jsonl": chain(whole("a", [POCL, CARD], both)),
        "card.jsonl": chain(card),
        "card-again.jsonl": chain(card_run("c", 1.001, "2026-01-10T10:00:00Z")),
        # 25 % more time is a rate of 0.8: "20 % slower"
        "card-slower.jsonl": chain(card_run("d", 1.25, "2026-01-10T11:00:00Z")),
        # 2/3 of the time is 1.5 times as fast
        "card-faster.jsonl": chain(card_run("e", 2.0 / 3.0, "2026-01-10T11:00:00Z")),
        "card-fast-math.jsonl": chain(card_run("f", 0.85, build={"options": "-cl-fast-relaxed-math -D TILE=32",
                                                                 "kernel_sha256": "ab" * 32, "build_ns": 1, "shape": "",
                                                                 "log": None})),
        "card-missing.jsonl": chain(whole("1", [CARD], [gemm(CARD, 100000.0), copying(CARD, 50000.0)])),
        "card-partial.jsonl": chain(card[:3]) + b'{"kind":"record","key":"pix',
        "card-interrupted.jsonl": chain(card[:2] + [end(1, False, "interrupted")]),
        "card-resumed.jsonl": chain(card[:2] + [end(1, False, "interrupted"),
                                                {"kind": "resume", "created": "2026-01-10T12:00:00Z",
                                                 "tool": {"name": "assay", "version": "0.1.0", "build": "release"}}]
                                    + card[2:4] + [end(3)]),
    }
    files.update(compare_files(card))
    return files


def compare_files(card):
    """Runs that differ from card.jsonl in one thing each."""
    def one(run, line):
        return chain(whole(run, [CARD], [line, *card[2:4]], "2026-01-11T09:00:00Z"))

    line = card[1]
    newer = changed(changed(line, ["case", "version"], 2), ["key"], line["key"].replace("gemm@1", "gemm@2"))
    ecc = {**CARD, "ecc": True}
    hostile = {**POCL, "name": '=HYPERLINK("http://example.invalid")', "driver": "@x", "vendor": "+1",
               "platform": 'a "quoted"\tname\\ \u2028 \u001b[31m'}
    noisy = [with_noise(gemm(POCL, 100000.0, n=n), 1000.0 * f, 2000.0) for n, f in ((128, 0.9), (256, 1.0), (512, 1.1))]
    quiet = [with_noise(gemm(POCL, 105000.0, n=n), 1000.0, 2000.0) for n in (128, 256, 512)]
    renamed = {**CARD, "name": "NVIDIA  Example(R) X1:sramecc+:xnack-"}
    other_card = {**renamed, "uuid": "8a1c0000-0000-0000-0000-000000000002", "pci": "0000:81:00.0", "physical": "pci:0000:81:00.0"}
    alone = [dict(gemm(POCL, 10000000.0), alternated=False), dict(gemm(CARD, 100000.0), alternated=True)]
    three = whole("9", [CARD], [gemm(CARD, 1.0, samples={"unit": "ns", "rounds": [[100.0, 101.0, 99.0]]})])
    three_new = whole("8", [CARD], [gemm(CARD, 1.0, samples={"unit": "ns", "rounds": [[97.0, 98.0, 96.0]]})])
    return {
        "differs-version.jsonl": one("2", newer),
        "differs-size.jsonl": one("2", gemm(CARD, 100000.0, n=1024)),
        "differs-counted.jsonl": one("2", changed(line, ["work", "bytes_counted"], "write")),
        "differs-ecc-on.jsonl": chain(whole("2", [ecc], card[1:4], "2026-01-11T09:00:00Z")),
        "differs-ecc-off.jsonl": chain(whole("3", [{**CARD, "ecc": False}], card[1:4], "2026-01-11T08:00:00Z")),
        "differs-name.jsonl": chain(whole("2", [renamed], card[1:4], "2026-01-11T09:00:00Z")),
        "differs-card.jsonl": chain(whole("2", [other_card], card[1:4], "2026-01-11T09:00:00Z")),
        "hostile.jsonl": chain(whole("4", [hostile], [gemm(hostile, 100000.0, notes=['a, "b"\nc \u001b[2J']),
                                                      failed(copying(hostile, 1.0), "error", "-5 = CL_OUT_OF_RESOURCES")])),
        "measured-alone.jsonl": chain(whole("0", [POCL, CARD], alone)),
        "noisy.jsonl": chain(whole("5", [POCL], noisy)),
        "occupied.jsonl": chain(whole("e", [POCL], [changed(r, ["conditions", "foreign_share"], 0.2) for r in quiet[:2]])),
        "busy.jsonl": chain(whole("e", [POCL], [changed(r, ["conditions", "load_1min"], 5.0) for r in quiet[:2]])),
        "quiet.jsonl": chain(whole("6", [POCL], quiet, "2026-01-11T09:00:00Z")),
        "large-integers.jsonl": chain(whole("7", [{**CARD, "memory_bytes": 9007199254740993}],
                                            [copying(CARD, 50000.0, size=9007199254740993)])),
        "three-samples.jsonl": chain(three),
        "three-samples-new.jsonl": chain(three_new),
    }


def bad_lines():
    """Files that the schema refuses: name -> lines."""
    line = gemm(CARD, 100000.0)
    files = {}

    def with_record(name, bad):
        files[name] = whole("a", [CARD], [bad])

    for name, text in (("thousands", "1,234"), ("not-available", "N/A"), ("empty", ""), ("dash", "-"), ("unit", "24 GB")):
        with_record(f"number-{name}", changed(line, ["samples", "rounds"], [[text]]))
    with_record("negative-time", changed(line, ["samples", "rounds"], [[-1.0]]))
    with_record("zero-time", changed(line, ["samples", "rounds"], [[0.0]]))
    with_record("no-samples", changed(line, ["samples"], None))
    with_record("empty-rounds", changed(line, ["samples", "rounds"], [[], []]))
    with_record("no-check", changed(line, ["check"], None))
    with_record("check-after-missing", changed(line, ["check", "after"], None))
    with_record("wrong-output", changed(line, ["check", "after", "mismatches"], 3))
    with_record("no-reason", failed(line, "crashed", None))
    with_record("ok-with-reason", changed(line, ["reason"], "none"))
    with_record("unknown-state", failed(line, "crashd", "signal 11"))
    with_record("no-work", changed(line, ["work"], None))
    with_record("zero-work", changed(line, ["work", "operations"], 0))
    with_record("no-clock", changed(line, ["clock"], None))
    for name, schema in (("0", 0), ("2", 2), ("99", 99), ("text", "1"), ("real", 1.5)):
        files[f"schema-{name}"] = [changed(header("a", [CARD], []), ["schema"], schema), end(0)]
    files["schema-missing"] = [{k: v for k, v in header("a", [CARD], []).items() if k != "schema"}, end(0)]
    files["device-type"] = whole("a", [{**CARD, "type": "GPU"}], [])
    files["device-no-id"] = [header("a", [{k: v for k, v in CARD.items() if k != "id"}], []), end(0)]
    files["seed-number"] = [changed(header("a", [CARD], []), ["seed"], 7), end(0)]
    files["end-without-count"] = [header("a", [CARD], []), {k: v for k, v in end(0).items() if k != "records"}]
    return files


def bad_files():
    """Files that are refused as a whole, though each of their lines may be in order: name -> bytes."""
    line = gemm(CARD, 100000.0)
    good = chain(whole("a", [CARD], [line]))
    first = good.split(b"\n")[0] + b"\n"
    other = copying({**CARD, "id": "opencl:gone:0"}, 50000.0)
    repeated = changed(line, ["samples", "rounds"], rounds_of(140000.0))
    return {
        "nan": good.replace(b"100000.0", b"NaN"),
        "infinity": good.replace(b"100000.0", b"Infinity"),
        "overflow": good.replace(b"100000.0", b"1e400"),
        "edited": good.replace(b'"converged":true', b'"converged":null'),
        "line-missing": first + good.split(b"\n")[2] + b"\n",
        "joined": good + good,
        "two-objects": first[:-1] + first,
        "duplicate-record": chain(whole("a", [CARD], [line, repeated])),
        "duplicate-device": chain(whole("a", [CARD, CARD], [line])),
        "duplicate-key": good.replace(b'"state":"ok"', b'"state":"ok","state":"ok"'),
        "unknown-device": chain(whole("a", [CARD], [other])),
        "record-count": chain([header("a", [CARD], []), end(3)]),
        "after-end": chain([header("a", [CARD], []), end(0), line]),
        "no-header": chain([line]),
        "torn-header": first[:200],
        "empty": b"",
        "google-benchmark": b'{\n  "context": {\n    "date": "2026-01-10"\n  },\n  "benchmarks": []\n}\n',
        "picture": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        "windows-line-ends": good.replace(b"\n", b"\r\n"),
    }


def main():
    files = good_files()
    files.update({f"bad/schema-{name}.jsonl": chain(lines) for name, lines in bad_lines().items()})
    files.update({f"bad/file-{name}.jsonl": content for name, content in bad_files().items()})
    wrong = []
    for name, content in files.items():
        path = HERE / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_bytes() != content:
                wrong.append(name)
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    known = {str(p.relative_to(HERE)) for p in HERE.rglob("*.jsonl")}
    wrong += sorted(known - set(files))
    for name in wrong:
        print(f"tests/data/{name} is not what generate.py writes", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
