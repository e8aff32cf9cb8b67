#include "scan/index/include_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/path_ends.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// "a/b/../c.h" → "a/c.h"
std::string normalized(std::string_view folder, std::string_view path) {
  std::string out(folder);
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == ".." && !out.empty()) {
      out = folder_of_path(out);
    } else if (part != "." && part != ".." && !part.empty()) {
      if (!out.empty()) out += '/';
      out += part;
    }
  }
  return out;
}

std::string_view without_marks(std::string_view include) {
  while (!include.empty() && (include.front() == '"' || include.front() == '<')) {
    include.remove_prefix(1);
  }
  while (!include.empty() && (include.back() == '"' || include.back() == '>')) {
    include.remove_suffix(1);
  }
  return include;
}

// What all closures may cost together. Only a repository made for it reaches this; from there on a
// file sees no further than its own includes.
constexpr size_t kMaxSteps = 50'000'000, kStepsForFile = 1'000;
// Kept closures are dropped beyond this many members, and worked out again when asked for.
constexpr size_t kMaxKept = 16'000'000;

}  // namespace

IncludeGraph::IncludeGraph(const std::vector<File>& files)
    : includes_(files.size()),
      included_by_(files.size()),
      seen_in_(files.size(), 0),
      steps_left_(kMaxSteps + kStepsForFile * files.size()) {
  std::vector<std::string_view> paths;
  std::map<std::string_view, uint32_t> by_path;
  for (uint32_t i = 0; i < files.size(); ++i) {
    paths.emplace_back(files[i].path);
    by_path.emplace(files[i].path, i);
  }
  PathEnds ends(std::move(paths));
  // The file that an include means: beside the includer, else the nearest whose path ends so.
  for (uint32_t from = 0; from < files.size(); ++from) {
    const std::string_view folder = folder_of_path(files[from].path);
    for (size_t i = 0; i < files[from].includes.size(); ++i) {
      const std::string_view include = without_marks(files[from].includes[i]);
      const auto beside = by_path.find(normalized(folder, include));
      const std::optional<uint32_t> to =
          beside != by_path.end() ? beside->second : ends.nearest(normalized("", include), folder);
      if (!to || *to == from) continue;
      const uint32_t line = i < files[from].lines.size() ? files[from].lines[i] : 0;
      includes_[from].push_back({*to, line});
      included_by_[*to].push_back({from, line});
    }
  }
}

bool IncludeGraph::sees(uint32_t from, uint32_t to) const {
  if (from == to) return true;
  if (includes_[from].empty()) return false;
  return std::ranges::binary_search(closure(from), to);
}

bool IncludeGraph::may_see(uint32_t from, uint32_t to) const {
  if (from == to) return true;
  if (includes_[from].empty() && included_by_[from].empty()) return false;
  return std::ranges::binary_search(context(from), to);
}

// Adds to the list what it leads to along the edges, and counts the steps.
void IncludeGraph::follow(const std::vector<std::vector<Include>>& edges,
                          std::vector<uint32_t>& files) const {
  ++round_;
  for (const uint32_t file : files) seen_in_[file] = round_;
  for (size_t next = 0; next < files.size(); ++next) {
    for (const auto& [to, line] : edges[files[next]]) {
      if (steps_left_ == 0 && next > 0) return;
      steps_left_ -= steps_left_ > 0 ? 1 : 0;
      if (seen_in_[to] == round_) continue;
      seen_in_[to] = round_;
      files.push_back(to);
    }
  }
}

const std::vector<uint32_t>& IncludeGraph::keep(Kept& kept, uint32_t from,
                                                std::vector<uint32_t> files) const {
  if (kept_members_ + files.size() > kMaxKept) {
    closures_.clear();
    contexts_.clear();
    kept_members_ = 0;
  }
  kept_members_ += files.size();
  std::ranges::sort(files);
  return kept.emplace(from, std::move(files)).first->second;
}

const std::vector<uint32_t>& IncludeGraph::closure(uint32_t from) const {
  const auto known = closures_.find(from);
  if (known != closures_.end()) return known->second;
  std::vector<uint32_t> files = {from};
  follow(includes_, files);
  return keep(closures_, from, std::move(files));
}

const std::vector<uint32_t>& IncludeGraph::context(uint32_t from) const {
  const auto known = contexts_.find(from);
  if (known != contexts_.end()) return known->second;
  std::vector<uint32_t> files = {from};
  follow(included_by_, files);
  follow(includes_, files);
  return keep(contexts_, from, std::move(files));
}

}  // namespace fathom
