#include "story/kernel_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/ascii.h"
#include "base/glob.h"
#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/facts/pattern_ids.h"
#include "story/access_model.h"

extern const std::string_view kernel_models_tsv;

namespace fathom {
namespace {

std::vector<std::string_view> list_of(std::string_view text) {
  return text == "-" ? std::vector<std::string_view>{} : split(text, ';');
}

const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = [] {
    std::vector<KernelModel> out;
    for (const auto& row : read_tsv(kernel_models_tsv, 10)) {
      out.push_back({row[0], row[1], list_of(row[2]), list_of(row[3]), list_of(row[4]), row[5],
                     row[6], row[7], number_in<int>(row[8]).value_or(1), row[9] == "first"});
    }
    return out;
  }();
  return models;
}

const CodeEvidence* find_evidence(const KernelFacts& kernel, std::string_view what) {
  const CodeEvidence* best = nullptr;
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what != what) continue;
    if (best == nullptr || evidence.certainty < best->certainty) best = &evidence;
  }
  return best;
}

// The arrays that are gathered from or scattered to; of other evidence what is seen of it.
int count_arrays(const KernelFacts& kernel, std::string_view what) {
  std::set<std::string_view> arrays;
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what != what) continue;
    arrays.insert(evidence.subject.empty() ? evidence.detail : evidence.subject);
  }
  return std::max<int>(1, static_cast<int>(arrays.size()));
}

// The formula with the number of arrays in it.
std::string with_tensors(std::string_view formula, int tensors) {
  std::string spelled(formula);
  for (size_t at; (at = spelled.find("tensors")) != std::string::npos;) {
    spelled.replace(at, 7, std::to_string(tensors));
  }
  return spelled;
}

ChosenModel from_row(const KernelModel& model, Certainty certainty, std::string because,
                     int tensors) {
  ChosenModel out;
  out.id = model.id;
  out.title = model.title;
  out.certainty = certainty;
  out.because = std::move(because);
  out.flops = with_tensors(model.flops, tensors);
  out.bytes_read = with_tensors(model.bytes_read, tensors);
  out.bytes_written = with_tensors(model.bytes_written, tensors);
  out.reads = model.reads;
  return out;
}

std::optional<ChosenModel> fit(const KernelModel& model, const KernelFacts& kernel) {
  for (const std::string_view what : model.without) {
    if (find_evidence(kernel, what) != nullptr) return std::nullopt;
  }
  std::string because;
  if (!model.names.empty()) {
    // Without evidence only the kernel's own name counts: a namespace holds other things too.
    const bool own_name = kernel.scope.empty() || model.evidence.empty();
    const std::string name =
        small_letters(own_name ? kernel.name : kernel.scope + "::" + kernel.name);
    const auto named =
        std::find_if(model.names.begin(), model.names.end(),
                     [&](std::string_view pattern) { return glob_matches(pattern, name); });
    if (named == model.names.end()) return std::nullopt;
    because = "its name";
  }
  if (model.evidence.empty()) return from_row(model, Certainty::kUnsure, because, 1);
  for (const std::string_view what : model.evidence) {
    const CodeEvidence* evidence = find_evidence(kernel, what);
    if (evidence == nullptr) continue;
    return from_row(model, std::max(Certainty::kLikely, evidence->certainty),
                    std::string(what) + (because.empty() ? "" : " and its name"),
                    count_arrays(kernel, what));
  }
  return std::nullopt;
}

// How often a thread waits one after the other: for each pass over what it reads most, for an
// index, and at the barriers of a reduction.
int waits_of(const KernelFacts& kernel) {
  int out = 1;
  const auto index = std::any_of(
      kernel.accesses.begin(), kernel.accesses.end(),
      [](const ArrayAccess& access) { return access.pattern == AccessPattern::kThroughIndex; });
  std::map<std::string_view, int> passes;
  for (const ArrayAccess& access : kernel.accesses) {
    if (!access.shared && access.kind == AccessKind::kRead)
      out = std::max(out, ++passes[access.array]);
  }
  const bool reduces = find_evidence(kernel, pattern_id::kWarpShuffle) != nullptr ||
                       find_evidence(kernel, pattern_id::kBlockBarrier) != nullptr ||
                       find_evidence(kernel, pattern_id::kTileReduce) != nullptr;
  return std::min(out, 4) + (index ? 1 : 0) + (reduces ? 2 : 0);
}

std::optional<ChosenModel> by_accesses(const KernelFacts& kernel, std::string& why) {
  const auto model = model_of_accesses(kernel, why);
  if (!model) return std::nullopt;
  ChosenModel out;
  out.id = "accesses";
  out.title = "array accesses";
  out.because = fmt::format("the index bounds of {} array{}", model->arrays.size(),
                            model->arrays.size() == 1 ? "" : "s");
  out.flops = model->flops;
  out.bytes_read = model->bytes_read;
  out.bytes_written = model->bytes_written;
  out.reads = waits_of(kernel);
  out.by_accesses = true;
  out.open_ends = model->open_ends;
  return out;
}

}  // namespace

std::optional<ChosenModel> choose_model(const KernelFacts& kernel, std::string& why) {
  std::optional<ChosenModel> row;
  bool row_first = false;
  for (const KernelModel& model : kernel_models()) {
    row = fit(model, kernel);
    row_first = row && model.first;
    if (row) break;
  }
  if (row_first) {
    row->because += "; tiles are re-read, so FLOPs come from the matrix products";
    return row;
  }
  if (auto accesses = by_accesses(kernel, why)) return accesses;
  if (!row) return row;
  if (!why.empty()) row->because += "; array accesses unresolved: " + why;
  const bool unresolved =
      !kernel.unresolved.empty() ||
      std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [](const ArrayAccess& access) {
        return !access.shared && access.elements.empty();
      });
  if (unresolved) row->open_ends.push_back({OpenEnd::Kind::kByKind});
  return row;
}

}  // namespace fathom
