// Collectives: what is told of them, and near-twins of which it must not be.
#include "analyze/communication.h"

#include "checks.h"
#include "sheets/collectives.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::first_finding;
using test::kMatrix;
using test::kTwoBf16;
using test::Workload;

// A collective of `megabytes` (bf16) that runs for `time` µs after the work before it.
void collective(Workload& w, double megabytes, int64_t time, int64_t ranks = 8) {
  const auto elements = static_cast<int64_t>(megabytes * (1 << 20) / 2);
  const int64_t correlation = w.next_correlation();
  w.raw(test::launch_call(w.host(), 4, correlation));
  w.raw(fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL",)"
      R"("pid":0,"tid":20,"ts":{},"dur":{},"args":{{"device":0,"stream":20,"correlation":{},)"
      R"("Collective name":"allreduce","In msg nelems":{},"Out msg nelems":{},"Group size":{},)"
      R"("dtype":"BFloat16"}}}})",
      w.gpu(), time, correlation, elements, elements, ranks));
  w.skip_gpu(time);
}

Finding exposed(const Workload& w) {
  const auto findings = w.find();
  const Finding* f = first_finding(findings, FindingKind::kExposedCommunication);
  EXPECT_NE(f, nullptr);
  return f == nullptr ? Finding{} : *f;
}

bool told(const Finding& f, std::string_view part) {
  return std::ranges::any_of(
      f.notes, [&](const Note& n) { return n.before.find(part) != std::string::npos; });
}

TEST(Communication, ManySmallCollectivesWantLargerBuckets) {
  Workload w;
  const int64_t begin = w.host();
  w.op("MmBackward0", kMatrix, kTwoBf16, 200);
  for (int i = 0; i < 400; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    collective(w, 0.01, 30);
  }
  w.raw(test::annotation("ProfilerStep#1", begin, w.gpu() - begin + 10));
  const Finding f = exposed(w);
  EXPECT_EQ(f.title, "Exposed communication: 400 small collectives a step");
  EXPECT_NE(f.change_code.find("larger buckets"), std::string::npos) << f.change_code;
  EXPECT_EQ(f.change_code.find("smaller buckets"), std::string::npos) << f.change_code;
}

// A collective as the host sees it: the op that asks for it.
void host_collective(Workload& w, double megabytes, int64_t time) {
  const auto elements = static_cast<int64_t>(megabytes * (1 << 20) / 2);
  w.raw(test::cpu_op("record_param_comms", w.host(), time,
                     fmt::format(R"("Collective name":"allreduce","In msg nelems":{},)"
                                 R"("Out msg nelems":{},"Group size":2,"dtype":"BFloat16")",
                                 elements, elements)));
  w.host_pause(time);
}

TEST(Communication, GradientsExchangedOneByOneWantBuckets) {
  const auto found = [](const char* gradient, int collectives, double megabytes) {
    Workload w;
    const int64_t begin = w.host();
    w.op(gradient, kMatrix, kTwoBf16, 200);
    for (int i = 0; i < collectives; ++i) host_collective(w, megabytes, 100);
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    w.raw(test::annotation("ProfilerStep#1", begin, w.host() - begin + 300));
    const auto findings = w.find();
    const Finding* f = first_finding(findings, FindingKind::kSmallCollectives);
    return f == nullptr ? std::string("none") : f->title;
  };
  EXPECT_EQ(found("MmBackward0", 32, 0.25), "32 small collectives a step, median 256.0 KB");
  // Near-twins: inference, where layers wait for their own; few; large ones.
  EXPECT_EQ(found("aten::mm", 32, 0.25), "none");
  EXPECT_EQ(found("MmBackward0", 4, 0.25), "none");
  EXPECT_EQ(found("MmBackward0", 32, 25), "none");
}

// Near-twin: the layers of an inference that is split over GPUs wait for their own collectives.
TEST(Communication, CollectivesOfLayersCannotBePutTogether) {
  Workload w;
  const int64_t begin = w.host();
  for (int i = 0; i < 80; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    collective(w, 0.01, 30);
  }
  w.raw(test::annotation("ProfilerStep#1", begin, w.gpu() - begin + 10));
  const Finding f = exposed(w);
  EXPECT_EQ(f.change_code.find("buckets"), std::string::npos) << f.change_code;
  EXPECT_NE(f.change_code.find("less latency"), std::string::npos) << f.change_code;
}

