#include "record/pm_sampler.h"

#include <atomic>
#include <chrono>
#include <cstring>

#include "checks.h"
#include "ingest/capture/sampled_counters.h"
#include "record/made_capture.h"

namespace fathom {
namespace {

// Stands for CUPTI: a GPU that gives three samples at each decoding, and says what was asked of it.
struct SampledGpu {
  std::mutex mutex;
  int opened = 0, started = 0, decoded = 0, stopped = 0;
  int enable_code = 0, decode_code = 0;
  uint8_t overflow = 0;
  uint64_t clock = 1000;
};
SampledGpu* sampled_gpu = nullptr;

cupti::RangeApi host_side_of_gpu() {
  cupti::RangeApi api;
  api.ProfilerInitialize = [](cupti::ProfilerInitialize*) { return 0; };
  api.DeviceGetChipName = [](cupti::GetChipName* p) {
    p->chip = "GH100";
    return 0;
  };
  api.ProfilerHostInitialize = [](cupti::HostInitialize* p) {
    p->host = new size_t(0);  // how many metrics it has
    return 0;
  };
  api.ProfilerHostDeinitialize = [](cupti::HostDeinitialize* p) {
    delete static_cast<size_t*>(p->host);
    return 0;
  };
  api.ProfilerHostConfigAddMetrics = [](cupti::HostAddMetrics* p) {
    for (size_t i = 0; i < p->count; ++i) {
      if (std::strstr(p->names[i], "absent") != nullptr) return 1;
    }
    *static_cast<size_t*>(p->host) = p->count;
    return 0;
  };
  api.ProfilerHostGetConfigImageSize = [](cupti::HostConfigSize* p) {
    p->bytes = 1;
    return 0;
  };
  api.ProfilerHostGetConfigImage = [](cupti::HostConfig* p) {
    p->image[0] = static_cast<uint8_t>(*static_cast<size_t*>(p->host));
    return 0;
  };
  // More than three do not fit into a pass.
  api.ProfilerHostGetNumOfPasses = [](cupti::HostPasses* p) {
    p->passes = p->image[0] <= 3 ? 1 : 2;
    return 0;
  };
  api.ProfilerHostEvaluateToGpuValues = [](cupti::HostEvaluate* p) {
    for (size_t i = 0; i < p->count; ++i) p->values[i] = static_cast<double>(10 * (i + 1));
    return 0;
  };
  api.RangeProfilerEnable = [](cupti::RangeEnable*) { return 0; };
  api.RangeProfilerDisable = [](cupti::RangeObject*) { return 0; };
  api.RangeProfilerStart = [](cupti::RangeObject*) { return 0; };
  api.RangeProfilerStop = [](cupti::RangeStop*) { return 0; };
  api.RangeProfilerDecodeData = [](cupti::RangeDecode*) { return 0; };
  api.RangeProfilerSetConfig = [](cupti::RangeSetConfig*) { return 0; };
  api.RangeProfilerGetCounterDataSize = [](cupti::RangeDataSize*) { return 0; };
  api.RangeProfilerCounterDataImageInitialize = [](cupti::RangeDataInitialize*) { return 0; };
  api.RangeProfilerGetCounterDataInfo = [](cupti::RangeDataInfo*) { return 0; };
  return api;
}

cupti::PmApi pm_side_of_gpu() {
  cupti::PmApi api;
  api.Enable = [](cupti::PmEnable* p) {
    ++sampled_gpu->opened;
    p->object = sampled_gpu;
    return sampled_gpu->enable_code;
  };
  api.Disable = [](cupti::PmObject*) { return 0; };
  api.SetConfig = [](cupti::PmSetConfig*) { return 0; };
  api.Start = [](cupti::PmObject*) {
    ++sampled_gpu->started;
    return 0;
  };
  api.Stop = [](cupti::PmObject*) {
    ++sampled_gpu->stopped;
    return 0;
  };
  api.DecodeData = [](cupti::PmDecode* p) {
    const std::lock_guard lock(sampled_gpu->mutex);
    ++sampled_gpu->decoded;
    p->overflow = sampled_gpu->overflow;
    return sampled_gpu->decode_code;
  };
  api.GetCounterAvailability = [](cupti::PmAvailability* p) {
    p->bytes = 4;
    return 0;
  };
  api.GetCounterDataSize = [](cupti::PmDataSize* p) {
    p->bytes = 16;
    return 0;
  };
  api.CounterDataImageInitialize = [](cupti::PmDataInitialize*) { return 0; };
  api.GetCounterDataInfo = [](cupti::PmDataInfo* p) {
    p->all = p->populated = p->completed = 3;
    return 0;
  };
  api.CounterDataGetSampleInfo = [](cupti::PmSampleInfo* p) {
    const std::lock_guard lock(sampled_gpu->mutex);
    p->start = sampled_gpu->clock;
    // The last one of a decoding covers no time, as after a stop.
    if (p->index < 2) sampled_gpu->clock += 100;
    p->end = sampled_gpu->clock;
    return 0;
  };
  return api;
}

class PmSamplerTest : public ::testing::Test {
 protected:
  PmSamplerTest() { sampled_gpu = new SampledGpu; }  // the sampler's thread may outlive the test

