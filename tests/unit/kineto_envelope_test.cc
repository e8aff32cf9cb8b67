// What stands in a trace beside its events.
#include <fmt/format.h>

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::describe_diagnostics;
using test::read_trace_text;

constexpr const char* kMetadata =
    R"("schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200","numSms":132,)"
    R"("totalGlobalMem":150100000000,"computeMajor":9,"computeMinor":0},{"id":1,"name":""}],)"
    R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":8},"cuda_runtime_version":13000,)"
    R"("baseTimeNanoseconds":1731000000000000000,"with_stack":1,"traceName":"/tmp/x.json")";

std::string events() { return fmt::format(R"("traceEvents":[{}])", test::cpu_op("a", 1, 2)); }

void expect_whole(const EventStore& s) {
  const TraceMetadata& m = s.metadata();
  ASSERT_EQ(m.gpus.size(), 2u);
  EXPECT_EQ(m.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(m.gpus[0].multiprocessors, 132);
  EXPECT_EQ(m.gpus[0].memory_bytes, 150100000000);
  EXPECT_EQ(m.gpus[0].compute_major, 9);
  EXPECT_EQ(m.gpus[1].name, "");
  EXPECT_FALSE(m.gpus[1].multiprocessors);
  EXPECT_EQ(m.rank, 3);
  EXPECT_EQ(m.world_size, 8);
  EXPECT_EQ(m.distributed_backend, "nccl");
  EXPECT_EQ(m.cuda_runtime_version, 13000);
  EXPECT_FALSE(m.hip_runtime_version);
  EXPECT_EQ(m.base_time, Nanos{1731000000000000000});
  EXPECT_EQ(m.trace_name, "/tmp/x.json");
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEnvelope, MayComeBeforeOrAfterTheEvents) {
  expect_whole(read_trace_text(fmt::format("{{{},{}}}", kMetadata, events())));
  expect_whole(read_trace_text(fmt::format("{{{},{}}}", events(), kMetadata)));
}

TEST(KinetoEnvelope, NothingIsKnownOfABareList) {
  const EventStore s = read_trace_text(fmt::format("[{}]", test::cpu_op("a", 1, 2)));
  EXPECT_TRUE(s.metadata().gpus.empty());
  EXPECT_FALSE(s.metadata().rank);
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEnvelope, WhatCameBeforeTheCutIsKept) {
  const std::string whole = fmt::format(R"({{{},{},"more":{{}}}})", kMetadata, events());
  for (size_t missing : {3, 10, 20}) {
    const EventStore s = read_trace_text(std::string_view(whole).substr(0, whole.size() - missing));
    EXPECT_EQ(s.metadata().rank, 3);
    EXPECT_EQ(s.diagnostics().count(Flaw::kTruncated), 1);
    EXPECT_EQ(s.diagnostics().count(Flaw::kMetadataDamaged), 0) << "one flaw, said once";
  }
}

TEST(KinetoEnvelope, LogTextAfterTheEventsLosesOnlyWhatFollows) {
  const EventStore s = read_trace_text(
      fmt::format(R"({{{},{},"note": WARNING: profiler, "x": 1}})", kMetadata, events()));
  EXPECT_EQ(s.size(), 1u);
  EXPECT_EQ(s.metadata().rank, 3);
  EXPECT_EQ(s.diagnostics().count(Flaw::kMetadataDamaged), 1);
  EXPECT_EQ(s.diagnostics().count(Flaw::kTruncated), 0);
}

TEST(KinetoEnvelope, OddTypesAreUnknown) {
  const EventStore s = read_trace_text(
      R"({"deviceProperties":{"name":"x"},"distributedInfo":null,"cuda_runtime_version":"13",)" +
      events() + "}");
  EXPECT_TRUE(s.metadata().gpus.empty());
  EXPECT_FALSE(s.metadata().rank || s.metadata().cuda_runtime_version);
  EXPECT_EQ(s.size(), 1u);
}

}  // namespace
}  // namespace fathom
