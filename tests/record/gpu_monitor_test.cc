// Clocks and power against an NVML that is made up: of three GPUs CUDA shows the third as number 0
// and the first as number 1.
#include "record/gpu_monitor.h"

#include <cstring>
#include <map>

#include "checks.h"
#include "ingest/capture/reader.h"
#include "record/made_capture.h"

namespace fathom {
namespace {

struct FakeNvml {
  bool cuda_started = true, has_instant_power = true, has_nvml = true;
  bool primary_active[2] = {true, false};
  int inits = 0;
};
FakeNvml* fake_nvml = nullptr;

uintptr_t number_of(nvml::Device device) { return reinterpret_cast<uintptr_t>(device); }

record::NvmlApi load_fake_nvml() {
  record::NvmlApi api;
  if (!fake_nvml->has_nvml) return api;
  api.Init = [] {
    ++fake_nvml->inits;
    return 0;
  };
  api.DeviceGetHandleByPciBusId = [](const char* bus, nvml::Device* out) {
    *out = reinterpret_cast<nvml::Device>(static_cast<uintptr_t>(bus[0] - '0'));
    return 0;
  };
  api.DeviceGetClockInfo = [](nvml::Device device, int clock, unsigned* out) {
    *out = (clock == nvml::kSmClock ? 1000u : 3000u) + static_cast<unsigned>(number_of(device));
    return 0;
  };
  api.DeviceGetPowerUsage = [](nvml::Device, unsigned* out) {
    *out = 250'500;
    return 0;
  };
  api.DeviceGetFieldValues = [](nvml::Device, int, record::NvmlField* field) {
    field->result = fake_nvml->has_instant_power ? 0 : 3;
    field->type = 1;
    field->unsigned_number = 400'250;
    return 0;
  };
  api.DeviceGetTemperature = [](nvml::Device, int, unsigned*) { return 3; };  // not supported
  api.DeviceGetClockReasons = [](nvml::Device, unsigned long long* out) {
    *out = 4;
    return 0;
  };
  api.CudaDeviceGetCount = [](int* out) {
    *out = 2;
    return fake_nvml->cuda_started ? 0 : 3;
  };
  api.CudaDeviceGetPciBusId = [](char* out, int, int device) {
    std::strcpy(out, device == 0 ? "3" : "1");
    return 0;
  };
  api.CudaPrimaryContextState = [](int device, unsigned*, int* active) {
    *active = fake_nvml->primary_active[device] ? 1 : 0;
    return 0;
  };
  return api;
}

class GpuMonitorTest : public ::testing::Test {
 protected:
  GpuMonitorTest() { fake_nvml = &nvml_; }
  ~GpuMonitorTest() override { fake_nvml = nullptr; }

  std::map<std::string, std::vector<double>> numbers() {
    TextSource source(sink_.text);
    const Result<EventStore> store = capture::read_capture(source, "made");
    EXPECT_TRUE(store.ok());
    std::map<std::string, std::vector<double>> found;
    for (EventId e(0); e.index < store.value().size(); ++e.index)
      found[std::string(store.value().name(e))].push_back(store.value().counters(e)[0].value);
    return found;
  }

  FakeNvml nvml_;
  StringSink sink_;
  capture::ChunkWriter chunks_{sink_};
  bool begun_ = chunks_.begin();
  record::GpuMonitor monitor_{load_fake_nvml};
  static constexpr uint64_t kTick = record::GpuMonitor::kEvery;
};

TEST_F(GpuMonitorTest, GpusAreFoundByTheirPlaceOnTheBus) {
  monitor_.look(kTick, 0, chunks_);
  monitor_.look(kTick + kTick / 2, 0, chunks_);  // too early
  monitor_.look(2 * kTick, 2, chunks_);          // kernels of CUDA's number 1 were seen
  EXPECT_EQ(numbers(), (std::map<std::string, std::vector<double>>{
                           {"GPU 0 SM clock (MHz)", {1003, 1003}},
                           {"GPU 0 memory clock (MHz)", {3003, 3003}},
                           {"GPU 0 power (W)", {400.25, 400.25}},
                           {"GPU 0 clock event reasons (bits)", {4, 4}},
                           {"GPU 1 SM clock (MHz)", {1001}},
                           {"GPU 1 memory clock (MHz)", {3001}},
                           {"GPU 1 power (W)", {400.25}},
                           {"GPU 1 clock event reasons (bits)", {4}}}));
  EXPECT_EQ(nvml_.inits, 1);
}

TEST_F(GpuMonitorTest, OlderDriversGiveTheMeanPower) {
  nvml_.has_instant_power = false;
  monitor_.look(kTick, 0, chunks_);
  EXPECT_EQ(numbers()["GPU 0 power (W)"], (std::vector<double>{250.5}));
}

TEST_F(GpuMonitorTest, WaitsForTheProgramToStartCuda) {
  nvml_.cuda_started = false;
  monitor_.look(kTick, 0, chunks_);
  EXPECT_EQ(nvml_.inits, 0);
  nvml_.cuda_started = true;
  monitor_.look(2 * kTick, 0, chunks_);
  EXPECT_EQ(numbers()["GPU 0 SM clock (MHz)"].size(), 1u);
}

TEST_F(GpuMonitorTest, WithoutNvmlThereAreNoNumbers) {
  nvml_.has_nvml = false;
  for (uint64_t i = 1; i < 5; ++i) monitor_.look(i * kTick, 1, chunks_);
  EXPECT_TRUE(numbers().empty());
}

TEST(GpuNumbers, NamesAreReadBack) {
  for (size_t i = 0; i < std::size(capture::kGpuNumberNames); ++i) {
    const auto number = static_cast<capture::GpuNumber>(i);
    const auto read = capture::gpu_number_of(capture::gpu_number_name(12, number));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->gpu, 12u);
    EXPECT_EQ(read->number, number);
  }
  for (const char* name : {"", "GPU", "GPU 0", "GPU x SM clock (MHz)", "GPU 0SM clock (MHz)",
                           "GPU 0 SM clock (GHz)", "GPU 99999999999 power (W)", "queue length"})
    EXPECT_FALSE(capture::gpu_number_of(name).has_value()) << name;
}

}  // namespace
}  // namespace fathom
