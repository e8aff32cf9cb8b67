#include "report/scan/foremost_path.h"

#include <algorithm>
#include <tuple>

#include "base/text_parts.h"
#include "base/tsv.h"
#include "report/scan/kernel_pages.h"
#include "scan/features/feature_rules.h"

namespace fathom {

bool is_sure(const RequestPath& path) {
  return std::ranges::none_of(
      path.hops, [](const RequestHop& hop) { return hop.certainty == Certainty::kUnsure; });
}

bool is_of_library(const RequestPath& path) {
  return path.entry_kind == EntryKind::kFunction || path.entry_kind == EntryKind::kMethod;
}

bool is_called_like(const CodeFacts& facts, const RequestPath& path) {
  if (!path.kernel) return false;
  const std::string kernel = fold_name(facts.kernels[*path.kernel].name);
  std::vector<std::string_view> parts = split(path.entry, '.');
  const size_t kept = path.entry_kind == EntryKind::kMethod ? 2 : 1;
  if (parts.size() > kept)
    parts.erase(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(kept));
  return std::ranges::any_of(parts, [&kernel](std::string_view part) {
    const std::string words = fold_name(part);
    return std::ranges::any_of(split(words, '_'), [&kernel](std::string_view word) {
      return word.size() > 2 && word != "forward" && holds(kernel, word);
    });
  });
}

const RequestPath& foremost_path(const CodeFacts& facts, const RequestPath& first) {
  const RequestPath* best = &first;
  if (is_of_library(first) && is_called_like(facts, first)) return first;
  const std::vector<uint32_t> order = foremost_kernels(facts, facts.kernels.size());
  // A call of forward comes to gradients later.
  const auto goes_back = [](const RequestPath& path) {
    return std::ranges::any_of(path.hops, [](const RequestHop& hop) {
      return holds_any(hop.function, {"backward", "bwd", "Backward"});
    });
  };
  const auto rank = [&](const RequestPath& path) {
    return std::tuple(!is_sure(path), goes_back(path),
                      path.kernel ? std::ranges::find(order, *path.kernel) - order.begin()
                                  : static_cast<std::ptrdiff_t>(order.size()));
  };
  for (const RequestPath& path : facts.request_paths) {
    const bool same = path.entry == first.entry && path.entry_kind == first.entry_kind;
    if (same && rank(path) < rank(*best)) best = &path;
  }
  return *best;
}

}  // namespace fathom
