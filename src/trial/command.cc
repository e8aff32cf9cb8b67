#include "trial/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

#include "base/file_descriptor.h"
#include "trial/bounded_log.h"
#include "trial/interruption.h"
#include "trial/processes.h"

namespace fathom {
namespace {

int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int64_t nanoseconds_of(const timeval& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_usec * int64_t{1000};
}

std::vector<char*> c_strings(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

struct ChildStart {
  char* const* arguments;
  char* const* environment;
  const char* folder;
  int output, said, go, death_signal;
  pid_t parent;
};

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become_command(const ChildStart& start) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, start.death_signal);
  if (getppid() != start.parent) _exit(127);  // killed in between
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    if (signal != SIGKILL && signal != SIGSTOP) sigaction(signal, &standard, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char byte = 0;
  if (read(start.go, &byte, 1) != 1) _exit(127);  // until its start is noted
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    dup2(start.output >= 0 ? start.output : nowhere, fd);
  environ = const_cast<char**>(start.environment);  // its PATH finds the program, not ours
  if (*start.folder == '\0' || chdir(start.folder) == 0)
    execvp(start.arguments[0], start.arguments);
  const int code = errno;
  if (write(start.said, &code, sizeof code) < 0) _exit(126);
  _exit(127);
}

// Ends the group, politely first: a program that is asked can write what it has.
class GroupEnd {
 public:
  GroupEnd(pid_t group, int64_t grace_ns) : group_(group), grace_ns_(grace_ns) {}
  void begin() {
    if (asked_ns_ != 0) return;
    asked_ns_ = monotonic_ns();
    kill(-group_, SIGTERM);
  }
  void continue_after_grace() {
    if (asked_ns_ != 0 && monotonic_ns() - asked_ns_ >= grace_ns_) kill(-group_, SIGKILL);
  }
  bool begun() const { return asked_ns_ != 0; }
  int64_t asked_ns() const { return asked_ns_; }

 private:
  pid_t group_;
  int64_t grace_ns_, asked_ns_ = 0;
};

// While a command runs, processes that lose their parent become ours: those that have left the
// command's group are found, too. With several commands at a time nobody knows whose they are, and
// the last one to end kills them.
class Adoption {
 public:
  Adoption() {
    const std::lock_guard lock(mutex());
    if (running()++ > 0) return;
    for_each_process([&](int64_t pid, const ProcessFacts& facts) {
      if (facts.parent == getpid()) own().insert(pid);
    });
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Adoption() {
    const std::lock_guard lock(mutex());
    if (--running() > 0) return;
    end_adopted();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    own().clear();
  }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static int& running() {
    static int count = 0;
    return count;
  }
  // Children that were there before the first command.
  static std::set<int64_t>& own() {
    static std::set<int64_t> pids;
    return pids;
  }
  // The death of one makes its children ours: until there are none, or for so long.
  static void end_adopted() {
    const int64_t begun = monotonic_ns();
    constexpr int64_t kLongest = 2'000'000'000;
    while (monotonic_ns() - begun < kLongest) {
      std::vector<int64_t> adopted;
      for_each_process([&](int64_t pid, const ProcessFacts& facts) {
        if (facts.parent == getpid() && !own().contains(pid)) adopted.push_back(pid);
      });
      if (adopted.empty()) return;
      for (const int64_t pid : adopted) {
        kill(static_cast<pid_t>(pid), SIGKILL);
        int status = 0;
        for (int tries = 0; tries < 100 && waitpid(static_cast<pid_t>(pid), &status, WNOHANG) == 0;
             ++tries)
          usleep(1000);
      }
    }
  }
};

struct Waiting {
  pid_t child;
  int pid_fd;  // < 0: an old kernel
  int output;  // < 0: none
  int64_t begun_ns, deadline_ns, grace_ns;
  bool heeds_interrupt;
};

// Until the command has ended; reads its output meanwhile. The time is the command's: neither what
// it leaves behind nor the grace that it is given counts.
void wait_for_end(const Waiting& waiting, BoundedLog* log, TrialEnd& end, int& status,
                  rusage& usage) {
  GroupEnd ending(waiting.child, waiting.grace_ns);
  bool reads = waiting.output >= 0;
  char part[65536];
  while (true) {
    const pid_t done = wait4(waiting.child, &status, WNOHANG, &usage);
    if (done == waiting.child || (done < 0 && errno != EINTR)) break;
    const int64_t left_ms = (waiting.deadline_ns - monotonic_ns()) / 1'000'000;
    if (waiting.heeds_interrupt && Interruption::signal() != 0 && !ending.begun()) {
      end.kind = EndKind::kInterrupted;
      ending.begin();
    } else if (left_ms <= 0 && !ending.begun()) {
      end.kind = EndKind::kTimedOut;
      ending.begin();
    }
    ending.continue_after_grace();
    pollfd ready[3] = {
        {waiting.pid_fd, POLLIN, 0},
        {reads ? waiting.output : -1, POLLIN, 0},
        {ending.begun() || !waiting.heeds_interrupt ? -1 : Interruption::wake_fd(), POLLIN, 0}};
    const int64_t longest = ending.begun() ? 50 : waiting.pid_fd < 0 ? 1 : 1000;
    poll(ready, 3,
         static_cast<int>(std::clamp<int64_t>(ending.begun() ? longest : left_ms + 1, 1, longest)));
    if (reads && ready[1].revents != 0) {
      const ssize_t got = read(waiting.output, part, sizeof part);
      if (got > 0) log->put({part, static_cast<size_t>(got)});
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) reads = false;
    }
  }
  const int64_t now = monotonic_ns();
  end.wall_ns = (ending.begun() ? ending.asked_ns() : now) - waiting.begun_ns;
  // What it leaves behind would disturb the next run, and may hold the stream open. What has left
  // the group is ended later, and may write until then.
  kill(-waiting.child, SIGKILL);
  constexpr int64_t kLongestRest = 1'000'000'000;
  while (reads && monotonic_ns() - now < kLongestRest) {
    pollfd rest{waiting.output, POLLIN, 0};
    if (poll(&rest, 1, 100) <= 0) break;
    const ssize_t got = read(waiting.output, part, sizeof part);
    if (got <= 0) break;
    log->put({part, static_cast<size_t>(got)});
  }
}

int64_t own_peak_bytes() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return own.ru_maxrss * int64_t{1024};
}

void put_usage(const rusage& usage, int64_t own_peak, TrialEnd& end) {
  end.user_ns = nanoseconds_of(usage.ru_utime);
  end.system_ns = nanoseconds_of(usage.ru_stime);
  const int64_t peak = usage.ru_maxrss * int64_t{1024};
  if (peak > own_peak) end.max_rss_bytes = peak;
}

}  // namespace

