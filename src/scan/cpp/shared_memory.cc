#include <algorithm>
#include <charconv>

#include "scan/cpp/code_structures.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

constexpr size_t kLongestDeclaration = 120;

// A declaration's name and the brackets after it.
struct Declarator {
  size_t name = 0;
  std::vector<std::pair<size_t, size_t>> extents;  // tokens of [ and ]
};

std::optional<Declarator> read_declarator(const TokenRange& range, size_t begin) {
  const TokenList& source = range.source;
  Declarator found;
  for (size_t i = begin; i < std::min(range.last, begin + kLongestDeclaration); ++i) {
    const std::string_view token = source.at(i);
    if (token == "<") {
      i = closing_angle_near(source, i).value_or(i);
    } else if (token == "(" || token == "{") {
      const auto close = closing_near(source, i);
      if (!close) return std::nullopt;
      i = *close;
    } else if (token == "[") {
      const auto close = closing_near(source, i);
      if (!close) return std::nullopt;
      found.extents.emplace_back(i, *close);
      i = *close;
    } else if (token == ";" || token == "=" || token == ",") {
      break;
    } else if (source.is_name(i) && found.extents.empty()) {
      found.name = i;
    }
  }
  return found.name == 0 ? std::nullopt : std::optional(found);
}

// `+ 1` or `+ kPad` after which the extent, or the factor of it, ends.
bool is_padding(const TokenList& source, size_t plus) {
  if (!source.is(plus, "+") || plus + 2 >= source.size()) return false;
  const std::string_view added = source.at(plus + 1);
  if (!source.is(plus + 2, "]") && !source.is(plus + 2, ")")) return false;
  if (source.is_name(plus + 1)) return name_holds(added, "pad") || name_holds(added, "skew");
  int value = 0;
  std::from_chars(added.data(), added.data() + added.size(), value);
  return value >= 1 && value <= 16;
}

// The rows of an array are padded where its last extent of several is, or a factor of its only one:
// [32][32 + 1], [32 * (32 + 1)]. [N + 1] alone is one element more, not padding.
bool has_padding(const TokenList& source, const Declarator& array) {
  if (array.extents.empty()) return false;
  const auto [open, close] = array.extents.back();
  bool product = false;
  for (size_t i = open + 1; i < close; ++i) product = product || source.is(i, "*");
  for (size_t i = open + 1; i < close; ++i) {
    if (!is_padding(source, i)) continue;
    const bool ends_extent = i + 2 == close;
    if (ends_extent ? array.extents.size() > 1 : product) return true;
  }
  return false;
}

void read_shared(const TokenRange& range, size_t at, DeclaredArrays& arrays,
                 std::vector<StructureHit>& out) {
  const TokenList& source = range.source;
  const auto array = read_declarator(range, at + 1);
  if (!array) return;
  arrays.names[source.at(array->name)] = true;
  const bool dynamic = (at > range.first && source.is(at - 1, "extern")) ||
                       (at > range.first + 1 && source.is(at - 2, "extern")) ||
                       source.is(at + 1, "extern");
  const size_t end = array->extents.empty() ? array->name + 1 : array->extents.back().second + 1;
  const std::string text = short_source(source, at + 1, end);
  out.push_back({dynamic ? "shared_dynamic" : "shared_static", text, at, Certainty::kCertain});
  if (has_padding(source, *array)) {
    out.push_back({"shared_padding", text, at, Certainty::kCertain});
  }
}

bool starts_statement(const TokenList& source, size_t first, size_t at) {
  if (at <= first) return true;
  const std::string_view before = source.at(at - 1);
  return before == ";" || before == "{" || before == "}" || before == ")" ||
         source.tokens[at - 1].kind == TokenKind::kDirective;
}

// `float acc[4];` at a statement's start: the name of the array, if it is such.
std::optional<size_t> local_array(const TokenRange& range, size_t at) {
  const TokenList& source = range.source;
  while (source.is(at, "const") || source.is(at, "constexpr") || source.is(at, "static") ||
         source.is(at, "volatile") || source.is(at, "typename") || source.is(at, "unsigned")) {
    ++at;
  }
  if (!source.is_name(at) || source.is(at, "return")) return std::nullopt;
  while (source.is(at + 1, "::") && source.is_name(at + 2)) at += 2;
  size_t next = at + 1;
  if (source.is(next, "<")) {
    const auto close = closing_angle_near(source, next);
    if (!close) return std::nullopt;
    next = *close + 1;
  }
  while (source.is(next, "*") || source.is(next, "const")) ++next;
  if (next >= range.last || !source.is_name(next) || !source.is(next + 1, "[")) return std::nullopt;
  return next;
}

bool lies_in_shared_memory(std::string_view name, const DeclaredArrays& arrays) {
  if (arrays.is_declared(name)) return arrays.is_shared(name);
  return name_holds(name, "smem") || name_holds(name, "shared") || name.starts_with("sh_");
}

}  // namespace

bool DeclaredArrays::is_shared(std::string_view name) const {
  const auto found = names.find(name);
  return found != names.end() && found->second;
}

DeclaredArrays find_arrays(const TokenRange& range, std::vector<StructureHit>& out) {
  DeclaredArrays arrays;
  for (size_t i = range.first; i < range.last; ++i) {
    if (!range.source.is_name(i)) continue;
    if (range.source.is(i, "__shared__")) {
      read_shared(range, i, arrays, out);
    } else if (starts_statement(range.source, range.first, i)) {
      if (const auto name = local_array(range, i))
        arrays.names.emplace(range.source.at(*name), false);
    }
  }
  return arrays;
}

void find_swizzles(const TokenRange& range, const DeclaredArrays& arrays,
                   std::vector<StructureHit>& out) {
  const TokenList& source = range.source;
  std::map<std::string_view, bool> permuted;  // variables made with ^
  for (size_t i = range.first; i + 1 < range.last; ++i) {
    if (source.is(i + 1, "=") && source.is_name(i)) {
      const size_t end = expression_end(range, i + 2);
      for (size_t k = i + 2; k < end; ++k) {
        if (source.is(k, "^") && !source.is(k + 1, "=")) permuted[source.at(i)] = true;
      }
    }
    if (!source.is(i + 1, "[") || !source.is_name(i) ||
        !lies_in_shared_memory(source.at(i), arrays)) {
      continue;
    }
    for (size_t open = i + 1; source.is(open, "[");) {
      const auto close = closing_near(source, open);
      if (!close) break;
      for (size_t k = open + 1; k < *close; ++k) {
        if (!source.is(k, "^") && !(source.is_name(k) && permuted.contains(source.at(k)))) continue;
        out.push_back(
            {"shared_swizzle", short_source(source, i, *close + 1), i, Certainty::kLikely});
        break;
      }
      open = *close + 1;
    }
  }
}

}  // namespace fathom::cpp
