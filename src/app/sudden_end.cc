#include "app/sudden_end.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/staging.h"

namespace fathom {
namespace {

// Handlers take no arguments: the exit code, and the thread that is ending the program.
constinit std::atomic<int> exit_code = 1;
constinit std::atomic<pid_t> ending = 0;

void say(const char* text) {
  const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  (void)written;  // there is nobody left to tell
}

// One thread ends the program; the others wait for it. False for a handler that interrupts the one.
bool is_the_one() {
  pid_t nobody = 0;
  if (ending.compare_exchange_strong(nobody, gettid())) return true;
  while (nobody != gettid()) pause();
  return false;
}

// Of address space, as that is what `ulimit -v` limits; 0 where it is not known.
unsigned long megabytes_in_use() {
  char text[64] = {};
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t got = read(fd, text, sizeof(text) - 1);
  close(fd);
  unsigned long pages = 0;
  for (ssize_t i = 0; i < got && text[i] >= '0' && text[i] <= '9'; ++i) {
    pages = pages * 10 + static_cast<unsigned long>(text[i] - '0');
  }
  return pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) >> 20;
}

// Instead of std::bad_alloc: no object between here and main() could be relied on to unwind.
[[noreturn]] void end_without_memory() {
  if (!is_the_one()) _exit(exit_code);
  char text[256] = {}, limit[64] = {};
  rlimit allowed = {};
  if (getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY) {
    std::snprintf(limit, sizeof(limit), " of the %lu MB that ulimit -v allows",
                  static_cast<unsigned long>(allowed.rlim_cur >> 20));
  }
  std::snprintf(
      text, sizeof(text),
      "fathom: out of memory at %lu MB%s; try --threads 1, or a machine with more memory\n",
      megabytes_in_use(), limit);
  say(text);
  remove_all_staging();
  _exit(exit_code);
}

void end_by_signal(int signal) {
  if (postpones(signal) || !is_the_one()) return;
  remove_all_staging();
  std::signal(signal, SIG_DFL);
  // Blocked while its handler runs; it ends the program once it is not.
  sigset_t this_one;
  sigemptyset(&this_one);
  sigaddset(&this_one, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
  _exit(128 + signal);
}

// A cache is mapped: somebody cut it short, or the disk fails.
void end_unreadable(int signal, siginfo_t* what, void* /*context*/) {
  if (what->si_code == BUS_ADRERR) {
    if (!is_the_one()) _exit(exit_code);
    say("fathom: a file that was being read was cut short or cannot be read; try again\n");
    remove_all_staging();
    _exit(exit_code);
  }
  end_by_signal(signal);
}

[[noreturn]] void end_by_exception() {
  if (!is_the_one()) std::abort();
  say("fathom: internal error: an exception was not caught; please report it\n");
  remove_all_staging();
  std::abort();
}

// Before main() tables are filled, which takes memory too.
[[gnu::constructor(101)]] void prepare_for_little_memory() {
  std::set_new_handler(end_without_memory);
}

}  // namespace

void prepare_for_sudden_end(int code) {
  exit_code = code;
  std::set_new_handler(end_without_memory);
  std::set_terminate(end_by_exception);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2}) {
    struct sigaction action = {};
    // nohup and the shell's background jobs ignore some of them.
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = end_by_signal;
    sigaction(signal, &action, nullptr);
  }
  struct sigaction action = {};
  action.sa_sigaction = end_unreadable;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace fathom
