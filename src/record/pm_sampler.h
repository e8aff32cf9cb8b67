#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/chunk_writer.h"
#include "record/metric_groups.h"
#include "record/pm_sampling_api.h"

namespace fathom::record {

// Asks each GPU that the program uses at a fixed rate how busy its parts are. The hardware does it:
// no kernel waits, none is run again, and it does not matter how kernels were launched.
class PmSampler {
 public:
  using Note = std::function<void(const std::string&)>;
  PmSampler(const cupti::RangeApi& range, const cupti::PmApi& pm, std::vector<std::string> metrics,
            uint64_t interval_ns, Note note);

  void begin();
  // Returns once what was sampled so far can be written.
  void end();
  // The same where the program ends: CUPTI is not asked for anything after it.
  void end_for_good();
  // Registers end_for_good() with atexit(). Called while CUPTI sets up what it takes down at the
  // program's end, so that it runs before that. Seen with CUPTI 13.0: what is asked later corrupts
  // memory.
  void set_at_exit(std::function<void()> at_exit) { at_exit_ = std::move(at_exit); }
  // The program has launched something on this GPU, so its context is made; in the thread that did.
  // Sampling of the GPU starts here. False: another thread is at it; to be called again.
  bool launched(uint32_t device);
  // Writes what was sampled since the last time; in the thread that writes.
  void write(capture::ChunkWriter& out);

 private:
  struct Gpu {
    uint32_t device = 0;
    void* object = nullptr;  // null: it cannot be sampled
    bool running = false;
    std::string chip;                // CUPTI may go on reading these two
    std::vector<uint8_t> available;  // counters
    MetricGroup metrics;
    std::vector<uint8_t> image;
  };

  void run();
  void start_on(uint32_t device);
  bool open(Gpu& gpu);
  bool clear(Gpu& gpu);
  void start(Gpu& gpu);
  void stop(Gpu& gpu);
  void decode(Gpu& gpu);
  void take_samples(const Gpu& gpu);
  void lost(const std::string& why);
  void refuse(const std::string& what, int code);

  const cupti::RangeApi range_;
  const cupti::PmApi pm_;
  const std::vector<std::string> asked_;
  const uint64_t interval_ns_;
  const Note note_;
  std::function<void()> at_exit_;

  std::mutex gpu_mutex_;  // what is asked of CUPTI; taken before the other one
  std::map<uint32_t, Gpu> gpus_;
  bool wanted_ = false, refused_ = false, said_lost_ = false, gave_samples_ = false;
  bool is_over_ = false;

  std::mutex mutex_;
  bool decoding_ = false;
  std::vector<capture::Activity> waiting_;
  std::string meta_;  // lines that are not yet written
};

}  // namespace fathom::record
