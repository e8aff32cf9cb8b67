#include "scan/link/include_graph.h"

#include <algorithm>

#include "base/path_ends.h"

namespace fathom {
namespace {

// "../common/x.h" → "common/x.h": the rest must still be the end of the path.
std::string_view without_dots(std::string_view path) {
  while (path.starts_with("./") || path.starts_with("../")) path.remove_prefix(path.find('/') + 1);
  return path;
}

std::vector<std::string_view> paths_of(const Readings& readings) {
  std::vector<std::string_view> paths;
  for (const SourceFile& file : readings.files) paths.push_back(file.path);
  return paths;
}

}  // namespace

IncludeGraph::IncludeGraph(const Readings& readings) : readings_(readings) {
  PathEnds ends(paths_of(readings));
  includes_.resize(readings.files.size());
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const cpp::Definitions& cpp = readings.readings[file].cpp;
    for (size_t i = 0; i < cpp.include_lines.size(); ++i) {
      // Of several files of this name the nearer one is meant.
      const std::string wanted(without_dots(cpp.includes[i]));
      const auto found = ends.nearest(wanted, readings.files[file].path);
      if (found && *found != file) includes_[file].push_back({*found, cpp.include_lines[i]});
    }
  }
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
