#include "report/scan/scan_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/count_text.h"
#include "base/text_parts.h"
#include "scan/facts/fact_names.h"
#include "scan/files/language.h"

namespace fathom {
namespace {

bool is_others(Origin origin) {
  return origin == Origin::kVendored || origin == Origin::kSubmodule;
}

struct FolderNode {
  FolderCount count;
  size_t files_here = 0;
  bool has_own = false;
  std::map<std::string, FolderNode, std::less<>> folders;
};

using Tally = size_t FolderCount::*;

class FolderTree {
 public:
  explicit FolderTree(const CodeFacts& facts) : facts_(facts) {
    for (const SourceFile& file : facts.files) {
      lines_ += file.lines;
      for_folders(file.path, [&file](FolderNode& node, bool is_last) {
        node.count.size.add(file);
        node.count.languages[file.language] += file.lines;
        node.has_own = node.has_own || !is_others(file.origin);
        if (is_others(file.origin)) node.count.origin = file.origin;
        if (is_last) ++node.files_here;
      });
    }
    for (const KernelFacts& kernel : facts.kernels) tally(kernel.at, &FolderCount::kernels);
    for (const EntryPoint& entry : facts.entry_points) tally(entry.at, &FolderCount::entry_points);
    for (const OptionFacts& option : facts.options) tally(option.at, &FolderCount::options);
  }

  std::vector<FolderCount> rows(size_t at_most) {
    std::vector<FolderCount> out;
    for (auto& [name, node] : root_.folders) {
      if (!name.starts_with('.')) add_rows(name + "/", node, 0, out);
    }
    if (out.size() <= at_most) return out;
    // The inner ones go first, the smallest of them first.
    std::vector<size_t> order(out.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto weight = [&out](size_t i) {
      return std::tuple(-out[i].depth, out[i].kernels, out[i].size.lines);
    };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return weight(b) < weight(a); });
    order.resize(at_most);
    std::ranges::sort(order);
    std::vector<FolderCount> kept;
    for (const size_t i : order) kept.push_back(std::move(out[i]));
    return kept;
  }

 private:
  template <typename Visit>
  void for_folders(std::string_view path, Visit visit) {
    FolderNode* node = &root_;
    for (size_t slash; (slash = path.find('/')) != std::string_view::npos;) {
      node = &node->folders[std::string(path.substr(0, slash))];
      path.remove_prefix(slash + 1);
      visit(*node, !holds(path, '/'));
    }
  }

  void tally(const CodePlace& at, Tally what) {
    for_folders(facts_.files[at.file].path,
                [what](FolderNode& node, bool) { ++(node.count.*what); });
  }

  void add_rows(std::string path, FolderNode& node, int depth, std::vector<FolderCount>& out) {
    constexpr int kDeepest = 2;
    constexpr uint64_t kFairPart = 50;  // one in so many lines
    FolderNode* at = &node;
    while (at->folders.size() == 1 && at->files_here <= 1) {
      path += at->folders.begin()->first + "/";
      at = &at->folders.begin()->second;
    }
    FolderCount row = at->count;
    row.path = path;
    row.depth = depth;
    if (at->has_own) row.origin = Origin::kOwn;
    out.push_back(std::move(row));
    if (depth + 1 >= kDeepest || !at->has_own) return;
    for (auto& [name, child] : at->folders) {
      const bool fair = child.count.size.lines * kFairPart >= lines_;
      if (fair || child.count.kernels > 0) add_rows(path + name + "/", child, depth + 1, out);
    }
  }

  const CodeFacts& facts_;
  FolderNode root_;
  uint64_t lines_ = 0;
};

}  // namespace

std::vector<LanguageCount> count_languages(const CodeFacts& facts, bool others_too) {
  std::map<Language, SizeCount> counts;
  for (const SourceFile& file : facts.files) {
    if (others_too || !is_others(file.origin)) counts[file.language].add(file);
  }
  std::vector<LanguageCount> out;
  for (const auto& [language, size] : counts) out.push_back({language, size});
  std::ranges::stable_sort(out, [](const LanguageCount& a, const LanguageCount& b) {
    return std::tuple(b.size.lines, b.size.files) < std::tuple(a.size.lines, a.size.files);
  });
  return out;
}

