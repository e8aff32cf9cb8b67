#include "trial/interruption.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace fathom {
namespace {

constinit std::atomic<int> came = 0;
constinit std::atomic<int> wake_up = -1;  // written to by the handler, so that a wait ends

void note_signal(int signal) {
  const int saved = errno;
  came = signal;
  const char byte = 0;
  const int fd = wake_up;
  if (fd >= 0 && write(fd, &byte, 1) < 0) {
    // Full: the reader wakes up anyway.
  }
  errno = saved;
}

constexpr int kCaught[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before_interruption[3];
int wake_ends[2] = {-1, -1};

}  // namespace

Interruption::Interruption() {
  came = 0;
  if (pipe2(wake_ends, O_CLOEXEC | O_NONBLOCK) == 0) wake_up = wake_ends[1];
  struct sigaction action = {};
  action.sa_handler = note_signal;
  for (size_t i = 0; i < 3; ++i) {
    sigaction(kCaught[i], nullptr, &before_interruption[i]);
    // nohup and the shell's background jobs ignore some of them.
    if (before_interruption[i].sa_handler != SIG_IGN) sigaction(kCaught[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < 3; ++i) sigaction(kCaught[i], &before_interruption[i], nullptr);
  wake_up = -1;
  for (int& end : wake_ends) {
    if (end >= 0) close(end);
    end = -1;
  }
}

int Interruption::signal() { return came; }

int Interruption::wake_fd() { return wake_ends[0]; }

}  // namespace fathom
