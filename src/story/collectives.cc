#include "story/collectives.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view collectives_tsv;

namespace fathom {
namespace {

struct CollectiveRow {
  std::string_view type, method;
  Phrase phrase;
};

const std::vector<CollectiveRow>& collective_rows() {
  static const std::vector<CollectiveRow> rows = [] {
    std::vector<CollectiveRow> out;
    for (const auto& row : read_tsv(collectives_tsv, 3))
      out.push_back({row[0], row[1], phrase_of_id(row[2])});
    return out;
  }();
  return rows;
}

// Whether the text names a class of the table as a whole word; the class.
std::string_view class_in(std::string_view text) {
  for (const CollectiveRow& row : collective_rows()) {
    for (size_t at = text.find(row.type); at != std::string_view::npos;
         at = text.find(row.type, at + 1)) {
      const size_t end = at + row.type.size();
      if ((at == 0 || !is_word_character(text[at - 1])) &&
          (end == text.size() || !is_word_character(text[end])))
        return row.type;
    }
  }
  // What makes a group says what it is.
  if (holds(text, "tiled_partition")) return "thread_block_tile";
  if (holds(text, "coalesced_threads")) return "coalesced_group";
  return {};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

// Before the bracket that the text ends with; the text itself where it ends with none.
std::string_view before_bracket(std::string_view text, char open, char close) {
  text = trimmed(text);
  if (text.empty() || text.back() != close) return text;
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    depth += text[i] == close ? 1 : text[i] == open ? -1 : 0;
    if (depth == 0) return trimmed(text.substr(0, i));
  }
  return text;
}

std::string_view last_word(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && is_word_character(text[begin - 1])) --begin;
  return text.substr(begin);
}

}  // namespace

std::string_view Collectives::type_of(std::string_view spelled) const {
  if (const std::string_view known = class_in(spelled); !known.empty()) return known;
  return value_or_empty(types_, last_word(before_bracket(spelled, '<', '>')));
}

void Collectives::note(std::string_view statement) {
  constexpr size_t kLongest = 400;
  if (statement.size() > kLongest) return;
  if (statement.starts_with("using ")) {
    const size_t equals = statement.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view type = type_of(statement.substr(equals + 1));
    if (!type.empty()) types_.emplace(trimmed(statement.substr(6, equals - 6)), type);
    return;
  }
  if (statement.starts_with("typedef ")) {
    const std::string_view name = last_word(trimmed(statement));
    const std::string_view type = type_of(statement.substr(8, statement.size() - 8 - name.size()));
    if (!type.empty()) types_.emplace(name, type);
    return;
  }
  // Type name(…), Type name{…}, auto name = …, Type name = …
  if (holds(statement, "TempStorage")) return;
  const size_t equals = statement.find('=');
  const size_t end = std::min(equals, std::min(statement.find('{'), statement.find('(')));
  const std::string_view left = trimmed(statement.substr(0, std::min(end, statement.size())));
  const std::string_view name = last_word(left);
  if (name.empty() || name.size() == left.size()) return;
  std::string_view type = type_of(trimmed(left.substr(0, left.size() - name.size())));
  if (type.empty() && equals != std::string_view::npos && left.starts_with("auto"))
    type = class_in(statement.substr(equals + 1));
  if (!type.empty()) types_[std::string(name)] = type;
}

Phrase Collectives::phrase_of(std::string_view statement) const {
  for (size_t dot = statement.find('.'); dot != std::string_view::npos;
       dot = statement.find('.', dot + 1)) {
    size_t end = dot + 1;
    while (end < statement.size() && is_word_character(statement[end])) ++end;
    const std::string_view method = statement.substr(dot + 1, end - dot - 1);
    while (end < statement.size() && statement[end] == ' ') ++end;
    const bool called = end < statement.size() && (statement[end] == '(' || statement[end] == '<');
    if (method.empty() || !called) continue;
    const std::string_view object = before_bracket(statement.substr(0, dot), '(', ')');
    const std::string_view made = before_bracket(object, '<', '>');
    std::string_view type;
    if (const auto known = types_.find(last_word(made)); known != types_.end()) {
      type = known->second;
    } else if (made.size() < object.size() || object.size() < dot) {
      type = class_in(last_word(made));
    }
    const std::string_view name = last_word(made);
    for (const CollectiveRow& row : collective_rows()) {
      if (row.type == type && (row.method == method || row.method == "*")) return row.phrase;
      // Traits::BlockLoadT(storage).Load(…)
      if (type.empty() && row.method == method && name.size() > row.type.size() &&
          name.starts_with(row.type) &&
          std::isupper(static_cast<unsigned char>(row.type[0])) != 0) {
        return row.phrase;
      }
    }
  }
  for (const CollectiveRow& row : collective_rows()) {
    if (row.type != "cooperative_groups") continue;
    for (const std::string_view space : {"cg::", "cooperative_groups::"}) {
      const size_t at = statement.find(space);
      if (at != std::string_view::npos &&
          statement.substr(at + space.size()).starts_with(row.method) &&
          statement.substr(at + space.size() + row.method.size()).starts_with("(")) {
        return row.phrase;
      }
    }
  }
  return Phrase::kNone;
}

}  // namespace fathom
