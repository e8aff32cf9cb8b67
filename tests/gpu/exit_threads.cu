// The program ends while its threads launch kernels; they stop in its own exit handler, which runs
// after those of libraries that were loaded later. Nothing a recorder does at the end may hold or
// break it.
//   exit_threads MILLISECONDS
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

__global__ void add_one(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

std::atomic<bool> stop = false;
std::vector<std::thread> threads;

void launch_until_stopped() {
  constexpr int kCount = 1 << 20;
  float* x = nullptr;
  if (cudaMalloc(&x, kCount * sizeof(float)) != cudaSuccess) return;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  for (int i = 0; !stop; ++i) {
    add_one<<<kCount / 256, 256, 0, stream>>>(x, kCount);
    if (i % 64 == 63) cudaStreamSynchronize(stream);
  }
}

void join_threads() {
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

int main(int argc, char** argv) {
  std::atexit(join_threads);
  for (int i = 0; i < 4; ++i) threads.emplace_back(launch_until_stopped);
  std::this_thread::sleep_for(std::chrono::milliseconds(argc > 1 ? std::atoi(argv[1]) : 500));
  std::puts("end");
  std::exit(7);
}
