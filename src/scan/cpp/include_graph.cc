#include "scan/cpp/include_graph.h"

#include <algorithm>
#include <unordered_map>

namespace fathom::cpp {
namespace {

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// "a/b/../c.h" → "a/c.h"
std::string normalized(std::string_view folder, std::string_view path) {
  std::string out(folder);
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == ".." && !out.empty()) {
      out = folder_of(out);
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

size_t common_prefix(std::string_view a, std::string_view b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i;
}

class Resolver {
 public:
  explicit Resolver(const std::vector<IncludeGraph::File>& files) : files_(files) {
    for (size_t i = 0; i < files.size(); ++i) {
      by_name_[file_name(files[i].path)].push_back(static_cast<uint32_t>(i));
    }
  }

  // The file that an include means: beside the includer, else the nearest whose path ends so.
  bool resolve(uint32_t from, std::string_view include, uint32_t& out) const {
    include = without_marks(include);
    const auto found = by_name_.find(file_name(include));
    if (found == by_name_.end()) return false;
    const std::string_view folder = folder_of(files_[from].path);
    const std::string beside = normalized(folder, include);
    std::string tail = normalized("", include);
    size_t best = 0;
    bool any = false;
    for (uint32_t file : found->second) {
      const std::string_view path = files_[file].path;
      if (path == beside) {
        out = file;
        return true;
      }
      if (path != tail && !path.ends_with("/" + tail)) continue;
      const size_t near = common_prefix(path, folder) + 1;
      if (near <= best) continue;
      best = near;
      out = file;
      any = true;
    }
    return any;
  }

 private:
  const std::vector<IncludeGraph::File>& files_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_name_;
};

}  // namespace

IncludeGraph::IncludeGraph(const std::vector<File>& files) {
  const size_t words = files.size() / 64 + 1;
  closure_.assign(files.size(), Row(words));
  context_ = closure_;
  const Resolver resolver(files);
  std::vector<std::vector<uint32_t>> targets(files.size());
  for (uint32_t from = 0; from < files.size(); ++from) {
    for (const std::string& include : files[from].includes) {
      uint32_t to = 0;
      if (resolver.resolve(from, include, to)) targets[from].push_back(to);
    }
  }
  std::vector<uint32_t> open;
  for (uint32_t from = 0; from < files.size(); ++from) {
    Row& row = closure_[from];
    open.assign(1, from);
    row[from / 64] |= uint64_t{1} << (from % 64);
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      for (uint32_t to : targets[at]) {
        if ((row[to / 64] >> (to % 64) & 1) != 0) continue;
        row[to / 64] |= uint64_t{1} << (to % 64);
        open.push_back(to);
      }
    }
  }
  for (uint32_t from = 0; from < files.size(); ++from) {
    for (uint32_t to = 0; to < files.size(); ++to) {
      if (!sees(from, to)) continue;
      for (size_t w = 0; w < words; ++w) context_[to][w] |= closure_[from][w];
    }
  }
}

}  // namespace fathom::cpp
