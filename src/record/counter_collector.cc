#include "record/counter_collector.h"

#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace fathom::record {
namespace {

// The launch that this thread counts: calls inside it are none of ours.
thread_local bool counting_here = false;

uint64_t wall_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

std::string dims_text(const uint32_t (&dims)[3]) {
  return std::to_string(dims[0]) + "," + std::to_string(dims[1]) + "," + std::to_string(dims[2]);
}

constexpr size_t kMostRanges = 4;

}  // namespace

std::string kernel_key(std::string_view mangled, const LaunchArguments& launch) {
  return std::string(mangled) + "\t" + dims_text(launch.grid) + "\t" + dims_text(launch.block) +
         "\t" + std::to_string(launch.dynamic_shared);
}

CounterCollector::CounterCollector(const cupti::Api& api, CounterPlan plan,
                                   capture::ChunkWriter& out, Note note)
    : api_(api),
      range_(cupti::range_api(api.library)),
      plan_(std::move(plan)),
      out_(out),
      note_(std::move(note)) {
  for (const std::string& key : plan_.kernels) keys_.try_emplace(key);
  open_keys_ = keys_.size();
  if (!range_.whole()) {
    note_("no counters: this CUPTI has no range profiler; CUDA 12.6's and later have one");
    failed_ = true;
    return;
  }
}

void CounterCollector::fail(const std::string& what, int code) {
  failed_ = true;
  if (code == cupti::kInsufficientPrivileges) {
    note_(std::string("no counters: ") + cupti::kHowToAllowCounters);
    return;
  }
  const char* text = nullptr;
  if (api_.GetResultString != nullptr) api_.GetResultString(code, &text);
  note_("no counters: " + what + ": " + (text != nullptr ? text : "error") + " (" +
        std::to_string(code) + ")");
}

CounterCollector::Context* CounterCollector::context_of(void* context) {
  const auto [found, is_new] = contexts_.try_emplace(context);
  Context& made = found->second;
  if (!is_new) return made.context != nullptr ? &made : nullptr;
  // Not earlier: the driver has to be initialized.
  cupti::ProfilerInitialize start{FATHOM_CUPTI_SIZE(cupti::ProfilerInitialize, priv), nullptr};
  if (const int code = range_.ProfilerInitialize(&start)) {
    fail("cuptiProfilerInitialize", code);
    return nullptr;
  }
  if (api_.GetDeviceId != nullptr) api_.GetDeviceId(context, &made.device);
  cupti::GetChipName chip{FATHOM_CUPTI_SIZE(cupti::GetChipName, chip), nullptr, made.device,
                          nullptr};
  if (const int code = range_.DeviceGetChipName(&chip)) {
    fail("cuptiDeviceGetChipName", code);
    return nullptr;
  }
  std::vector<std::string> unknown;
  made.groups = group_metrics(range_, chip.chip, plan_.metrics, plan_.replay, unknown);
  // Without replay a kernel runs once: what needs more passes is left out, and said.
  if (!plan_.replay) {
    std::erase_if(made.groups, [&](const MetricGroup& group) {
      if (group.passes == 1) return false;
      for (const std::string& name : group.names) {
        const bool is_expected = std::ranges::any_of(plan_.metrics, [&](const std::string& asked) {
          return asked.substr(0, 2).find('+') != std::string::npos &&
                 asked.find(name) != std::string::npos;
        });
        if (!is_expected) note_("not counted without --replay: " + name);
      }
      return true;
    });
  }
  for (const std::string& name : unknown)
    note_(std::string("not counted: ") + chip.chip + " has no " + name);
  if (made.groups.empty()) {
    fail("no metric can be counted here", 0);
    return nullptr;
  }
  made.context = context;
  return &made;
}

// Seen with CUDA 13.0: a profiler gives values for the first metrics that it was asked for alone.
bool CounterCollector::open_profiler(Context& context) {
  if (context.object != nullptr) {
    cupti::RangeObject close{FATHOM_CUPTI_SIZE(cupti::RangeObject, object), nullptr,
                             context.object};
    range_.RangeProfilerDisable(&close);
    context.object = nullptr;
  }
  cupti::RangeEnable enable{FATHOM_CUPTI_SIZE(cupti::RangeEnable, object), nullptr, context.context,
                            nullptr};
  if (const int code = range_.RangeProfilerEnable(&enable)) {
    fail("cuptiRangeProfilerEnable", code);
    return false;
  }
  context.object = enable.object;
  return true;
}

bool CounterCollector::prepare(Context& context, size_t index) {
  MetricGroup& group = context.groups[index];
  if (context.group != index) {
    if (!open_profiler(context)) return false;
    cupti::RangeDataSize size{FATHOM_CUPTI_SIZE(cupti::RangeDataSize, bytes),
                              nullptr,
                              context.object,
                              group.pointers.data(),
                              group.pointers.size(),
                              kMostRanges,
                              kMostRanges,
                              0};
    if (const int code = range_.RangeProfilerGetCounterDataSize(&size)) {
      fail("cuptiRangeProfilerGetCounterDataSize", code);
      return false;
    }
    context.image.resize(size.bytes);
    context.group = index;
  }
  std::vector<uint8_t>& image = context.image;
  cupti::RangeDataInitialize clear{FATHOM_CUPTI_SIZE(cupti::RangeDataInitialize, image), nullptr,
                                   context.object, image.size(), image.data()};
  if (const int code = range_.RangeProfilerCounterDataImageInitialize(&clear)) {
    fail("cuptiRangeProfilerCounterDataImageInitialize", code);
    return false;
  }
  cupti::RangeSetConfig config{FATHOM_CUPTI_SIZE(cupti::RangeSetConfig, target_level),
                               nullptr,
                               context.object,
                               group.config.size(),
                               group.config.data(),
                               image.size(),
                               image.data(),
                               cupti::kAutoRange,
                               cupti::kKernelReplay,
                               kMostRanges,
                               1,
                               1,
                               0,
                               0};
  if (const int code = range_.RangeProfilerSetConfig(&config)) {
    fail("cuptiRangeProfilerSetConfig", code);
    return false;
  }
  return true;
}

