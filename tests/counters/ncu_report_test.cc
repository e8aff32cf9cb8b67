// Report files (.ncu-rep), and that they and the CSV made from them agree.
#include <cmath>

#include "checks.h"
#include "counter_files.h"
#include "ingest/ncu/metric_units.h"
#include "ingest/ncu/reader.h"

namespace fathom::test {
namespace {

using namespace std::string_literals;

// A protocol buffer message, written field by field.
class Message {
 public:
  Message& number(uint32_t field, uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& bytes(uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Message& real(uint32_t field, double value) {
    varint(field << 3 | 1);
    char raw[8];
    std::memcpy(raw, &value, 8);
    text_.append(raw, 8);
    return *this;
  }
  const std::string& text() const { return text_; }
  std::string sized() const {
    std::string out;
    for (size_t i = 0; i < 4; ++i) out += static_cast<char>(text_.size() >> (8 * i));
    return out + text_;
  }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

std::string shape_text(uint64_t x, uint64_t y, uint64_t z) {
  return Message().number(1, x).number(2, y).number(3, z).text();
}

std::string metric(uint64_t name, double value) {
  return Message().number(1, name).bytes(2, Message().real(3, value).text()).text();
}

std::string block(std::string_view payload, uint64_t sources, uint64_t results,
                  const std::vector<std::string>& strings) {
  Message table;
  for (const std::string& text : strings) table.bytes(1, text);
  Message header;
  header.number(1, sources).number(2, results).bytes(4, table.text()).number(5, payload.size());
  header.bytes(6, Message().number(1, 789).text());
  return header.sized() + std::string(payload);
}

std::string result(std::string_view name, uint64_t blocks, double nanos) {
  const std::string rule_message = Message().bytes(1, "Look here").number(2, 4).text();
  const std::string rule_body = Message().bytes(1, Message().bytes(1, rule_message).text()).text();
  return Message()
      .bytes(5, "_Z1kv")
      .bytes(6, "k")
      .bytes(7, name)
      .bytes(10, shape_text(blocks, 1, 1))
      .bytes(11, shape_text(128, 1, 1))
      .bytes(13, metric(0, nanos))
      .bytes(13, metric(1, 1e6))
      .bytes(19, Message().bytes(1, "Rule").bytes(3, rule_body).text())
      .number(22, 1)
      .number(23, 7)
      .sized();
}

std::string small_report() {
  const std::string session =
      Message()
          .bytes(6, Message().number(1, 0).bytes(2, "NVIDIA H200").text())
          .bytes(8,
                 Message().bytes(1, "Nsight Compute Target").bytes(2, "2025.3.1.0 (build)").text())
          .text();
  return "NVR\0"s + Message().number(1, 7).sized() + Message().bytes(3, session).sized() +
         block(Message().bytes(4, "code").sized() + result("void k(int)", 10, 5000), 1, 1,
               {"gpu__time_duration.sum", "dram__bytes_read.sum"}) +
         // No table of its own: the last one holds.
         block(result("void k(int)", 20, 7000), 0, 1, {});
}

Result<CounterSet> read_bytes(std::string_view bytes) {
  TextSource source(bytes);
  return ncu::read(source, "report.ncu-rep");
}

TEST(NcuReport, Blocks) {
  const std::string bytes = small_report();
  EXPECT_TRUE(ncu::recognises(bytes.substr(0, 64)));
  Result<CounterSet> read = read_bytes(bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const CounterSet& set = read.value();
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.origin().version, "2025.3.1.0");
  EXPECT_EQ(set.origin().gpu, "NVIDIA H200");
  const CounterRow& first = set.row(CounterRowId(0));
  EXPECT_EQ(set.text(first.kernel), "void k(int)");
  EXPECT_EQ(set.text(first.mangled), "_Z1kv");
  EXPECT_EQ(first.grid->x, 10u);
  EXPECT_EQ(first.process, 789);
  EXPECT_EQ(first.duration->count, 5000);
  EXPECT_EQ(set.text(first.notes), "OPT Rule: Look here");
  EXPECT_EQ(set.row(CounterRowId(1)).duration->count, 7000);
  EXPECT_EQ(value_of(set, 1, "dram__bytes_read.sum"), 1e6);
  EXPECT_EQ(unit_of(set, 1, "dram__bytes_read.sum"), "byte");
  EXPECT_TRUE(set.diagnostics().all().empty());
}

TEST(NcuReport, DamageIsCountedAndNothingIsReadBeyondIt) {
  const std::string bytes = small_report();
  size_t whole_blocks = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<CounterSet> cut = read_bytes(bytes.substr(0, size));
    whole_blocks += cut.ok() && cut.value().diagnostics().all().empty();
  }
  EXPECT_EQ(whole_blocks, 1u);  // behind the first result, which is a file of its own
  for (size_t at = 4; at < bytes.size(); ++at) {
    std::string harmed = bytes;
    harmed[at] = static_cast<char>(0xff);
    (void)read_bytes(harmed);
  }
  // Counts and lengths that promise more than there is.
  const std::string many = "NVR\0"s + Message().number(1, 7).sized() +
                           Message().number(1, UINT64_MAX).number(2, UINT64_MAX).sized();
  EXPECT_FALSE(read_bytes(many).ok());
  const std::string long_one = "NVR\0"s + Message().number(1, 7).sized() + "\xff\xff\xff\xff"s;
  EXPECT_FALSE(read_bytes(long_one).ok());
}

std::optional<CounterSet> read_shared(std::string_view name) {
  const std::string path = shared_file(name);
  if (path.empty()) return {};
  Result<std::unique_ptr<ByteSource>> source = open_source(path);
  EXPECT_TRUE(source.ok());
  Result<CounterSet> set = ncu::read(*source.value(), path);
  EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().message);
  return set.ok() ? std::optional(set.take()) : std::nullopt;
}

TEST(NcuReport, AgreesWithTheDetailsPageMadeFromIt) {
  const std::optional<CounterSet> report = read_shared("ncu/h200-sdpa.ncu-rep"),
                                  page = read_shared("ncu/h200-sdpa-details.csv");
  if (!report || !page) GTEST_SKIP() << "skipped: no shared data";
  ASSERT_EQ(report->size(), 1u);
  ASSERT_EQ(page->size(), 1u);
  EXPECT_EQ(report->origin().gpu, "NVIDIA H200");
  EXPECT_EQ(report->origin().version, "2025.3.1.0");
  EXPECT_EQ(report->origin().capability, page->origin().capability);
  EXPECT_EQ(report->origin().replay, "kernel");
  const CounterRow &a = report->row(CounterRowId(0)), &b = page->row(CounterRowId(0));
  EXPECT_EQ(report->text(a.kernel), page->text(b.kernel));
  EXPECT_EQ(a.duration, b.duration);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.grid_blocks, b.grid_blocks);
  EXPECT_EQ(a.block_threads, b.block_threads);
  EXPECT_EQ(a.process, b.process);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.passes, 38);
  struct Pair {
    std::string_view metric, shown;
    double digit;  // the last that the page prints, in base units
  };
  constexpr Pair kPairs[] = {
      {"gpu__time_duration.sum", "GPU Speed Of Light Throughput/Duration", 10},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
       "GPU Speed Of Light Throughput/Compute (SM) Throughput", 0.01},
      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
       "GPU Speed Of Light Throughput/Memory Throughput", 0.01},
      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
       "GPU Speed Of Light Throughput/DRAM Throughput", 0.01},
      {"sm__cycles_active.avg", "GPU Speed Of Light Throughput/SM Active Cycles", 0.01},
      {"l1tex__t_sector_hit_rate.pct", "Memory Workload Analysis/L1/TEX Hit Rate", 0.01},
      {"lts__t_sector_hit_rate.pct", "Memory Workload Analysis/L2 Hit Rate", 0.01},
      {"dram__bytes.sum.per_second", "Memory Workload Analysis/Memory Throughput", 1e10},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "Occupancy/Achieved Occupancy", 0.01},
      {"launch__registers_per_thread", "Launch Statistics/Registers Per Thread", 1},
      {"launch__shared_mem_per_block_dynamic", "Launch Statistics/Dynamic Shared Memory Per Block",
       10},
      {"launch__waves_per_multiprocessor", "Launch Statistics/Waves Per SM", 0.01},
      {"smsp__issue_active.avg.per_cycle_active", "Scheduler Statistics/Issued Warp Per Scheduler",
       0.01},
      {"smsp__average_warp_latency_per_inst_issued.ratio",
       "Warp State Statistics/Warp Cycles Per Issued Instruction", 0.01},
  };
  size_t compared = 0;
  for (const Pair& pair : kPairs) {
    const auto exact = value_of(*report, 0, pair.metric), printed = value_of(*page, 0, pair.shown);
    EXPECT_TRUE(exact) << pair.metric;
    EXPECT_TRUE(printed) << pair.shown;
    if (!exact || !printed) continue;
    EXPECT_NEAR(*exact, *printed, pair.digit * 0.51) << pair.metric;
    ++compared;
  }
  EXPECT_EQ(compared, std::size(kPairs));
  EXPECT_EQ(report->text(a.notes).substr(0, 30), page->text(b.notes).substr(0, 30));
}

