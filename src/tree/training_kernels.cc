#include "tree/training_kernels.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tree/phase_names.h"

namespace fathom {
namespace {

// One kernel named "backward" is no training.
constexpr size_t kFewMarkers = 6, kFewNames = 2;
// Of micro-batches nothing tells where the next forward pass begins but its length.
constexpr double kOfAForwardPass = 0.8, kMoreThanAForwardPass = 1.2;

using Marker = std::optional<PhaseKind>;

std::vector<Marker> find_markers(const EventStore& store, std::span<const EventId> work) {
  std::unordered_map<StringId, Marker> by_name;
  std::vector<Marker> markers;
  for (EventId e : work) {
    const auto [known, is_new] = by_name.emplace(store.name_id(e), std::nullopt);
    if (is_new && store.kind(e) == EventKind::kKernel) {
      known->second = kind_of_code(NamedCode::kMarker, store.name(e));
    }
    markers.push_back(known->second);
  }
  return markers;
}

bool is_training(const EventStore& store, std::span<const EventId> work,
                 const std::vector<Marker>& markers) {
  std::unordered_set<StringId> names;
  size_t count = 0;
  for (size_t i = 0; i < work.size(); ++i) {
    if (markers[i] != PhaseKind::kBackward) continue;
    names.insert(store.name_id(work[i]));
    ++count;
  }
  return count >= kFewMarkers && names.size() >= kFewNames;
}

// How many kernels a forward pass has: those before the first marker of a backward pass. Before the
// first step there may be more.
size_t forward_length(const std::vector<Marker>& markers) {
  std::vector<size_t> lengths;
  size_t unmarked = 0;
  Marker before;
  for (const Marker& marker : markers) {
    if (!marker) {
      ++unmarked;
      continue;
    }
    if (marker == PhaseKind::kBackward && before != PhaseKind::kBackward) {
      lengths.push_back(unmarked);
    }
    before = marker;
    unmarked = 0;
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  if (lengths.empty()) return markers.size();
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

// Of the work between two markers; either may be missing.
PhaseKind between(Marker before, Marker after, bool is_long) {
  if (before == PhaseKind::kBackward) {
    if (after == PhaseKind::kOptimizer) return PhaseKind::kBackward;
    return is_long ? PhaseKind::kForward : PhaseKind::kBackward;
  }
  if (after == PhaseKind::kBackward) return PhaseKind::kForward;
  if (before == PhaseKind::kOptimizer) {
    if (!after) return PhaseKind::kForward;  // of a step that is cut off
    return is_long ? PhaseKind::kOther : PhaseKind::kOptimizer;
  }
  return PhaseKind::kOther;
}

}  // namespace

std::vector<PhaseKind> passes_of_kernels(const EventStore& store, std::span<const EventId> work) {
  const std::vector<Marker> markers = find_markers(store, work);
  if (!is_training(store, work, markers)) return {};
  const auto forward = static_cast<double>(forward_length(markers));
  std::vector<PhaseKind> kinds(work.size(), PhaseKind::kOther);
  Marker before;
  for (size_t begin = 0; begin < work.size();) {
    size_t end = begin;
    while (end < work.size() && !markers[end]) ++end;
    const Marker after = end < work.size() ? markers[end] : std::nullopt;
    const auto length = static_cast<double>(end - begin);
    const PhaseKind kind = between(before, after, length > kOfAForwardPass * forward);
    size_t first = begin;
    if (!before && length > kMoreThanAForwardPass * forward) {
      first = end - static_cast<size_t>(forward);  // set-up comes before
    }
    std::fill(kinds.begin() + static_cast<std::ptrdiff_t>(first),
              kinds.begin() + static_cast<std::ptrdiff_t>(end), kind);
    if (after) kinds[end] = *after;
    before = after;
    begin = end + 1;
  }
  return kinds;
}

}  // namespace fathom
