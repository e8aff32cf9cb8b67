// How much a launch costs, and how long kernels take: what recording adds is the difference.
//   launch_loop LAUNCHES              empty kernels, as fast as the host can launch them
//   launch_loop LAUNCHES MICROSECONDS kernels of about that length: the GPU is the limit
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void empty() {}
__global__ void busy(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 20000;
  const long long cycles = argc > 2 ? static_cast<long long>(std::atof(argv[2]) * 1980) : 0;
  const auto launch = [&] {
    if (cycles > 0)
      busy<<<132, 128>>>(cycles);
    else
      empty<<<1, 32>>>();
  };
  for (int i = 0; i < 1000; ++i) launch();
  cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) {
    launch();
    if (cycles == 0 && i % 500 == 499) cudaDeviceSynchronize();  // the queue never fills
  }
  cudaDeviceSynchronize();
  const double us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.4f\n", us / launches);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
