#include "tree/repetition.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"

namespace fathom {
namespace {

constexpr size_t kLeastLength = 6;  // of a sequence
// Steps that are nearly equal may be the smaller part of the time: one long prefill comes before
// them.
constexpr double kMostOfTheTime = 0.6, kEqualSteps = 0.2;
// Of pairs of neighbours only some: streams interleave differently in each run.
constexpr double kAlike = 0.8, kNearlyEqual = 0.95, kAlikePairs = 0.3;
constexpr size_t kPeriodsTried = 24;

// Compares parts by how often each symbol occurs, in any order.
class PartComparison {
 public:
  PartComparison(std::span<const uint32_t> symbols, RepeatedPart reference)
      : symbols_(symbols), size_(reference.end - reference.begin) {
    const uint32_t largest = symbols.empty() ? 0 : *std::ranges::max_element(symbols);
    expected_.resize(size_t{largest} + 1);
    left_.resize(expected_.size());
    for (size_t i = reference.begin; i < reference.end; ++i) ++expected_[symbols[i]];
  }

  // 1: the same number of each symbol. 0: none in common.
  double with(RepeatedPart part) {
    for (size_t i = part.begin; i < part.end; ++i) left_[symbols_[i]] = expected_[symbols_[i]];
    size_t common = 0;
    for (size_t i = part.begin; i < part.end; ++i) {
      if (left_[symbols_[i]] == 0) continue;
      --left_[symbols_[i]];
      ++common;
    }
    return 2.0 * static_cast<double>(common) /
           static_cast<double>(std::max<size_t>(size_ + part.end - part.begin, 1));
  }

 private:
  std::span<const uint32_t> symbols_;
  size_t size_;
  std::vector<uint32_t> expected_, left_;
};

// The share of the GPU's work, or of the time that passes, whichever is larger: a step that waits
// for the host takes its time too.
double share_of(const WorkSequence& sequence, std::span<const RepeatedPart> parts) {
  Nanos work, gaps, all_work, all_gaps;
  for (RepeatedPart part : parts) {
    for (size_t i = part.begin; i < part.end; ++i) {
      work += sequence.times[i];
      gaps += sequence.gaps[i];
    }
  }
  for (Nanos time : sequence.times) all_work += time;
  for (Nanos gap : sequence.gaps) all_gaps += gap;
  return std::max(ratio(work, all_work), ratio(work + gaps, all_work + all_gaps));
}

size_t size_of(std::span<const RepeatedPart> parts) {
  size_t sum = 0;
  for (RepeatedPart part : parts) sum += part.end - part.begin;
  return sum;
}

// The part at a place, in quarters, when they are sorted by length: 2 is the median.
RepeatedPart typical(std::span<const RepeatedPart> parts, size_t quarter = 2) {
  std::vector<RepeatedPart> sorted(parts.begin(), parts.end());
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * quarter / 4);
  std::ranges::nth_element(sorted, place, {},
                           [](RepeatedPart p) { return std::pair(p.end - p.begin, p.begin); });
  return *place;
}

std::vector<RepeatedPart> parts_like(const WorkSequence& sequence,
                                     std::span<const RepeatedPart> parts, RepeatedPart reference) {
  PartComparison symbols(sequence.symbols, reference);
  PartComparison pairs(sequence.pairs, reference);
  // Two runs may be alike by chance.
  const double needed = parts.size() == 2 ? kNearlyEqual : kAlike;
  std::vector<RepeatedPart> alike;
  for (RepeatedPart part : parts) {
    if (symbols.with(part) >= needed && pairs.with(part) >= kAlikePairs) alike.push_back(part);
  }
  return alike;
}

bool are_equal(const WorkSequence& sequence, std::span<const RepeatedPart> parts) {
  PartComparison comparison(sequence.symbols, typical(parts));
  return std::ranges::all_of(parts,
                             [&](RepeatedPart p) { return comparison.with(p) >= kNearlyEqual; });
}

struct Anchors {
  std::vector<uint32_t> symbols;  // in the order of their first places
};

// Symbols that occur at regular distances over most of the sequence, by how often. Few are the
// marks of long periods.
std::map<size_t, Anchors> regular_symbols(const std::vector<std::vector<size_t>>& places,
                                          const std::vector<uint32_t>& by_first, size_t length) {
  std::map<size_t, Anchors> regular;
  std::vector<size_t> distances;
  for (uint32_t symbol : by_first) {
    const std::vector<size_t>& at = places[symbol];
    if (at.size() < 2) continue;
    distances.clear();
    for (size_t i = 1; i < at.size(); ++i) distances.push_back(at[i] - at[i - 1]);
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::ranges::nth_element(distances, middle);
    const double median = static_cast<double>(*middle);
    const auto near = std::ranges::count_if(distances, [&](size_t d) {
      return std::abs(static_cast<double>(d) - median) <= 0.2 * median;
    });
    const double covered = static_cast<double>(near + 1) * median;
    if (median >= 2 && static_cast<double>(near) >= 0.7 * static_cast<double>(distances.size()) &&
        covered >= 0.5 * static_cast<double>(length)) {
      regular[at.size()].symbols.push_back(symbol);
    }
  }
  return regular;
}

std::vector<RepeatedPart> parts_from(const std::vector<size_t>& begins, size_t length) {
  std::vector<RepeatedPart> parts;
  for (size_t i = 0; i + 1 < begins.size(); ++i) parts.push_back({begins[i], begins[i + 1]});
  const RepeatedPart usual = typical(parts);
  const size_t last = begins.back();
  parts.push_back({last, std::min(length, last + (usual.end - usual.begin))});
  return parts;
}

// A step begins where the GPU waits for it, if it waits anywhere.
uint32_t best_begin(const WorkSequence& sequence, const std::vector<std::vector<size_t>>& places,
                    const Anchors& anchors) {
  const auto waited = [&](uint32_t symbol) {
    Nanos sum;
    for (size_t i = 1; i < places[symbol].size(); ++i) sum += sequence.gaps[places[symbol][i]];
    return sum;
  };
  uint32_t best = anchors.symbols.front();
  Nanos most = waited(best);
  most += most;
  for (uint32_t symbol : anchors.symbols) {
    if (const Nanos sum = waited(symbol); sum > most) {
      best = symbol;
      most = sum;
    }
  }
  return best;
}

}  // namespace

