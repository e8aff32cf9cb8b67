#include "scan/index/seen_texts.h"

namespace fathom {

void SeenTexts::add(const std::string& name, uint32_t file, std::string text) {
  texts_[name].push_back({file, std::move(text)});
}

std::vector<const SeenTexts::Text*> SeenTexts::meant(std::string_view name, uint32_t file,
                                                     Sight farthest) const {
  constexpr size_t kMostLookedAt = 1000;
  std::vector<const Text*> out;
  const auto found = texts_.find(name);
  if (found == texts_.end() || found->second.size() > kMostLookedAt) return out;
  const auto gather = [&](auto is_meant) {
    for (const Text& one : found->second) {
      if (is_meant(one.file)) out.push_back(&one);
    }
    return !out.empty();
  };
  if (gather([&](uint32_t home) { return home == file; })) return out;
  if (gather([&](uint32_t home) { return includes_.sees(file, home); })) return out;
  if (farthest == Sight::kSeen) return out;
  if (gather([&](uint32_t home) { return includes_.may_see(file, home); })) return out;
  if (farthest == Sight::kUnseen) gather([](uint32_t) { return true; });
  return out;
}

}  // namespace fathom
