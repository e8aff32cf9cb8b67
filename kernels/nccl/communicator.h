// One rank of a communicator with a registered symmetric buffer. Small messages are copied into it
// and out of it, because NCCL's kernels for registered windows have the lower latency; large ones
// go straight from the caller's memory, because copies would cost more than that saves. Every call
// only puts work into the stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nccl_api.h"

namespace fathom::nccl {

enum class Strategy { kStaged, kDirect };

// Stream-ordered copy between device addresses: cudaMemcpyAsync, or memcpy in a test. 0 is success.
using AsyncCopy = int (*)(void* to, const void* from, size_t bytes, void* stream);

struct CommunicatorOptions {
  int ranks = 1, rank = 0;
  UniqueId id{};
  size_t buffer_bytes = 16 << 20;  // of each half: one for inputs, one for outputs
  // Messages (an all-gather's whole output) up to this size are staged. A guess until two GPUs
  // measure it; collective_model.h has the arithmetic.
  size_t staged_up_to_bytes = 256 << 10;
};

// Staged where the message is small, fits and the buffer is a registered window.
Strategy choose_strategy(size_t bytes, bool registered, const CommunicatorOptions& options);

class Communicator {
 public:
  // Collective: every rank calls it. Null, with what is wrong in `error`, where it fails. A buffer
  // that NCCL cannot register is no failure: then everything is direct.
  static std::unique_ptr<Communicator> create(const NcclApi& api, AsyncCopy copy,
                                              const CommunicatorOptions& options,
                                              std::string& error);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // The caller has synchronised every stream that was passed in. Aborts after a failure.
  ~Communicator();

  // False, with the reason in error(), where a call fails or an earlier one failed: a communicator
  // does not recover. `count` elements of each rank; input and output may be the same for an
  // all-reduce. `forced` overrides the choice by size; staging what does not fit is an error.
  bool all_reduce(const void* in, void* out, size_t count, int type, int reduction, void* stream,
                  const Strategy* forced = nullptr);
  bool all_gather(const void* in, void* out, size_t count, int type, void* stream,
                  const Strategy* forced = nullptr);
  // What NCCL found out after a call had returned, as a lost link.
  bool healthy();

  bool registered() const { return window_ != nullptr; }
  Strategy last_strategy() const { return last_strategy_; }
  const std::string& error() const { return error_; }

 private:
  Communicator(const NcclApi& api, AsyncCopy copy, const CommunicatorOptions& options)
      : api_(api), copy_(copy), options_(options) {}

  bool check(int result, const char* what);
  bool check_copy(int result);
  bool begin(size_t bytes, int type, const Strategy* forced);
  bool register_buffer();

  NcclApi api_;
  AsyncCopy copy_;
  CommunicatorOptions options_;
  CommHandle comm_ = nullptr;
  WindowHandle window_ = nullptr;
  std::byte* buffer_ = nullptr;  // inputs in the first half, outputs in the second
  Strategy last_strategy_ = Strategy::kDirect;
  std::string error_;
};

}  // namespace fathom::nccl