void number_pairs(WorkSequence& sequence) {
  std::unordered_map<uint64_t, uint32_t, TableHash> numbers;
  sequence.pairs.clear();
  uint64_t before = UINT32_MAX;
  for (uint32_t symbol : sequence.symbols) {
    const uint64_t pair = before << 32 | symbol;
    const auto next = static_cast<uint32_t>(numbers.size());
    sequence.pairs.push_back(numbers.emplace(pair, next).first->second);
    before = symbol;
  }
}

std::vector<RepeatedPart> alike_parts(const WorkSequence& sequence,
                                      std::span<const RepeatedPart> parts) {
  if (parts.size() < 2) return {};
  std::vector<RepeatedPart> alike;
  for (size_t quarter : {2, 1, 3}) {  // the median may be the odd one
    std::vector<RepeatedPart> found = parts_like(sequence, parts, typical(parts, quarter));
    if (found.size() > alike.size()) alike = std::move(found);
    if (2 * alike.size() > parts.size()) break;
  }
  if (alike.size() < 2 || 2 * alike.size() < parts.size()) return {};
  return alike;
}

std::vector<RepeatedPart> find_repetition(const WorkSequence& sequence) {
  const size_t length = sequence.symbols.size();
  if (length < kLeastLength) return {};
  const size_t different = size_t{*std::ranges::max_element(sequence.symbols)} + 1;
  std::vector<std::vector<size_t>> places(different);
  std::vector<uint32_t> by_first;
  for (size_t i = 0; i < length; ++i) {
    std::vector<size_t>& at = places[sequence.symbols[i]];
    if (at.empty()) by_first.push_back(sequence.symbols[i]);
    at.push_back(i);
  }
  const auto covers_most = [&](const std::vector<RepeatedPart>& parts) {
    const double time = share_of(sequence, parts);
    return time >= kMostOfTheTime ||
           (time >= kEqualSteps && parts.size() >= 3 && are_equal(sequence, parts) &&
            static_cast<double>(size_of(parts)) >= kMostOfTheTime * static_cast<double>(length));
  };
  std::vector<RepeatedPart> found;
  size_t tried = 0, found_at = 0;
  // Fewer places are a longer period. One symbol alone may mark every fourth step; two agree.
  for (const auto& [count, anchors] : regular_symbols(places, by_first, length)) {
    if (!found.empty() && (anchors.symbols.size() < 2 || count > 4 * found_at)) continue;
    if (tried++ == kPeriodsTried) break;
    const auto runs_from = [&](uint32_t symbol) {
      return alike_parts(sequence, parts_from(places[symbol], length));
    };
    std::vector<RepeatedPart> alike = runs_from(anchors.symbols.front());
    std::vector<RepeatedPart> after_gaps = runs_from(best_begin(sequence, places, anchors));
    // Where the sequence begins with the first part, it may be the end of a step.
    const size_t lost = !alike.empty() && alike.front().begin == 0
                            ? (alike.front().end - alike.front().begin) / 2
                            : 0;
    if (size_of(after_gaps) + lost >= size_of(alike)) alike = std::move(after_gaps);
    if (!covers_most(alike)) continue;
    found = std::move(alike);
    found_at = count;
    if (anchors.symbols.size() >= 2) break;
  }
  return found;
}

}  // namespace fathom
