#pragma once

#include <atomic>
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

// A thread that the program's signals are not for.
std::thread quiet_thread(std::function<void()> function);

// Lives while CUPTI sets something up, which takes up to half a second. Another thread may end the
// program meanwhile, and what CUPTI has registered with atexit() by then runs before what was
// registered earlier: it takes down what is being set up. So ours is registered again and again.
// The newest runs first, and has to wait until the set-up is over.
class NewestAtExit {
 public:
  // `register_it` calls atexit(), with a function that can run several times.
  explicit NewestAtExit(const std::function<void()>& register_it);
  ~NewestAtExit();
  NewestAtExit(const NewestAtExit&) = delete;
  NewestAtExit& operator=(const NewestAtExit&) = delete;

 private:
  const std::function<void()>& register_it_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace fathom::record
