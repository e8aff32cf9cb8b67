#include "record/pm_sampler.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "record/exit_guard.h"

namespace fathom::record {
namespace {

// Seen on an H200 with 11 metrics: a sample takes 52 µs to decode, 32 to evaluate, some 7 kB of the
// hardware's buffer and 25 kB of the image. A buffer that was full gives nothing any more, and what
// does not fit into the image is lost: room for a second in the one, for 0.1 s in the other.
constexpr auto kDecodeEvery = std::chrono::milliseconds(10);
constexpr uint64_t kSampleBytes = 10'000;
uint64_t hardware_buffer(uint64_t interval_ns) {
  return std::clamp<uint64_t>(1'000'000'000 / interval_ns * kSampleBytes, 64 << 20, 512 << 20);
}
uint32_t samples_at_once(uint64_t interval_ns) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(100'000'000 / interval_ns, 512, 4096));
}
constexpr size_t kMostWaiting = 4 << 20;
// GA100 cannot count nanoseconds. Its system clock runs at about this many cycles for each.
constexpr double kSystemClock = 1.4;

// Clocks run whether there is work or not, and sampling itself writes over PCIe.
bool tells_of_work(const std::string& metric) {
  return metric.starts_with("sm__") || metric.starts_with("dram__") || metric.starts_with("nvl");
}

}  // namespace

PmSampler::PmSampler(const cupti::RangeApi& range, const cupti::PmApi& pm,
                     std::vector<std::string> metrics, uint64_t interval_ns, Note note)
    : range_(range),
      pm_(pm),
      asked_(std::move(metrics)),
      interval_ns_(interval_ns),
      note_(std::move(note)) {
  if (range_.whole() && pm_.whole()) return;
  note_("no sampling: this CUPTI cannot sample; CUDA 12.6's and later can");
  refused_ = true;
}

void PmSampler::begin() {
  const std::lock_guard lock(gpu_mutex_);
  wanted_ = !refused_;
}

void PmSampler::end() {
  const std::lock_guard lock(gpu_mutex_);
  wanted_ = false;
  if (is_over_) return;
  for (auto& [device, gpu] : gpus_) stop(gpu);
}

void PmSampler::end_for_good() {
  const std::lock_guard lock(gpu_mutex_);
  if (is_over_) return;
  for (auto& [device, gpu] : gpus_) decode(gpu);
  is_over_ = true;
}

bool PmSampler::launched(uint32_t device) {
  // Another thread may be starting it, which takes half a second: this one goes on.
  const std::unique_lock lock(gpu_mutex_, std::try_to_lock);
  if (!lock) return false;
  start_on(device);
  return true;
}

void PmSampler::start_on(uint32_t device) {
  if (!wanted_ || refused_ || is_over_) return;
  const auto [found, is_new] = gpus_.try_emplace(device);
  Gpu& gpu = found->second;
  gpu.device = device;
  {
    const NewestAtExit newest(at_exit_);
    if (!is_new || open(gpu)) start(gpu);
  }
  if (!gpu.running || decoding_) return;
  decoding_ = true;
  quiet_thread([this] { run(); }).detach();
}

void PmSampler::refuse(const std::string& what, int code) {
  refused_ = true;
  if (code == cupti::kInsufficientPrivileges) {
    note_(std::string("no sampling: ") + cupti::kHowToAllowCounters);
    return;
  }
  note_("no sampling: " + what + " failed (" + std::to_string(code) + ")");
}

