#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// What probes look at: a file system and a process's variables. Tests lay out their own.
struct Machine {
  std::filesystem::path root = "/";
  std::map<std::string, std::string, std::less<>> variables;
  // Whether libraries are loaded and programs run: not of a file system that is only looked at.
  bool may_run = true;
  // A driver that starts eight GPUs takes seconds; a broken one takes for ever.
  std::chrono::milliseconds patience{20000};

  bool is_this_one() const { return root == "/"; }
  // "/proc/version" → below the root.
  std::filesystem::path at(std::string_view path) const;
  // The path without the root, as the user knows it.
  std::string shown(const std::filesystem::path& path) const;
  // Empty where it is not set.
  std::string variable(std::string_view name) const;

  bool exists(std::string_view path) const;
  // A regular file's text, at most 64 kB of it, without blanks at its end.
  std::optional<std::string> read(std::string_view path) const;
  // The same in a child process, for files that a driver answers.
  std::optional<std::string> read_guarded(std::string_view path) const;
  // Names in a directory, sorted, at most 4096.
  std::vector<std::string> list(std::string_view path) const;
};

// This machine, with the variables of a process: `environ`.
Machine this_machine(const char* const* environment);

// What a child process wrote, and how it ended.
struct ChildAnswer {
  enum class End : uint8_t { kDone, kFailed, kCrashed, kTimedOut, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;  // exit status or signal
  std::string text;
};

// Runs `work` in a child process, which writes its answer to the descriptor. A child that crashes
// or hangs does no harm: it is killed, or left behind where even that does not end it.
ChildAnswer ask_child(const std::function<void(int out)>& work, std::chrono::milliseconds patience);

// Runs a program without input; standard output and error together.
ChildAnswer ask_program(const std::string& path, const std::vector<std::string>& arguments,
                        std::chrono::milliseconds patience);

// All of a text to a descriptor; a reader that went away is none of our business.
void write_answer(int out, std::string_view text);

// Writes "key\tvalue\n" at once, so that what was known before a crash arrives. Tabs and line
// breaks in the value become blanks.
class AnswerWriter {
 public:
  explicit AnswerWriter(int out) : out_(out) {}
  void put(std::string_view key, std::string_view value) const;

 private:
  int out_;
};
// The lines of an answer, in order; what is no such line is left out.
std::vector<std::pair<std::string, std::string>> lines_of_answer(std::string_view answer);

}  // namespace fathom
