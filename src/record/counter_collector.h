#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/chunk_writer.h"
#include "record/cupti_api.h"
#include "record/launch_arguments.h"
#include "record/metric_groups.h"

namespace fathom::record {

// What is counted, and of which kernels.
struct CounterPlan {
  std::vector<std::string> metrics;
  std::vector<std::string> kernels;  // keys, see kernel_key
  bool replay = false;  // all metrics of a launch at once, the kernel run again and again
  int occurrences = 3;  // of each key and group
};

// "mangled\t128,1,1\t256,1,1\t0": a kernel and how it is launched.
std::string kernel_key(std::string_view mangled, const LaunchArguments& launch);

// Counts chosen kernels where they are launched: the hardware counts between the entry and the exit
// of the launch call, and the context waits for the kernel meanwhile. Launches in other threads
// wait in turn.
class CounterCollector {
 public:
  using Note = std::function<void(const std::string&)>;
  CounterCollector(const cupti::Api& api, CounterPlan plan, capture::ChunkWriter& out, Note note);

  // Both around a launch, in the thread that launches.
  void before(void* context, std::string_view mangled, const LaunchArguments& launch);
  void after();
  bool finished() const { return open_keys_ == 0 || failed_; }
  // Says which metrics never had a value; at the program's end.
  void say_what_is_missing();

 private:
  struct Key {
    std::vector<int> counted;  // launches, by group
    uint32_t seen = 0;         // launches of the program
  };
  struct Context {
    void* context = nullptr;  // CUDA's; null: nothing can be counted there
    void* object = nullptr;   // CUPTI's profiler
    uint32_t device = 0;
    std::vector<MetricGroup> groups;
    std::vector<uint8_t> image;  // what the hardware counted
    size_t group = SIZE_MAX;     // that it is for
  };

  Context* context_of(void* context);
  bool open_profiler(Context& context);
  bool prepare(Context& context, size_t group);
  void write(const Context& context);
  void fail(const std::string& what, int code);
  std::string demangled(const std::string& mangled);

  const cupti::Api& api_;
  const cupti::RangeApi range_;
  const CounterPlan plan_;
  capture::ChunkWriter& out_;
  const Note note_;
  std::unordered_map<std::string, Key> keys_;
  size_t open_keys_ = 0;
  bool failed_ = false;
  std::map<void*, Context> contexts_;
  std::map<std::string, bool> had_value_;  // by metric that was tried

  // The launch that is being counted; held from before() to after().
  std::unique_lock<std::mutex> counting_;
  std::mutex mutex_;
  Context* current_ = nullptr;
  Key* current_key_ = nullptr;
  std::string current_name_;
  LaunchArguments current_launch_;
};

}  // namespace fathom::record