bool PmSampler::open(Gpu& gpu) {
  const auto failed = [this](const char* what, int code) {
    if (code != 0) refuse(what, code);
    return code != 0;
  };
  cupti::ProfilerInitialize initialize{FATHOM_CUPTI_SIZE(cupti::ProfilerInitialize, priv), nullptr};
  if (failed("cuptiProfilerInitialize", range_.ProfilerInitialize(&initialize))) return false;
  cupti::GetChipName chip{FATHOM_CUPTI_SIZE(cupti::GetChipName, chip), nullptr, gpu.device,
                          nullptr};
  if (failed("cuptiDeviceGetChipName", range_.DeviceGetChipName(&chip))) return false;
  gpu.chip = chip.chip;
  cupti::PmAvailability available{FATHOM_CUPTI_SIZE(cupti::PmAvailability, image), nullptr,
                                  gpu.device, 0, nullptr};
  if (failed("cuptiPmSamplingGetCounterAvailability", pm_.GetCounterAvailability(&available)))
    return false;
  gpu.available.resize(available.bytes);
  available.image = gpu.available.data();
  if (failed("cuptiPmSamplingGetCounterAvailability", pm_.GetCounterAvailability(&available)))
    return false;
  std::vector<std::string> left_out;
  gpu.metrics = sampled_metrics(range_, gpu.chip, gpu.available.data(), asked_, left_out);
  for (const std::string& name : left_out)
    note_("not sampled: " + gpu.chip + " has no " + name + " beside the others");
  if (gpu.metrics.names.empty()) {
    refused_ = true;
    note_("no sampling: " + gpu.chip + " has none of the metrics");
    return false;
  }
  if (gpu.metrics.names.size() > capture::kMostActivities)
    gpu.metrics.names.resize(capture::kMostActivities);
  gpu.metrics.pointers.resize(gpu.metrics.names.size());
  cupti::PmEnable enable{FATHOM_CUPTI_SIZE(cupti::PmEnable, object), nullptr, gpu.device, nullptr};
  if (failed("cuptiPmSamplingEnable", pm_.Enable(&enable))) return false;
  gpu.object = enable.object;
  cupti::PmSetConfig config{FATHOM_CUPTI_SIZE(cupti::PmSetConfig, append),
                            nullptr,
                            gpu.object,
                            gpu.metrics.config.size(),
                            gpu.metrics.config.data(),
                            hardware_buffer(interval_ns_),
                            interval_ns_,
                            cupti::kEveryNanoseconds,
                            cupti::kKeepOldest};
  int code = pm_.SetConfig(&config);
  if (code != 0 && code != cupti::kInsufficientPrivileges) {
    config.mode = cupti::kEveryCycles;
    config.interval = static_cast<uint64_t>(static_cast<double>(interval_ns_) * kSystemClock);
    code = pm_.SetConfig(&config);
  }
  cupti::PmDataSize size{FATHOM_CUPTI_SIZE(cupti::PmDataSize, bytes),
                         nullptr,
                         gpu.object,
                         gpu.metrics.pointers.data(),
                         gpu.metrics.pointers.size(),
                         samples_at_once(interval_ns_),
                         0};
  if (failed("cuptiPmSamplingSetConfig", code) ||
      failed("cuptiPmSamplingGetCounterDataSize", pm_.GetCounterDataSize(&size))) {
    gpu.object = nullptr;
    return false;
  }
  gpu.image.resize(size.bytes);
  std::string line = "activity\t" + std::to_string(gpu.device);
  for (const std::string& name : gpu.metrics.names) line += "\t" + name;
  const std::lock_guard lock(mutex_);
  meta_ += line + "\n";
  return true;
}

bool PmSampler::clear(Gpu& gpu) {
  cupti::PmDataInitialize clear{FATHOM_CUPTI_SIZE(cupti::PmDataInitialize, image), nullptr,
                                gpu.object, gpu.image.size(), gpu.image.data()};
  return pm_.CounterDataImageInitialize(&clear) == 0;
}

void PmSampler::start(Gpu& gpu) {
  if (gpu.object == nullptr || gpu.running || !clear(gpu)) return;
  cupti::PmObject object{FATHOM_CUPTI_SIZE(cupti::PmObject, object), nullptr, gpu.object};
  if (const int code = pm_.Start(&object)) return refuse("cuptiPmSamplingStart", code);
  gpu.running = true;
}

void PmSampler::stop(Gpu& gpu) {
  if (!gpu.running) return;
  cupti::PmObject object{FATHOM_CUPTI_SIZE(cupti::PmObject, object), nullptr, gpu.object};
  pm_.Stop(&object);
  decode(gpu);
  gpu.running = false;
}

void PmSampler::lost(const std::string& why) {
  if (said_lost_) return;
  said_lost_ = true;
  note_("samples are lost: " + why + "; a longer interval helps, such as --pm-sampling=" +
        std::to_string(std::max<uint64_t>(200, interval_ns_ / 1000 * 4)) + "us");
}

