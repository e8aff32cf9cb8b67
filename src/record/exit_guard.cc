#include "record/exit_guard.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace fathom::record {
namespace {

std::atomic<int> exit_status = 0;

void save_exit_status(int status, void*) { exit_status = status; }

}  // namespace

void remember_exit_status() { on_exit(save_exit_status, nullptr); }

std::thread quiet_thread(std::function<void()> function) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread thread(std::move(function));
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return thread;
}

ExitGuard::ExitGuard(std::chrono::milliseconds longest, std::function<void()> too_late) {
  thread_ = quiet_thread([this, longest, too_late = std::move(too_late)] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, longest, [this] { return done_; })) return;
    too_late();
    std::fflush(nullptr);
    _exit(exit_status);
  });
}

ExitGuard::~ExitGuard() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

NewestAtExit::NewestAtExit(const std::function<void()>& register_it) : register_it_(register_it) {
  if (!register_it_) return;
  register_it_();
  thread_ = quiet_thread([this] {
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      register_it_();
    }
  });
}

NewestAtExit::~NewestAtExit() {
  if (!thread_.joinable()) return;
  done_ = true;
  thread_.join();  // it registers once more: after the last that CUPTI has registered
}

}  // namespace fathom::record
