// The common prefix of two equal sequences against std::mismatch and against reading both: how much
// of the bandwidth that this machine's caches and memory have. Prints markdown.
//   radix_bench
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "prefix.h"
#include "prefix_paths.h"

namespace {

using namespace fathom::radix;
using Clock = std::chrono::steady_clock;
using Sequence = std::vector<int32_t>;

// Keeps the compiler from leaving out what makes `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(value) : "memory");
}

// The least nanoseconds of a call in each round; all candidates take turns, because the machine is
// shared and what disturbs one round should disturb all of them.
struct Candidate {
  std::string name;
  double best = std::numeric_limits<double>::infinity();
};

template <class Call>
void time_once(Candidate& candidate, size_t calls, Call call) {
  const auto start = Clock::now();
  for (size_t i = 0; i < calls; ++i) keep(call());
  const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
  candidate.best = std::min(candidate.best, taken.count() / static_cast<double>(calls));
}

// GCC would otherwise see that both sequences are the same at every call.
template <class Token>
[[gnu::noinline]] size_t std_mismatch(const Token* a, const Token* b, size_t count) {
  return static_cast<size_t>(std::mismatch(a, a + count, b).first - a);
}
template <class Token>
[[gnu::noinline]] size_t ours(const Token* a, const Token* b, size_t count) {
  return common_prefix(std::span<const Token>(a, count), std::span<const Token>(b, count));
}

std::vector<int> make_tokens(size_t count) {
  std::mt19937 random(std::random_device{}());
  std::vector<int> tokens(count);
  for (int& token : tokens) token = static_cast<int>(random() % 128000);
  return tokens;
}

const char* where(size_t both_bytes) {
  if (both_bytes <= 24 << 10) return "L1";
  if (both_bytes <= 768 << 10) return "L2";
  return both_bytes <= 16 << 20 ? "L3" : "DRAM";
}

using Read = size_t (*)(const void*, const void*, size_t);
struct Path {
  PrefixPath path;
  Read read;
};

std::vector<Path> paths() {
  std::vector<Path> all{{PrefixPath::kPortable, read_both_portable}};
#if defined(__x86_64__)
  if (supports(PrefixPath::kAvx2)) all.push_back({PrefixPath::kAvx2, read_both_avx2});
  if (supports(PrefixPath::kAvx512)) all.push_back({PrefixPath::kAvx512, read_both_avx512});
#endif
  return all;
}

void print_large(size_t bytes, int rounds) {
  const Sequence a = make_tokens(bytes / 4), b = a;
  const std::vector<Path> all = paths();
  std::vector<Candidate> finds(all.size()), reads(all.size());
  Candidate standard{"std::mismatch"};
  const size_t calls = std::max<size_t>(1, (size_t{4} << 20) / bytes);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < all.size(); ++i) {
      const FirstDifference find = first_difference(all[i].path);
      time_once(finds[i], calls, [&] { return find(a.data(), b.data(), bytes); });
      time_once(reads[i], calls, [&] { return all[i].read(a.data(), b.data(), bytes); });
    }
    time_once(standard, calls, [&] { return std_mismatch(a.data(), b.data(), bytes / 4); });
  }
  double fastest_read = 0.0;
  for (const Candidate& read : reads)
    fastest_read = std::max(fastest_read, 2.0 * static_cast<double>(bytes) / read.best);
  for (size_t i = 0; i < all.size(); ++i) {
    const double rate = 2.0 * static_cast<double>(bytes) / finds[i].best;
    const double read = 2.0 * static_cast<double>(bytes) / reads[i].best;
    std::printf("| %s | 2 × %zu | %s | %.1f | %.1f | %.2f | %.2f | %.1f |\n", where(2 * bytes),
                bytes >> 10, name_of(all[i].path), rate, read, rate / read, rate / fastest_read,
                standard.best / finds[i].best);
  }
}

// Sequences of `count` tokens that differ first at `at`, or nowhere where that is `count`.
template <class Token>
void print_short(size_t count, size_t at) {
  std::vector<Token> a(count), b;
  std::mt19937 random(std::random_device{}());
  for (Token& token : a) token = static_cast<Token>(random() % 128000);
  b = a;
  if (at < count) b[at] ^= 1;
  Candidate mine, standard;
  for (int round = 0; round < 200; ++round) {
    time_once(mine, 1000, [&] { return ours(a.data(), b.data(), count); });
    time_once(standard, 1000, [&] { return std_mismatch(a.data(), b.data(), count); });
  }
  std::printf("| int%zu | %zu | %zu | %.2f | %.2f | %.2f |\n", 8 * sizeof(Token), count, at,
              mine.best, standard.best, standard.best / mine.best);
}

}  // namespace

int main() {
  std::puts(
      "| in | KB | path | GB/s | reading only, same path | of that | of the fastest read | against "
      "std::mismatch |");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (const size_t kilobytes : {8, 12, 128, 256, 4096}) print_large(kilobytes << 10, 300);
  print_large(size_t{256} << 20, 12);
  std::puts(
      "\n| tokens | count | equal | ns | std::mismatch ns | std::mismatch / ours "
      "|\n|---|---|---|---|---|---|");
  for (const size_t count : {0, 1, 2, 4, 7, 8, 9, 12, 16, 24, 32, 63, 65, 72, 100, 256, 1000, 4096})
    print_short<int32_t>(count, count);
  for (const size_t count : {1, 3, 4, 5, 8, 16, 31, 33, 40, 100, 4096})
    print_short<int64_t>(count, count);
  for (const size_t at : {0, 1, 5, 8, 20, 63, 65, 100, 1000}) print_short<int32_t>(4096, at);
  return 0;
}
