// A small CUDA program that does a known number of each thing, for `fathom record`:
//   nvcc -O2 -arch=sm_90 -lineinfo activities.cu -o activities && fathom record -- ./activities
// It prints a sum that shows that its results are right.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                              \
  do {                                                                                \
    const cudaError_t error = (call);                                                 \
    if (error != cudaSuccess) {                                                       \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));             \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

__global__ void scale(float* values, float by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= by;
}

__global__ void add_one(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}

template <int kRounds>
__global__ void spin(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = values[i];
  for (int round = 0; round < kRounds; ++round) value = value * 0.5f + 0.5f;
  values[i] = value;
}

int main() {
  constexpr int kCount = 1 << 20, kBlock = 256, kGrid = kCount / kBlock;
  constexpr size_t kBytes = kCount * sizeof(float);
  std::vector<float> host(kCount, 1.0f);
  float* device = nullptr;
  CUDA_CHECK(cudaMalloc(&device, kBytes));
  cudaStream_t first, second;
  CUDA_CHECK(cudaStreamCreate(&first));
  CUDA_CHECK(cudaStreamCreate(&second));
  cudaEvent_t done;
  CUDA_CHECK(cudaEventCreate(&done));

  nvtxRangePushA("copy in");
  CUDA_CHECK(cudaMemcpy(device, host.data(), kBytes, cudaMemcpyHostToDevice));
  nvtxRangePop();

  for (int step = 0; step < 3; ++step) {
    nvtxRangePushA("step");
    for (int i = 0; i < 10; ++i) add_one<<<kGrid, kBlock, 0, first>>>(device, kCount);
    CUDA_CHECK(cudaEventRecord(done, first));
    CUDA_CHECK(cudaStreamWaitEvent(second, done, 0));
    scale<<<kGrid, kBlock, 0, second>>>(device, 0.5f, kCount);
    CUDA_CHECK(cudaStreamSynchronize(second));
    nvtxRangePop();
  }

  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  CUDA_CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 5; ++i) add_one<<<kGrid, kBlock, 0, first>>>(device, kCount);
  CUDA_CHECK(cudaStreamEndCapture(first, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&runnable, graph, 0));
  for (int i = 0; i < 4; ++i) CUDA_CHECK(cudaGraphLaunch(runnable, first));
  spin<20000><<<kGrid, kBlock, 0, first>>>(device, kCount);
  CUDA_CHECK(cudaMemcpyAsync(host.data(), device, kBytes, cudaMemcpyDeviceToHost, first));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemset(device, 0, kBytes));
  CUDA_CHECK(cudaDeviceSynchronize());

  double sum = 0;
  for (const float value : host) sum += value;
  std::printf("sum %.1f\n", sum);
  CUDA_CHECK(cudaFree(device));
  return 0;
}
