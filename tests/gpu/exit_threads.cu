// The program ends while its threads launch kernels: nothing a recorder does then may hold or break it.
//   exit_threads MILLISECONDS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

__global__ void add_one(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

void launch_until_the_end() {
  constexpr int kCount = 1 << 20;
  float* x = nullptr;
  if (cudaMalloc(&x, kCount * sizeof(float)) != cudaSuccess) return;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  for (int i = 0;; ++i) {
    add_one<<<kCount / 256, 256, 0, stream>>>(x, kCount);
    if (i % 64 == 63) cudaStreamSynchronize(stream);
  }
}

int main(int argc, char** argv) {
  for (int i = 0; i < 4; ++i) std::thread(launch_until_the_end).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(argc > 1 ? std::atoi(argv[1]) : 500));
  std::puts("end");
  std::exit(7);
}