std::string language_shares(const std::vector<LanguageCount>& languages, size_t shown) {
  uint64_t all = 0;
  for (const LanguageCount& l : languages) all += is_program_code(l.language) ? l.size.lines : 0;
  std::vector<std::string> parts;
  for (const LanguageCount& l : languages) {
    if (!is_program_code(l.language) || parts.size() == shown || l.size.lines == 0) continue;
    const double percent = 100.0 * static_cast<double>(l.size.lines) / static_cast<double>(all);
    parts.push_back(percent < 1 ? fmt::format("{} under 1 %", language_name(l.language))
                                : fmt::format("{} {:.0f} %", language_name(l.language), percent));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::map<Origin, SizeCount> count_origins(const CodeFacts& facts) {
  std::map<Origin, SizeCount> counts;
  for (const SourceFile& file : facts.files) counts[file.origin].add(file);
  return counts;
}

std::vector<NameCount> by_count(const std::map<std::string, size_t>& counts) {
  std::vector<NameCount> out;
  for (const auto& [name, count] : counts) out.push_back({name, count});
  std::ranges::stable_sort(out, std::greater(), &NameCount::count);
  return out;
}

std::vector<NameCount> count_kernel_kinds(const CodeFacts& facts) {
  std::map<std::string, size_t> counts;
  for (const KernelFacts& k : facts.kernels) ++counts[std::string(kernel_kind_name(k.kind))];
  return by_count(counts);
}

std::vector<NameCount> count_kernel_features(const CodeFacts& facts) {
  std::map<std::string, size_t> counts;
  for (const KernelFacts& kernel : facts.kernels) {
    std::set<std::string> done;
    for (const CodeEvidence& e : kernel.evidence) done.insert(e.what);
    for (const std::string& what : done) ++counts[what];
  }
  return by_count(counts);
}

std::vector<NameCount> count_kernel_files(const CodeFacts& facts) {
  std::map<std::string, size_t> counts;
  for (const KernelFacts& kernel : facts.kernels) ++counts[facts.files[kernel.at.file].path];
  return by_count(counts);
}

std::vector<NameCount> count_entry_kinds(const CodeFacts& facts) {
  std::map<std::string, size_t> counts;
  for (const EntryPoint& entry : facts.entry_points)
    ++counts[std::string(entry_kind_name(entry.kind))];
  return by_count(counts);
}

std::vector<NameCount> count_option_kinds(const CodeFacts& facts) {
  std::map<std::string, size_t> counts;
  for (const OptionFacts& o : facts.options) ++counts[std::string(option_kind_name(o.kind))];
  return by_count(counts);
}

std::string joined_counts(const std::vector<NameCount>& counts, bool plural) {
  std::vector<std::string> parts;
  for (const NameCount& c : counts) {
    parts.push_back(fmt::format("{} {}{}", with_thousands(static_cast<int64_t>(c.count)), c.name,
                                plural && c.count != 1 ? "s" : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

size_t count_dead(const CodeFacts& facts) {
  return static_cast<size_t>(std::ranges::count_if(facts.kernels, &KernelFacts::dead));
}

size_t count_without_launcher(const CodeFacts& facts) {
  return static_cast<size_t>(std::ranges::count_if(facts.kernels, [](const KernelFacts& k) {
    // Of the others launches are not looked for in all ways.
    return k.body_read && !k.dead && k.launchers.empty();
  }));
}

std::string module_reason(const ModuleFacts& module) {
  std::vector<std::string> parts;
  if (module.imported_by > 0) {
    parts.push_back(fmt::format("imported by {} in {}",
                                counted(module.imported_by, "file", "files"),
                                counted(module.imported_by_folders, "folder", "folders")));
  }
  if (module.calls_into > 0)
    parts.push_back(fmt::format("{} into it", counted(module.calls_into, "call", "calls")));
  if (module.kernels > 0)
    parts.push_back(fmt::format("defines {}", counted(module.kernels, "kernel", "kernels")));
  if (module.kernels_on_path > 0)
    parts.push_back(fmt::format("on the call path to {}",
                                counted(module.kernels_on_path, "kernel", "kernels")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<FolderCount> key_folders(const CodeFacts& facts, size_t at_most) {
  return FolderTree(facts).rows(at_most);
}

}  // namespace fathom
