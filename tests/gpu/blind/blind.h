// One case: a kernel with one planted fault and its repaired twin, or a clean kernel (both variants
// run the same code).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(3);                                                                \
    }                                                                              \
  } while (0)

struct Case {
  float* out = nullptr;
  size_t count = 0;
  float tolerance = 1e-5f;
  std::vector<void*> owned;
  virtual void run(bool fixed) = 0;
  virtual ~Case() {
    for (void* p : owned) cudaFree(p);
  }
  template <class T>
  T* device(size_t n) {
    void* p = nullptr;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    owned.push_back(p);
    return static_cast<T*>(p);
  }
  float* values(size_t n, uint32_t seed);  // uniform in [-1, 1)
  void result(size_t n) {
    out = device<float>(n);
    count = n;
    CHECK(cudaMemset(out, 0, n * sizeof(float)));
  }
};

struct Entry {
  const char* name;
  bool clean;
  std::unique_ptr<Case> (*make)();
};

std::vector<Entry> memory_cases();
std::vector<Entry> schedule_cases();
std::vector<Entry> compute_cases();
std::vector<Entry> host_cases();
std::vector<Entry> extra_cases();

template <class T>
std::unique_ptr<Case> make_case() {
  return std::make_unique<T>();
}

__host__ __device__ inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}
inline int blocks_for(size_t n, int per_block) {
  return static_cast<int>((n + per_block - 1) / per_block);
}
