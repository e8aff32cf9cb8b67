// How the time programs of the ladders measure: CUDA events around a graph of launches.
#pragma once

#include <algorithm>

#include "gpu_check.h"

namespace fathom::check {

class GpuTimer {
 public:
  GpuTimer() {
    require(cudaStreamCreate(&stream_), "cudaStreamCreate");
    require(cudaEventCreate(&start_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
  }

  cudaStream_t stream() const { return stream_; }

  // Microseconds of what `work` puts on the stream.
  template <class Work>
  double timed(const Work& work) {
    require(cudaEventRecord(start_, stream_), "cudaEventRecord");
    work();
    require(cudaEventRecord(end_, stream_), "cudaEventRecord");
    require(cudaEventSynchronize(end_), "the kernel");
    float milliseconds = 0.0f;
    require(cudaEventElapsedTime(&milliseconds, start_, end_), "cudaEventElapsedTime");
    return double{milliseconds} * 1e3;
  }

  // Prints the median of a call: `launch(i)` for i < calls as one graph, replayed in each round
  // after `before`.
  template <class Launch, class Before>
  void print_median(int64_t calls, const Launch& launch, const Before& before) {
    constexpr size_t kRounds = 15;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "the graph");
    for (int64_t i = 0; i < calls; ++i) launch(i);
    require(cudaStreamEndCapture(stream_, &graph), "the graph");
    require(cudaGraphInstantiate(&replay, graph, 0), "the graph");
    require(cudaGraphLaunch(replay, stream_), "the graph");
    std::vector<double> times;
    for (size_t i = 0; i < kRounds; ++i) {
      before();
      const double all = timed([&] { require(cudaGraphLaunch(replay, stream_), "the graph"); });
      times.push_back(all / static_cast<double>(calls));
    }
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    std::printf("time_us = %.3f\n", times[kRounds / 2]);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

}  // namespace fathom::check
