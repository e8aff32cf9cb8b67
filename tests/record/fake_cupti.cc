// Stands for CUPTI, and for a GPU: fakeLaunch is a kernel that was launched and has run. What is
// asked for is recorded into buffers like CUPTI's, each record with its size before it.
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "record/cupti_api.h"

namespace {

using namespace fathom::cupti;

std::mutex mutex;
BufferRequested requested = nullptr;
BufferCompleted completed = nullptr;
std::set<uint32_t> enabled;
uint8_t* buffer = nullptr;
size_t size = 0, used = 0, dropped = 0;
uint32_t launches = 0;

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void complete() {
  if (buffer == nullptr) return;
  uint8_t* full = buffer;
  const size_t valid = used, whole = size;
  buffer = nullptr;
  used = 0;
  completed(nullptr, 0, full, whole, valid);
}

template <typename R>
void put(const R& record) {
  if (!enabled.contains(record.kind)) return;
  const size_t wanted = (sizeof(R) + 15) / 8 * 8;
  if (buffer != nullptr && used + wanted > size) complete();
  if (buffer == nullptr) {
    size_t most = 0;
    requested(&buffer, &size, &most);
    if (buffer == nullptr) {
      ++dropped;
      return;
    }
  }
  const uint64_t length = wanted;
  std::memcpy(buffer + used, &length, 8);
  std::memcpy(buffer + used + 8, &record, sizeof record);
  used += wanted;
}

}  // namespace

extern "C" {

int cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return 0;
}
int cuptiSubscribe(void** subscriber, Callback, void*) {
  *subscriber = &mutex;
  return std::getenv("FAKE_CUPTI_TAKEN") != nullptr ? kMultipleSubscribers : 0;
}
int cuptiActivityRegisterCallbacks(BufferRequested request, BufferCompleted complete_buffer) {
  requested = request;
  completed = complete_buffer;
  return 0;
}
int cuptiActivityEnable(uint32_t kind) {
  const std::lock_guard lock(mutex);
  enabled.insert(kind);
  return 0;
}
int cuptiActivityDisable(uint32_t kind) {
  const std::lock_guard lock(mutex);
  enabled.erase(kind);
  return 0;
}
int cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard lock(mutex);
  complete();
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* bytes, size_t valid, Record** record) {
  uint8_t* at = *record == nullptr ? bytes : reinterpret_cast<uint8_t*>(*record) - 8;
  if (*record != nullptr) {
    uint64_t length = 0;
    std::memcpy(&length, at, 8);
    at += length;
  }
  if (at >= bytes + valid) return 21;
  *record = reinterpret_cast<Record*>(at + 8);
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* count) {
  *count = dropped;
  dropped = 0;
  return 0;
}
int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char** name) {
  if (domain != kRuntimeDomain || id != 1) return 1;
  *name = "cudaLaunchKernel_v7000";
  return 0;
}
int cuptiGetTimestamp(uint64_t* time) {
  *time = now();
  return 0;
}

// A kernel of 100 µs.
void fakeLaunch(const char* name) {
  const std::lock_guard lock(mutex);
  const uint64_t time = now();
  CallRecord call = {};
  call.kind = kRuntime;
  call.callback = 1;
  call.start = time - 110'000;
  call.end = time - 105'000;
  call.process = static_cast<uint32_t>(getpid());
  call.thread = call.process;
  call.correlation = ++launches;
  put(call);
  KernelRecord kernel = {};
  kernel.kind = kConcurrentKernel;
  kernel.start = time - 100'000;
  kernel.end = time;
  kernel.correlation = launches;
  kernel.stream = 7;
  for (int i = 0; i < 3; ++i) kernel.grid[i] = kernel.block[i] = 1;
  kernel.grid[0] = 64;
  kernel.block[0] = 128;
  kernel.name = name;
  put(kernel);
}
}
