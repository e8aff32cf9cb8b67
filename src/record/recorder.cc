#include "record/recorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "record/exit_guard.h"

namespace fathom::record {
namespace {

constexpr size_t kBufferSize = 2 << 20;
constexpr size_t kMostBuffers = 192;  // beyond, records are dropped and counted
constexpr auto kFlushEvery = std::chrono::milliseconds(250);
constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr auto kMonitorEvery = std::chrono::nanoseconds(GpuMonitor::kEvery);
constexpr auto kLongestEnd = std::chrono::seconds(20);
// Of PC sampling, which does not end before the GPU is idle: a program's threads may go on
// launching.
constexpr auto kLongestSamplingEnd = std::chrono::seconds(5);

std::atomic<Recorder*> current_recorder = nullptr;

// Calls that start work, move data, wait, or take memory. Of the others there are ten for each
// launch (cudaGetDevice, cudaGetLastError, …), and each would cost as much as one of these.
bool is_worth_recording(std::string_view name) {
  constexpr std::string_view kParts[] = {
      "Launch",   "Memcpy",      "Memset",   "Synchronize",  "WaitEvent",    "EventRecord",
      "Malloc",   "Free",        "MemAlloc", "MemCreate",    "MemMap",       "HostAlloc",
      "Register", "Instantiate", "Prefetch", "BeginCapture", "EndCapture",   "ModuleLoad",
      "Library",  "ExecUpdate",  "Ipc",      "StreamCreate", "EventElapsed", "DeviceReset"};
  for (const std::string_view part : kParts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

template <typename Visit>
void for_each_call(const cupti::Api& api, uint32_t domain, Visit visit) {
  constexpr uint32_t kMostCalls = 2000, kLastGap = 64;
  uint32_t unknown = 0;
  for (uint32_t id = 1; id < kMostCalls && unknown < kLastGap; ++id) {
    const char* name = nullptr;
    if (api.GetCallbackName(domain, id, &name) != cupti::kSuccess || name == nullptr) {
      ++unknown;
      continue;
    }
    unknown = 0;
    visit(id, name);
  }
}

void buffer_requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;
  Recorder* recorder = Recorder::current();
  *buffer = recorder != nullptr ? recorder->give_buffer(*size) : nullptr;
  if (*buffer == nullptr) *size = 0;
}

void buffer_completed(void* /*context*/, uint32_t /*stream*/, uint8_t* buffer, size_t /*size*/,
                      size_t valid) {
  if (Recorder* recorder = Recorder::current()) recorder->take_buffer(buffer, valid);
}

// Only where counters or PC samples are asked for is anything watched.
void launch_callback(void*, uint32_t domain, uint32_t call, const void* what) {
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr || what == nullptr) return;
  try {
    if (domain == cupti::kResourceDomain) {
      recorder->resource_changed(call, *static_cast<const cupti::ResourceData*>(what));
      return;
    }
    recorder->launch_called(domain, call, *static_cast<const cupti::CallbackData*>(what));
  } catch (...) {
    // The program must not notice.
  }
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return lines;
  char* line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, file) > 0) {
    std::string text = line;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (!text.empty()) lines.push_back(std::move(text));
  }
  std::free(line);
  std::fclose(file);
  return lines;
}

std::string command_line() {
  std::string text;
  if (std::FILE* file = std::fopen("/proc/self/cmdline", "r")) {
    char part[4096];
    const size_t size = std::fread(part, 1, sizeof part, file);
    std::fclose(file);
    text.assign(part, size);
  }
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0' || c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

}  // namespace

Recorder* Recorder::current() {
  Recorder* recorder = current_recorder.load(std::memory_order_acquire);
  return recorder != nullptr && recorder->pid_ == getpid() ? recorder : nullptr;
}

Recorder* Recorder::instance() {
  static std::mutex starting;
  const std::lock_guard lock(starting);
  if (Recorder* recorder = current()) return recorder;
  Settings settings = read_settings();
  if (settings.directory.empty()) return nullptr;
  auto* made = new Recorder(std::move(settings));  // never deleted: CUPTI may call until the end
  current_recorder.store(made, std::memory_order_release);
  made->start();
  return made;
}

