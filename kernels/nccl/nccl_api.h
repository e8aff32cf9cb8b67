// NCCL's functions that we call, found in its shared library at run time: nothing needs NCCL to be
// built. Declared after nccl.h of NCCL 2.19 to 2.28, whose C interface is stable.
#pragma once

#include <cstddef>
#include <string>

namespace fathom::nccl {

struct UniqueId {
  char bytes[128];
};
using CommHandle = struct OpaqueComm*;
using WindowHandle = void*;

enum DataType {
  kInt8 = 0,
  kInt32 = 2,
  kInt64 = 4,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9
};
enum Reduction { kSum = 0, kProduct = 1, kMaximum = 2, kMinimum = 3, kAverage = 4 };

constexpr int kSuccess = 0, kInProgress = 7;  // of ncclResult_t
constexpr int kSymmetricWindow = 1;           // NCCL_WIN_COLL_SYMMETRIC

// 0 for a type that is not in DataType.
size_t bytes_of(int type);

struct NcclApi {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(CommHandle*, int ranks, UniqueId, int rank) = nullptr;
  int (*destroy)(CommHandle) = nullptr;
  int (*abort)(CommHandle) = nullptr;
  int (*async_error)(CommHandle, int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*all_reduce)(const void*, void*, size_t count, int type, int reduction, CommHandle,
                    void* stream) = nullptr;
  int (*all_gather)(const void*, void*, size_t count, int type, CommHandle, void* stream) = nullptr;
  // NCCL 2.19 has these two …
  int (*memory_allocate)(void**, size_t) = nullptr;
  int (*memory_free)(void*) = nullptr;
  // … and 2.27 these; null in an older library.
  int (*window_register)(CommHandle, void*, size_t, WindowHandle*, int flags) = nullptr;
  int (*window_deregister)(CommHandle, WindowHandle) = nullptr;
};

// Loads `path`, or libnccl.so.2 where it is empty; the library stays loaded. False, with what is
// wrong in `error`, where it is not there or lacks a function other than the last two.
bool load_nccl(const std::string& path, NcclApi& api, std::string& error);

}  // namespace fathom::nccl
