// blind NAME faulty|fixed [repeats]: runs one variant alone, so that a profiler sees only that
// variant. blind all [repeats]: times both variants of all cases and compares their outputs.
#include <algorithm>
#include <cstring>
#include <string>

#include "blind.h"

__global__ void prepare_values(float* p, size_t n, uint32_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    p[i] = (mix(uint32_t(i) + seed) >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

__global__ void compare_outputs(const float* a, const float* b, size_t n, float tolerance,
                                unsigned* wrong) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    if (!(fabsf(a[i] - b[i]) <= tolerance * (1.0f + fabsf(b[i])))) atomicAdd(wrong, 1u);
}

// All zeros or NaN in both outputs would agree too.
__global__ void count_nonzero(const float* a, size_t n, unsigned* nonzero) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    if (a[i] != 0.0f && a[i] == a[i]) *nonzero = 1;
}

float* Case::values(size_t n, uint32_t seed) {
  float* p = device<float>(n);
  prepare_values<<<132 * 8, 256>>>(p, n, seed);
  return p;
}

static float median_ms(Case& one, bool fixed, int repeats) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int r = 0; r < repeats; ++r) {
    CHECK(cudaEventRecord(begin));
    one.run(fixed);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaGetLastError());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static bool agree(Case& one) {
  float* kept = nullptr;
  unsigned* flags = nullptr;
  unsigned host[2] = {1, 0};
  CHECK(cudaMalloc(&kept, one.count * sizeof(float)));
  CHECK(cudaMalloc(&flags, 2 * sizeof(unsigned)));
  CHECK(cudaMemset(flags, 0, 2 * sizeof(unsigned)));
  one.run(false);
  CHECK(cudaMemcpy(kept, one.out, one.count * sizeof(float), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(one.out, 0xff, one.count * sizeof(float)));
  one.run(true);
  compare_outputs<<<132 * 8, 256>>>(kept, one.out, one.count, one.tolerance, flags);
  count_nonzero<<<132 * 8, 256>>>(one.out, one.count, flags + 1);
  CHECK(cudaMemcpy(host, flags, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(kept));
  CHECK(cudaFree(flags));
  if (host[0]) std::printf("# %u of %zu outputs differ\n", host[0], one.count);
  return host[0] == 0 && host[1] == 1;
}

int main(int argc, char** argv) {
  std::vector<Entry> entries;
  for (auto list : {memory_cases(), schedule_cases(), compute_cases(), host_cases(), extra_cases()})
    entries.insert(entries.end(), list.begin(), list.end());
  std::string name = argc > 1 ? argv[1] : "";
  if (name == "list") {
    for (const Entry& e : entries) std::printf("%s %s\n", e.name, e.clean ? "clean" : "pair");
    return 0;
  }
  if (name == "all" || (argc > 2 && !std::strcmp(argv[2], "both"))) {
    int repeats = argc > 3 ? std::atoi(argv[3]) : 20;
    for (const Entry& e : entries) {
      if (name != "all" && name != e.name) continue;
      auto one = e.make();
      const char* verdict = agree(*one) ? "OK" : "FAIL";
      for (int fixed = e.clean; fixed < 2; ++fixed) {
        median_ms(*one, fixed, 2);
        std::printf("%s %s %.4f %s\n", e.name, fixed ? "fixed" : "faulty",
                    median_ms(*one, fixed, repeats), verdict);
        std::fflush(stdout);
      }
    }
    return 0;
  }
  bool fixed = argc > 2 && !std::strcmp(argv[2], "fixed");
  if (argc < 3 || (!fixed && std::strcmp(argv[2], "faulty"))) {
    std::printf(
        "usage: blind NAME faulty|fixed [repeats], blind NAME both, blind all, blind list\n");
    return 2;
  }
  for (const Entry& e : entries)
    if (name == e.name) {
      auto one = e.make();
      std::printf("%s %s %.4f ms\n", e.name, argv[2],
                  median_ms(*one, fixed, argc > 3 ? std::atoi(argv[3]) : 5));
      return 0;
    }
  std::printf("no case %s\n", name.c_str());
  return 2;
}
