#include "scan/cpp/fields.h"

#include <algorithm>

#include "base/text_parts.h"
#include "scan/cpp/references.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// The variables that the statements of a class declare.
class FieldReader {
 public:
  FieldReader(const Code& code, std::vector<Field>& out) : code_(code), out_(out) {}

  void read(const std::string& owner, size_t open) {
    size_t first = open + 1;
    bool plain = true;  // no brackets of a function
    const size_t close = code_.brackets.partner(open);
    for (size_t i = open + 1; i < close && i < code_.source.size(); i = code_.past(i)) {
      if (code_.is(i, "(")) plain = false;
      const bool label = code_.is(i, ":") && i == first + 1;  // public:
      const bool body = code_.is(i, "{") && !plain;
      if (code_.is(i, ";") && plain) statement(owner, first, i);
      if (!code_.is(i, ";") && !label && !body) continue;
      first = code_.past(i);
      plain = true;
    }
  }

 private:
  void statement(const std::string& owner, size_t first, size_t last) {
    constexpr size_t kMost = 20000;
    while (first < last && is_one_of(code_.source.at(first), {"const", "static", "mutable",
                                                              "constexpr", "inline", "volatile"}))
      ++first;
    const Path path = path_from(code_, first, last);
    if (!path.valid() || is_keyword(code_.source.at(path.names[0])) ||
        is_builtin_type(code_.source.at(path.names.back())) || out_.size() >= kMost)
      return;
    size_t name = path.all.last;
    while (name < last && (code_.is(name, "*") || code_.is(name, "&") || code_.is(name, "const")))
      ++name;
    if (name >= last || !code_.source.is_name(name)) return;
    const std::string type = class_in(code_, path);
    out_.push_back({owner, std::string(code_.source.at(name)), type});
  }

  const Code& code_;
  std::vector<Field>& out_;
};

}  // namespace

std::vector<Field> find_fields(const Code& code, const std::vector<Class>& classes) {
  constexpr size_t kLongestHead = 400;  // tokens from a class's name to its {
  std::vector<Field> out;
  const auto& tokens = code.source.tokens;
  FieldReader reader(code, out);
  for (const Class& type : classes) {
    auto at = std::lower_bound(tokens.begin(), tokens.end(), type.line_name,
                               [](const Token& t, uint32_t line) { return t.line < line; });
    size_t i = static_cast<size_t>(at - tokens.begin());
    const size_t limit = std::min(code.source.size(), i + kLongestHead);
    while (i < limit && !code.is(i, type.name)) ++i;
    while (i < limit && !code.is(i, "{") && !code.is(i, ";")) ++i;
    if (i >= limit || !code.is(i, "{") || !code.brackets.closed(i)) continue;
    reader.read(qualified_name(type), i);
  }
  return out;
}

}  // namespace fathom::cpp
