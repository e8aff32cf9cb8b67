#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// The tokens before a declaration's { or ;, what brackets hold left out: a bracket stands for all
// up to its partner.
struct Header {
  const TokenList& source;
  const Brackets& brackets;
  std::vector<uint32_t> items;

  size_t size() const { return items.size(); }
  std::string_view at(size_t item) const { return source.at(items[item]); }
  bool is(size_t item, std::string_view wanted) const {
    return item < items.size() && at(item) == wanted;
  }
  bool is_any(size_t item, std::initializer_list<std::string_view> wanted) const {
    return item < items.size() && is_one_of(at(item), wanted);
  }
  bool is_name(size_t item) const { return item < items.size() && source.is_name(items[item]); }
  uint32_t line(size_t item) const { return source.tokens[items[item]].line; }
  // Inside the bracket at an item; empty where it is never closed.
  std::string inside(size_t item) const;
  // From an item to before another, brackets with what they hold.
  std::string text(size_t first, size_t last) const;
  // Past `template <…>`, as often as it comes, and past what stands before it.
  size_t after_templates() const;
};

// What the header of a function says: its name, scope (the part written before its name), texts,
// attributes, kind, and the lines of its first token and name. None: it is no function.
std::optional<Function> read_function(const Header& header,
                                      const std::set<std::string, std::less<>>& device_words);

// What the header of a struct, class or union says; none: it is something else.
std::optional<Class> read_class(const Header& header);

}  // namespace fathom::cpp
