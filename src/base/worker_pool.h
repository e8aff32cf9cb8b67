#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "base/threads.h"

namespace fathom {

// Threads that run submitted jobs, as many as asked for or fewer; with none, whoever submits a job
// runs it. Destruction waits for the jobs that were begun.
class WorkerPool {
 public:
  explicit WorkerPool(size_t threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void submit(std::function<void()> job);
  size_t threads() const { return threads_.size(); }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  Threads threads_;
};

// produce() on this thread → work() on the pool → consume() on this thread, in the order produced,
// so the number of threads changes nothing. Only a few items are in flight, which bounds memory.
template <typename Item, typename Produce, typename Work, typename Consume>
Status run_in_order(WorkerPool& pool, Produce produce, Work work, Consume consume) {
  using Out = std::invoke_result_t<Work, Item>;
  const size_t window = pool.threads() + 1;
  std::deque<std::future<Out>> in_flight;
  bool more = true;
  while (more || !in_flight.empty()) {
    while (more && in_flight.size() < window) {
      Result<std::optional<Item>> produced = produce();
      if (!produced.ok()) {
        for (auto& running : in_flight) running.wait();  // they use `work`
        return produced.error();
      }
      std::optional<Item> item = produced.take();
      more = item.has_value();
      if (!more) break;
      auto task = std::make_shared<std::packaged_task<Out()>>(
          [&work, held = std::move(*item)]() mutable { return work(std::move(held)); });
      in_flight.push_back(task->get_future());
      pool.submit([task] { (*task)(); });
    }
    if (in_flight.empty()) break;
    Out out = in_flight.front().get();
    in_flight.pop_front();
    consume(std::move(out));
  }
  return Nothing{};
}

}  // namespace fathom
