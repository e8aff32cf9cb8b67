#include "record/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "record/capture_meta.h"
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
  Recorder* recorder = current();
  if (recorder == nullptr) return;
  if (recorder->pm_sampler_) recorder->pm_sampler_->end_for_good();
  if (recorder->pc_sampler_) recorder->end_pc_sampling();
}

void Recorder::register_end_of_sampling() {
  std::atexit(end_sampling);
  remember_exit_status();  // runs before it
}

void Recorder::end_pc_sampling() {
  // CUPTI waits for threads of its own here.
  const ExitGuard guard(kLongestSamplingEnd,
                        [this] { note("PC sampling did not end: the last samples are missing"); });
  pc_sampler_->finish();
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
  writer_->chunks().write_meta(process_meta(*api_));
  if (api_->ActivityRegisterCallbacks(buffer_requested, buffer_completed) != cupti::kSuccess) {
    note("CUPTI refuses to record: cuptiActivityRegisterCallbacks failed");
    return;
  }
  if (api_->SetThreadIdType != nullptr) api_->SetThreadIdType(cupti::kSystemThreadId);
  works_ = true;
  if (settings_.sampling_ns > 0 && !settings_.counters) {
    pm_sampler_ = std::make_unique<PmSampler>(
        cupti::range_api(api_->library), cupti::pm_api(api_->library),
        settings_.lines_of(kSampledFile), static_cast<uint64_t>(settings_.sampling_ns),
        [this](const std::string& text) { note(text); });
    pm_sampler_->set_at_exit(register_end_of_sampling);
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
    if (!wrote_gpus_ && writer_->saw_kernels()) {
      wrote_gpus_ = true;
      if (const std::string gpus = gpu_meta(); !gpus.empty()) writer_->chunks().write_meta(gpus);
    }
    lock.lock();
    free_.push_back(buffer.bytes);
  }
  if (pm_sampler_) pm_sampler_->write(writer_->chunks());
  if (waits_) writer_->write_waits(waits_->take());
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
  if (pc_sampler_) end_pc_sampling();
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

}  // namespace fathom::record