void CounterCollector::before(void* context, std::string_view mangled,
                              const LaunchArguments& launch) {
  if (counting_here || failed_) return;
  std::unique_lock lock(mutex_);
  const auto found = keys_.find(kernel_key(mangled, launch));
  if (found == keys_.end()) return;
  Key& key = found->second;
  ++key.seen;
  Context* here = context_of(context);
  if (here == nullptr) return;
  key.counted.resize(here->groups.size(), 0);
  const auto least = std::ranges::min_element(key.counted);
  if (*least >= plan_.occurrences) return;
  if (!prepare(*here, static_cast<size_t>(least - key.counted.begin()))) return;
  cupti::RangeObject start{FATHOM_CUPTI_SIZE(cupti::RangeObject, object), nullptr, here->object};
  if (const int code = range_.RangeProfilerStart(&start)) {
    fail("cuptiRangeProfilerStart", code);
    return;
  }
  current_ = here;
  current_key_ = &key;
  current_name_ = mangled;
  current_launch_ = launch;
  counting_here = true;
  counting_ = std::move(lock);
}

void CounterCollector::after() {
  if (!counting_here) return;
  counting_here = false;
  const std::unique_lock lock = std::move(counting_);
  Context& context = *current_;
  cupti::RangeStop stop{
      FATHOM_CUPTI_SIZE(cupti::RangeStop, all_passes), nullptr, context.object, 0, 0, 0};
  if (const int code = range_.RangeProfilerStop(&stop)) return fail("cuptiRangeProfilerStop", code);
  cupti::RangeDecode decode{FATHOM_CUPTI_SIZE(cupti::RangeDecode, dropped), nullptr, context.object,
                            0};
  if (const int code = range_.RangeProfilerDecodeData(&decode))
    return fail("cuptiRangeProfilerDecodeData", code);
  Key& key = *current_key_;
  ++key.counted[context.group];
  if (std::ranges::all_of(key.counted, [this](int n) { return n >= plan_.occurrences; }))
    --open_keys_;
  write(context);
}

std::string CounterCollector::demangled(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : mangled;
  std::free(text);
  return out;
}

void CounterCollector::write(const Context& context) {
  const MetricGroup& group = context.groups[context.group];
  const std::vector<uint8_t>& image = context.image;
  cupti::RangeDataInfo info{FATHOM_CUPTI_SIZE(cupti::RangeDataInfo, ranges), nullptr, image.data(),
                            image.size(), 0};
  // Another thread's kernel in between would be a second range, and which is which is not known.
  if (range_.RangeProfilerGetCounterDataInfo(&info) != 0 || info.ranges != 1) return;
  std::vector<double> values(group.names.size());
  std::vector<const char*> names = group.pointers;
  cupti::HostEvaluate evaluate{FATHOM_CUPTI_SIZE(cupti::HostEvaluate, values),
                               nullptr,
                               group.host,
                               image.data(),
                               image.size(),
                               0,
                               names.data(),
                               names.size(),
                               values.data()};
  if (range_.ProfilerHostEvaluateToGpuValues(&evaluate) != 0) return;
  std::vector<capture::Counter> records;
  const uint64_t now = wall_ns();
  const capture::TextId shown = out_.text(demangled(current_name_));
  const capture::TextId mangled = out_.text(current_name_);
  for (size_t i = 0; i < values.size(); ++i) {
    bool& had_value = had_value_[group.names[i]];
    if (!std::isfinite(values[i])) continue;  // CUPTI has none, or it is a rate of nothing
    had_value = true;
    capture::Counter record = {};
    record.time = now;
    record.value = values[i];
    record.name = shown;
    record.mangled = mangled;
    record.metric = out_.text(group.names[i]);
    std::copy_n(current_launch_.grid, 3, record.grid);
    std::copy_n(current_launch_.block, 3, record.block);
    record.dynamic_shared = current_launch_.dynamic_shared;
    record.device = context.device;
    record.occurrence = current_key_->seen - 1;
    record.passes = static_cast<uint32_t>(group.passes);
    records.push_back(record);
  }
  out_.write<capture::Counter>(capture::ChunkKind::kCounters, records);
}

void CounterCollector::say_what_is_missing() {
  std::string names;
  size_t count = 0;
  for (const auto& [name, had_value] : had_value_) {
    if (had_value) continue;
    if (++count <= 3) names += (names.empty() ? "" : ", ") + name;
  }
  if (count == 0) return;
  if (count > 3) names += " and " + std::to_string(count - 3) + " more";
  note_("CUPTI gave no value for " + names + (plan_.replay ? "" : "; --replay may get them"));
}

}  // namespace fathom::record
