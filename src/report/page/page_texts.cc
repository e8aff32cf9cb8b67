#include "report/page/page_texts.h"

#include "base/json_writer.h"
#include "report/page/page_tables.h"

namespace fathom {
namespace {

constexpr size_t kTextBytes = 600, kMostTexts = 400'000, kMostTextBytes = size_t{24} << 20;
constexpr uint32_t kNotYet = UINT32_MAX;

}  // namespace

PageTexts::PageTexts(const EventStore& store)
    : store_(store),
      by_name_(store.text_count(), kNotYet),
      texts_{"(name left out: too many names)"} {}

uint32_t PageTexts::add(std::string_view text) {
  if (texts_.size() >= kMostTexts || bytes_ >= kMostTextBytes) {
    ++left_out_;
    return 0;
  }
  texts_.push_back(page_text(text, kTextBytes));
  bytes_ += texts_.back().size();
  return static_cast<uint32_t>(texts_.size() - 1);
}

uint32_t PageTexts::of(StringId name) {
  if (!name.valid()) return of(std::string());
  uint32_t& known = by_name_[name.index];
  if (known == kNotYet) known = add(store_.text(name));
  return known;
}

uint32_t PageTexts::of(const std::string& text) {
  const auto [known, is_new] = others_.try_emplace(text, 0);
  if (is_new) known->second = add(text);
  return known->second;
}

std::string PageTexts::json() const {
  JsonWriter json(false);
  json.begin_array();
  for (const std::string& text : texts_) json.value(text);
  json.end_array();
  return json.take();
}

}  // namespace fathom
