#include "app/serve/report_maker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/file_descriptor.h"

extern char** environ;

namespace fathom {
namespace {

constexpr size_t kLongestMessage = 4000;

struct Pipe {
  FileDescriptor out, in;

  static Pipe open() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  }
};

struct Child {
  pid_t pid = 0;
  FileDescriptor progress, messages;  // its standard output and error
  std::string why;                    // it was not started
};

Child start(const std::vector<std::string>& words) {
  Pipe output = Pipe::open(), errors = Pipe::open();
  if (!output.in.ok() || !errors.in.ok()) return {0, {}, {}, std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.in.get(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Child child;
  const int failed =
      posix_spawn(&child.pid, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {0, {}, {}, std::strerror(failed)};
  child.progress = std::move(output.out);
  child.messages = std::move(errors.out);
  return child;
}

// Calls for each whole line; what is left of one stays in `text`.
template <typename Call>
void take_lines(std::string& text, Call call) {
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    call(std::string_view(text).substr(0, end));
    text.erase(0, end + 1);
  }
}

}  // namespace

ReportMaker::ReportMaker(ServedReports& reports, std::string program)
    : reports_(reports), program_(std::move(program)), thread_([this] { make_all(); }) {}

ReportMaker::~ReportMaker() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    if (child_ > 0) kill(child_, SIGTERM);
  }
  thread_.join();
}

void ReportMaker::make_all() {
  // The server's own thread is the one that signals are for.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (size_t i = 0; i < reports_.size(); ++i)
    if (!reports_.at(i).trace.empty()) make(i);
}

void ReportMaker::make(size_t i) {
  Child child;
  {
    const std::lock_guard lock(mutex_);
    if (stops_) return;
    child = start({program_, "analyze", "--quiet", "--progress-lines", "--out",
                   reports_.at(i).directory.string(), "--", reports_.at(i).trace});
    child_ = child.pid;
  }
  if (child.pid <= 0) {
    reports_.set(i, ReportState::kFailed, -1, fmt::format("cannot run fathom: {}", child.why));
    return;
  }
  reports_.set(i, ReportState::kReading);
  std::string lines, message;
  std::array<pollfd, 2> ends = {pollfd{child.progress.get(), POLLIN, 0},
                                pollfd{child.messages.get(), POLLIN, 0}};
  std::array<char, 4096> buffer = {};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) break;
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      const ssize_t got = read(end.fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      const std::string_view text(buffer.data(), got > 0 ? static_cast<size_t>(got) : 0);
      if (text.empty()) {
        end.fd = -1;
      } else if (&end == &ends[1]) {
        if (message.size() < kLongestMessage) message += text;
      } else {
        lines += text;
      }
    }
    take_lines(lines, [&](std::string_view line) {
      double fraction = -1;
      constexpr std::string_view kReading = "reading ";
      if (line.starts_with(kReading))
        std::from_chars(line.data() + kReading.size(), line.data() + line.size(), fraction);
      reports_.set(i, line.starts_with(kReading) ? ReportState::kReading : ReportState::kAnalyzing,
                   fraction);
    });
  }
  // Seen to be over before it is reaped: until then its number is its own, and a stop may use it.
  siginfo_t over = {};
  while (waitid(P_PID, static_cast<id_t>(child.pid), &over, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  int status = 0;
  {
    const std::lock_guard lock(mutex_);
    waitpid(child.pid, &status, 0);
    child_ = 0;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    reports_.set(i, ReportState::kReady);
    return;
  }
  if (message.empty())
    message = WIFSIGNALED(status)
                  ? fmt::format("fathom analyze was ended by signal {}", WTERMSIG(status))
                  : "fathom analyze failed without a message";
  reports_.set(i, ReportState::kFailed, -1, message);
}

}  // namespace fathom