Recorder::Recorder(Settings settings) : settings_(std::move(settings)), pid_(getpid()) {
  path_ = settings_.directory + "/" + std::to_string(pid_) + "-" + std::to_string(now_ns());
}

void Recorder::note(const std::string& text) const {
  const int fd = open((path_ + ".note").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  const std::string line = text + "\n";
  if (write(fd, line.data(), line.size()) < 0) {
    // Nobody is left to tell.
  }
  close(fd);
}

void Recorder::end_sampling() {
  if (Recorder* recorder = current(); recorder != nullptr && recorder->pm_sampler_)
    recorder->pm_sampler_->end_for_good();
}

void Recorder::start() {
  std::string why;
  api_ = &cupti::api(settings_.cupti.c_str(), why);
  if (!api_->loaded()) {
    note("cannot load CUPTI: " + why);
    return;
  }
  if (!subscribe()) return;
  fd_ =
      open((path_ + ".capture").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) {
    note(std::string("cannot write in the capture directory: ") + std::strerror(errno));
    return;
  }
  writer_ = std::make_unique<RecordWriter>(*api_, fd_);
  writer_->chunks().begin();
  write_start();
  if (api_->ActivityRegisterCallbacks(buffer_requested, buffer_completed) != cupti::kSuccess) {
    note("CUPTI refuses to record: cuptiActivityRegisterCallbacks failed");
    return;
  }
  if (api_->SetThreadIdType != nullptr) api_->SetThreadIdType(cupti::kSystemThreadId);
  works_ = true;
  if (settings_.sampling_ns > 0 && !settings_.counters) {
    pm_sampler_ =
        std::make_unique<PmSampler>(cupti::range_api(api_->library), cupti::pm_api(api_->library),
                                    lines_of(settings_.directory + "/" + kSampledFile),
                                    static_cast<uint64_t>(settings_.sampling_ns),
                                    [this](const std::string& text) { note(text); });
    pm_sampler_->set_at_exit([] { std::atexit(end_sampling); });
  }
  if (settings_.clocks && !settings_.counters) monitor_ = std::make_unique<GpuMonitor>();
  if (settings_.pc_sampling) enable_pc_sampling();
  if (settings_.dormant && settings_.before_ms > 0) {
    recent_ = std::make_unique<RecentRecords>(settings_.before_ms * 1'000'000);
    writer_->keep_recent(recent_.get());
  }
  if (settings_.counters)
    enable_counters();
  else if (!settings_.dormant || recent_)
    enable();
  // The program's signals are not for this thread.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  thread_ = std::thread([this] { run(); });
  thread_.detach();
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

bool Recorder::subscribe() {
  char holder[128] = {};
  int code = 0;
  if (api_->Subscribe_v2 != nullptr) {
    cupti::SubscriberParams params{sizeof(cupti::SubscriberParams), "Fathom", holder,
                                   sizeof holder};
    code = api_->Subscribe_v2(&subscriber_, launch_callback, nullptr, &params);
  } else {
    code = api_->Subscribe(&subscriber_, launch_callback, nullptr);
  }
  if (code == cupti::kSuccess) return true;
  if (code == cupti::kMultipleSubscribers) {
    note(std::string("another profiler is using CUPTI: ") +
         (holder[0] != '\0' ? holder : "its name is not known"));
    return false;
  }
  const char* text = nullptr;
  if (api_->GetResultString != nullptr) api_->GetResultString(code, &text);
  note("CUPTI refuses to record: " + std::string(text != nullptr ? text : "") + " (error " +
       std::to_string(code) + ")");
  return false;
}

void Recorder::enable_calls(uint32_t domain, int (*enable_call)(uint32_t, uint8_t), uint32_t kind) {
  if (enable_call == nullptr || settings_.all_calls) {
    api_->ActivityEnable(kind);
    return;
  }
  // A running program does not hear of single calls that are switched on, only of those switched
  // off.
  if (settings_.dormant) api_->ActivityEnable(kind);
  for_each_call(*api_, domain, [&](uint32_t id, const char* name) {
    const bool wanted = is_worth_recording(name);
    if (wanted != settings_.dormant) enable_call(id, wanted ? 1 : 0);
  });
}

void Recorder::enable() {
  recording_ = true;
  if (pm_sampler_) {
    pm_sampler_->begin();
    watch_launches(true);
    if (api_->EnableCallback != nullptr)
      api_->EnableCallback(1, subscriber_, cupti::kResourceDomain, cupti::kContextCreated);
  }
  api_->ActivityEnable(cupti::kConcurrentKernel);
  api_->ActivityEnable(cupti::kMemcpy);
  api_->ActivityEnable(cupti::kMemcpyPeer);
  api_->ActivityEnable(cupti::kMemset);
  api_->ActivityEnable(cupti::kSynchronization);
  api_->ActivityEnable(cupti::kOverhead);
  // NVTX in CUDA 13.0's first CUPTI crashes the program.
  if (api_->version != 130000) api_->ActivityEnable(cupti::kMarker);
  if (!settings_.graph_nodes) api_->ActivityEnable(cupti::kGraphTrace);
  if (settings_.allocations) api_->ActivityEnable(cupti::kMemory2);
  enable_calls(cupti::kRuntimeDomain, api_->ActivityEnableRuntimeApi, cupti::kRuntime);
  enable_calls(cupti::kDriverDomain, api_->ActivityEnableDriverApi, cupti::kDriver);
}

void Recorder::enable_counters() {
  if (api_->EnableCallback == nullptr) return;
  CounterPlan plan;
  plan.metrics = lines_of(settings_.directory + "/" + kMetricsFile);
  plan.kernels = lines_of(settings_.directory + "/" + kKernelsFile);
  plan.replay = settings_.replay;
  counters_ = std::make_unique<CounterCollector>(*api_, std::move(plan), writer_->chunks(),
                                                 [this](const std::string& text) { note(text); });
  if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    stream_is_capturing_ =
        reinterpret_cast<int (*)(void*, int*)>(dlsym(driver, "cuStreamIsCapturing"));
  }
  watch_launches(true);
}

void Recorder::watch_launches(bool on) {
  if (api_->EnableCallback == nullptr) return;
  if (launch_calls_.empty()) {
    for (const uint32_t domain : {cupti::kRuntimeDomain, cupti::kDriverDomain}) {
      for_each_call(*api_, domain, [&](uint32_t id, const char* name) {
        const std::string plain(plain_call_name(name));
        if (launches_kernel(plain)) launch_calls_.push_back({domain, id, plain});
      });
    }
  }
  for (const LaunchCall& call : launch_calls_)
    api_->EnableCallback(on ? 1 : 0, subscriber_, call.domain, call.id);
}

void Recorder::enable_pc_sampling() {
  if (api_->EnableCallback == nullptr) return;
  pc_sampler_ =
      std::make_unique<PcSampler>(cupti::pc_sampling_api(api_->library), settings_.pc_period,
                                  [this](const std::string& text) { note(text); });
  for (const uint32_t change : {cupti::kContextCreated, cupti::kContextEnds, cupti::kModuleLoaded})
    api_->EnableCallback(1, subscriber_, cupti::kResourceDomain, change);
}

void Recorder::resource_changed(uint32_t change, const cupti::ResourceData& data) {
  // Its GPU may be one that is not sampled yet.
  if (change == cupti::kContextCreated && pm_sampler_ && recording_) watch_launches(true);
  if (!pc_sampler_) return;
  if (change == cupti::kContextCreated) {
    uint32_t device = 0;
    if (api_->GetDeviceId != nullptr) api_->GetDeviceId(data.context, &device);
    pc_sampler_->context_created(data.context, device);
  } else if (change == cupti::kContextEnds) {
    pc_sampler_->context_ends(data.context);
  } else if (change == cupti::kModuleLoaded && data.descriptor != nullptr) {
    const auto& module = *static_cast<const cupti::ModuleData*>(data.descriptor);
    pc_sampler_->module_loaded(module.cubin, module.bytes);
  }
}

// Kernels that go into a graph do not run now.
bool Recorder::is_capturing(void* stream) const {
  int status = 0;
  return stream_is_capturing_ != nullptr &&
         (stream_is_capturing_(stream, &status) != 0 || status != 0);
}

void Recorder::launch_called(uint32_t domain, uint32_t id, const cupti::CallbackData& data) {
  if (pm_sampler_ && data.site != 0) {
    uint32_t device = 0;
    const bool is_known =
        api_->GetDeviceId != nullptr && api_->GetDeviceId(data.context, &device) == 0;
    // Until there is another context.
    if (!is_known || pm_sampler_->launched(device)) watch_launches(false);
  }
  if (!counters_) return;
  if (data.site != 0) {
    counters_->after();
    if (counters_->finished()) watch_launches(false);
    return;
  }
  for (const LaunchCall& call : launch_calls_) {
    if (call.domain != domain || call.id != id) continue;
    const std::optional<LaunchArguments> launch = launch_arguments(call.name, data.params);
    if (launch && data.symbol != nullptr && !is_capturing(launch->stream))
      counters_->before(data.context, data.symbol, *launch);
    return;
  }
}

void Recorder::disable() {
  if (pm_sampler_) pm_sampler_->end();
  for (const uint32_t kind :
       {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemcpyPeer, cupti::kMemset,
        cupti::kSynchronization, cupti::kOverhead, cupti::kMarker, cupti::kGraphTrace,
        cupti::kMemory2, cupti::kRuntime, cupti::kDriver}) {
    api_->ActivityDisable(kind);
  }
  api_->ActivityFlushAll(cupti::kFlushForced);
  recording_ = false;
}

uint8_t* Recorder::give_buffer(size_t& size) {
  size = kBufferSize;
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    uint8_t* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  if (given_ >= kMostBuffers) return nullptr;
  auto* buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferSize));
  if (buffer != nullptr) ++given_;
  return buffer;
}

