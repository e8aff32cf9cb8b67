#pragma once

#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace fathom {

// A machine or a limit may refuse a thread, which the standard library says with an exception. It
// stops here: the work is done all the same, by fewer threads.

// Runs the function on a thread of its own, or, where there is none, when its result is asked for.
template <typename Function>
auto start_beside(Function function, bool beside = true)
    -> std::future<std::invoke_result_t<Function>> {
  if (beside) {
    try {
      return std::async(std::launch::async, function);
    } catch (const std::system_error&) {
    }
  }
  return std::async(std::launch::deferred, std::move(function));
}

// Threads that are joined with the object.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { join(); }

  // False where there is no further thread; the function does not run then.
  bool start(std::function<void()> function) {
    threads_.reserve(threads_.size() + 1);
    try {
      threads_.emplace_back(std::move(function));
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  size_t size() const { return threads_.size(); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace fathom
