// Kernels that wait for a known reason at a known line, for `fathom record --pc-sampling`:
//   nvcc -O2 -arch=sm_90 -lineinfo stalls.cu -o stalls && fathom record --pc-sampling -- ./stalls
//   stalls [ROUNDS]   prints the time of each kernel on the GPU and a sum that shows that its results are right
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                              \
  do {                                                                                \
    const cudaError_t error = (call);                                                 \
    if (error != cudaSuccess) {                                                       \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));             \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

constexpr int kBlock = 256;

// Limited by device memory.
__global__ void add_arrays(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  sum[i] = a[i] + b[i];  // hot: long_scoreboard
}

// Limited by shared memory: the 32 threads of a warp read one bank.
__global__ void read_one_bank(const float* in, float* out, int rounds) {
  __shared__ float tile[32 * 32];
  for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i] = in[i];
  __syncthreads();
  float sum = 0;
  int at = threadIdx.x % 32;
  for (int round = 0; round < rounds; ++round) {
    sum += tile[at % 32 * 32 + round % 32];  // hot: short_scoreboard, mio_throttle
    at += 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Limited by arithmetic.
__global__ void polynomial(const float* in, float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], y = x + 1, z = x + 2, w = x + 3;
  for (int round = 0; round < rounds; ++round) {
    x = x * 0.999f + 0.25f;
    y = y * 0.998f + 0.25f;
    z = z * 0.997f + 0.25f;
    w = w * 0.996f + 0.25f;
  }
  out[i] = x + y + z + w;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
  constexpr int kCount = 1 << 26, kGrid = kCount / kBlock;
  float *a = nullptr, *b = nullptr, *sum = nullptr;
  CUDA_CHECK(cudaMalloc(&a, kCount * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&b, kCount * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&sum, kCount * sizeof(float)));
  CUDA_CHECK(cudaMemset(a, 0, kCount * sizeof(float)));
  CUDA_CHECK(cudaMemset(b, 0, kCount * sizeof(float)));
  cudaEvent_t marks[4];
  for (cudaEvent_t& mark : marks) CUDA_CHECK(cudaEventCreate(&mark));
  float ms[3] = {};
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    CUDA_CHECK(cudaEventRecord(marks[0]));
    for (int i = 0; i < 10; ++i) add_arrays<<<kGrid, kBlock>>>(a, b, sum, kCount);
    CUDA_CHECK(cudaEventRecord(marks[1]));
    read_one_bank<<<132 * 8, kBlock>>>(a, sum, 4000);
    CUDA_CHECK(cudaEventRecord(marks[2]));
    polynomial<<<132 * 32, kBlock>>>(a, sum, 8000);
    CUDA_CHECK(cudaEventRecord(marks[3]));
    CUDA_CHECK(cudaEventSynchronize(marks[3]));
    for (int i = 0; i < 3; ++i) {
      float part = 0;
      CUDA_CHECK(cudaEventElapsedTime(&part, marks[i], marks[i + 1]));
      ms[i] += part;
    }
  }
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  float first = 0;
  CUDA_CHECK(cudaMemcpy(&first, sum, sizeof first, cudaMemcpyDeviceToHost));
  std::fprintf(stderr, "add_arrays %.3f ms  read_one_bank %.3f ms  polynomial %.3f ms  wall %.1f ms\n",
               ms[0] / rounds, ms[1] / rounds, ms[2] / rounds, wall.count());
  std::printf("sum %.3f\n", first);
  return 0;
}
