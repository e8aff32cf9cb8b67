// All-reduce and all-gather on one GPU with a world of one rank, both strategies, against what they
// have to give there: the input. Then what a call costs. Exits with 77 where there is no GPU or no
// NCCL.
//   check [--quick] [LIBRARY]     libnccl.so.2 where none is given; --quick: no times, for
//                                 compute-sanitizer
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "../gpu_check.h"
#include "communicator.h"

namespace {

using namespace fathom::check;
using namespace fathom::nccl;

constexpr uint32_t kPoison = 0x7fc0dead;
constexpr size_t kMargin = 64;

int copy_async(void* to, const void* from, size_t bytes, void* stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                         static_cast<cudaStream_t>(stream));
}

struct Buffers {
  uint32_t *in = nullptr, *out = nullptr;
  size_t words;

  explicit Buffers(size_t count) : words(count + 2 * kMargin) {
    require(cudaMalloc(&in, words * 4), "cudaMalloc");
    require(cudaMalloc(&out, words * 4), "cudaMalloc");
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() { cudaFree(in), cudaFree(out); }
};

bool call(Communicator& communicator, bool gather, const Buffers& b, size_t count,
          Strategy strategy, cudaStream_t stream) {
  uint32_t* out = b.out + kMargin;
  if (gather) return communicator.all_gather(b.in, out, count, kInt32, stream, &strategy);
  return communicator.all_reduce(b.in, out, count, kInt32, kSum, stream, &strategy);
}

bool is_right(Communicator& communicator, bool gather, size_t count, Strategy strategy,
              cudaStream_t stream, std::mt19937& random) {
  const Buffers b(count);
  std::vector<uint32_t> expected(b.words, kPoison), input(count);
  for (uint32_t& word : input) word = random();
  std::copy(input.begin(), input.end(), expected.begin() + kMargin);
  const std::vector<uint32_t> poison(b.words, kPoison);
  require(cudaMemcpy(b.in, input.data(), count * 4, cudaMemcpyHostToDevice), "copy");
  require(cudaMemcpy(b.out, poison.data(), b.words * 4, cudaMemcpyHostToDevice), "copy");
  if (!call(communicator, gather, b, count, strategy, stream)) return false;
  require(cudaStreamSynchronize(stream), "the collective");
  std::vector<uint32_t> got(b.words);
  require(cudaMemcpy(got.data(), b.out, b.words * 4, cudaMemcpyDeviceToHost), "copy");
  return got == expected;
}

double microseconds(Communicator& communicator, bool gather, size_t count, Strategy strategy,
                    cudaStream_t stream) {
  constexpr int kCalls = 20, kRounds = 9;
  const Buffers b(count);
  cudaEvent_t start, end;
  require(cudaEventCreate(&start), "event"), require(cudaEventCreate(&end), "event");
  std::vector<float> times;
  for (int round = 0; round <= kRounds; ++round) {
    require(cudaEventRecord(start, stream), "event");
    for (int i = 0; i < kCalls; ++i) call(communicator, gather, b, count, strategy, stream);
    require(cudaEventRecord(end, stream), "event");
    require(cudaEventSynchronize(end), "event");
    float ms = 0.0f;
    require(cudaEventElapsedTime(&ms, start, end), "event");
    if (round > 0) times.push_back(ms * 1e3f / kCalls);
  }
  cudaEventDestroy(start), cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return double{times[kRounds / 2]};
}

int check_all(Communicator& communicator, cudaStream_t stream) {
  auto random = fresh_random<std::mt19937>();
  int run = 0, wrong = 0;
  for (const bool gather : {false, true}) {
    for (const Strategy strategy : {Strategy::kDirect, Strategy::kStaged}) {
      if (strategy == Strategy::kStaged && !communicator.registered()) continue;
      for (const size_t count : {0u, 1u, 3u, 1000u, 65537u, 4000001u}) {
        ++run;
        if (is_right(communicator, gather, count, strategy, stream, random)) continue;
        ++wrong;
        std::printf("%s, %s, %zu elements: wrong %s\n", gather ? "all-gather" : "all-reduce",
                    strategy == Strategy::kDirect ? "direct" : "staged", count,
                    communicator.error().c_str());
      }
    }
  }
  std::printf("%d cases, %d wrong, %s\n", run, wrong,
              communicator.healthy() ? "healthy" : "NOT healthy");
  return wrong + !communicator.healthy();
}

void print_times(Communicator& communicator, cudaStream_t stream) {
  std::puts("\n| collective | KB | direct µs | staged µs |\n|---|---|---|---|");
  for (const bool gather : {false, true}) {
    for (const size_t kilobytes : {4, 64, 256, 1024, 4096, 16384}) {
      const size_t count = kilobytes * 256;
      const double direct = microseconds(communicator, gather, count, Strategy::kDirect, stream);
      std::printf("| %s | %zu | %.2f | ", gather ? "all-gather" : "all-reduce", kilobytes, direct);
      if (communicator.registered()) {
        std::printf("%.2f |\n",
                    microseconds(communicator, gather, count, Strategy::kStaged, stream));
      } else {
        std::puts("not registered |");
      }
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (!has_gpu()) return kSkipped;
  NcclApi api;
  std::string error;
  const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
  if (!load_nccl(count > 1 + quick ? arguments[1 + quick] : "", api, error)) {
    std::printf("skipped: %s\n", error.c_str());
    return kSkipped;
  }
  CommunicatorOptions options;
  int version = 0;
  if (api.get_version(&version) != kSuccess || api.get_unique_id(&options.id) != kSuccess) return 1;
  const auto communicator = Communicator::create(api, copy_async, options, error);
  if (communicator == nullptr) {
    std::printf("no communicator: %s\n", error.c_str());
    return 1;
  }
  std::printf("NCCL %d, one rank, window functions %s, buffer %s\n", version,
              api.window_register != nullptr ? "found" : "not found",
              communicator->registered() ? "registered" : "not registered");
  cudaStream_t stream;
  require(cudaStreamCreate(&stream), "stream");
  const int wrong = check_all(*communicator, stream);
  if (wrong == 0 && !quick) print_times(*communicator, stream);
  require(cudaStreamSynchronize(stream), "stream");
  return wrong == 0 ? 0 : 1;
}