TEST(NcuReport, UnitsByNameAreThoseOfTheRawPage) {
  const std::optional<CounterSet> raw = read_shared("ncu/h200-full-raw.csv");
  if (!raw) GTEST_SKIP() << "skipped: no shared data";
  EXPECT_EQ(raw->size(), 15u);
  EXPECT_TRUE(raw->diagnostics().all().empty());
  size_t known = 0;
  for (size_t i = 0; i < raw->metric_count(); ++i) {
    const std::string_view unit = raw->text(raw->metric(MetricId(i)).unit);
    const std::string_view guess = ncu::unit_by_name(raw->metric_name(MetricId(i)));
    if (guess.empty()) continue;
    ++known;
    EXPECT_EQ(guess, unit) << raw->metric_name(MetricId(i));
  }
  EXPECT_GT(known, 700u);
}

TEST(NcuReport, OnePassCsvWithLogLines) {
  const std::optional<CounterSet> set = read_shared("ncu/h200-one-pass.csv");
  if (!set) GTEST_SKIP() << "skipped: no shared data";
  EXPECT_EQ(set->size(), 15u);
  EXPECT_EQ(set->row(CounterRowId(0)).duration->count, 23520);
  EXPECT_EQ(value_of(*set, 0, "dram__bytes_write.sum"), 1491200);
  EXPECT_EQ(set->diagnostics().count(Flaw::kCounterText), 4);
  EXPECT_EQ(set->diagnostics().count(Flaw::kCounterRowDamaged), 0);
}

}  // namespace
}  // namespace fathom::test
