#include "plan/ranks.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/tsv.h"
#include "plan/goal_words.h"
#include "scan/features/feature_rules.h"

extern const std::string_view plan_ranks_tsv;

namespace fathom {
namespace {

using Scores = std::map<std::string_view, double, std::less<>>;

const Scores& scores_of(std::string_view of) {
  static const std::map<std::string_view, Scores, std::less<>> all = [] {
    std::map<std::string_view, Scores, std::less<>> table;
    for (const auto& row : read_tsv(plan_ranks_tsv, 4)) {
      double score = 0;
      if (!read_number(row[2], score)) continue;
      for (const std::string_view word : split(row[1], '|')) table[row[0]][word] = score;
    }
    return table;
  }();
  static const Scores none;
  const auto found = all.find(of);
  return found == all.end() ? none : found->second;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

double kernel_rank(const CodeFacts& facts, uint32_t position) {
  const KernelFacts& kernel = facts.kernels[position];
  const std::string& path = facts.files[kernel.at.file].path;
  double rank = name_rank("kernel", kernel.name) + name_rank("kernel file", file_name(path));
  for (const std::string_view folder : {"tests/", "test/", "benchmarks/", "examples/"}) {
    if (path.starts_with(folder) || path.find("/" + std::string(folder)) != std::string::npos)
      rank -= 8;
  }
  if (facts.files[kernel.at.file].origin != Origin::kOwn) rank -= 30;
  return rank;
}

}  // namespace

double name_rank(std::string_view of, std::string_view name) {
  const Scores& scores = scores_of(of);
  double least = 0, most = 0;
  // "radix/radixBench.cc" → radix, radix, bench, cc
  std::string folded;
  for (const char c : name) folded += c == '/' || c == '.' || c == '-' ? '_' : c;
  folded = fold_name(folded);
  for (const std::string_view word : split(folded, '_')) {
    const auto found = scores.find(word);
    if (found == scores.end()) continue;
    least = std::min(least, found->second);
    most = std::max(most, found->second);
  }
  return least + most;
}

void rank_kernels(const CodeFacts& facts, std::vector<uint32_t>& kernels, bool drop) {
  constexpr double kHelper = -10;
  std::map<uint32_t, double> ranks;
  for (const uint32_t kernel : kernels) ranks[kernel] = kernel_rank(facts, kernel);
  std::ranges::stable_sort(kernels, std::ranges::greater{},
                           [&](uint32_t kernel) { return ranks[kernel]; });
  if (drop && !kernels.empty() && ranks[kernels[0]] > kHelper)
    std::erase_if(kernels, [&](uint32_t kernel) { return ranks[kernel] <= kHelper; });
}

}  // namespace fathom
