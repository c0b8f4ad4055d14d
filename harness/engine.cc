// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark behind the C header engine.h; the one C++ file of the project. Nothing is
// printed: the records are the project's own, and a Google Benchmark file is an export of them
// (reports/formats/google-benchmark.c).
#include "harness/engine.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace
{

class SilentReporter final : public benchmark::BenchmarkReporter
{
  public:
    bool ReportContext(const Context &) override
    {
        return true;
    }
    void ReportRuns(const std::vector<Run> &) override
    {
    }
};

struct Loop {
    engine_sample *sample;
    void *context;
    struct error *err;
    enum code code;
};

void run_loop(benchmark::State &state, Loop *loop)
{
    for (auto _ : state) {
        double ns = 0.0;
        loop->code = loop->sample(loop->context, &ns, loop->err);
        if (loop->code != CODE_OK) {
            state.SkipWithError("sample failed");
            break;
        }
        state.SetIterationTime(ns * 1e-9);
    }
}

} // namespace

extern "C" enum code engine_run(const char *name, uint64_t iterations, engine_sample *sample,
                                void *context, struct error *err)
{
    Loop loop = {sample, context, err, CODE_OK};
    benchmark::RegisterBenchmark(name, run_loop, &loop)
        ->Iterations(static_cast<benchmark::IterationCount>(iterations))
        ->UseManualTime();
    SilentReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    benchmark::ClearRegisteredBenchmarks();
    return loop.code;
}
