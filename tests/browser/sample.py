#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a result file as rich as a real one, from a fixed seed: four devices, four suites, sizes to sweep over, two modes, a drift,
parts of steps, and every way of having no number. Usage: sample.py FILE [DEVICES] (DEVICES: that many cards instead, for size)."""
import hashlib
import json
import random
import sys

OK, GB = "ok", 1e9
CHECK = {"elements": 262144, "mismatches": 0, "nonfinite": 0, "first_bad": None, "max_error": 3.1e-7, "rms_error": 1e-7,
         "absolute": 1e-5, "relative": 1e-5, "derivation": "k times the rounding unit"}


def device(name, model, driver, kind, software, physical, clock_reason=None, refused=(), **more):
    return {"id": name, "name": model, "vendor": "Vendor", "driver": driver, "api": "OpenCL 3.0", "platform": "Platform", "type": kind,
            "software": software, "pci": None, "uuid": None, "physical": physical, "compute_units": 2, "clock_mhz": 2100,
            "memory_bytes": 23085449216, "max_alloc_bytes": 8589934592, "local_bytes": 1048576, "cache_bytes": 34603008,
            "max_group_items": 4096, "timer_step_ns": 1, "has_f64": True, "has_f16": False, "unified_memory": True,
            "clock": {"source": "host" if clock_reason else "device", "reason": clock_reason, "slope": None if clock_reason else 1.0003},
            "wait": {"way": "event wait", "refused": list(refused)}, "overhead_ns": 21000,
            "ceilings": {"bytes_per_s": 42.1e9, "operations_per_s": 2.7e11, "copy_bytes_per_s": None, "source": "host suite"},
            "reason": None, "notes": [], **more}


def four_devices():
    return [
        device("host:one", "Example Processor @ 2.10GHz", "Linux 6.1", "cpu", True, "cpu:0", "a host device has no other clock"),
        device("host:all", "Example Processor @ 2.10GHz", "Linux 6.1", "cpu", True, "cpu:0", "a host device has no other clock"),
        device("opencl:pocl:0", "pthread-Example Processor @ 2.10GHz", "3.1", "cpu", True, "cpu:0"),
        device("opencl:rusticl:0", "llvmpipe <256 bits>", "22.3.6", "cpu", True, "cpu:0", "event stamps are constants: 0, 1, 2, 3 ns",
               [{"way": "finish", "reason": "returned after 0.01 ms while the kernel was still running"}], has_f64=False)]


class Sample:
    def __init__(self, devices):
        self.random, self.devices, self.records, self.planned = random.Random(7), devices, [], []

    def rounds(self, ns, second_mode=1.0, drift=0.0, count=12, each=4):
        """Samples by round; every second round in the second mode, the last one slower by the drift."""
        draw = self.random.gauss
        return {"unit": "ns", "rounds": [
            [round(ns * (second_mode if r % 2 else 1) * (1 + drift * r / count) * (1 + abs(draw(0, 0.004))), 3) for _ in range(each)]
            for r in range(count)]}

    def record(self, key, name, outcome, work, shape=None, phases=None, converged=True):
        """outcome: a rate per second, or (state, reason), or (state, reason, rate) if something was measured."""
        suite, parameters = key.split()[0], dict(token.split("=") for token in key.split()[1:])
        state, reason, rate = outcome + (None,) * (3 - len(outcome)) if isinstance(outcome, tuple) else (OK, None, outcome)
        amount = work["operations"] if work["by_operations"] else work["bytes"]
        clock = {"source": "device" if name == "opencl:pocl:0" else "host", "reason": None, "rejected": 0}
        self.planned.append({"case": key, "device": name})
        self.records.append({
            "kind": "record", "key": key,
            "case": {"suite": suite.split("@")[0], "version": int(suite.split("@")[1]), "tier": parameters.pop("tier"),
                     "parameters": {k: int(v) if v.isdigit() else v for k, v in parameters.items()}},
            "device": name, "state": state, "reason": reason, "work": work,
            "samples": self.rounds(amount / rate * 1e9, **(shape or {})) if rate else None, "phases": phases,
            "batch": {"steps": 8} if rate else None, "clock": clock if rate else None, "converged": converged if rate else None,
            "check": {"before": CHECK, "after": CHECK} if rate else None, "doubling": 2.0 if rate else None,
            "build": None, "memory": None, "conditions": None, "notes": ["heads in 2 chunks of 6"] if "stage=scores" in key else [],
            "started": "2025-11-03T10:12:00Z", "elapsed_ns": 3000000000})

    def case(self, key, outcomes, work, shapes=None, **more):
        for item, outcome in zip(self.devices, outcomes):
            self.record(key, item["id"], outcome, work, (shapes or {}).get(item["id"]), **more)

    def lines(self):
        cpu = {"packages": 1, "cores": 1, "pus": 2, "pci": [], "tree": {},
               "numa_nodes": [{"index": 0, "cpus": "0-1", "memory_bytes": 25200000000, "kind": None}],
               "caches": [{"name": "L3", "level": 3, "bytes": 34603008, "line_bytes": 64, "cpus_each": 2, "count": 1}]}
        header = {
            "kind": "header", "schema": 1, "tool": {"name": "assay", "version": "0.1.0", "build": "release"},
            "created": "2025-11-03T10:10:00Z", "run": "5f3c9a0e7d1b4c2288aa0011deadbeef", "seed": "18446744073709551615",
            "config": {"name": "sample", "path": "sample.yaml", "sha256": "a" * 64, "resolved": "schema: 1\n# <sample>\n"},
            "policy": {"rounds_min": 10, "rounds_max": 40, "samples_min": 30, "interval": 0.01, "budget_ns": 3000000000,
                       "warmup_ns": 500000000, "step_timeout_ns": 120000000000, "difference": 0.02},
            "host": {"cpu": "Example Processor @ 2.10GHz", "kernel": "Linux 6.1", "hostname": None, "memory_bytes": 25200000000,
                     "memory_free_bytes": 22000000000, "allowed_cpus": 2, "online_cpus": 2, "governor": None,
                     "cgroup": {"cpu_quota": None, "memory_limit_bytes": None}, "load_1min": 0.72, "hypervisor": "KVM",
                     "topology": cpu},
            "environment": {"RUSTICL_ENABLE": "llvmpipe"}, "devices": self.devices, "planned": self.planned}
        end = {"kind": "end", "complete": True, "reason": None, "records": len(self.records), "created": "2025-11-03T10:30:00Z"}
        previous = None
        for line in [header, *self.records, end]:
            text = json.dumps({**line, "previous": previous}, ensure_ascii=False)
            previous = hashlib.sha256(text.encode()).hexdigest()
            yield text + "\n"


def moved(count, counted="read+write"):
    return {"bytes": count, "operations": 0, "bytes_counted": counted, "by_operations": False, "unit": "B/s"}


def operated(count):
    return {"bytes": 0, "operations": count, "bytes_counted": "read+write", "by_operations": True, "unit": "FLOP/s"}


def add_pixel(sample):
    wrong = ("failed-verification", "1,048,576 of 16,777,216 pixels are wrong, the first at 65,535", 60 * GB)
    rows = {"linear": (8.1 * GB, 15.2 * GB, 15.4 * GB, 9.9 * GB), "strip": (3.1 * GB, 6 * GB, 5.7 * GB, 2.2 * GB),
            "tile": (6.9 * GB, 13.1 * GB, 12.4 * GB, wrong)}
    shapes = {"strip": {"opencl:pocl:0": {"second_mode": 1.09}}, "tile": {"host:one": {"drift": 0.06}}}
    for partition, outcomes in rows.items():
        sample.case(f"pixel@1 width=4096 height=4096 partition={partition} path=kernel tier=portable", outcomes, moved(33554432),
                    shapes.get(partition), converged=partition != "tile")
    parts = {name: sample.rounds(ns) for name, ns in (("host copy", 2.1e6), ("upload", 1.9e6), ("kernel", 2.2e6), ("download", 1.8e6))}
    sample.case("pixel@1 width=4096 height=4096 partition=linear path=whole tier=portable", (4.2 * GB, 4.4 * GB, 4.1 * GB, 3.2 * GB),
                moved(33554432), phases=parts)


def add_gemm_and_attention(sample):
    too_fast = ("implausible", "138 TFLOP/s is above the ceiling of 270 GFLOP/s", 138e12)
    for n, outcomes in ((256, (6.1e9, 12e9, 12.1e9, 14e9)), (512, (6.1e9, 12e9, 31e9, 14e9)), (1024, (6.1e9, 12e9, 12.1e9, too_fast))):
        sample.case(f"gemm@1 m={n} n={n} k={n} type=f32 tier=portable", outcomes, operated(2 * n**3))
    no_f64 = ("unsupported", "the device has no fp64 (cl_khr_fp64 is not among its extensions)")
    sample.case("gemm@1 m=512 n=512 k=512 type=f64 tier=portable", (3e9, 5.9e9, 14e9, no_f64), operated(2 * 512**3))
    stages = {"qkv": (5e9, 9e9, 21e9, 16e9), "scores": (4e9, 8.1e9, 19e9, ("crashed", "worker died from SIGSEGV in step 'launch'")),
              "softmax": (0.01e9, 1.7e9, 3.3e9, ("timeout", "the step passed its limit of 120 s"))}
    for stage, outcomes in stages.items():
        sample.case(f"attention@1 stage={stage} tokens=256 width=768 heads=12 head_dim=64 tier=portable", outcomes, operated(100663296))


def add_copy(sample, sizes=(12, 15, 18, 21, 24, 27, 30)):
    too_large = ("unsupported", "the largest buffer is 1,073,741,823 B, the case needs 1,073,741,824 B")
    no_resources = ("error", "clEnqueueReadBuffer: CL_OUT_OF_RESOURCES (-5)")
    for direction in ("h2d", "d2h"):
        for memory in ("pageable", "pinned"):
            for power in sizes:
                count = 2**power
                rates = [1 / (1 / peak + latency / count) for peak, latency in
                         ((9e9, 0.1e-6), (18e9, 3e-6), (11e9 if memory == "pageable" else 14e9, 22e-6), (6.5e9, 60e-6))]
                if power == 30:
                    rates[3] = too_large
                if power == 18 and direction == "d2h":
                    rates[2] = no_resources
                sample.case(f"copy@1 direction={direction} memory={memory} bytes={count} tier=portable", rates,
                            moved(count, "payload"))


def write(path, cards=0):
    """The sample, or a fleet of cards with 40 cases of 30 samples each."""
    if cards:
        sample = Sample([device(f"opencl:card:{i}", "Card", "1.0", "gpu", False, f"pci:0000:{i:02x}:00.0") for i in range(cards)])
        for n in range(1, 41):
            sample.case(f"gemm@1 m={64 * n} n=64 k=64 type=f32 tier=portable", [1e12] * cards, operated(524288 * n),
                        {item["id"]: {"count": 10, "each": 3} for item in sample.devices})
    else:
        sample = Sample(four_devices())
        add_pixel(sample)
        add_gemm_and_attention(sample)
        add_copy(sample)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(sample.lines())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 0)
