// What ncu --csv prints, page by page, and what stands between its lines.
#include "checks.h"
#include "counter_files.h"
#include "ingest/ncu/metric_units.h"
#include "ingest/ncu/reader.h"

namespace fathom::test {
namespace {

constexpr std::string_view kRaw =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","device__attribute_display_name","dram__bytes_read.sum","gpu__time_duration.sum","launch__cluster_dim_x","launch__cluster_dim_y","launch__cluster_dim_z","launch__registers_per_thread","launch__shared_mem_per_block_dynamic","profiler__replayer_passes","sm__throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","","","","","","","","","Mbyte","us","","","","register/thread","Kbyte/block","pass","%"
)csv";
constexpr std::string_view kRow0 =
    R"csv("0","603","python","host","void k<4>(int)","1","7","(256, 1, 1)","(1056, 2, 1)","0","9.0","NVIDIA H200","1,234.5","23.456","2","1","1","44","32.768","38","50.5"
)csv";
constexpr std::string_view kRow1 =
    R"csv("1","603","python","host","void k<8>(int)","1","7","(128, 1, 1)","(10, 1, 1)","0","9.0","NVIDIA H200","n/a","1,000.5","0","0","0","32","0","38","7"
)csv";

Result<CounterSet> read_text(std::string_view text) {
  TextSource source(text);
  return ncu::read(source, "counters.csv");
}

CounterSet read_ok(std::string_view text) {
  Result<CounterSet> set = read_text(text);
  EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().message);
  return set.ok() ? set.take() : CounterSet();
}

std::string text_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

TEST(NcuCsv, OfTwoColumnsWithOneNameTheFirstCountsAndTheOtherIsSaid) {
  std::string text = text_of({kRaw, kRow0});
  EXPECT_EQ(read_ok(text).diagnostics().count(Flaw::kRepeatedColumn), 0);
  const std::string_view first = "dram__bytes_read.sum", other = "launch__registers_per_thread";
  text.replace(text.find(other), other.size(), first);
  const CounterSet set = read_ok(text);
  EXPECT_EQ(set.diagnostics().count(Flaw::kRepeatedColumn), 1);
  EXPECT_EQ(value_of(set, 0, "dram__bytes_read.sum"), 1234.5e6);
}

TEST(NcuCsv, RawPage) {
  const std::string text = text_of({kRaw, kRow0, kRow1});
  EXPECT_TRUE(ncu::recognises(text));
  const CounterSet set = read_ok(text);
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.origin().tool, "Nsight Compute");
  EXPECT_EQ(set.origin().gpu, "NVIDIA H200");
  EXPECT_EQ(set.origin().capability, "9.0");
  const CounterRow& row = set.row(CounterRowId(0));
  EXPECT_EQ(set.text(row.kernel), "void k<4>(int)");
  EXPECT_EQ(row.grid->x, 1056u);
  EXPECT_EQ(row.grid->y, 2u);
  EXPECT_EQ(row.grid_blocks, 2112);
  EXPECT_EQ(row.block->x, 256u);
  EXPECT_EQ(row.cluster->x, 2u);
  EXPECT_EQ(row.registers, 44);
  EXPECT_EQ(row.dynamic_shared, 32768);
  EXPECT_EQ(row.static_shared, std::nullopt);
  EXPECT_EQ(row.passes, 38);
  EXPECT_EQ(row.duration->count, 23456);
  EXPECT_EQ(row.process, 603);
  EXPECT_EQ(row.stream, 7);
  EXPECT_DOUBLE_EQ(*value_of(set, 0, "dram__bytes_read.sum"), 1234.5e6);
  EXPECT_EQ(unit_of(set, 0, "dram__bytes_read.sum"), "byte");
  EXPECT_EQ(unit_of(set, 0, "gpu__time_duration.sum"), "ns");
  // Unknown is not zero; 0 blocks in a cluster are no cluster.
  EXPECT_EQ(value_of(set, 1, "dram__bytes_read.sum"), std::nullopt);
  EXPECT_FALSE(set.row(CounterRowId(1)).cluster);
  EXPECT_EQ(set.row(CounterRowId(1)).duration->count, 1000500);
  EXPECT_TRUE(set.diagnostics().all().empty());
}