void Recorder::take_buffer(uint8_t* buffer, size_t valid) {
  if (buffer == nullptr) return;
  size_t dropped = 0;
  if (api_->ActivityGetNumDroppedRecords != nullptr) {
    api_->ActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  }
  const std::lock_guard lock(mutex_);
  dropped_ += dropped;
  if (valid == 0) {
    free_.push_back(buffer);
    return;
  }
  full_.push_back({buffer, valid});
  changed_.notify_one();
}

void Recorder::write_waiting(std::unique_lock<std::mutex>& lock) {
  while (!full_.empty()) {
    const Buffer buffer = full_.front();
    full_.pop_front();
    lock.unlock();
    writer_->write_buffer(buffer.bytes, buffer.valid);
    if (!wrote_gpus_ && writer_->saw_kernels()) write_gpus();
    lock.lock();
    free_.push_back(buffer.bytes);
  }
  if (pm_sampler_) pm_sampler_->write(writer_->chunks());
  if (dropped_ > 0) {
    writer_->write_drops(dropped_);
    dropped_ = 0;
  }
}

void Recorder::watch_trigger() {
  struct stat file{};
  const std::string path = settings_.directory + "/" + kTriggerFile;
  const int64_t now = now_ns();
  if (stat(path.c_str(), &file) == 0) {
    const int64_t touched =
        static_cast<int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec;
    if (touched != last_trigger_) {
      last_trigger_ = touched;
      window_end_ = settings_.window_ms > 0 ? now + settings_.window_ms * 1'000'000 : INT64_MAX;
      if (recent_ && recent_->holds()) recent_->release(now, writer_->chunks());
      if (!recording_) enable();
    }
  }
  if (recording_ && now >= window_end_) end_window();
}

