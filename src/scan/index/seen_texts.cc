#include "scan/index/seen_texts.h"

namespace fathom {

void SeenTexts::add(const std::string& name, uint32_t file, std::string text) {
  texts_[name].push_back({file, std::move(text)});
}

std::vector<const SeenTexts::Text*> SeenTexts::meant(std::string_view name, uint32_t file,
                                                     Sight farthest) const {
  constexpr size_t kMostLookedAt = 1000;
  std::vector<const Text*> own, seen, around, all;
  const auto found = texts_.find(name);
  if (found == texts_.end() || found->second.size() > kMostLookedAt) return all;
  for (const Text& one : found->second) {
    all.push_back(&one);
    if (one.file == file) own.push_back(&one);
    if (includes_.sees(file, one.file)) seen.push_back(&one);
    if (includes_.may_see(file, one.file)) around.push_back(&one);
  }
  if (!own.empty()) return own;
  if (!seen.empty() || farthest == Sight::kSeen) return seen;
  return !around.empty() || farthest == Sight::kThroughIncluder ? around : all;
}

}  // namespace fathom