TEST(NcuCsv, LogLinesAndProgramOutputAnywhere) {
  const CounterSet set = read_ok(text_of(
      {"==PROF== Connected to process 603\nloss: 1, 2\n\"quoted\" output\ndone",
       kRaw.substr(0, kRaw.find('\n') + 1), kRaw.substr(kRaw.find('\n') + 1), kRow0,
       "==PROF== Profiling \"k\" - 1: 0%....100%\nstep 1\n12, 13\n\"unclosed\n", kRow1, "bye\n"}));
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.row(CounterRowId(1)).duration->count, 1000500);
  EXPECT_EQ(set.diagnostics().count(Flaw::kCounterText), 8);
  EXPECT_EQ(set.diagnostics().count(Flaw::kCounterRowDamaged), 0);
}

TEST(NcuCsv, SeveralFilesOneAfterAnother) {
  // The second of another locale: each table is read in its own.
  std::string comma(kRow0);
  comma.replace(comma.find("1,234.5"), 7, "1.234,5");
  comma.replace(comma.find("23.456"), 6, "23,456000");
  comma.replace(comma.find("32.768"), 6, "32,768");
  comma.replace(comma.find("50.5"), 4, "50,5");
  const CounterSet set = read_ok(text_of({kRaw, kRow0, "==PROF== x\n", kRaw, comma}));
  ASSERT_EQ(set.size(), 2u);
  for (const size_t row : {0, 1}) {
    EXPECT_DOUBLE_EQ(*value_of(set, row, "dram__bytes_read.sum"), 1234.5e6);
    EXPECT_EQ(set.row(CounterRowId(row)).duration->count, 23456);
    EXPECT_EQ(set.row(CounterRowId(row)).dynamic_shared, 32768);
    EXPECT_EQ(value_of(set, row, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 50.5);
  }
}

constexpr std::string_view kDetails =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
)csv";
std::string details_row(std::string_view id, std::string_view rest) {
  return "\"" + std::string(id) +
         R"csv(","789","python","host","sdpa","1","7","(384, 1, 1)","(132, 1, 1)","0","9.0",)csv" +
         std::string(rest) + "\n";
}