void PmSampler::decode(Gpu& gpu) {
  if (!gpu.running) return;
  cupti::PmDecode decode{FATHOM_CUPTI_SIZE(cupti::PmDecode, overflow),
                         nullptr,
                         gpu.object,
                         gpu.image.data(),
                         gpu.image.size(),
                         0,
                         0};
  const int code = pm_.DecodeData(&decode);
  if (code != 0) {
    // Its buffer stays full, so no later sample can be had either.
    lost(decode.overflow != 0 ? "the GPU's buffer for them was full"
                              : "CUPTI cannot decode them (" + std::to_string(code) + ")");
    cupti::PmObject object{FATHOM_CUPTI_SIZE(cupti::PmObject, object), nullptr, gpu.object};
    pm_.Stop(&object);
    gpu.running = false;
    return;
  }
  if (decode.stopped_by == cupti::kImageIsFull) {
    lost("this machine decodes them too slowly");
  }
  take_samples(gpu);
  if (!clear(gpu)) gpu.running = false;
}

void PmSampler::take_samples(const Gpu& gpu) {
  cupti::PmDataInfo info{FATHOM_CUPTI_SIZE(cupti::PmDataInfo, completed),
                         nullptr,
                         gpu.image.data(),
                         gpu.image.size(),
                         0,
                         0,
                         0};
  if (pm_.GetCounterDataInfo(&info) != 0) return;
  std::vector<const char*> names = gpu.metrics.pointers;
  std::vector<double> values(names.size());
  std::vector<capture::Activity> samples;
  samples.reserve(info.completed);
  for (size_t i = 0; i < info.completed; ++i) {
    cupti::PmSampleInfo at{FATHOM_CUPTI_SIZE(cupti::PmSampleInfo, end),
                           nullptr,
                           gpu.object,
                           gpu.image.data(),
                           gpu.image.size(),
                           i,
                           0,
                           0};
    cupti::HostEvaluate evaluate{FATHOM_CUPTI_SIZE(cupti::HostEvaluate, values),
                                 nullptr,
                                 gpu.metrics.host,
                                 gpu.image.data(),
                                 gpu.image.size(),
                                 i,
                                 names.data(),
                                 names.size(),
                                 values.data()};
    if (pm_.CounterDataGetSampleInfo(&at) != 0 || at.end <= at.start ||
        range_.ProfilerHostEvaluateToGpuValues(&evaluate) != 0) {
      continue;
    }
    capture::Activity sample = {
        at.start, at.end, gpu.device, static_cast<uint32_t>(values.size()), {}};
    for (size_t v = 0; v < values.size(); ++v)
      sample.values[v] = std::isfinite(values[v]) ? static_cast<float>(values[v]) : 0;
    samples.push_back(sample);
  }
  gave_samples_ = gave_samples_ || !samples.empty();
  const auto is_idle = [&gpu](const capture::Activity& sample) {
    for (uint32_t v = 0; v < sample.count; ++v) {
      if (sample.values[v] != 0 && tells_of_work(gpu.metrics.names[v])) return false;
    }
    return true;
  };
  const std::lock_guard lock(mutex_);
  for (const capture::Activity& sample : samples) {
    // A GPU that does nothing needs one record for all that time.
    if (!waiting_.empty() && waiting_.back().device == sample.device &&
        waiting_.back().end == sample.start && is_idle(sample) && is_idle(waiting_.back())) {
      waiting_.back().end = sample.end;
    } else if (waiting_.size() < kMostWaiting) {
      waiting_.push_back(sample);
    }
  }
}

void PmSampler::run() {
  pthread_setname_np(pthread_self(), "fathom-sample");
  while (true) {
    std::this_thread::sleep_for(kDecodeEvery);
    const std::lock_guard lock(gpu_mutex_);
    if (is_over_) return;
    // The first samples set up their evaluation.
    const bool is_first = !gave_samples_ && std::ranges::any_of(gpus_, [](const auto& entry) {
      return entry.second.running;
    });
    std::optional<NewestAtExit> newest;
    if (is_first) newest.emplace(at_exit_);
    for (auto& [device, gpu] : gpus_) decode(gpu);
  }
}

void PmSampler::write(capture::ChunkWriter& out) {
  std::vector<capture::Activity> samples;
  std::string meta;
  {
    const std::lock_guard lock(mutex_);
    samples.swap(waiting_);
    meta.swap(meta_);
  }
  if (!meta.empty()) out.write_meta(meta);
  out.write<capture::Activity>(capture::ChunkKind::kActivity, samples);
}

}  // namespace fathom::record
