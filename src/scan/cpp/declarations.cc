#include "scan/cpp/declarations.h"

#include "base/text_parts.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// The brackets that could be a function's parameters, and the name before them.
struct Candidate {
  size_t name_first, name_item, brackets;  // items; name_first: with its qualifiers
  std::string name;
};

// The item before a name's qualifiers: of `A<int>::B::f`, with `f` at `name`, the one of A.
size_t first_of_path(const Header& header, size_t name) {
  while (name >= 2 && header.is(name - 1, "::")) {
    size_t before = name - 2;
    if (header.is(before, "<") && before > 0) --before;
    if (!header.is_name(before) || is_keyword(header.at(before)) ||
        is_builtin_type(header.at(before))) {
      return name - 1;  // ::f
    }
    name = before;
  }
  return name >= 1 && header.is(name - 1, "::") ? name - 1 : name;
}

std::optional<Candidate> operator_before(const Header& header, size_t brackets) {
  // operator() is followed by two pairs of brackets.
  if (brackets >= 1 && header.is(brackets - 1, "operator")) {
    if (!header.is(brackets + 1, "(")) return std::nullopt;
    return Candidate{0, brackets - 1, brackets + 1, "operator()"};
  }
  for (size_t back = 2; back <= 4 && back <= brackets; ++back) {
    if (!header.is(brackets - back, "operator")) continue;
    std::string name = "operator";
    if (header.is_name(brackets - back + 1)) name += ' ';
    return Candidate{0, brackets - back, brackets,
                     name + header.text(brackets - back + 1, brackets)};
  }
  return std::nullopt;
}

std::optional<Candidate> candidate_at(const Header& header, size_t brackets) {
  if (brackets == 0) return std::nullopt;
  std::optional<Candidate> candidate = operator_before(header, brackets);
  if (!candidate) {
    size_t name = brackets - 1;
    if (header.is(name, "<") && name > 0) --name;  // a specialisation: f<int>(
    if (!header.is_name(name)) return std::nullopt;
    const std::string_view word = header.at(name);
    if (is_keyword(word) || is_builtin_type(word) || takes_attribute_arguments(word)) {
      return std::nullopt;
    }
    candidate = Candidate{0, name, brackets, std::string(word)};
    if (name > 0 && header.is(name - 1, "~")) {
      candidate->name.insert(0, "~");
      candidate->name_item = name - 1;
    }
  }
  candidate->name_first = first_of_path(header, candidate->name_item);
  return candidate;
}

bool ends_declarator(std::string_view word) {
  return is_one_of(
      word, {"const", "noexcept", "override", "final", "requires", "volatile", "try", "throw"});
}

// A macro before the name, `BOUNDS(128) void f(int x)`, has brackets too.
bool is_attribute_macro(const Header& header, const std::vector<Candidate>& all, size_t which,
                        size_t first_item) {
  const Candidate& one = all[which];
  bool better_follows = false;
  for (size_t k = which + 1; k < all.size(); ++k) better_follows |= !is_all_caps(all[k].name);
  if (!better_follows) return false;
  if (is_all_caps(one.name)) return true;
  const bool more_follows =
      header.is_name(one.brackets + 1) && !ends_declarator(header.at(one.brackets + 1));
  const bool nothing_before = one.name_first <= first_item ||
                              is_specifier(header.at(one.name_first - 1)) ||
                              takes_attribute_arguments(header.at(one.name_first - 1));
  return more_follows && nothing_before;
}

std::optional<Candidate> find_parameters(const Header& header, size_t first_item) {
  std::vector<Candidate> all;
  for (size_t i = first_item; i < header.size() && all.size() < 16; ++i) {
    if (header.is(i, "->") || header.is(i, ":")) break;
    if (header.is(i, "=") && !(i > 0 && header.is(i - 1, "operator"))) break;
    if (!header.is(i, "(")) continue;
    std::optional<Candidate> candidate = candidate_at(header, i);
    if (!candidate) continue;
    i = std::max(i, candidate->brackets);
    all.push_back(std::move(*candidate));
  }
  for (size_t which = 0; which < all.size(); ++which) {
    if (!is_attribute_macro(header, all, which, first_item)) return all[which];
  }
  return std::nullopt;
}

// Template arguments of the qualifiers are left out: A<T>::B is A::B.
std::string qualifiers(const Header& header, const Candidate& name) {
  std::string scope;
  for (size_t i = name.name_first; i + 1 < name.name_item; ++i) {
    if (!header.is_name(i)) continue;
    if (!scope.empty()) scope += "::";
    scope += header.at(i);
  }
  return scope;
}

bool is_device_word(std::string_view word, const std::set<std::string, std::less<>>& known) {
  if (word == "__device__" || known.contains(word)) return true;
  // CUTLASS_DEVICE and its kin, whose definitions may lie outside the repository.
  return is_all_caps(word) && holds(word, "DEVICE");
}

