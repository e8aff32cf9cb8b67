#include "app/remote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/shell_text.h"

extern char** environ;

namespace fathom {
namespace {

namespace fs = std::filesystem;

// ssh hands one string to a shell; docker takes the words as they are.
std::vector<std::string> placed(const RemotePlace& place, std::vector<std::string> words) {
  if (!place.container.empty()) {
    words.insert(words.begin(), {"docker", "exec", "--", place.container});
  }
  if (place.host.empty()) return words;
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return {"ssh", "--", place.host, line};
}

Result<pid_t> start(std::vector<std::string> words, posix_spawn_file_actions_t* actions) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;  // SIGPIPE, which we ignore, as programs expect it
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Error{fmt::format("cannot run {}: {}", words[0], std::strerror(error))};
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

Result<int> run_there(const RemotePlace& place, const std::vector<std::string>& words) {
  return wait_for(TRY(start(placed(place, words), nullptr)));
}

std::string remote_report_directory() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("/tmp/fathom-report-{}-{}", getpid(), now);
}

Result<std::vector<std::string>> fetch_report(const RemotePlace& place, const std::string& remote,
                                              const OutputPlace& local) {
  OutputDirectory out = TRY(OutputDirectory::create(local));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{fmt::format("no pipe: {}", std::strerror(errno))};
  posix_spawn_file_actions_t writes, reads;
  posix_spawn_file_actions_init(&writes);
  posix_spawn_file_actions_init(&reads);
  posix_spawn_file_actions_adddup2(&writes, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&reads, ends[0], STDIN_FILENO);
  const Result<pid_t> packs = start(placed(place, {"tar", "-C", remote, "-cf", "-", "."}), &writes);
  const Result<pid_t> unpacks =
      packs.ok() ? start({"tar", "-C", out.staged("").string(), "--no-same-owner",
                          "--no-same-permissions", "-xf", "-"},
                         &reads)
                 : packs;
  close(ends[0]);
  close(ends[1]);
  posix_spawn_file_actions_destroy(&writes);
  posix_spawn_file_actions_destroy(&reads);
  if (!packs.ok()) return packs.error();
  const int packed = wait_for(packs.value());
  if (!unpacks.ok()) return unpacks.error();
  const int unpacked = wait_for(unpacks.value());
  (void)run_there(place, {"rm", "-rf", "--", remote});
  if (packed != 0 || unpacked != 0) return Error{"the report could not be copied back"};
  return out.commit();
}

}  // namespace fathom
