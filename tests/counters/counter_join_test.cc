// Counters joined with a trace's kernels: when a row is a kernel's, how sure that is, and whose it
// is never taken for.
#include "measure/counter_join.h"

#include "checks.h"
#include "counter_files.h"
#include "ingest/ncu/reader.h"
#include "measure/counter_columns.h"
#include "measure/kernel_measures.h"
#include "measure/other_gpu.h"
#include "sheets/counter_sheets.h"

namespace fathom::test {
namespace {

struct KernelRun {
  std::string name;
  uint32_t blocks = 10;
  int64_t micros = 20;
  std::optional<int32_t> registers = {};
};

EventStore trace_of_runs(const std::vector<KernelRun>& runs, TraceMetadata metadata = {}) {
  EventStoreBuilder builder;
  Nanos start;
  for (const KernelRun& run : runs) {
    GpuWork work;
    work.device = 0;
    work.registers = run.registers;
    if (run.blocks > 0) {
      work.grid = Dim3{run.blocks, 1, 1};
      work.block = Dim3{128, 1, 1};
    }
    const Nanos duration{run.micros * 1000};
    builder.add({EventKind::kKernel, start, duration, builder.intern(run.name), {}, {}}, work);
    start += duration;
  }
  return std::move(builder).seal(std::move(metadata), 0);
}

struct CountedRun {
  std::string name;
  std::optional<uint32_t> blocks = 10;
  std::optional<int64_t> micros = 20;
  std::optional<int64_t> registers = {};
  double percent = 50;
};

std::vector<CounterFile> counters_of(const std::vector<CountedRun>& runs, std::string_view gpu = "",
                                     std::string_view chip = "") {
  CounterSetBuilder builder;
  builder.origin().gpu = gpu;
  builder.origin().capability = chip;
  for (const CountedRun& run : runs) {
    CounterRow row;
    row.kernel = builder.intern(run.name);
    if (run.blocks) {
      row.grid = Dim3{*run.blocks, 1, 1};
      row.block = Dim3{128, 1, 1};
    }
    row.registers = run.registers;
    if (run.micros) row.duration = Nanos{*run.micros * 1000};
    const CounterRowId id = builder.add_row(row);
    builder.add_value(id, builder.metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
                      run.percent);
  }
  std::vector<CounterFile> files;
  files.push_back({"c.csv", std::move(builder).seal()});
  return files;
}

JoinedCounters join_first(const std::vector<KernelRun>& runs, const std::vector<CounterFile>& files,
                          size_t event = 0) {
  const EventStore store = trace_of_runs(runs);
  const CounterJoin join(store, files);
  return join.find(0, kernel_launch(store, EventId(event)));
}

TEST(CounterJoin, ExactWhereEveryRunWasCounted) {
  const JoinedCounters joined =
      join_first({{"void ns::k<4>(int)"}, {"other"}, {"void ns::k<4>(int)"}},
                 counters_of({{"void k<(int)4>(int)"}, {"void k<(int)4>(int)"}}));
  EXPECT_EQ(joined.quality, JoinQuality::kExact);
  EXPECT_EQ(joined.rows.size(), 2u);
  EXPECT_EQ(joined.trusted, true);
}

TEST(CounterJoin, ByKeyWhereOnlySomeWere) {
  const JoinedCounters joined = join_first({{"k"}, {"k"}, {"k"}}, counters_of({{"k"}}));
  EXPECT_EQ(joined.quality, JoinQuality::kByKey);
  EXPECT_EQ(joined.rows.size(), 1u);
}

TEST(CounterJoin, NeverAcrossShapesOrTemplateArguments) {
  EXPECT_EQ(join_first({{"k", 10}}, counters_of({{"k", 11}})).quality, JoinQuality::kNone);
  EXPECT_EQ(join_first({{"void k<4>(int)"}}, counters_of({{"void k<8>(int)"}})).quality,
            JoinQuality::kNone);
  EXPECT_EQ(join_first({{"k", 10, 20, 32}}, counters_of({{"k", 10, 20, 64}})).quality,
            JoinQuality::kNone);
  EXPECT_EQ(join_first({{"k", 10, 20, 32}}, counters_of({{"k", 10, 20, 32}})).quality,
            JoinQuality::kExact);
  EXPECT_EQ(join_first({{"k"}}, counters_of({{"kk"}})).quality, JoinQuality::kNone);
}

TEST(CounterJoin, AmbiguousWhereTheShapeDoesNotTell) {
  // Counters without a grid, and a trace without one.
  EXPECT_EQ(join_first({{"k"}}, counters_of({{"k", {}}})).quality, JoinQuality::kAmbiguous);
  EXPECT_EQ(join_first({{"k", 0}}, counters_of({{"k"}})).quality, JoinQuality::kAmbiguous);
  // Two sets of registers fit a trace that has none.
  const JoinedCounters two =
      join_first({{"k"}}, counters_of({{"k", 10, 20, 32}, {"k", 10, 20, 64}}));
  EXPECT_EQ(two.quality, JoinQuality::kAmbiguous);
  EXPECT_TRUE(two.rows.empty());
  // Two kernels of a trace, told apart only by their namespaces, fit one in the counters.
  EXPECT_EQ(join_first({{"void a::k(int)"}, {"void b::k(int)"}}, counters_of({{"k(int)"}})).quality,
            JoinQuality::kAmbiguous);
}

// Launches of one kernel that differ in one number.
std::vector<CounterFile> counters_with(std::optional<int64_t> CounterRow::* which,
                                       const std::vector<int64_t>& numbers) {
  CounterSetBuilder builder;
  for (const int64_t number : numbers) {
    CounterRow row;
    row.kernel = builder.intern("k");
    row.grid = Dim3{10, 1, 1};
    row.block = Dim3{128, 1, 1};
    row.*which = number;
    builder.add_row(row);
  }
  std::vector<CounterFile> files;
  files.push_back({"c.csv", std::move(builder).seal()});
  return files;
}
std::vector<CounterFile> numbered_counters(const std::vector<int64_t>& launches) {
  return counters_with(&CounterRow::launch, launches);
}

TEST(CounterJoin, AShuffledFileIsPutInOrder) {
  using Rows = std::vector<CounterRowId>;
  const std::vector<KernelRun> runs = {{"k"}, {"k"}, {"k"}};
  EXPECT_EQ(join_first(runs, numbered_counters({7, 2, 5})).rows,
            (Rows{CounterRowId(1), CounterRowId(2), CounterRowId(0)}));
  // Numbers that begin again are of another file: the order of the rows is that of the launches.
  EXPECT_EQ(join_first(runs, numbered_counters({1, 0, 1})).rows,
            (Rows{CounterRowId(0), CounterRowId(1), CounterRowId(2)}));
}

TEST(CounterJoin, NoRegistersAreUnknown) {
  EXPECT_EQ(join_first({{"k", 10, 20, 0}}, counters_of({{"k", 10, 20, 64}})).quality,
            JoinQuality::kExact);
}

TEST(CounterJoin, FunctionNameAlone) {
  // ncu --kernel-name-base function: one kernel fits by key, two are ambiguous.
  EXPECT_EQ(join_first({{"void k<4>(int)"}}, counters_of({{"k"}})).quality, JoinQuality::kByKey);
  EXPECT_EQ(
      join_first({{"void k<4>(int)"}, {"void k<8>(int)"}}, counters_of({{"k"}, {"k"}})).quality,
      JoinQuality::kAmbiguous);
  // Of another shape the second is no rival.
  EXPECT_EQ(join_first({{"void k<4>(int)"}, {"void k<8>(int)", 11}}, counters_of({{"k"}})).quality,
            JoinQuality::kByKey);
}

TEST(CounterJoin, TwiceTheMedianIsUntrusted) {
  const std::vector<KernelRun> runs = {{"k", 10, 20}, {"k", 10, 22}, {"k", 10, 400}};
  EXPECT_EQ(join_first(runs, counters_of({{"k", 10, 44}})).trusted, true);
  EXPECT_EQ(join_first(runs, counters_of({{"k", 10, 45}})).trusted, false);
  EXPECT_EQ(join_first(runs, counters_of({{"k", 10, std::nullopt}})).trusted, std::nullopt);
  const JoinedCounters part = join_first(runs, counters_of({{"k", 10, 20}, {"k", 10, 100}}));
  EXPECT_EQ(part.trusted, false);
  EXPECT_EQ(part.slow_rows, 1u);
}

TraceMetadata metadata_of(std::string name, std::optional<int64_t> major = {}) {
  TraceMetadata metadata;
  GpuProperties gpu;
  gpu.name = std::move(name);
  gpu.compute_major = major;
  if (major) gpu.compute_minor = 0;
  metadata.gpus.push_back(gpu);
  return metadata;
}

TEST(CounterJoin, CountersOfAnotherGpuAreRefused) {
  const auto refused = [](std::string trace, std::optional<int64_t> major, std::string_view gpu,
                          std::string_view chip) {
    CounterOrigin origin;
    origin.gpu = gpu;
    origin.capability = chip;
    return !other_gpu(metadata_of(std::move(trace), major), origin).empty();
  };
  EXPECT_TRUE(refused("NVIDIA H200", 9, "NVIDIA A100-SXM4-80GB", "8.0"));
  EXPECT_FALSE(refused("NVIDIA H200", 9, "NVIDIA H200", "9.0"));
  // H100 and H200 have the same capability.
  EXPECT_TRUE(refused("NVIDIA H100 80GB HBM3", 9, "NVIDIA H200", "9.0"));
  EXPECT_TRUE(refused("NVIDIA H200", 9, "", "8.0"));
  EXPECT_FALSE(refused("NVIDIA H200", 9, "", "9.0"));
  EXPECT_TRUE(refused("NVIDIA H200", 9, "", "gfx942"));
  EXPECT_FALSE(refused("AMD Instinct MI300X", 9, "MI300X_A1", "gfx942"));
  EXPECT_FALSE(refused("AMD Instinct MI300X", 9, "", "gfx942"));
  EXPECT_FALSE(refused("", {}, "NVIDIA H200", "9.0"));
  EXPECT_FALSE(refused("NVIDIA H100 80GB HBM3", 9, "NVIDIA H100", "9.0"));
  EXPECT_TRUE(refused("NVIDIA GeForce RTX 4080", 8, "NVIDIA GeForce RTX 4080 SUPER", "8.9"));
  EXPECT_TRUE(refused("NVIDIA L4", 8, "NVIDIA L40", "8.9"));
  EXPECT_TRUE(refused("AMD Instinct MI300X", 9, "", "9.0"));
  EXPECT_FALSE(refused("Unheard of", {}, "", "gfx942"));
  EXPECT_FALSE(refused("NVIDIA H200", 9, "", ""));
  // A refused file is joined with nothing.
  const EventStore store = trace_of_runs({{"k"}}, metadata_of("NVIDIA H200", 9));
  const auto files = counters_of({{"k"}}, "NVIDIA A100-SXM4-80GB", "8.0");
  const CounterJoin join(store, files);
  EXPECT_FALSE(join.files()[0].refusal.empty());
  EXPECT_EQ(join.find(0, kernel_launch(store, EventId(0))).quality, JoinQuality::kNone);
}

TEST(CounterJoin, AnotherNumberOfMultiprocessorsIsAnotherGpu) {
  TraceMetadata trace = metadata_of("NVIDIA H100 PCIe", 9);
  trace.gpus[0].multiprocessors = 114;
  CounterOrigin origin;
  origin.gpu = "NVIDIA H100 PCIe";
  origin.capability = "9.0";
  EXPECT_EQ(other_gpu(trace, origin), "");
  origin.multiprocessors = 114;
  EXPECT_EQ(other_gpu(trace, origin), "");
  origin.multiprocessors = 16;  // a slice of it
  EXPECT_NE(other_gpu(trace, origin), "");
}

std::string doubt_of(const std::vector<KernelRun>& runs, const std::vector<CounterFile>& files) {
  const EventStore store = trace_of_runs(runs);
  return CounterJoin(store, files).files()[0].doubt;
}

TEST(CounterJoin, AForeignFileIsMarked) {
  const std::vector<KernelRun> runs = {{"a"}, {"b"}, {"c"}};
  EXPECT_EQ(doubt_of(runs, counters_of({{"a"}, {"b"}})), "");
  EXPECT_EQ(doubt_of(runs, counters_of({{"a"}, {"x"}})), "");
  EXPECT_EQ(doubt_of(runs, counters_of({{"a"}, {"x"}, {"y"}})),
            "1 of its 3 launches is of a kernel and shape of the trace");
  EXPECT_EQ(doubt_of(runs, counters_of({{"a", 11}, {"b", 12}})),
            "0 of its 2 launches are of a kernel and shape of the trace");
}

TEST(CounterJoin, ValuesMovedToOtherKernelsAreMarked) {
  const std::vector<KernelRun> runs = {{"a", 10, 10}, {"b", 10, 50}, {"c", 10, 250}};
  EXPECT_EQ(doubt_of(runs, counters_of({{"a", 10, 12}, {"b", 10, 60}, {"c", 10, 100}})), "");
  EXPECT_EQ(doubt_of(runs, counters_of({{"a", 10, 250}, {"b", 10, 10}, {"c", 10, 50}})),
            "the durations of 3 of 3 launches differ from the trace's by over 2 ×");
}

TEST(CounterJoin, DynamicSharedMemoryAloneTellsShapesApart) {
  EventStoreBuilder builder;
  GpuWork work;
  work.grid = Dim3{10, 1, 1};
  work.block = Dim3{128, 1, 1};
  work.shared_memory = 2048;
  builder.add({EventKind::kKernel, Nanos{}, Nanos{20000}, builder.intern("k"), {}, {}}, work);
  const EventStore store = std::move(builder).seal({}, 0);
  const auto joined_with = [&store](const std::vector<int64_t>& dynamic) {
    const std::vector<CounterFile> files = counters_with(&CounterRow::dynamic_shared, dynamic);
    return CounterJoin(store, files).find(0, kernel_launch(store, EventId(0))).quality;
  };
  EXPECT_EQ(joined_with({1024}), JoinQuality::kExact);
  EXPECT_EQ(joined_with({4096}), JoinQuality::kNone);
  // Either may be the kernel's: its static part is not known.
  EXPECT_EQ(joined_with({1024, 2048}), JoinQuality::kAmbiguous);
  EXPECT_EQ(joined_with({1024, 4096}), JoinQuality::kExact);
}

TEST(CounterJoin, CoverageIsOfKernelTime) {
  const EventStore store =
      trace_of_runs({{"k", 10, 30}, {"slow", 10, 10}, {"odd", 0, 20}, {"x", 5, 40}});
  const auto files = counters_of({{"k", 10, 30}, {"slow", 10, 90}, {"odd", 10, 20}});
  const CounterJoin join(store, files);
  std::vector<EventId> events;
  for (size_t i = 0; i < store.size(); ++i) events.emplace_back(i);
  const CounterCoverage coverage = counter_coverage(store, events, join);
  EXPECT_EQ(coverage.total.count, 100000);
  EXPECT_EQ(coverage.joined.count, 40000);
  EXPECT_EQ(coverage.untrusted.count, 10000);
  EXPECT_EQ(coverage.ambiguous.count, 20000);
}

TEST(CounterColumns, DataNamesColumnsAndSources) {
  EXPECT_EQ(std::ranges::count(counter_columns(), true, &CounterColumn::is_shown), 12);
  CounterSetBuilder builder;
  builder.origin().capability = "gfx942";
  const CounterRowId row = builder.add_row({});
  const auto add = [&](std::string_view name, double value) {
    builder.add_value(row, builder.metric(name, ""), value);
  };
  add("TCC_HIT_sum", 30);
  add("TCC_MISS_sum", 10);
  add("TCC_EA0_RDREQ_sum", 1000);
  add("TCC_EA0_RDREQ_32B_sum", 100);
  add("TCC_BUBBLE_sum", 500);
  add("SQ_LDS_BANK_CONFLICT", 5);
  add("SQ_LDS_IDX_ACTIVE", 0);
  const CounterSet set = std::move(builder).seal();
  const CounterColumnReader reader(set);
  const auto value = [&](std::string_view id) {
    for (size_t i = 0; i < counter_columns().size(); ++i) {
      if (counter_columns()[i].id == id) return reader.value(CounterRowId(0), i);
    }
    return std::optional<double>(-1);
  };
  EXPECT_EQ(value("l2_hit"), 75);
  // 500 of 128 bytes, 100 of 32, the other 400 of 64.
  EXPECT_EQ(value("dram_read"), (500 * 128 + 100 * 32 + 400 * 64) / 1e6);
  EXPECT_EQ(value("dram_written"), std::nullopt);
  EXPECT_EQ(value("bank_conflicts"), std::nullopt);  // nothing to divide by
  EXPECT_TRUE(reader.stalls(CounterRowId(0)).empty());
}

// The counts of a rate may come from different runs; over 100 % they contradict each other.
TEST(CounterColumns, AHitRateOver100PercentIsUnknown) {
  const auto rate = [](double counted) {
    CounterSetBuilder builder;
    const CounterRowId row = builder.add_row({});
    builder.add_value(row, builder.metric("lts__t_sector_hit_rate.pct", "%"), counted);
    builder.add_value(
        row, builder.metric("dram__throughput.avg.pct_of_peak_sustained_elapsed", "%"), counted);
    const CounterSet set = std::move(builder).seal();
    const CounterColumnReader reader(set);
    std::optional<double> hit, throughput;
    for (size_t i = 0; i < counter_columns().size(); ++i) {
      if (counter_columns()[i].id == "l2_hit") hit = reader.value(row, i);
      if (counter_columns()[i].id == "dram_throughput") throughput = reader.value(row, i);
    }
    // No part of a whole, so it may be somewhat above 100 %.
    const bool is_possible = counted >= 0 && counted <= 150;
    EXPECT_EQ(throughput, is_possible ? std::optional(counted) : std::nullopt);
    return hit;
  };
  EXPECT_EQ(rate(168), std::nullopt);
  EXPECT_EQ(rate(120), std::nullopt);
  EXPECT_EQ(rate(100.6), std::nullopt);
  EXPECT_EQ(rate(100.4), 100);
  EXPECT_EQ(rate(99.9), 99.9);
  EXPECT_EQ(rate(0), 0);
  EXPECT_EQ(rate(-1), std::nullopt);
}

TEST(CounterColumns, AFormulaOfAnotherChipIsNotUsed) {
  CounterSetBuilder builder;
  builder.origin().capability = "gfx950";
  const CounterRowId row = builder.add_row({});
  for (const std::string_view name :
       {"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum"})
    builder.add_value(row, builder.metric(name, ""), 1);
  const CounterSet set = std::move(builder).seal();
  const CounterColumnReader reader(set);
  for (size_t i = 0; i < counter_columns().size(); ++i)
    EXPECT_EQ(reader.value(CounterRowId(0), i), std::nullopt) << counter_columns()[i].id;
}

TEST(CounterColumns, StallsWithoutTheWarpsThatIssue) {
  CounterSetBuilder builder;
  const CounterRowId row = builder.add_row({});
  const auto add = [&](std::string_view reason, double value) {
    builder.add_value(row,
                      builder.metric("smsp__average_warps_issue_stalled_" + std::string(reason) +
                                         "_per_issue_active.ratio",
                                     ""),
                      value);
  };
  add("long_scoreboard", 2);
  add("barrier", 1);
  add("selected", 1);
  const CounterSet set = std::move(builder).seal();
  const auto stalls = CounterColumnReader(set).stalls(CounterRowId(0));
  ASSERT_EQ(stalls.size(), 2u);
  EXPECT_EQ(stalls[0].reason, "long_scoreboard");
  EXPECT_EQ(stalls[0].share, 0.5);
  EXPECT_EQ(stalls[1].share, 0.25);
}

TEST(CounterSheets, ValuesOverTheLimitAreCounted) {
  const auto files = counters_of({{"k"}, {"k"}, {"k"}});
  size_t left_out = 0;
  EXPECT_EQ(counters_sheet(files, 2, left_out).rows(), 2u);
  EXPECT_EQ(left_out, 1u);
  EXPECT_EQ(counters_sheet(files, kMaxCounterLines, left_out).rows(), 3u);
  EXPECT_EQ(left_out, 0u);
}

// CUPTI's mangled names and ncu's shown ones of the same program, launch by launch.
TEST(CounterJoin, RealNamesOfTwoTools) {
  const std::string csv = shared_file("ncu/h200-one-pass.csv"),
                    lines = shared_file("ncu/h200-one-pass-cupti.jsonl");
  if (csv.empty() || lines.empty()) GTEST_SKIP() << "skipped: no shared data";
  Result<std::unique_ptr<ByteSource>> source = open_source(csv);
  ASSERT_TRUE(source.ok());
  Result<CounterSet> read = ncu::read(*source.value(), csv);
  ASSERT_TRUE(read.ok());
  std::vector<CounterFile> files;
  files.push_back({"one-pass.csv", read.take()});
  const CounterSet& set = files[0].set;
  // A trace of the mangled names with the launches' shapes.
  EventStoreBuilder builder;
  const std::string text = read_file(lines);
  size_t row = 0;
  for (size_t at = 0; (at = text.find("\"name\":\"", at)) != std::string::npos; ++row) {
    at += 8;
    ASSERT_LT(row, set.size());
    const CounterRow& counted = set.row(CounterRowId(row));
    GpuWork work;
    work.device = 0;
    work.grid = counted.grid;
    work.block = counted.block;
    builder.add({EventKind::kKernel,
                 Nanos{static_cast<int64_t>(row) * 1'000'000},
                 *counted.duration,
                 builder.intern(text.substr(at, text.find('"', at) - at)),
                 {},
                 {}},
                work);
  }
  ASSERT_EQ(row, set.size());
  const EventStore store = std::move(builder).seal({}, 0);
  const CounterJoin join(store, files);
  for (size_t i = 0; i < store.size(); ++i) {
    EXPECT_EQ(join.find(0, kernel_launch(store, EventId(i))).quality, JoinQuality::kExact)
        << store.name(EventId(i));
  }
  EXPECT_EQ(join.files()[0].joined_rows, set.size());
}

}  // namespace
}  // namespace fathom::test