// Reads what stands before the name, and after the parameters, word by word.
void read_words(const Header& header, const Candidate& name, size_t first_item,
                const std::set<std::string, std::less<>>& device_words, Function& function) {
  for (size_t i = first_item; i < header.size(); ++i) {
    if (i == name.name_first) i = name.brackets + 1;
    if (i >= header.size() || header.is(i, "->") || header.is(i, ":")) break;
    const std::string_view word = header.at(i);
    const bool before = i < name.name_first;
    if (word == "static") {
      function.file_local = true;
    } else if (word == "__global__") {
      function.kind = FunctionKind::kKernel;
    } else if (is_device_word(word, device_words)) {
      if (function.kind == FunctionKind::kHost) function.kind = FunctionKind::kDevice;
    } else if (word == "extern" && i + 1 < name.name_first &&
               header.source.tokens[header.items[i + 1]].kind == TokenKind::kString) {
      function.attributes.push_back("extern " + std::string(header.at(++i)));
    } else if (header.is_name(i) && header.is(i + 1, "(") && word != "decltype" &&
               (takes_attribute_arguments(word) || is_all_caps(word))) {
      function.attributes.push_back(header.text(i, i + 2));
      ++i;
    } else if (header.is_name(i) && !is_specifier(word) && takes_attribute_arguments(word)) {
      function.attributes.emplace_back(word);
    } else if (before && !is_specifier(word) && word != "[") {
      if (!function.return_type.empty() && header.is_name(i)) function.return_type += ' ';
      function.return_type += header.text(i, i + 1);
    }
  }
}

}  // namespace

std::string Header::inside(size_t item) const {
  const uint32_t open = items[item];
  if (!brackets.closed(open)) return {};
  return source.source(open + 1, brackets.partner(open));
}

std::string Header::text(size_t first, size_t last) const {
  if (first >= last) return {};
  const uint32_t end = items[last - 1];
  const bool bracket = source.at(end) == "(" || source.at(end) == "[" || source.at(end) == "{" ||
                       source.at(end) == "<";
  const uint32_t closing = bracket && brackets.closed(end) ? brackets.partner(end) : end;
  return source.source(items[first], closing + 1);
}

size_t Header::after_templates() const {
  size_t i = 0;
  for (size_t k = 0; k < size() && k < 64; ++k) {
    if (is(k, "template") && is(k + 1, "<")) i = k + 2;
  }
  return i;
}

std::optional<Function> read_function(const Header& header,
                                      const std::set<std::string, std::less<>>& device_words) {
  const size_t first_item = header.after_templates();
  const std::optional<Candidate> name = find_parameters(header, first_item);
  if (!name) return std::nullopt;
  Function function;
  function.name = name->name;
  function.scope = qualifiers(header, *name);
  function.parameters = header.inside(name->brackets);
  function.line_first = header.line(0);
  function.line_name = header.line(name->name_item);
  if (first_item >= 2) function.template_parameters = header.inside(first_item - 1);
  read_words(header, *name, first_item, device_words, function);
  return function;
}

std::optional<Class> read_class(const Header& header) {
  size_t i = header.after_templates();
  Class found;
  if (i >= 2) found.template_parameters = header.inside(i - 1);
  while (i < header.size() && header.is_name(i) &&
         (is_specifier(header.at(i)) || header.at(i) == "typedef" || header.at(i) == "const")) {
    ++i;
  }
  if (!header.is(i, "struct") && !header.is(i, "class") && !header.is(i, "union")) {
    return std::nullopt;
  }
  size_t name = i;
  for (++i; i < header.size() && !header.is(i, ":"); ++i) {
    if (header.is(i, "(") && !takes_attribute_arguments(header.at(i - 1)) &&
        !is_all_caps(header.at(i - 1))) {
      return std::nullopt;  // a function that returns a struct
    }
    const bool attribute = header.is(i + 1, "(") || header.is(i, "final");
    if (header.is_name(i) && !attribute) name = i;
  }
  if (header.is_name(name) && !is_keyword(header.at(name)) && !header.is(name, "union")) {
    found.name = header.at(name);
  }
  found.line_first = header.line(0);
  found.line_name = header.line(name);
  size_t base = ++i;
  for (; i <= header.size(); ++i) {
    const bool ends = i == header.size() || header.is(i, ",");
    if (!ends) {
      const std::string_view word = header.at(i);
      if (i == base &&
          (word == "public" || word == "private" || word == "protected" || word == "virtual")) {
        ++base;
      }
    } else if (base < i) {
      found.bases.push_back(header.text(base, i));
      base = i + 1;
    }
  }
  return found;
}

}  // namespace fathom::cpp
