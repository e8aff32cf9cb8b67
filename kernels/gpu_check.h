// What the check programs of the kernels share: they run where there is a GPU, on fresh random
// inputs, and say so where there is none.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace fathom::check {

constexpr int kSkipped = 77;  // the exit status that test runners take for "skipped"

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "check: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

inline bool has_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return true;
  std::puts("skipped: no GPU found");
  return false;
}

// A new seed each run, printed so that a failure can be looked into.
template <class Random>
Random fresh_random() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return Random(seed);
}

// [--quick] [VERSION...]; every version where none is given.
struct LadderArguments {
  bool quick = false;
  std::vector<int> versions;

  LadderArguments(int count, char** arguments, int version_count) {
    for (int i = 1; i < count; ++i) {
      if (std::string_view(arguments[i]) == "--quick") {
        quick = true;
      } else {
        versions.push_back(std::atoi(arguments[i]));
      }
    }
    if (!versions.empty()) return;
    for (int version = 0; version < version_count; ++version) versions.push_back(version);
  }
};

}  // namespace fathom::check
