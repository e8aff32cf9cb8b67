#pragma once

#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

// The system without libc between, for code that runs inside calls of the program.
namespace fathom::probe {

// Not by libc, which would change errno.
inline long system_call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// The kernel reads the set before it refuses what to do with it.
inline bool is_readable(uint64_t address) {
  return system_call(SYS_rt_sigprocmask, -1, static_cast<long>(address), 0, 8) != -EFAULT;
}

}  // namespace fathom::probe
