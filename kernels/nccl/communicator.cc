#include "communicator.h"

namespace fathom::nccl {

Strategy choose_strategy(size_t bytes, bool registered, const CommunicatorOptions& options) {
  const bool small = bytes <= options.staged_up_to_bytes && bytes <= options.buffer_bytes;
  return registered && small ? Strategy::kStaged : Strategy::kDirect;
}

std::unique_ptr<Communicator> Communicator::create(const NcclApi& api, AsyncCopy copy,
                                                   const CommunicatorOptions& options,
                                                   std::string& error) {
  std::unique_ptr<Communicator> made(new Communicator(api, copy, options));
  if (!made->check(api.init_rank(&made->comm_, options.ranks, options.id, options.rank),
                   "ncclCommInitRank") ||
      !made->register_buffer()) {
    error = made->error_;
    return nullptr;
  }
  return made;
}

Communicator::~Communicator() {
  if (window_ != nullptr && error_.empty()) api_.window_deregister(comm_, window_);
  if (comm_ != nullptr) error_.empty() ? api_.destroy(comm_) : api_.abort(comm_);
  if (buffer_ != nullptr) api_.memory_free(buffer_);
}

bool Communicator::register_buffer() {
  if (options_.buffer_bytes == 0 || api_.window_register == nullptr) return true;
  void* memory = nullptr;
  const size_t bytes = 2 * options_.buffer_bytes;
  if (!check(api_.memory_allocate(&memory, bytes), "ncclMemAlloc")) return false;
  buffer_ = static_cast<std::byte*>(memory);
  // NCCL answers success and no window where the machine has no peer-accessible memory.
  return check(api_.window_register(comm_, buffer_, bytes, &window_, kSymmetricWindow),
               "ncclCommWindowRegister");
}

bool Communicator::check(int result, const char* what) {
  if (result == kSuccess) return true;
  error_ = std::string(what) + ": " + api_.error_text(result);
  return false;
}

bool Communicator::check_copy(int result) {
  if (result == 0) return true;
  error_ = "a copy for staging failed with CUDA error " + std::to_string(result);
  return false;
}

bool Communicator::begin(size_t bytes, int type, const Strategy* forced) {
  if (!error_.empty()) return false;
  if (bytes_of(type) == 0) {
    error_ = "unknown element type " + std::to_string(type);
    return false;
  }
  last_strategy_ = forced != nullptr ? *forced : choose_strategy(bytes, registered(), options_);
  if (last_strategy_ == Strategy::kDirect) return true;
  if (buffer_ == nullptr || bytes > options_.buffer_bytes) {
    error_ = std::to_string(bytes) + " bytes cannot be staged: the buffer has " +
             std::to_string(buffer_ == nullptr ? 0 : options_.buffer_bytes);
    return false;
  }
  return true;
}

bool Communicator::all_reduce(const void* in, void* out, size_t count, int type, int reduction,
                              void* stream, const Strategy* forced) {
  const size_t bytes = count * bytes_of(type);
  if (!begin(bytes, type, forced)) return false;
  if (count == 0) return true;
  if (last_strategy_ == Strategy::kDirect) {
    return check(api_.all_reduce(in, out, count, type, reduction, comm_, stream), "ncclAllReduce");
  }
  std::byte* result = buffer_ + options_.buffer_bytes;
  return check_copy(copy_(buffer_, in, bytes, stream)) &&
         check(api_.all_reduce(buffer_, result, count, type, reduction, comm_, stream),
               "ncclAllReduce") &&
         check_copy(copy_(out, result, bytes, stream));
}

bool Communicator::all_gather(const void* in, void* out, size_t count, int type, void* stream,
                              const Strategy* forced) {
  const size_t own = count * bytes_of(type), all = own * static_cast<size_t>(options_.ranks);
  if (!begin(all, type, forced)) return false;
  if (count == 0) return true;
  if (last_strategy_ == Strategy::kDirect) {
    return check(api_.all_gather(in, out, count, type, comm_, stream), "ncclAllGather");
  }
  std::byte* result = buffer_ + options_.buffer_bytes;
  return check_copy(copy_(buffer_, in, own, stream)) &&
         check(api_.all_gather(buffer_, result, count, type, comm_, stream), "ncclAllGather") &&
         check_copy(copy_(out, result, all, stream));
}

bool Communicator::healthy() {
  if (!error_.empty()) return false;
  int state = kSuccess;
  if (!check(api_.async_error(comm_, &state), "ncclCommGetAsyncError")) return false;
  return state == kInProgress || check(state, "NCCL found later");
}

}  // namespace fathom::nccl
