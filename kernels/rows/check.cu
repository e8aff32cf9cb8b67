// Every rung against the CPU reference, word for word over the whole output with its gaps and
// margins: fresh random rows, poisoned outputs, rows of every width, counts 0, 1 and odd, masked
// ranges, slots to be skipped. Exits with 77 where there is no GPU.
//   check [--quick] [VERSION...]     --quick: few sizes, for compute-sanitizer
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "../gpu_check.h"
#include "row_jobs.cuh"
#include "rows.h"
#include "rows_reference.h"

namespace {

using namespace fathom::check;
using Random = std::mt19937_64;
using Words = std::vector<uint32_t>;

constexpr int kVersions = 6;
constexpr uint32_t kPoison = 0x7fc0dead;
constexpr int64_t kMargin = 64;  // words around an output that nobody may touch

// Device memory with a copy of `host`.
template <class T>
struct DeviceCopy {
  T* data = nullptr;
  size_t size;

  explicit DeviceCopy(const std::vector<T>& host) : size(host.size()) {
    require(cudaMalloc(&data, std::max<size_t>(16, size * sizeof(T))), "cudaMalloc");
    require(cudaMemcpy(data, host.data(), size * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;
  ~DeviceCopy() { cudaFree(data); }

  std::vector<T> read() const {
    std::vector<T> host(size);
    require(cudaMemcpy(host.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return host;
  }
};

Words random_words(Random& random, int64_t count) {
  Words words(static_cast<size_t>(count));
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  return words;
}

// Rows of `row_words` words that lie `gap` words apart and begin `shift` words after an address
// that 256 bytes divide.
struct Layout {
  int64_t row_words, gap, shift;
  int64_t stride() const { return (row_words + gap) * 4; }
  int64_t words(int64_t rows) const { return shift + rows * (row_words + gap) + 2 * kMargin; }
};

struct Case {
  int64_t count;
  Layout layout;
  bool wide, dependent;
};

template <class Index>
std::vector<Index> random_indices(Random& random, int64_t count, int64_t lowest, int64_t highest) {
  std::uniform_int_distribution<int64_t> any(lowest, highest);
  std::vector<Index> indices(static_cast<size_t>(count));
  for (Index& index : indices) index = static_cast<Index>(any(random));
  return indices;
}

// Slots without repetition, every seventh to be skipped.
template <class Index>
std::vector<Index> random_slots(Random& random, int64_t count, int64_t slot_count) {
  std::vector<Index> all(static_cast<size_t>(slot_count));
  std::iota(all.begin(), all.end(), Index{0});
  std::shuffle(all.begin(), all.end(), random);
  all.resize(static_cast<size_t>(count));
  for (size_t i = 3; i < all.size(); i += 7) all[i] = i % 2 ? Index{-1} : Index(slot_count);
  return all;
}

template <class Index>
bool check_index(const Case& c, int version, Random& random) {
  constexpr int64_t kTableRows = 61, kStart = 1000;
  const Layout& at = c.layout;
  const Words table = random_words(random, at.words(kTableRows));
  Words out(static_cast<size_t>(at.words(c.count)), kPoison);
  const auto indices = random_indices<Index>(random, c.count, kStart - 9, kStart + kTableRows + 9);
  const DeviceCopy device_table(table), device_out(out);
  const DeviceCopy<Index> device_indices(indices);

  FathomRowIndex job{};
  job.count = c.count, job.row_bytes = at.row_words * 4;
  job.table_stride = job.out_stride = at.stride();
  job.start = kStart, job.length = kTableRows;
  job.index_type = sizeof(Index) == 8 ? FATHOM_INT64 : FATHOM_INT32;
  job.version = version, job.dependent_launch = c.dependent;
  job.table = device_table.data + at.shift;
  job.indices = device_indices.data;
  job.out = device_out.data + kMargin + at.shift;
  require(static_cast<cudaError_t>(fathom_index_rows(&job)), "fathom_index_rows");
  require(cudaDeviceSynchronize(), "the kernel");

  job.table = table.data() + at.shift;
  job.indices = indices.data();
  job.out = out.data() + kMargin + at.shift;
  fathom::rows::index_rows_reference(job);
  return device_out.read() == out;
}

template <class Index>
bool check_store(const Case& c, int version, Random& random) {
  const int64_t slot_count = c.count + 11;
  const Layout &at = c.layout, cache_at{at.row_words, at.gap + 4, at.shift};
  const Words k = random_words(random, at.words(c.count)),
              v = random_words(random, at.words(c.count));
  Words k_cache(static_cast<size_t>(cache_at.words(slot_count)), kPoison), v_cache = k_cache;
  const auto slots = random_slots<Index>(random, c.count, slot_count);
  const DeviceCopy device_k(k), device_v(v), device_k_cache(k_cache), device_v_cache(v_cache);
  const DeviceCopy<Index> device_slots(slots);

  FathomRowStore job{};
  job.count = c.count, job.row_bytes = at.row_words * 4;
  job.k_stride = job.v_stride = at.stride();
  job.k_cache_stride = job.v_cache_stride = cache_at.stride();
  job.slot_count = slot_count;
  job.index_type = sizeof(Index) == 8 ? FATHOM_INT64 : FATHOM_INT32;
  job.version = version, job.dependent_launch = c.dependent;
  job.k = device_k.data + at.shift, job.v = device_v.data + at.shift;
  job.slots = device_slots.data;
  job.k_cache = device_k_cache.data + kMargin + at.shift;
  job.v_cache = device_v_cache.data + kMargin + at.shift;
  require(static_cast<cudaError_t>(fathom_store_rows(&job)), "fathom_store_rows");
  require(cudaDeviceSynchronize(), "the kernel");

  job.k = k.data() + at.shift, job.v = v.data() + at.shift;
  job.slots = slots.data();
  job.k_cache = k_cache.data() + kMargin + at.shift;
  job.v_cache = v_cache.data() + kMargin + at.shift;
  fathom::rows::store_rows_reference(job);
  return device_k_cache.read() == k_cache && device_v_cache.read() == v_cache;
}

std::vector<Case> cases(bool quick) {
  using Numbers = std::vector<int64_t>;
  const Numbers sizes = quick
                            ? Numbers{1, 25, 2048}
                            : Numbers{0, 1, 2, 3, 4, 16, 25, 34, 256, 512, 1028, 2048, 4100, 16385};
  const Numbers counts = quick ? Numbers{1, 33} : Numbers{0, 1, 3, 33, 257, 1500};
  std::vector<Case> all;
  for (const int64_t size : sizes) {
    for (const int64_t count : counts) {
      for (const int64_t gap : {0, 4}) {
        for (const int64_t shift : {0, 2, 1}) {
          if (quick && gap != 0 && shift != 0) continue;
          if (size > 4096 && count > 257) continue;  // time
          all.push_back({count, {size, gap, shift}, all.size() % 2 == 0, all.size() % 3 == 0});
        }
      }
    }
  }
  return all;
}

int check_version(int version, bool quick, Random& random) {
  int run = 0, wrong = 0;
  for (const Case& c : cases(quick)) {
    const bool index = c.wide ? check_index<int64_t>(c, version, random)
                              : check_index<int32_t>(c, version, random);
    const bool store = c.wide ? check_store<int64_t>(c, version, random)
                              : check_store<int32_t>(c, version, random);
    run += 2;
    if (index && store) continue;
    wrong += !index + !store;
    std::printf("v%d %s%s: %lld rows of %lld words, gap %lld, shift %lld, int%d\n", version,
                index ? "" : "index ", store ? "" : "store", static_cast<long long>(c.count),
                static_cast<long long>(c.layout.row_words), static_cast<long long>(c.layout.gap),
                static_cast<long long>(c.layout.shift), c.wide ? 64 : 32);
  }
  std::printf("v%d: %d cases, %d wrong\n", version, run, wrong);
  return wrong;
}

// What has to be refused.
int check_refusals() {
  FathomRowIndex job{};
  job.row_bytes = 6, job.count = 1;
  int wrong = fathom_index_rows(&job) != cudaErrorInvalidValue;
  job.row_bytes = 8, job.table = reinterpret_cast<const void*>(uintptr_t{2});
  wrong += fathom_index_rows(&job) != cudaErrorInvalidValue;
  job.table = nullptr, job.version = kVersions;
  wrong += fathom_index_rows(&job) != cudaErrorInvalidValue;
  std::printf("refusals: %d wrong\n", wrong);
  return wrong;
}

}  // namespace

int main(int count, char** arguments) {
  if (!has_gpu()) return kSkipped;
  const LadderArguments wanted(count, arguments, kVersions);
  auto random = fresh_random<Random>();
  int wrong = check_refusals();
  for (const int version : wanted.versions) wrong += check_version(version, wanted.quick, random);
  return wrong == 0 ? 0 : 1;
}
