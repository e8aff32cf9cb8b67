#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace fathom {

// Lines of a file descriptor, as they come.
class LineReader {
 public:
  // What is there now; false: the end, or an error.
  bool read_some(int from);
  // The next line without its end. One that is too long is not kept: `is_too_long`.
  std::optional<std::string> next();
  // What has no end of line, after the end of input; empty: nothing.
  std::string rest() { return std::move(unread_); }
  bool is_too_long = false;

 private:
  static constexpr size_t kLongest = 4 << 20;
  std::string unread_;
  size_t searched_ = 0;
  bool skipping_ = false;
};

// Answers lines with lines, one at a time, in a process of its own that keeps what it opens. It
// leaves a copy of itself behind before each line: where the answer is no longer wanted, or
// crashes, the copy goes on with what was open before.
class ToolWorker {
 public:
  using Answer = std::function<std::string(std::string_view line)>;
  explicit ToolWorker(Answer answer) : answer_(std::move(answer)) {}
  ~ToolWorker();
  ToolWorker(const ToolWorker&) = delete;
  ToolWorker& operator=(const ToolWorker&) = delete;

  bool is_busy() const { return busy_; }
  // To wait for; -1: there is no worker, the next line starts one.
  int descriptor() const { return channel_.get(); }
  // False: no process could be started.
  bool send(const std::string& line);
  // Ends the answer that it is at. There will be none.
  void cancel();

  enum class Event { kNothing, kAnswer, kCancelled, kCrashed };
  // After the descriptor became readable; kAnswer fills `answer`.
  Event receive(std::string& answer);

 private:
  bool start();
  void work(int channel);
  Event lost();
  Event take(const std::string& line, std::string& answer);

  Answer answer_;
  FileDescriptor channel_;
  LineReader lines_;
  pid_t worker_ = 0;  // that is at it, or waits for a line; 0: not known yet
  bool busy_ = false, begun_ = false, cancelled_ = false;
};

}  // namespace fathom