TEST(Communication, FewHugeCollectivesWantSmallerBuckets) {
  Workload w;
  const int64_t begin = w.host();
  for (int i = 0; i < 50; ++i) w.op("aten::mm", kMatrix, kTwoBf16, 200);
  collective(w, 1000, 5000);
  w.raw(test::annotation("ProfilerStep#1", begin, w.gpu() - begin + 10));
  const Finding f = exposed(w);
  EXPECT_NE(f.change_code.find("smaller buckets"), std::string::npos) << f.change_code;
  EXPECT_EQ(f.change_code.find("larger buckets"), std::string::npos) << f.change_code;
}

// Near-twin of both: some of the usual size.
TEST(Communication, UsualBucketsAreOnlyToBeOverlapped) {
  Workload w;
  for (int i = 0; i < 20; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    collective(w, 25, 110);
  }
  const Finding f = exposed(w);
  EXPECT_EQ(f.title, "Exposed communication");
  EXPECT_EQ(f.change_code.find("er buckets"), std::string::npos) << f.change_code;
  // 25 MB x 2 x 7/8 in 110 µs: 417 GB/s of NVLink's 450.
  EXPECT_TRUE(told(f, "417.0 GB/s, 92.7 % of the 450 GB/s of nvlink")) << f.notes.at(0).before;
  EXPECT_TRUE(told(f, "include waiting for other ranks"));
  EXPECT_EQ(f.change_code.find("far from its bandwidth"), std::string::npos);
}

TEST(Communication, ASlowLinkIsTold) {
  Workload w;
  for (int i = 0; i < 20; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    collective(w, 25, 1100);
  }
  EXPECT_NE(exposed(w).change_code.find("far from its bandwidth"), std::string::npos);
}

// 64 ranks do not share one machine's links: their bandwidth is not known.
TEST(Communication, AcrossMachinesNoLinkIsAssumed) {
  Workload w;
  for (int i = 0; i < 20; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    collective(w, 25, 1100, 64);
  }
  const Finding f = exposed(w);
  EXPECT_TRUE(told(f, "the bandwidth of the link is not known"));
  EXPECT_EQ(f.change_code.find("far from its bandwidth"), std::string::npos);
}

// 1 ms of computation cannot hide 20 ms of communication.
TEST(Communication, OverlapSavesNoMoreThanThereIsComputation) {
  Workload w;
  for (int i = 0; i < 5; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    collective(w, 500, 4000);
  }
  const Finding f = exposed(w);
  ASSERT_EQ(f.projections.size(), 2u);
  EXPECT_NEAR(f.projections[0].time.micros(), 20'000 - 1000, 50) << "by overlap";
  EXPECT_TRUE(told(f, "Overlap can hide at most"));
  // The bytes take 10.2 ms at the link's bandwidth, of which 1 ms can be hidden.
  EXPECT_NEAR(f.saving_at_most.micros(), 20'000 - 9200, 100);
  EXPECT_NE(f.change_code.find("Overlap alone cannot hide it"), std::string::npos);
}

TEST(Communication, TheFactorOfACollectiveWhoeverNamesIt) {
  for (const char* name :
       {"allreduce", "all_reduce", "gloo:all_reduce", "AllReduce", "allreduce_coalesced"})
    EXPECT_DOUBLE_EQ(*bus_factor(name, 8), 1.75) << name;
  for (const char* name : {"_allgather_base", "all_gather", "reduce_scatter",
                           "_reduce_scatter_base", "ReduceScatter", "all_to_all", "alltoall"})
    EXPECT_DOUBLE_EQ(*bus_factor(name, 8), 0.875) << name;
  EXPECT_DOUBLE_EQ(*bus_factor("broadcast", 8), 1);
  EXPECT_FALSE(bus_factor("allreduce", {}));
}

}  // namespace
}  // namespace fathom
