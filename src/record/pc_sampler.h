#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "capture/chunk_writer.h"
#include "record/pc_sampling_api.h"

namespace fathom::record {

// Whether a cubin has line information, so that an instruction's file and line can be asked for.
bool has_line_information(const void* cubin, size_t bytes);
// "smsp__pcsamp_warps_issue_stalled_long_scoreboard" → "long_scoreboard".
std::string_view short_stall_reason(std::string_view name);

// Samples which instructions warps are at, and why they wait, in all kernels of all contexts,
// without serializing them. CUPTI may hold locks of its own when it calls back, so no lock of this
// class is held while CUPTI is called.
class PcSampler {
 public:
  using Note = std::function<void(const std::string&)>;
  // The hardware samples each SM every 2^period cycles; 0: the default.
  PcSampler(const cupti::PcSamplingApi& api, uint32_t period, Note note);
  ~PcSampler();

  // Registers finish() with atexit(); as PmSampler's.
  void set_at_exit(std::function<void()> at_exit) { at_exit_ = std::move(at_exit); }

  // CUPTI's callbacks, in whatever thread.
  void context_created(void* context, uint32_t device);
  // Around a launch: the first of a context starts the sampling. The second tells whether all
  // contexts have had theirs.
  void launch_begins(void* context);
  bool launch_ended(void* context);
  void context_ends(void* context);
  void module_loaded(const void* cubin, size_t bytes);

  // Takes what the hardware has sampled. In the writing thread, several times a second. `devices`:
  // a bit for each GPU that a kernel has run on. The first launch in a context starts the sampling,
  // and CUPTI is not to be asked meanwhile by another thread.
  void drain(uint64_t devices);
  // Writes what was taken, and of how much it is a part: now, or if the last time is long ago.
  void write(capture::ChunkWriter& out, uint64_t now, bool at_once);
  // Takes the rest and samples no more; at the program's end, in the thread that ends it. Seen with
  // CUDA 13.0: asked from another thread, CUPTI may not come back, or give nothing.
  void finish();
  void say_what_is_missing();

 private:
  class Buffer;
  struct Context;
  struct Key {
    uint64_t cubin, pc;
    uint32_t function, reason, device;  // indices into functions_ and reasons_
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Place {
    capture::TextId file = 0;
    uint32_t line = 0;
  };
  struct FunctionText {
    capture::TextId shown = 0, mangled = 0;
  };

  void open(void* context, uint32_t device);
  bool configure(Context& context);
  // All that is there; the context is claimed by this thread.
  void take_all(Context& context);
  void take(const cupti::PcData& data, Context& context);
  void end(Context& context);
  bool claim(Context& context, std::unique_lock<std::mutex>& lock);
  void release(Context& context);
  const FunctionText& function_text(uint32_t index, capture::ChunkWriter& out);
  capture::TextId reason_text(uint32_t index, capture::ChunkWriter& out);
  Place place_of(const Key& key, capture::ChunkWriter& out);
  void fail(const char* what, int code);

  const cupti::PcSamplingApi api_;
  std::function<void()> at_exit_;
  const uint32_t period_;
  const Note note_;

  std::mutex mutex_;  // of what follows
  std::condition_variable released_;
  int starting_ = 0;  // threads in which CUPTI sets sampling up
  std::vector<std::unique_ptr<Context>>
      contexts_;  // also those that ended: CUPTI has their buffers
  std::unordered_map<uint64_t, std::shared_ptr<const std::string>> cubins_;  // by CRC
  size_t cubin_bytes_ = 0;
  bool failed_ = false, finished_ = false, lacks_cubins_ = false;
  std::unordered_map<std::string, uint32_t> function_indices_, reason_indices_;
  std::vector<std::string> functions_, reasons_;
  std::unordered_map<Key, uint64_t, KeyHash> counts_;  // since the last write
  uint64_t samples_ = 0, dropped_ = 0, other_ = 0, full_ = 0;
  int last_failure_ = 0;  // of CUPTI, asked for samples

  // Of the writing thread.
  uint64_t last_write_ = 0;
  std::vector<FunctionText> function_texts_;                          // by index
  std::vector<capture::TextId> reason_texts_;                         // by index
  std::map<std::tuple<uint64_t, uint32_t, uint64_t>, Place> places_;  // by cubin, function, PC
};

}  // namespace fathom::record
