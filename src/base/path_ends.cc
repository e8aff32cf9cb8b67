#include "base/path_ends.h"

#include <algorithm>

namespace fathom {
namespace {

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::string from_behind(std::string_view text) { return {text.rbegin(), text.rend()}; }

}  // namespace

PathEnds::PathEnds(std::vector<std::string_view> paths) : paths_(std::move(paths)) {
  reversed_.reserve(paths_.size());
  for (uint32_t i = 0; i < paths_.size(); ++i) reversed_.emplace_back(from_behind(paths_[i]), i);
  std::ranges::sort(reversed_);
}

bool PathEnds::has_below_folder(std::string_view end) const {
  const std::string wanted = from_behind(end) + "/";
  const auto found =
      std::ranges::lower_bound(reversed_, wanted, {}, &std::pair<std::string, uint32_t>::first);
  return found != reversed_.end() && found->first.starts_with(wanted);
}

const std::vector<uint32_t>& PathEnds::all_with(const std::string& end) {
  const auto [asked, is_new] = asked_.try_emplace(end);
  std::vector<uint32_t>& all = asked->second;
  if (!is_new) return all;
  const std::string wanted = from_behind(end);
  for (auto at = std::ranges::lower_bound(reversed_, wanted, {},
                                          &std::pair<std::string, uint32_t>::first);
       at != reversed_.end() && at->first.starts_with(wanted); ++at) {
    const bool whole = at->first.size() == wanted.size() || at->first[wanted.size()] == '/';
    if (whole) all.push_back(at->second);
  }
  std::ranges::sort(all, [this](uint32_t a, uint32_t b) {
    return std::pair(paths_[a], a) < std::pair(paths_[b], b);
  });
  return all;
}

std::optional<uint32_t> PathEnds::nearest(const std::string& end, std::string_view near) {
  const std::vector<uint32_t>& all = all_with(end);
  if (all.empty()) return {};
  const auto path = [this](uint32_t i) { return paths_[i]; };
  // In order of path, what shares most with a text stands next to its place.
  const auto after = std::ranges::lower_bound(all, near, {}, path);
  size_t shared = 0;
  if (after != all.end()) shared = common_prefix(path(*after), near);
  if (after != all.begin()) shared = std::max(shared, common_prefix(path(*std::prev(after)), near));
  return *std::ranges::lower_bound(all, near.substr(0, shared), {}, path);
}

}  // namespace fathom
