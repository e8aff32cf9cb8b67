#include "duck/memory_bound.h"

#include <fstream>
#include <string>

namespace fathom {
namespace {

constexpr rlim_t kForThreads = rlim_t{512} << 20;

// Private memory that can be written, as RLIMIT_DATA counts it; 0: unknown.
rlim_t held_now() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmData:"))
      return rlim_t{std::strtoull(line.c_str() + 7, nullptr, 10)} << 10;
  return 0;
}

}  // namespace

MemoryBound::MemoryBound(int64_t bytes) {
  const rlim_t held = held_now();
  if (bytes <= 0 || held == 0 || getrlimit(RLIMIT_DATA, &before_) != 0) return;
  rlimit now = before_;
  now.rlim_cur = 2 * held + static_cast<rlim_t>(bytes) + kForThreads;
  if (before_.rlim_cur != RLIM_INFINITY && before_.rlim_cur <= now.rlim_cur) return;
  is_set_ = setrlimit(RLIMIT_DATA, &now) == 0;
}

MemoryBound::~MemoryBound() {
  if (is_set_) setrlimit(RLIMIT_DATA, &before_);
}

}  // namespace fathom
