#include "record/exit_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace fathom::record {
namespace {

std::atomic<int> exit_status = 0;

void save_exit_status(int status, void*) { exit_status = status; }

}  // namespace

void remember_exit_status() { on_exit(save_exit_status, nullptr); }

ExitGuard::ExitGuard(std::chrono::milliseconds longest, std::function<void()> too_late) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  thread_ = std::thread([this, longest, too_late = std::move(too_late)] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, longest, [this] { return done_; })) return;
    too_late();
    std::fflush(nullptr);
    _exit(exit_status);
  });
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

ExitGuard::~ExitGuard() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace fathom::record
