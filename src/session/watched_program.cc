#include "session/watched_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>

#include "base/file_descriptor.h"
#include "base/threads.h"

namespace fathom {
namespace {

int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::atomic<pid_t> running_child = 0;
void pass_to_child(int signal) {
  const pid_t child = running_child.load();
  if (child > 0) kill(child, signal);
}

// While the program runs, signals from the terminal are for it, and those sent to us go on to it.
class SignalsForChild {
 public:
  SignalsForChild() {
    struct sigaction ignore = {}, pass = {};
    ignore.sa_handler = SIG_IGN;
    pass.sa_handler = pass_to_child;
    pass.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGQUIT}) set(signal, ignore);
    for (const int signal : {SIGTERM, SIGHUP, SIGUSR1}) set(signal, pass);
  }
  ~SignalsForChild() {
    for (size_t i = 0; i < count_; ++i) sigaction(signals_[i], &old_[i], nullptr);
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;

  // In the child, as it was before us: what was ignored when we started stays so.
  void restore_in_child() const {
    for (size_t i = 0; i < count_; ++i) {
      if (old_[i].sa_handler != SIG_IGN)
        signal(signals_[i], SIG_DFL);
      else
        signal(signals_[i], SIG_IGN);
    }
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
  }

 private:
  void set(int signal, const struct sigaction& action) {
    signals_[count_] = signal;
    sigaction(signal, &action, &old_[count_]);
    ++count_;
  }
  int signals_[8] = {};
  struct sigaction old_[8] = {};
  size_t count_ = 0;
};

// One of the program's two output streams, on its way through us to ours.
struct PassedStream {
  int to = 1;
  FileDescriptor read_end, write_end;

  // A terminal in front of a terminal: programs colour and flush by that.
  bool open_pair() {
    int ends[2] = {-1, -1};
    if (isatty(to) == 1) {
      winsize size{};
      ioctl(to, TIOCGWINSZ, &size);
      termios settings{};
      tcgetattr(to, &settings);
      settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // ours does that
      if (openpty(&ends[0], &ends[1], nullptr, &settings, &size) != 0) return false;
    } else if (pipe2(ends, O_CLOEXEC) != 0) {
      return false;
    }
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
  }
};

bool same_place(int a, int b) {
  struct stat first = {}, second = {};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

void pass_stream(PassedStream& stream, const WatchedProgram& program, std::mutex& one,
                 const std::atomic<bool>& program_ended) {
  constexpr size_t kLongestLine = 1 << 16;
  std::string line;
  char part[16384];
  while (true) {
    // Daemons that the program leaves behind may hold the stream open for ever.
    pollfd ready{stream.read_end.get(), POLLIN, 0};
    const int events = poll(&ready, 1, 100);
    if (events == 0) {
      if (program_ended) break;
      continue;
    }
    const ssize_t got = read(stream.read_end.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const int64_t time = clock_ns(CLOCK_REALTIME);
    std::string_view bytes(part, static_cast<size_t>(got));
    // Whoever read our output is gone: the program finds out as it would without us.
    if (!write_all(stream.to, bytes)) stream.read_end = FileDescriptor();
    while (!bytes.empty()) {
      const size_t end = bytes.find_first_of("\n\r");
      if (line.size() < kLongestLine) line += bytes.substr(0, end);
      if (end == std::string_view::npos) break;
      if (!line.empty()) {
        const std::lock_guard lock(one);
        program.on_line(line, time);
      }
      line.clear();
      bytes.remove_prefix(end + 1);
    }
    if (!stream.read_end.ok()) break;
  }
  if (!line.empty()) {
    const std::lock_guard lock(one);
    program.on_line(line, clock_ns(CLOCK_REALTIME));
  }
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<ProgramEnd> run_watched(const WatchedProgram& program) {
  std::vector<char*> arguments = pointers(program.command);
  std::vector<char*> environment = pointers(program.environment);
  PassedStream streams[2];
  bool passes = static_cast<bool>(program.on_line);
  // Where both go to the same place, one stream keeps their order.
  const int stream_count = !passes ? 0 : same_place(STDOUT_FILENO, STDERR_FILENO) ? 1 : 2;
  for (int i = 0; i < stream_count; ++i) {
    streams[i].to = i + 1;
    if (!streams[i].open_pair())
      return Error{fmt::format("cannot pass the program's output on: {}", std::strerror(errno))};
  }
  int said[2] = {-1, -1};  // why it could not be started; closed by a start
  if (pipe2(said, O_CLOEXEC) != 0)
    return Error{fmt::format("cannot start the program: {}", std::strerror(errno))};
  const FileDescriptor said_read(said[0]);
  FileDescriptor said_write(said[1]);

  const SignalsForChild signals;
  // Threads before the program: where one is refused, it runs all the same, without them.
  std::mutex one;
  std::atomic<bool> program_ended = false;
  Threads threads;
  ProgramEnd end;
  for (int i = 0; i < stream_count && passes; ++i)
    passes = threads.start([&, i] { pass_stream(streams[i], program, one, program_ended); });
  const auto end_passing = [&] {
    program_ended = true;
    for (PassedStream& stream : streams) stream.write_end = FileDescriptor();
    threads.join();
  };
  if (stream_count > 0 && !passes) {
    end_passing();
    end.lines_unread = true;
  }
  const int64_t begun = clock_ns(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child < 0) {
    const int code = errno;
    end_passing();
    return Error{fmt::format("cannot start the program: {}", std::strerror(code))};
  }
  if (child == 0) {
    signals.restore_in_child();
    for (int i = 0; passes && i < 2; ++i) dup2(streams[i % stream_count].write_end.get(), i + 1);
    if (program.discard_output) {
      const int nowhere = open("/dev/null", O_WRONLY);
      if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    }
    execvpe(arguments[0], arguments.data(), environment.data());
    const int code = errno;
    if (write(said_write.get(), &code, sizeof code) < 0) _exit(126);
    _exit(127);
  }
  running_child = child;
  said_write = FileDescriptor();
  for (PassedStream& stream : streams) stream.write_end = FileDescriptor();

  while (true) {
    const pid_t done = waitpid(child, &end.status, program.meanwhile ? WNOHANG : 0);
    if (done == child) break;
    if (done < 0 && errno != EINTR) break;
    if (program.meanwhile) {
      program.meanwhile();
      const timespec pause{0, 50'000'000};
      nanosleep(&pause, nullptr);
    }
  }
  running_child = 0;
  program_ended = true;
  end.wall_ns = clock_ns(CLOCK_MONOTONIC) - begun;
  threads.join();
  int code = 0;
  if (read(said_read.get(), &code, sizeof code) == static_cast<ssize_t>(sizeof code)) {
    end.not_started = NotStarted{std::strerror(code), code == ENOENT};
  }
  return end;
}

}  // namespace fathom
