#include "report/scan/kernel_purpose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/count_text.h"
#include "base/glob.h"
#include "base/tsv.h"
#include "base/utf8.h"
#include "report/markdown.h"
#include "scan/facts/code_names.h"
#include "scan/facts/pattern_ids.h"
#include "scan/features/feature_rules.h"

extern const std::string_view kernel_purposes_tsv;

namespace fathom {
namespace {

constexpr size_t kArrays = 4, kDocBytes = 160;

struct Purpose {
  std::vector<std::string_view> names;
  std::string_view what;
  bool writes_only;
};

const std::vector<Purpose>& purposes() {
  static const std::vector<Purpose> rows = [] {
    std::vector<Purpose> out;
    for (const std::vector<std::string_view>& row : read_tsv(kernel_purposes_tsv, 3))
      out.push_back({split(row[0], ' '), row[1], row[2] == "writes"});
    return out;
  }();
  return rows;
}

bool is_backward(std::string_view folded) {
  return holds_any(folded, {"_bwd", "bwd_", "backward", "_dgrad", "_wgrad"});
}

// An access that was not resolved may be a read.
bool may_read(const KernelFacts& kernel) {
  return !kernel.unresolved.empty() ||
         std::ranges::any_of(kernel.traffic, [](const ArrayTraffic& traffic) {
           return traffic.kind == AccessKind::kRead;
         });
}

std::string by_name(const KernelFacts& kernel, std::string_view name) {
  const std::string folded = fold_name(name.substr(0, 300));
  for (const Purpose& purpose : purposes()) {
    if (purpose.writes_only && may_read(kernel)) continue;
    for (const std::string_view glob : purpose.names) {
      if (!glob_matches(glob, folded)) continue;
      std::string what(purpose.what);
      if (is_backward(folded)) return "gradient of " + what;
      return what;
    }
  }
  return "";
}

// Whether a docstring begins with what the kernel does, and not with a picture of its data: it uses
// a word of the name, or begins with what kernels do.
bool is_about(std::string_view doc, std::string_view name) {
  for (const std::string_view verb :
       {"Comput", "Appl", "Perform", "Fuse", "Calculat", "Forward", "Backward", "Kernel", "Triton",
        "Copi", "Copy", "Gather", "Scatter", "Writ", "Quanti", "Dequanti", "Implement", "Update"}) {
    if (doc.starts_with(verb)) return true;
  }
  const std::string text = small_letters(doc), folded = fold_name(name);
  return std::ranges::any_of(split(folded, '_'), [&](std::string_view word) {
    return word.size() > 3 && word != "kernel" && holds(text, word);
  });
}

// A file's name tells what its kernel is for, and not what each of several is for. Kernels are in
// order of file and line.
bool has_neighbours(const CodeFacts& facts, const KernelFacts& kernel) {
  const auto in_file = std::ranges::equal_range(facts.kernels, kernel.at.file, {},
                                                [](const KernelFacts& k) { return k.at.file; });
  return !in_file.empty() &&
         (in_file.front().name != kernel.name || in_file.back().name != kernel.name);
}

// The first sentence of a docstring, where it is one.
std::string by_docstring(const KernelFacts& kernel) {
  std::string_view doc = kernel.doc;
  const size_t stop = doc.find(". ");
  if (stop != std::string_view::npos) doc = doc.substr(0, stop);
  for (const std::string_view list : {" Args:", " Arguments:", " Parameters:", " :param"})
    doc = doc.substr(0, doc.find(list));
  while (doc.ends_with('.') || doc.ends_with(' ') || doc.ends_with(':')) doc.remove_suffix(1);
  // A list of parameters is no sentence.
  const bool is_list = doc.starts_with("Args") || doc.starts_with("Param") ||
                       doc.starts_with(":") || doc.starts_with("Input") || doc.starts_with("Shape");
  if (doc.size() < 12 || is_list || !holds(doc, ' ')) return "";
  if (!is_about(doc, kernel.name)) return "";
  return cut_to_bytes(doc, kDocBytes) + (doc.size() > kDocBytes ? "…" : "");
}

std::string arrays_text(const KernelFacts& kernel, bool written) {
  std::vector<std::string> names;
  size_t more = 0;
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if ((traffic.kind != AccessKind::kRead) != written) continue;
    const std::string name = md_code(traffic.array);
    if (traffic.array.empty() || contains(names, name)) continue;
    if (names.size() < kArrays)
      names.push_back(name);
    else
      ++more;
  }
  if (names.empty()) return "";
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// How it does it: the strongest of what its code shows.
std::vector<std::string> by_code(const KernelFacts& kernel) {
  struct Way {
    std::string_view pattern, text;
  };
  constexpr std::array<Way, 7> products = {
      {{pattern_id::kTcgen05, "products on tensor cores (tcgen05)"},
       {pattern_id::kWgmma, "products on tensor cores (wgmma)"},
       {pattern_id::kMmaSync, "products on tensor cores (mma)"},
       {pattern_id::kWmma, "products on tensor cores (wmma)"},
       {pattern_id::kMfma, "products on matrix cores (MFMA)"},
       {pattern_id::kTileDot, "tile products (dot)"},
       {"integer_dot", "integer dot products"}}};
  constexpr std::array<Way, 3> reductions = {
      {{pattern_id::kTileReduce, "reduces over a tile"},
       {"block_collective", "block-wide collective"},
       {pattern_id::kWarpShuffle, "exchanges values within a warp"}}};
  const auto first_of = [&](const auto& ways) -> std::string {
    for (const Way& way : ways) {
      for (const CodeEvidence& e : kernel.evidence) {
        if (e.what == way.pattern) return std::string(way.text);
      }
    }
    return "";
  };
  std::vector<std::string> out;
  for (std::string text : {first_of(products), first_of(reductions)}) {
    if (!text.empty()) out.push_back(std::move(text));
  }
  for (const CodeEvidence& e : kernel.evidence) {
    if (e.what != pattern_id::kAtomics) continue;
    out.emplace_back("atomics");
    break;
  }
  return out;
}

}  // namespace

std::string kernel_purpose(const CodeFacts& facts, const KernelFacts& kernel) {
  std::string what = by_docstring(kernel);
  const char* source = "docstring";
  if (what.empty()) {
    what = by_name(kernel, kernel.name);
    source = "name";
  }
  if (what.empty() && !has_neighbours(facts, kernel)) {
    const std::string_view file = file_name(facts.files[kernel.at.file].path);
    what = by_name(kernel, file.substr(0, file.find('.')));
    source = "file's name";
  }
  std::vector<std::string> parts;
  const std::string reads = arrays_text(kernel, false), writes = arrays_text(kernel, true);
  if (!reads.empty()) parts.push_back("reads " + reads);
  if (!writes.empty()) parts.push_back("writes " + writes);
  const size_t open = kernel.unresolved.size();
  if (open > 0 && !parts.empty())
    parts.push_back(counted(open, "more access", "more accesses") + " not resolved");
  for (std::string& way : by_code(kernel)) parts.push_back(std::move(way));
  if (what.empty() && parts.empty()) return "";
  std::string out = what.empty() ? "" : fmt::format("{} (by its {})", md_words(what), source);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  if (parts.empty()) return out;
  std::string rest = fmt::format("{}", fmt::join(parts, "; "));
  if (out.empty() && !rest.empty() && rest[0] >= 'a' && rest[0] <= 'z')
    rest[0] = static_cast<char>(rest[0] - 32);
  return out.empty() ? rest : out + ": " + rest;
}

}  // namespace fathom
