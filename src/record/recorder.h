#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "record/counter_collector.h"
#include "record/cupti_api.h"
#include "record/gpu_monitor.h"
#include "record/pc_sampler.h"
#include "record/pm_sampler.h"
#include "record/record_settings.h"
#include "record/record_writer.h"
#include "record/wait_watcher.h"

namespace fathom::record {

// One for a process. Asks CUPTI for records and writes what it gives, in a thread of its own. It
// never fails towards the program: what cannot be done is a note in a file for `fathom record`.
class Recorder {
 public:
  // That of this process, started at the first call; null where nothing is asked for. A child that
  // was forked gets its own.
  static Recorder* instance();
  // The same, but never started: null before instance() and in a forked child. Takes no lock.
  static Recorder* current();

  const cupti::Api& cupti() const { return *api_; }
  // CUPTI is there and nobody else uses it.
  bool works() const { return works_; }

  // Brings what is recorded to the file; at the program's end.
  void finish();

  // CUPTI's callbacks, in whatever thread.
  uint8_t* give_buffer(size_t& size);
  void take_buffer(uint8_t* buffer, size_t valid);
  void resource_changed(uint32_t change, const cupti::ResourceData& data);
  void launch_called(uint32_t domain, uint32_t call, const cupti::CallbackData& data);

 private:
  explicit Recorder(Settings settings);
  void start();
  bool subscribe();
  void enable();
  void enable_counters();
  void watch_launches(bool on);
  void watch_waits(bool on);
  void find_stream_is_capturing();
  void end_pc_sampling();
  static void end_sampling();
  static void register_end_of_sampling();
  void enable_pc_sampling();
  bool is_capturing(void* stream) const;
  void disable();
  void enable_calls(uint32_t domain, int (*enable_call)(uint32_t, uint8_t), uint32_t kind);
  void run();            // the writing thread
  void watch_trigger();  // there: begins or ends a window
  void end_window();
  void write_waiting(std::unique_lock<std::mutex>& lock);
  void note(const std::string& text) const;

  const Settings settings_;
  const int pid_;
  std::string path_;
  int fd_ = -1;
  const cupti::Api* api_ = nullptr;
  bool works_ = false;
  void* subscriber_ = nullptr;
  std::atomic<bool> recording_ = false;
  std::unique_ptr<RecordWriter> writer_;
  std::unique_ptr<RecentRecords> recent_;  // null: nothing before a trigger is kept
  bool wrote_gpus_ = false;
  std::unique_ptr<CounterCollector> counters_;
  std::unique_ptr<PmSampler> pm_sampler_;
  std::unique_ptr<PcSampler> pc_sampler_;
  std::unique_ptr<GpuMonitor> monitor_;
  std::unique_ptr<WaitWatcher> waits_;  // null: CUPTI records them
  struct WatchedCall {
    uint32_t domain, id;
    std::string name;
  };
  std::vector<WatchedCall> launch_calls_, wait_calls_;
  int (*stream_is_capturing_)(void*, int*) = nullptr;
  int64_t last_trigger_ = 0, window_end_ = 0;

  struct Buffer {
    uint8_t* bytes;
    size_t valid;
  };
  std::mutex mutex_;
  std::condition_variable changed_, written_;
  std::deque<Buffer> full_;
  std::vector<uint8_t*> free_;
  size_t given_ = 0;  // buffers that exist
  uint64_t dropped_ = 0;
  bool ending_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace fathom::record
