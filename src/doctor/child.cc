// Child processes with a time limit.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/file_descriptor.h"
#include "doctor/machine.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostAnswer = 256 << 10;

// In the child: nothing of ours reacts to its end, and what libraries print is not our output.
void prepare_child() {
  setpgid(0, 0);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
}

// Up to the end of the answer, the deadline or the largest size; false: the deadline.
bool read_answer(int from, Clock::time_point deadline, std::string& text) {
  char buffer[4096];
  while (text.size() < kMostAnswer) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waits = {from, POLLIN, 0};
    const int ready = poll(&waits, 1, static_cast<int>(std::min<int64_t>(left, 60000)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t got = ::read(from, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer, static_cast<size_t>(got));
  }
  return true;
}

// False where it does not end: a process inside a broken driver cannot be killed, nor waited for.
bool wait_until(pid_t child, Clock::time_point deadline, int& status) {
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (ended < 0 && errno != EINTR) return false;
    if (Clock::now() >= deadline) return false;
    usleep(1000);
  }
}

}  // namespace

void write_answer(int out, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(out, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

ChildAnswer ask_child(const std::function<void(int out)>& work,
                      std::chrono::milliseconds patience) {
  ChildAnswer answer;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return answer;
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  const Clock::time_point deadline = Clock::now() + patience;
  const pid_t child = fork();
  if (child < 0) return answer;
  if (child == 0) {
    prepare_child();
    work(to.get());
    _exit(0);
  }
  to = FileDescriptor();
  const bool in_time = read_answer(from.get(), deadline, answer.text);
  const bool too_long = answer.text.size() >= kMostAnswer;
  int status = 0;
  if (!in_time || too_long || !wait_until(child, deadline, status)) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    wait_until(child, Clock::now() + std::chrono::milliseconds(200), status);
    answer.end = too_long ? ChildAnswer::End::kFailed : ChildAnswer::End::kTimedOut;
    return answer;
  }
  if (WIFSIGNALED(status)) {
    answer.end = ChildAnswer::End::kCrashed;
    answer.code = WTERMSIG(status);
    return answer;
  }
  answer.code = WEXITSTATUS(status);
  answer.end = answer.code == 0 ? ChildAnswer::End::kDone : ChildAnswer::End::kFailed;
  return answer;
}

ChildAnswer ask_program(const std::string& path, const std::vector<std::string>& arguments,
                        std::chrono::milliseconds patience) {
  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return ask_child(
      [&words](int out) {
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        std::vector<char*> argv;
        argv.reserve(words.size() + 1);
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
      },
      patience);
}

void AnswerWriter::put(std::string_view key, std::string_view value) const {
  std::string line(key);
  line += '\t';
  for (const char c : value) line += c == '\t' || c == '\n' || c == '\0' ? ' ' : c;
  write_answer(out_, line + "\n");
}

std::vector<std::pair<std::string, std::string>> lines_of_answer(std::string_view answer) {
  std::vector<std::pair<std::string, std::string>> lines;
  while (!answer.empty()) {
    const size_t end = std::min(answer.find('\n'), answer.size());
    const std::string_view line = answer.substr(0, end);
    const size_t tab = line.find('\t');
    if (tab != std::string_view::npos)
      lines.emplace_back(line.substr(0, tab), line.substr(tab + 1));
    answer.remove_prefix(std::min(end + 1, answer.size()));
  }
  return lines;
}

}  // namespace fathom
