#include "scan/link/include_graph.h"

#include <algorithm>

#include "scan/code_names.h"

namespace fathom {
namespace {

// "../common/x.h" → "common/x.h": the rest must still be the end of the path.
std::string_view without_dots(std::string_view path) {
  while (path.starts_with("./") || path.starts_with("../")) path.remove_prefix(path.find('/') + 1);
  return path;
}

bool ends_with_path(std::string_view path, std::string_view end) {
  return path.ends_with(end) &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

}  // namespace

IncludeGraph::IncludeGraph(const Readings& readings) : readings_(readings) {
  for (uint32_t file = 0; file < readings.files.size(); ++file)
    by_name_[file_name(readings.files[file].path)].push_back(file);
  includes_.resize(readings.files.size());
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const cpp::Definitions& cpp = readings.readings[file].cpp;
    for (size_t i = 0; i < cpp.include_lines.size(); ++i) {
      const auto found = find(cpp.includes[i], file);
      if (found && *found != file) includes_[file].push_back({*found, cpp.include_lines[i]});
    }
  }
}

std::optional<uint32_t> IncludeGraph::find(std::string_view written, uint32_t from) const {
  const std::string_view wanted = without_dots(written);
  const auto candidates = by_name_.find(file_name(wanted));
  if (candidates == by_name_.end()) return std::nullopt;
  std::optional<uint32_t> best;
  size_t best_shared = 0;
  for (const uint32_t file : candidates->second) {
    const std::string& path = readings_.files[file].path;
    if (!ends_with_path(path, wanted)) continue;
    // Of several files of this name the nearer one is meant.
    const size_t shared = common_prefix(path, readings_.files[from].path);
    if (!best || shared > best_shared) {
      best = file;
      best_shared = shared;
    }
  }
  return best;
}

bool IncludeGraph::reaches(uint32_t file, uint32_t header) const {
  auto found = closures_.find(file);
  if (found == closures_.end()) {
    std::vector<uint32_t> all, open = {file};
    std::vector<bool> seen(readings_.files.size());
    seen[file] = true;
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      for (const Include& include : includes_[at]) {
        if (seen[include.file]) continue;
        seen[include.file] = true;
        all.push_back(include.file);
        open.push_back(include.file);
      }
    }
    std::sort(all.begin(), all.end());
    found = closures_.emplace(file, std::move(all)).first;
  }
  return std::binary_search(found->second.begin(), found->second.end(), header);
}

}  // namespace fathom
