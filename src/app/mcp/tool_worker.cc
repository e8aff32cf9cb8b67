#include "app/mcp/tool_worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace fathom {
namespace {

bool send_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Ends with `parent`, also where the process that made this one has ended before.
void end_with(pid_t parent) {
  while (getppid() != parent && getppid() != 1) usleep(500);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

constexpr std::string_view kBegun = "+\n";  // there is a copy: this one can be ended
// What a copy says first: "@" and its number.
std::string hello() { return "@" + std::to_string(getpid()) + "\n"; }

}  // namespace

bool LineReader::read_some(int from) {
  char buffer[65536];
  ssize_t got;
  do {
    got = ::read(from, buffer, sizeof buffer);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  unread_.append(buffer, static_cast<size_t>(got));
  return true;
}

std::optional<std::string> LineReader::next() {
  const size_t end = unread_.find('\n', searched_);
  if (end == std::string::npos && unread_.size() > kLongest) {
    skipping_ = true;
    unread_.clear();
  }
  searched_ = unread_.size();
  if (end == std::string::npos) return {};
  is_too_long = skipping_ || end > kLongest;
  skipping_ = false;
  std::string line = is_too_long ? std::string() : unread_.substr(0, end);
  unread_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

ToolWorker::~ToolWorker() {
  channel_ = {};  // which ends it
  if (worker_ > 0) waitpid(worker_, nullptr, 0);
}

bool ToolWorker::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  channel_ = FileDescriptor(ends[0]);
  FileDescriptor theirs(ends[1]);
  // A copy whose maker was ended becomes a child of this process.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  lines_ = {};
  const pid_t parent = getpid();
  worker_ = fork();
  if (worker_ != 0) return worker_ > 0;
  channel_ = {};
  end_with(parent);
  // Standard input and output are the client's.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) dup2(null, fd);
  work(theirs.get());
  _exit(0);
}

void ToolWorker::work(int channel) {
  const pid_t front = getppid();
  LineReader lines;
  if (!send_all(channel, hello())) return;
  while (true) {
    std::optional<std::string> line;
    while (!(line = lines.next())) {
      if (!lines.read_some(channel)) return;
    }
    int life[2];
    if (pipe2(life, O_CLOEXEC) != 0) return;
    const pid_t copy = fork();
    if (copy == 0) {
      close(life[1]);
      char nothing;
      while (::read(life[0], &nothing, 1) < 0 && errno == EINTR) {
      }
      close(life[0]);
      end_with(front);
      if (!send_all(channel, hello())) return;
      continue;
    }
    close(life[0]);
    if (!send_all(channel, kBegun)) return;
    const std::string answer = answer_(*line);
    if (copy > 0) {
      kill(copy, SIGKILL);
      waitpid(copy, nullptr, 0);
    }
    close(life[1]);
    if (!send_all(channel, answer)) return;
  }
}

bool ToolWorker::send(const std::string& line) {
  if (!channel_.ok() && !start()) {
    channel_ = {};
    return false;
  }
  busy_ = true;
  begun_ = cancelled_ = false;
  send_all(channel_.get(), line + "\n");  // where it has ended, receive() says so
  return true;
}

void ToolWorker::cancel() {
  cancelled_ = true;
  if (begun_ && worker_ > 0) kill(worker_, SIGKILL);
}

ToolWorker::Event ToolWorker::lost() {
  if (worker_ > 0) waitpid(worker_, nullptr, 0);
  worker_ = 0;
  if (!busy_) return Event::kNothing;
  busy_ = false;
  return cancelled_ ? Event::kCancelled : Event::kCrashed;
}

ToolWorker::Event ToolWorker::receive(std::string& answer) {
  if (!lines_.read_some(channel_.get())) {
    channel_ = {};
    return lost();
  }
  // Several may have come at once; an answer is the last.
  while (const std::optional<std::string> line = lines_.next()) {
    const Event event = take(*line, answer);
    if (event != Event::kNothing) return event;
  }
  return Event::kNothing;
}

ToolWorker::Event ToolWorker::take(const std::string& line, std::string& answer) {
  if (line.starts_with('@')) {
    const auto copy = static_cast<pid_t>(std::strtol(line.c_str() + 1, nullptr, 10));
    const Event event = copy == worker_ ? Event::kNothing : lost();
    worker_ = copy;
    return event;
  }
  if (line == "+") {
    begun_ = true;
    if (cancelled_) cancel();
    return Event::kNothing;
  }
  if (cancelled_) {  // too late for it, and its copy is gone
    channel_ = {};
    return lost();
  }
  busy_ = false;
  answer = line + "\n";
  return Event::kAnswer;
}

}  // namespace fathom
