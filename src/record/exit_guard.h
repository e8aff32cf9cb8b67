#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fathom::record {

// Remembers the status that the program exits with; to be called after the atexit() of what uses an
// ExitGuard, so that it is known by then.
void remember_exit_status();

// Around a call in an exit handler that may not come back: after the time the process ends with its
// own status and its output written. What is left then are other exit handlers.
class ExitGuard {
 public:
  // `too_late` is called before.
  ExitGuard(std::chrono::milliseconds longest, std::function<void()> too_late);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace fathom::record