void Recorder::end_window() {
  if (!recent_)
    disable();
  else if (!recent_->holds())
    recent_->hold(window_end_);
}

void Recorder::run() {
  pthread_setname_np(pthread_self(), "fathom-record");
  auto next_flush = std::chrono::steady_clock::now() + kFlushEvery;
  // A window without a trigger begins with the program.
  if (!settings_.dormant && settings_.window_ms > 0)
    window_end_ = now_ns() + settings_.window_ms * 1'000'000;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, settings_.dormant ? kLookEvery
                            : monitor_        ? kMonitorEvery
                                              : kFlushEvery);
    write_waiting(lock);
    if (ending_) break;
    lock.unlock();
    if (settings_.dormant) watch_trigger();
    if (!settings_.dormant && settings_.window_ms > 0 && recording_ && now_ns() >= window_end_)
      disable();
    if (recording_ && monitor_)
      monitor_->look(static_cast<uint64_t>(now_ns()), writer_->devices(), writer_->chunks());
    if (pc_sampler_) pc_sampler_->write(writer_->chunks(), static_cast<uint64_t>(now_ns()), false);
    // What the program has done so far survives if it is killed.
    if (recording_ && std::chrono::steady_clock::now() >= next_flush) {
      api_->ActivityFlushAll(0);
      if (pc_sampler_) pc_sampler_->drain(writer_->devices());
      next_flush = std::chrono::steady_clock::now() + kFlushEvery;
    }
    lock.lock();
  }
  write_waiting(lock);
  if (pc_sampler_) {
    pc_sampler_->write(writer_->chunks(), static_cast<uint64_t>(now_ns()), true);
    pc_sampler_->say_what_is_missing();
  }
  ended_ = true;
  written_.notify_all();
}