  // Never deleted either, as in a program.
  record::PmSampler& sampler(std::vector<std::string> metrics) {
    auto* made =
        new record::PmSampler(host_side_of_gpu(), pm_side_of_gpu(), std::move(metrics), 100'000,
                              [this](const std::string& text) { notes_ += text + "\n"; });
    made->set_at_exit([exits = exits_] { ++*exits; });
    return *made;
  }
  std::string written(record::PmSampler& sampler) {
    StringSink sink;
    capture::ChunkWriter writer(sink);
    sampler.write(writer);
    return sink.text;
  }
  int decoded() {
    const std::lock_guard lock(sampled_gpu->mutex);
    return sampled_gpu->decoded;
  }

  std::string notes_;
  std::atomic<int>* const exits_ = new std::atomic<int>(0);  // the thread may outlive the test
};

TEST_F(PmSamplerTest, StartsWithTheFirstLaunchAndWritesWhatTheGpuSays) {
  record::PmSampler& made = sampler({"sm__a.sum", "?absent.sum", "absent|dram__b.sum"});
  made.begin();
  EXPECT_EQ(sampled_gpu->opened, 0);
  made.launched(0);
  made.launched(0);
  EXPECT_EQ(sampled_gpu->opened, 1);
  EXPECT_EQ(sampled_gpu->started, 1);
  made.end();
  EXPECT_EQ(sampled_gpu->stopped, 1);
  EXPECT_GE(decoded(), 1);
  const std::string bytes = written(made);
  EXPECT_NE(bytes.find("activity\t0\tsm__a.sum\tdram__b.sum\n"), std::string::npos);
  // Two samples of each decoding cover time.
  EXPECT_GT(bytes.size(), 2 * sizeof(capture::Activity));
  EXPECT_EQ(notes_, "");
  EXPECT_GE(*exits_, 1);
  EXPECT_EQ(written(made), "");
}

TEST_F(PmSamplerTest, MetricsThatDoNotFitIntoAPassAreLeftOutAndSaid) {
  record::PmSampler& made = sampler({"a.sum", "b.sum", "c.sum", "d.sum", "?e.sum"});
  made.begin();
  made.launched(0);
  made.end();
  EXPECT_NE(written(made).find("activity\t0\ta.sum\tb.sum\tc.sum\n"), std::string::npos);
  EXPECT_EQ(notes_, "not sampled: GH100 has no d.sum beside the others\n");
}

TEST_F(PmSamplerTest, AfterTheProgramsEndCuptiIsNotAskedAnyMore) {
  record::PmSampler& made = sampler({"a.sum"});
  made.begin();
  made.launched(0);
  made.end_for_good();
  const int asked = decoded();
  made.end();
  made.end_for_good();
  made.launched(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(decoded(), asked);
  EXPECT_EQ(sampled_gpu->opened, 1);
  EXPECT_EQ(sampled_gpu->stopped, 0);
}

TEST_F(PmSamplerTest, AFullBufferEndsItWithANote) {
  record::PmSampler& made = sampler({"a.sum"});
  sampled_gpu->decode_code = 8;
  sampled_gpu->overflow = 1;
  made.begin();
  made.launched(0);
  made.end();
  EXPECT_GE(sampled_gpu->stopped, 1);
  EXPECT_EQ(notes_,
            "samples are lost: the GPU's buffer for them was full; a longer interval helps, such "
            "as --pm-sampling=400us\n");
}

TEST_F(PmSamplerTest, RefusedPermissionSaysHowToGetIt) {
  record::PmSampler& made = sampler({"a.sum"});
  sampled_gpu->enable_code = cupti::kInsufficientPrivileges;
  made.begin();
  made.launched(0);
  made.launched(0);
  made.end();
  EXPECT_EQ(sampled_gpu->opened, 1);
  EXPECT_EQ(sampled_gpu->started, 0);
  EXPECT_NE(notes_.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos) << notes_;
}

TEST_F(PmSamplerTest, NothingIsAskedBeforeItBegins) {
  record::PmSampler& made = sampler({"a.sum"});
  made.launched(0);
  EXPECT_EQ(sampled_gpu->opened, 0);
}

}  // namespace
}  // namespace fathom
