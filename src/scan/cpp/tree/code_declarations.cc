// The declarations among the statements of CodeTreeReader.
#include <algorithm>
#include <utility>

#include "base/text_parts.h"
#include "scan/cpp/tree/code_reader.h"

namespace fathom {
namespace {

// A word whose brackets say how something is laid out.
bool is_attribute(std::string_view word) {
  return is_one_of(word, {"__attribute__", "__attribute", "alignas", "__align__"});
}

}  // namespace

bool is_macro_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return name.size() > 2 && std::none_of(name.begin(), name.end(), small);
}

bool is_qualifier(std::string_view word) {
  return is_one_of(word, {"const", "constexpr", "static", "volatile", "unsigned", "signed",
                          "extern", "__shared__", "register", "typename", "inline", "__restrict__",
                          "__restrict", "restrict", "__constant__", "thread_local"});
}

bool is_builtin_type(std::string_view word) {
  return is_one_of(word, {"int",      "float",   "double",   "char",    "short",    "long",
                          "bool",     "void",    "size_t",   "int8_t",  "uint8_t",  "int16_t",
                          "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "unsigned",
                          "half",     "__half",  "float4",   "float2",  "int4",     "uint4"});
}

size_t CodeTreeReader::past_type(size_t i) const {
  bool builtin = false;
  const auto qualifies = [&] {
    return is_qualifier(source_.at(i)) || is_attribute(source_.at(i)) ||
           // A macro for one of these, where one follows.
           (source_.is_name(i + 1) && is_qualifier(source_.at(i + 1)) &&
            is_macro_name(source_.at(i)));
  };
  while (source_.is_name(i) && qualifies()) {
    builtin = builtin || source_.is(i, "unsigned") || source_.is(i, "signed");
    ++i;
    if (source_.is(i, "(")) i = closing(i) + 1;
  }
  if (builtin && (!source_.is_name(i) || !is_builtin_type(source_.at(i)))) return i;
  if (!source_.is_name(i)) return 0;
  if (source_.is(i, "decltype") && source_.is(i + 1, "(")) i = closing(i + 1);
  if (source_.is_any(i, {"struct", "union", "class", "enum"})) {
    if (source_.is_name(i + 1)) ++i;
    if (source_.is(i + 1, "{")) return closing(i + 1) + 1;
  }
  while (true) {
    ++i;
    if (source_.is(i, "<") && brackets_.closed(i)) i = brackets_.partner(i) + 1;
    if (!source_.is(i, "::") || !source_.is_name(i + 1)) break;
    ++i;
    if (source_.is(i, "template") && source_.is_name(i + 1)) ++i;
  }
  while (source_.is_name(i) && is_builtin_type(source_.at(i))) ++i;  // long long
  return i;
}

size_t CodeTreeReader::past_stars(size_t i) const {
  while (source_.is(i, "*") || source_.is(i, "&") || source_.is(i, "&&") ||
         (source_.is_name(i) && (is_qualifier(source_.at(i)) || is_attribute(source_.at(i))))) {
    ++i;
    if (source_.is(i, "(") && is_attribute(source_.at(i - 1))) i = closing(i) + 1;
  }
  return i;
}

// void (*name)(int)
bool CodeTreeReader::names_function_pointer(size_t i) const {
  return source_.is(i, "(") && source_.is(i + 1, "*") && source_.is_name(i + 2) &&
         source_.is(i + 3, ")") && source_.is(i + 4, "(");
}

bool CodeTreeReader::declares() const {
  if (!source_.is_name(at_)) return false;
  const size_t type = past_type(at_);
  if (type == 0) return false;
  const size_t name = past_stars(type);
  if (source_.is(at_, "auto") && source_.is(name, "[")) return true;
  if (source_.is(name, "(") && source_.is(name + 1, "&") && source_.is(name + 3, ")"))
    return true;  // float (&x)[4]
  if (names_function_pointer(name)) {
    const size_t after = closing(name + 4) + 1;
    return after < last_ && (source_.is(after, "=") || source_.is(after, ";"));
  }
  if (!source_.is_name(name) || source_.is(name, "operator")) return false;
  if (name + 1 >= source_.size() ||
      !is_one_of(source_.at(name + 1), {"=", ";", ",", "[", "(", "{", ":"}))
    return false;
  return !is_one_of(source_.at(at_),
                    {"delete", "new", "throw", "goto", "co_await", "co_yield", "sizeof", "return"});
}

uint32_t CodeTreeReader::declaration() {
  const uint32_t id = make(CodeKind::kDeclare, at_);
  const size_t type = past_type(at_);
  node(id).text = kept(at_, type);
  at_ = type;
  do {
    adopt(id, declarator());
  } while (take(","));
  return finish(id);
}

uint32_t CodeTreeReader::declarator() {
  const uint32_t id = make(CodeKind::kDeclarator, at_);
  const size_t name = past_stars(at_);
  std::string extra;
  for (size_t i = at_; i < name; ++i) {
    if (source_.is(i, "*") || source_.is(i, "&")) extra += source_.at(i);
  }
  at_ = name;
  if (names_function_pointer(at_)) {
    node(id).text = source_.at(at_ + 2);
    at_ = std::min(closing(at_ + 4) + 1, last_);
  } else if (is("[") || is("(")) {  // auto [a, b] = …
    at_ = past(at_);
  } else if (source_.is_name(at_)) {
    node(id).text = source_.at(at_++);
  }
  while (is("[")) {
    const size_t end = closing(at_);
    extra += source_.source(at_, std::min(end + 1, last_));
    at_ = std::min(end + 1, last_);
  }
  if (extra == "*" || extra == "&") {
    node(id).extra = extra == "*" ? "*" : "&";
  } else if (!extra.empty()) {
    node(id).extra = std::string_view(tree_.texts_.emplace_front(std::move(extra)));
  }
  if (take("=")) {
    adopt(id, is("{") ? list() : expression());
  } else if (is("{") || is("(")) {
    const uint32_t items = list();
    const bool one = links_[items].first != 0 && links_[items].first == links_[items].last;
    if (one) {
      take_children(id, items);
    } else {
      adopt(id, items);
    }
  }
  return finish(id);
}

}  // namespace fathom
