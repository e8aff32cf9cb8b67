// One rung of the ladder, chosen when it is compiled: the index of random rows.
//   nvcc -DFATHOM_VERSION=5 time.cu v5_two_loads.cu rows_plan.cc rows_reference.cc
//   time [--batch B] [--row-bytes R]     microseconds of a call, by CUDA events around a graph
//   time --check …                       compares the whole output with the reference; exits with 1
//   time --launches N …                  N plain launches, for a profiler
// Exits with 77 where there is no GPU. suite.toml has the commands.
#include <algorithm>
#include <cstring>
#include <vector>

#include "../gpu_time.h"
#include "row_jobs.cuh"
#include "rows.h"
#include "rows_reference.h"

#ifndef FATHOM_VERSION
#error "choose a rung: -DFATHOM_VERSION=0 to 5"
#endif
#define FATHOM_JOINED(a, b) a##b
#define FATHOM_LAUNCH(version) FATHOM_JOINED(launch_v, version)

namespace {

using namespace fathom::check;

constexpr int64_t kTableBytes = int64_t{1} << 30, kFlushBytes = int64_t{256} << 20;

__global__ void fill(uint32_t* out, size_t count) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = static_cast<uint32_t>((i + 1) * 0x9e3779b97f4a7c15ULL >> 32);
}

// Reads more than L2 holds: clean lines, so that nothing is left to be written back.
__global__ void flush_l2(const uint4* data, size_t count, uint32_t* out) {
  uint32_t sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x)
    sum |= data[i].x;
  if (sum == 1) *out = sum;  // never: all are 0
}

struct Wanted {
  int64_t batch = 65536, row_bytes = 8192, launches = 0;
  bool check = false;
};

Wanted read_arguments(int count, char** arguments) {
  Wanted wanted;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const int64_t value = i + 1 < count ? std::atoll(arguments[i + 1]) : 0;
    if (word == "--batch") wanted.batch = value, ++i;
    if (word == "--row-bytes") wanted.row_bytes = value, ++i;
    if (word == "--launches") wanted.launches = value, ++i;
    if (word == "--check") wanted.check = true;
  }
  const bool known = wanted.row_bytes >= 16 && wanted.row_bytes <= 1 << 20 &&
                     wanted.row_bytes % 16 == 0 && wanted.batch > 0 &&
                     wanted.batch <= kTableBytes / wanted.row_bytes && wanted.launches >= 0;
  if (known) return wanted;
  std::fputs("time: --row-bytes a multiple of 16, --batch up to the rows of a table of 1 GiB\n",
             stderr);
  std::exit(2);
}

// Several calls with rows and outputs of their own, so that none finds its data in L2.
struct Run {
  Wanted wanted;
  int64_t rows, calls;
  char* table = nullptr;
  std::vector<std::vector<int64_t>> indices;
  std::vector<int64_t*> device_indices;
  std::vector<char*> outs;

  explicit Run(const Wanted& asked) : wanted(asked), rows(kTableBytes / asked.row_bytes) {
    const int64_t moved = 2 * wanted.batch * wanted.row_bytes;
    calls = std::clamp<int64_t>(kFlushBytes / moved, 3, 64);
    require(cudaMalloc(&table, kTableBytes), "cudaMalloc");
    fill<<<static_cast<unsigned>(kTableBytes / 4 / 256), 256>>>(reinterpret_cast<uint32_t*>(table),
                                                                kTableBytes / 4);
    std::mt19937_64 random(7);
    std::vector<int64_t> all(static_cast<size_t>(rows));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    for (int64_t call = 0; call < calls; ++call) {
      for (size_t i = 0; i < static_cast<size_t>(wanted.batch); ++i)
        std::swap(all[i], all[i + random() % (all.size() - i)]);
      indices.emplace_back(all.begin(), all.begin() + wanted.batch);
      const size_t bytes = indices.back().size() * sizeof(int64_t);
      require(cudaMalloc(&device_indices.emplace_back(), bytes), "cudaMalloc");
      require(
          cudaMemcpy(device_indices.back(), indices.back().data(), bytes, cudaMemcpyHostToDevice),
          "copy");
      const auto size = static_cast<size_t>(wanted.batch * wanted.row_bytes);
      require(cudaMalloc(&outs.emplace_back(), size), "cudaMalloc");
      require(cudaMemset(outs.back(), 0xa5, size), "cudaMemset");
    }
    require(cudaDeviceSynchronize(), "the inputs");
  }

  void launch(int64_t call, cudaStream_t stream) {
    const auto i = static_cast<size_t>(call % calls);
    const fathom::rows::IndexJob<int64_t> job{table,
                                              device_indices[i],
                                              outs[i],
                                              wanted.row_bytes,
                                              wanted.row_bytes,
                                              0,
                                              rows,
                                              static_cast<uint32_t>(wanted.batch),
                                              static_cast<uint32_t>(wanted.row_bytes)};
    require(fathom::rows::FATHOM_LAUNCH(FATHOM_VERSION)(job, {16, false, stream}), "the launch");
  }
};

template <class T>
std::vector<T> read_back(const void* from, size_t bytes) {
  std::vector<T> host(bytes / sizeof(T));
  require(cudaMemcpy(host.data(), from, bytes, cudaMemcpyDeviceToHost), "copy");
  return host;
}

int check(Run& run) {
  const std::vector<char> table = read_back<char>(run.table, static_cast<size_t>(kTableBytes));
  const auto size = static_cast<size_t>(run.wanted.batch * run.wanted.row_bytes);
  run.launch(0, nullptr);
  require(cudaDeviceSynchronize(), "the kernel");
  std::vector<char> expected(size);
  FathomRowIndex job{};
  job.table = table.data(), job.indices = run.indices[0].data(), job.out = expected.data();
  job.count = run.wanted.batch, job.row_bytes = run.wanted.row_bytes;
  job.table_stride = job.out_stride = run.wanted.row_bytes;
  job.length = run.rows, job.index_type = FATHOM_INT64;
  fathom::rows::index_rows_reference(job);
  const std::vector<char> got = read_back<char>(run.outs[0], size);
  size_t wrong = 0;
  for (size_t i = 0; i < size; ++i) wrong += got[i] != expected[i];
  std::printf("wrong bytes = %zu of %zu\n", wrong, size);
  return wrong == 0 ? 0 : 1;
}

void measure(Run& run) {
  GpuTimer timer;
  uint4* zeros = nullptr;
  require(cudaMalloc(&zeros, kFlushBytes), "cudaMalloc");
  require(cudaMemset(zeros, 0, kFlushBytes), "cudaMemset");
  run.launch(0, timer.stream());
  timer.print_median(
      run.calls, [&](int64_t call) { run.launch(call, timer.stream()); },
      [&] {
        flush_l2<<<1024, 256, 0, timer.stream()>>>(zeros, kFlushBytes / sizeof(uint4),
                                                   reinterpret_cast<uint32_t*>(zeros));
      });
}

}  // namespace

int main(int count, char** arguments) {
  const Wanted wanted = read_arguments(count, arguments);
  if (!has_gpu()) return kSkipped;
  Run run(wanted);
  if (wanted.check) return check(run);
  for (int64_t i = 0; i < wanted.launches; ++i) run.launch(i, nullptr);
  require(cudaDeviceSynchronize(), "the kernel");
  if (wanted.launches == 0) measure(run);
  return 0;
}
