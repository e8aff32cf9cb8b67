#include "base/worker_pool.h"

namespace fathom {

WorkerPool::WorkerPool(size_t threads) {
  while (threads_.size() < threads && threads_.start([this] { run(); })) {
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  threads_.join();
}

void WorkerPool::submit(std::function<void()> job) {
  if (threads_.size() == 0) return job();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void WorkerPool::run() {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace fathom
