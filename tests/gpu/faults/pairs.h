#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Pairs of kernels: one with a fault, one with it repaired. Both compute the same.

#define CUDA_OK(call)                                                                     \
  do {                                                                                    \
    const cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (false)

// Device memory that lives to the end of the pair.
template <typename T>
struct DeviceArray {
  explicit DeviceArray(size_t count) : count(count) {
    CUDA_OK(cudaMalloc(&data, count * sizeof(T)));
    CUDA_OK(cudaMemset(data, 0, count * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void upload(const std::vector<T>& values) {
    CUDA_OK(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }

  T* data = nullptr;
  size_t count = 0;
};

template <typename Launch>
float milliseconds(const Launch& launch) {
  cudaEvent_t begin, end;
  CUDA_OK(cudaEventCreate(&begin));
  CUDA_OK(cudaEventCreate(&end));
  float best = 1e30f;
  for (int i = 0; i < 3; ++i) {
    CUDA_OK(cudaEventRecord(begin));
    launch();
    CUDA_OK(cudaEventRecord(end));
    CUDA_OK(cudaEventSynchronize(end));
    float taken = 0;
    CUDA_OK(cudaEventElapsedTime(&taken, begin, end));
    best = taken < best ? taken : best;
  }
  CUDA_OK(cudaEventDestroy(begin));
  CUDA_OK(cudaEventDestroy(end));
  return best;
}

// Sum of what a kernel wrote: the first million elements.
template <typename T>
double checksum(const DeviceArray<T>& out) {
  const size_t count = out.count < (1u << 20) ? out.count : (1u << 20);
  std::vector<T> values(count);
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemcpy(values.data(), out.data, count * sizeof(T), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(static_cast<float>(value));
  return sum;
}

// Runs both several times, compares their results, prints their times. The recorder counts kernels
// up to 90 % of GPU time, so a much faster twin runs more often.
template <typename Fault, typename Twin, typename A, typename B>
void compare(const char* name, const Fault& fault, const Twin& twin, DeviceArray<A>& of_fault,
             DeviceArray<B>& of_twin) {
  fault();
  const double first = checksum(of_fault);
  twin();
  const double second = checksum(of_twin);
  const double tolerance = 1e-3 * (first < 0 ? -first : first) + 1e-6;
  const bool same = first - second < tolerance && second - first < tolerance;
  if (std::getenv("FAULTS_ONCE") != nullptr) return;  // for a profiler that replays each launch
  const float slow = milliseconds(fault), fast = milliseconds(twin);
  const float ratio = slow / fast;
  const int twins = ratio > 6 ? static_cast<int>(3 * ratio / 6) + 1 : 1;
  for (int i = 0; i < twins; ++i) twin();
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("%-18s %10.1f %10.1f %8.2f  %s %g %g\n", name, 1e3 * slow, 1e3 * fast, ratio,
              same ? "same" : "DIFFERENT", first, second);
}

void dram_precision();
void dependent_loads();
void single_load();
void strided_loads();
void strided_stores();
void one_field();
void l2_passes();
void host_memory();
void bank_column();
void bank_stride();
void occupancy_registers();
void occupancy_shared();
void occupancy_block();
void few_blocks();
void wave_tail();
void imbalance();
void block_sync();
void tensor_idle();
void tensor_starved();
void bit_loop();
void double_literal();
void int_division();
void many_instructions();
void register_spills();
void local_array();
void divergence();
void tiny_steps();
