#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "events/event_store.h"

namespace fathom {

// The texts of a page, each once and in a bounded size: a trace may have millions of names, or one
// of a megabyte. Text 0 stands for those that there was no room for.
class PageTexts {
 public:
  explicit PageTexts(const EventStore& store);

  uint32_t of(StringId name);
  uint32_t of(const std::string& text);
  std::string json() const;
  size_t left_out() const { return left_out_; }

 private:
  uint32_t add(std::string_view text);

  const EventStore& store_;
  std::vector<uint32_t> by_name_;
  std::unordered_map<std::string, uint32_t> others_;
  std::vector<std::string> texts_;
  size_t bytes_ = 0, left_out_ = 0;
};

}  // namespace fathom