TEST(NcuCsv, DetailsPage) {
  const CounterSet set = read_ok(text_of(
      {kDetails,
       details_row("0",
                   R"csv("GPU Speed Of Light Throughput","Memory Throughput","%","29.46",)csv"),
       details_row("0", R"csv("GPU Speed Of Light Throughput","Duration","us","49.92",)csv"),
       details_row("0", R"csv("SpeedOfLight","","","","SOLBottleneck","OPT","Two
lines, ""quoted""","global","19.29")csv"),
       details_row("0",
                   R"csv("Memory Workload Analysis","Memory Throughput","Tbyte/s","1.23",)csv"),
       details_row("0",
                   R"csv("Launch Statistics","Registers Per Thread","register/thread","168",)csv"),
       details_row("1", R"csv("GPU Speed Of Light Throughput","Duration","us","10",)csv")}));
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.origin().form, "details page, CSV");
  EXPECT_EQ(value_of(set, 0, "GPU Speed Of Light Throughput/Memory Throughput"), 29.46);
  EXPECT_DOUBLE_EQ(*value_of(set, 0, "Memory Workload Analysis/Memory Throughput"), 1.23e12);
  EXPECT_EQ(set.row(CounterRowId(0)).duration->count, 49920);
  EXPECT_EQ(set.row(CounterRowId(0)).registers, 168);
  EXPECT_EQ(set.text(set.row(CounterRowId(0)).notes),
            "OPT SOLBottleneck: Two lines, \"quoted\" (estimated speedup 19.29 %)");
  EXPECT_FALSE(set.row(CounterRowId(1)).notes.valid());
  EXPECT_TRUE(set.diagnostics().all().empty());
}

TEST(NcuCsv, MetricsOfOlderVersionsAndOfSummaries) {
  const CounterSet old = read_ok(
      R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","p","h","k","2020-Jan-01 10:00:00","1","7","Command line profiler metrics","dram__bytes_read.sum","Kbyte","2.5"
"0","1","p","h","k","2020-Jan-01 10:00:00","1","7","Command line profiler metrics","sm__cycles_elapsed.avg.per_second","cycle/nsecond","1.5"
)csv");
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(value_of(old, 0, "dram__bytes_read.sum"), 2500);
  EXPECT_DOUBLE_EQ(*value_of(old, 0, "sm__cycles_elapsed.avg.per_second"), 1.5e9);
  EXPECT_EQ(unit_of(old, 0, "sm__cycles_elapsed.avg.per_second"), "hz");
  EXPECT_FALSE(old.row(CounterRowId(0)).grid);
  const CounterSet summary = read_ok(
      R"csv("Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"
"1","p","h","k","1","7","(1, 1, 1)","(2, 1, 1)","0","8.0","3","S","Duration","us","1","3","2"
)csv");
  ASSERT_EQ(summary.size(), 1u);
  EXPECT_EQ(summary.row(CounterRowId(0)).duration->count, 2000);
}

TEST(NcuCsv, DamagedRowsAreCounted) {
  std::string short_row(kRow0);
  short_row.erase(short_row.find(",\"0\",\"9.0\""));
  const CounterSet set = read_ok(text_of({kRaw, short_row, "\n", kRow1}));
  EXPECT_EQ(set.size(), 1u);
  EXPECT_EQ(set.diagnostics().count(Flaw::kCounterRowDamaged), 1);
  // A file that was cut: the last row without what may have lost its end.
  const std::string text = text_of({kRaw, kRow0, kRow1});
  const CounterSet cut = read_ok(text.substr(0, text.find("1,000.5") + 4));
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut.diagnostics().count(Flaw::kCounterRowDamaged), 1);
  EXPECT_FALSE(cut.row(CounterRowId(1)).duration);
  // Each prefix gives an error or a prefix of the rows.
  for (size_t size = 0; size < text.size(); size += 7) {
    const Result<CounterSet> part = read_text(text.substr(0, size));
    if (part.ok()) {
      EXPECT_LE(part.value().size(), 2u);
    }
  }
}

TEST(NcuCsv, WhyThereIsNothing) {
  const Result<CounterSet> refused =
      read_text("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("permission"), std::string::npos);
  EXPECT_FALSE(read_text(kRaw).ok());
  EXPECT_FALSE(read_text("").ok());
}

TEST(NcuCsv, RecognisesOnlyItsOwn) {
  EXPECT_TRUE(ncu::recognises("output\n==PROF== Connected\n"));
  EXPECT_TRUE(ncu::recognises("ID,Process ID,Process Name,Host Name,Kernel Name,Context\n"));
  EXPECT_FALSE(ncu::recognises("a,b\n1,2\n"));
  EXPECT_FALSE(ncu::recognises("{\"traceEvents\": [\n==WARNING== x\n"));
  EXPECT_FALSE(ncu::recognises("ID,Process ID,Total\n"));
  EXPECT_FALSE(ncu::recognises(""));
}

TEST(NcuUnits, BaseUnits) {
  const auto unit = [](std::string_view printed) {
    const ncu::BaseUnit base = ncu::base_unit(printed);
    return std::pair(base.name, base.factor);
  };
  using Unit = std::pair<std::string, double>;
  EXPECT_EQ(unit("Gbyte/s"), Unit("byte/s", 1e9));
  EXPECT_EQ(unit("byte/second"), Unit("byte/s", 1));
  EXPECT_EQ(unit("msecond"), Unit("ns", 1e6));
  EXPECT_EQ(unit("Mhz"), Unit("hz", 1e6));
  EXPECT_EQ(unit("%"), Unit("%", 1));
  EXPECT_EQ(unit("sector/us"), Unit("sector/s", 1e6));
  EXPECT_EQ(unit("Kbyte/block"), Unit("byte/block", 1e3));
  EXPECT_EQ(unit("%/Kbyte"), Unit("%/byte", 1e-3));
  EXPECT_EQ(unit(""), Unit("", 1));
  // Near-twins: words that begin with a prefix's letter.
  EXPECT_EQ(unit("GPC"), Unit("GPC", 1));
  EXPECT_EQ(unit("SM"), Unit("SM", 1));
}

}  // namespace
}  // namespace fathom::test
