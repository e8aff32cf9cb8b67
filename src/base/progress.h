#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace fathom {

// Called with 0 to 1, or a negative number where the end is not known.
using ProgressCallback = std::function<void(double)>;

// One line on standard error that updates in place, shown only for work that takes over a second.
class ProgressLine {
 public:
  ProgressLine(std::string label, bool enabled);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(double fraction);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_ = started_;
};

}  // namespace fathom