std::vector<std::string> shell_words(const std::string& text) { return {"/bin/sh", "-c", text}; }

std::vector<std::string> changed_environment(std::vector<std::string> environment,
                                             const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    const std::string name = change.substr(0, change.find('=') + 1);
    std::erase_if(environment, [&](const std::string& line) { return line.starts_with(name); });
    environment.push_back(change);
  }
  return environment;
}

std::string end_text(const TrialEnd& end, double limit_s) {
  switch (end.kind) {
    case EndKind::kExited:
      return fmt::format("exit status {}", end.code);
    case EndKind::kSignalled: {
      const char* name = sigabbrev_np(end.code);
      return name != nullptr ? fmt::format("killed by SIG{}", name)
                             : fmt::format("killed by signal {}", end.code);
    }
    case EndKind::kTimedOut:
      return fmt::format("ended at its limit of {:.6g} s", limit_s);
    case EndKind::kNotStarted:
      return fmt::format("cannot be started: {}", end.why);
    case EndKind::kInterrupted:
      return "interrupted";
  }
  return "";
}

Result<TrialEnd> run_command(const TrialCommand& command, StartedCall started, void* context) {
  if (command.words.empty() || command.words[0].empty()) return Error{"there is no command to run"};
  TrialEnd end;
  BoundedLog log;
  FileDescriptor output_read, output_write;
  if (!command.log.empty()) {
    TRY(log.open(command.log, command.log_limit));
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
      return Error{fmt::format("cannot start {}: {}", command.words[0], std::strerror(errno))};
    output_read = FileDescriptor(ends[0]);
    output_write = FileDescriptor(ends[1]);
  }
  int said[2] = {-1, -1};  // why it could not be started; closed by a start
  if (pipe2(said, O_CLOEXEC) != 0)
    return Error{fmt::format("cannot start {}: {}", command.words[0], std::strerror(errno))};
  const FileDescriptor said_read(said[0]);
  FileDescriptor said_write(said[1]);
  int go[2] = {-1, -1};
  if (pipe2(go, O_CLOEXEC) != 0)
    return Error{fmt::format("cannot start {}: {}", command.words[0], std::strerror(errno))};
  FileDescriptor go_read(go[0]);
  const FileDescriptor go_write(go[1]);
  const std::vector<char*> arguments = c_strings(command.words);
  const std::vector<char*> environment = c_strings(command.environment);
  const std::string folder = command.folder.string();
  const int64_t own_peak = own_peak_bytes();
  const Adoption adoption;
  const ChildStart start{arguments.data(),
                         environment.data(),
                         folder.c_str(),
                         output_write.get(),
                         said_write.get(),
                         go_read.get(),
                         command.ends_child ? SIGTERM : SIGKILL,
                         getpid()};
  const pid_t child = fork();
  if (child < 0)
    return Error{fmt::format("cannot start {}: {}", command.words[0], std::strerror(errno))};
  if (child == 0) become_command(start);
  setpgid(child, child);  // also here: whoever comes first
  said_write = FileDescriptor();
  output_write = FileDescriptor();
  go_read = FileDescriptor();
  if (started != nullptr) started(context, child);  // may take as long as the disk does
  const int64_t begun = monotonic_ns();
  if (write(go_write.get(), "", 1) != 1) kill(child, SIGKILL);
  const FileDescriptor pid_fd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  // A limit beyond a century is none.
  const double limit_s = std::clamp(command.limit_s, 0.0, 3e9);
  const Waiting waiting{child,
                        pid_fd.get(),
                        output_read.get(),
                        begun,
                        begun + static_cast<int64_t>(limit_s * 1e9),
                        static_cast<int64_t>(std::clamp(command.grace_s, 0.0, 3e9) * 1e9),
                        command.heeds_interrupt};
  int status = 0;
  rusage usage{};
  wait_for_end(waiting, &log, end, status, usage);
  if (!command.log.empty()) {
    const int failure = log.finish();
    end.log_bytes = log.bytes();
    end.log_cut = log.is_cut();
    if (failure != 0)
      return Error{
          fmt::format("cannot write {}: {}", command.log.string(), std::strerror(failure))};
  }
  put_usage(usage, own_peak, end);
  int code = 0;
  if (read(said_read.get(), &code, sizeof code) == static_cast<ssize_t>(sizeof code)) {
    end.kind = EndKind::kNotStarted;
    end.why = std::strerror(code);
    end.not_found = code == ENOENT;
  } else if (end.kind == EndKind::kExited) {
    end.kind = WIFSIGNALED(status) ? EndKind::kSignalled : EndKind::kExited;
    end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  return end;
}

}  // namespace fathom