void Recorder::finish() {
  if (!works_) return;
  if (pm_sampler_) pm_sampler_->end_for_good();
  if (recording_ && api_->ActivityFlushAll(cupti::kFlushForced) != cupti::kSuccess && pc_sampler_)
    note("the last records are missing: cuptiActivityFlushAll failed");
  if (counters_) counters_->say_what_is_missing();
  if (pc_sampler_) {
    // CUPTI waits for threads of its own here.
    const ExitGuard guard(kLongestSamplingEnd, [this] {
      note("PC sampling did not end: the last samples are missing");
    });
    pc_sampler_->finish();
  }
  std::unique_lock lock(mutex_);
  ending_ = true;
  changed_.notify_one();
  // The thread may be gone already where the program ends in an unusual way.
  if (!written_.wait_for(lock, kLongestEnd, [this] { return ended_; })) return;
  writer_->chunks().write_meta("end\t" + std::to_string(now_ns()) + "\n");
  if (const int failure = writer_->chunks().failure())
    note(std::string("the capture is incomplete: ") + std::strerror(failure));
  close(fd_);
  fd_ = -1;
}

void Recorder::write_start() {
  utsname system{};
  uname(&system);
  uint64_t cupti_time = 0;
  if (api_->GetTimestamp != nullptr) api_->GetTimestamp(&cupti_time);
  std::string meta = "tool\tfathom record\t" FATHOM_VERSION "\n";
  meta += "process\t" + std::to_string(pid_) + "\t" + std::to_string(getppid()) + "\t" +
          command_line() + "\n";
  meta += "start\t" + std::to_string(now_ns()) + "\n";
  meta += "cupti\t" + std::to_string(api_->version) + "\t" + std::to_string(cupti_time) + "\n";
  meta += std::string("host\t") + system.nodename + "\n";
  writer_->chunks().write_meta(meta);
}

// By CUDA's driver, which the program has loaded.
void Recorder::write_gpus() {
  wrote_gpus_ = true;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return;
  const auto count_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  const auto memory_of =
      reinterpret_cast<int (*)(size_t*, int)>(dlsym(driver, "cuDeviceTotalMem_v2"));
  const auto attribute =
      reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  const auto version_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int count = 0, version = 0;
  if (count_of == nullptr || name_of == nullptr || memory_of == nullptr || attribute == nullptr ||
      count_of(&count) != 0) {
    return;
  }
  std::string meta;
  if (version_of != nullptr && version_of(&version) == 0)
    meta += "driver\t" + std::to_string(version) + "\n";
  constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76;
  for (int i = 0; i < count; ++i) {
    char name[256] = {};
    size_t memory = 0;
    int units = 0, major = 0, minor = 0;
    if (name_of(name, sizeof name - 1, i) != 0 || memory_of(&memory, i) != 0) continue;
    attribute(&units, kMultiprocessors, i);
    attribute(&major, kMajor, i);
    attribute(&minor, kMinor, i);
    meta += "gpu\t" + std::to_string(i) + "\t" + name + "\t" + std::to_string(units) + "\t" +
            std::to_string(memory) + "\t" + std::to_string(major) + "\t" + std::to_string(minor) +
            "\n";
  }
  writer_->chunks().write_meta(meta);
}

}  // namespace fathom::record
