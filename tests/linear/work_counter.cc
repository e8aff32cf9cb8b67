// Counts what the program does, for tests/linear: linked into fathom_counted, whose code adds to
// fathom_steps (count_blocks.cc) or, where the compiler did the counting, calls
// __sanitizer_cov_trace_pc. This file itself does neither. The memory functions and operators below
// stand before those of the system's libraries, so bytes moved or compared inside libstdc++ count
// as well.
#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

extern "C" {
extern thread_local uint64_t fathom_steps;
constinit thread_local uint64_t fathom_steps = 0;
}

namespace {

std::atomic<uint64_t> all_steps, all_moved;
std::atomic<int64_t> live, peak;

struct ThreadCounts {
  uint64_t moved = 0;
  ~ThreadCounts() {
    all_steps += fathom_steps;
    all_moved += moved;
  }
};
thread_local ThreadCounts counts;

// Written when static objects go, after the threads' counts have been added.
struct WriteAtEnd {
  ~WriteAtEnd() {
    const char* name = std::getenv("FATHOM_WORK_FILE");
    std::FILE* file = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (file == nullptr) return;
    std::fprintf(file, "%llu %llu %lld\n", static_cast<unsigned long long>(all_steps.load()),
                 static_cast<unsigned long long>(all_moved.load()),
                 static_cast<long long>(peak.load()));
    std::fclose(file);
  }
} write_at_end;

void* take(size_t size, size_t alignment) {
  void* block = alignment > alignof(std::max_align_t)
                    ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                    : std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  const auto more = static_cast<int64_t>(malloc_usable_size(block));
  const int64_t now = live.fetch_add(more, std::memory_order_relaxed) + more;
  int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return block;
}

void give(void* block) {
  if (block == nullptr) return;
  counts.moved += 0;  // so that a thread's steps are added even where it moved nothing
  live.fetch_sub(static_cast<int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

void* operator new(size_t size) { return take(size, 0); }
void* operator new[](size_t size) { return take(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return take(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return take(size, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept { give(block); }
void operator delete[](void* block) noexcept { give(block); }
void operator delete(void* block, size_t) noexcept { give(block); }
void operator delete[](void* block, size_t) noexcept { give(block); }
void operator delete(void* block, std::align_val_t) noexcept { give(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { give(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { give(block); }

extern "C" {

void __sanitizer_cov_trace_pc() { ++fathom_steps; }

void* memcpy(void* to, const void* from, size_t size) {
  counts.moved += size;
  void* at = to;
  asm volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  counts.moved += size;
  if (static_cast<char*>(to) <= from || static_cast<const char*>(from) + size <= to) {
    void* at = to;
    asm volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
  } else if (size > 0) {
    void* at = static_cast<char*>(to) + size - 1;
    const void* last = static_cast<const char*>(from) + size - 1;
    asm volatile("std; rep movsb; cld" : "+D"(at), "+S"(last), "+c"(size) : : "memory");
  }
  return to;
}

void* memset(void* to, int value, size_t size) {
  counts.moved += size;
  void* at = to;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return to;
}

int memcmp(const void* a, const void* b, size_t size) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (x[i] == y[i]) continue;
    counts.moved += i;
    return x[i] < y[i] ? -1 : 1;
  }
  counts.moved += size;
  return 0;
}

void* memchr(const void* in, int wanted, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(in);
  size_t i = 0;
  while (i < size && bytes[i] != static_cast<unsigned char>(wanted)) ++i;
  counts.moved += i;
  return i < size ? const_cast<unsigned char*>(bytes + i) : nullptr;
}

}  // extern "C"
