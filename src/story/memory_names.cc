#include "story/memory_names.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace fathom {
namespace {

using cpp::Code;
using cpp::Range;

constexpr std::array<std::string_view, 14> kScalars = {
    "int",     "unsigned", "float", "double",   "bool", "size_t", "int64_t",
    "int32_t", "uint32_t", "long",  "uint64_t", "half", "char",   "short"};

// float4, uint2, half2, __nv_bfloat162: a value, which no address is made of.
bool is_vector_type(std::string_view word) {
  if (word.empty() || word.back() < '2' || word.back() > '8') return false;
  const std::string_view base = word.substr(0, word.size() - 1);
  return is_one_of(base,
                   {"float", "int", "uint", "half", "short", "ushort", "char", "uchar", "double",
                    "longlong", "__half", "__nv_bfloat16", "nv_bfloat16", "bfloat16"});
}

// int, uint64_cu, scalar_t: a number by its name.
bool names_number(std::string_view word) {
  if (contains(kScalars, word)) return true;
  for (const std::string_view begin : {"uint", "int"}) {
    if (word.starts_with(begin) && word.size() > begin.size() && word[begin.size()] >= '1' &&
        word[begin.size()] <= '9' && !is_vector_type(word))
      return true;
  }
  return is_one_of(word, {"scalar_t", "index_t", "acc_t", "accscalar_t", "opmath_t", "value_t",
                          "bfloat16", "__half"});
}

bool is_scalar_type(std::string_view parameter) {
  const cpp::TokenList tokens = cpp::lex(parameter);
  if (holds(parameter, '*')) return false;
  int depth = 0;  // Tensor<float, 2> is no float
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    depth += tokens.is(i, "<") ? 1 : tokens.is(i, ">") ? -1 : 0;
    if (depth > 0) continue;
    if (names_number(tokens.at(i))) return true;
  }
  return false;
}

bool is_word(const Code& code, size_t i) {
  return is_one_of(code.source.at(i),
                   {"const", "auto", "static_cast", "reinterpret_cast", "return", "constexpr",
                    "sizeof", "const_cast", "volatile", "static", "__restrict__", "typename"});
}

// A method that tells of an object and reads nothing of what it holds; `data` gives its address.
bool asks_object(const Code& code, size_t dot, bool with_data) {
  if (!code.is(dot, ".") || !code.source.is_name(dot + 1) || !code.is(dot + 2, "(")) return false;
  const std::string_view method = code.source.at(dot + 1);
  return with_data || (method != "data" && !holds(method, "ptr"));
}

// Of an expression inside many others only its beginning is looked at, lest each of them is read
// as often as it is deep.
constexpr size_t kMostTokens = 512;
Range beginning_of(Range range) {
  return {range.first, std::min(range.last, range.first + kMostTokens)};
}

bool is_member(const Code& code, size_t i, size_t first) {
  return i > first && (code.is(i - 1, ".") || code.is(i - 1, "->"));
}

// The type of a cast to a pointer in the range: "float4" of reinterpret_cast<const float4*>(x).
std::string cast_to(const Code& code, Range range) {
  for (size_t i = range.first; i + 1 < range.last; ++i) {
    const bool angle =
        code.is(i, "<") && i > range.first && code.source.at(i - 1).ends_with("_cast");
    const bool bracket =
        code.is(i, "(") && code.brackets.closed(i) && code.is(code.brackets.partner(i) - 1, "*");
    if ((!angle && !bracket) || !code.brackets.closed(i)) continue;
    size_t first = i + 1, last = code.brackets.partner(i);
    if (last <= first || last - first > kMostTokens || !code.is(last - 1, "*")) continue;
    --last;
    if (code.is(first, "const")) ++first;
    if (last > first && code.is(last - 1, "const")) --last;
    return code.text({first, last});
  }
  return "";
}

// Outside of brackets: what is behind it is an element, and no address. rows[i].data() is one.
bool has_subscript(const Code& code, Range range) {
  for (size_t i = range.first; i < range.last; i = code.past(i)) {
    if (!code.is(i, "[") || i == range.first) continue;
    size_t behind = code.past(i);
    while (behind < range.last && code.is(behind, "[")) behind = code.past(behind);
    const bool address = code.is(behind, ".") && code.source.is_name(behind + 1) &&
                         code.source.at(behind + 1) == "data";
    if (!address) return true;
  }
  return false;
}

// (T*)x[i]: what was read is an address itself.
bool is_cast_to_pointer(const Code& code, Range range) {
  if (range.empty() || !code.is(range.first, "(") || !code.brackets.closed(range.first))
    return false;
  const size_t close = code.brackets.partner(range.first);
  return close > range.first + 1 && code.is(close - 1, "*");
}

bool is_unary_star(const Code& code, size_t i, size_t first) {
  if (!code.is(i, "*")) return false;
  if (i == first) return true;
  if (code.source.is_name(i - 1)) return code.is(i - 1, "return");
  return is_one_of(code.source.at(i - 1),
                   {"(", ",", "=", "+", "-", "*", "/", "?", ":", "&&", "||", "!", "+=", "-="});
}

// &x[i], &(x.y[i]), &reinterpret_cast<T*>(x)[i]: the element's address, and no access of it.
bool is_address_of(const Code& code, size_t bracket, size_t first) {
  size_t base = bracket - 1;
  const auto before_group = [&](std::string_view close) {
    if (code.is(base, close) && code.brackets.closed(base)) {
      base = code.brackets.partner(base);
      if (base > first) --base;
    }
  };
  before_group(")");
  if (base < bracket - 1) before_group(">");
  while (base > first + 1 && (code.is(base - 1, ".") || code.is(base - 1, "->")) &&
         code.source.is_name(base - 2)) {
    base -= 2;
  }
  while (base > first && code.is(base - 1, "(") && !code.source.is_name(base - 2)) --base;
  if (base <= first || !code.is(base - 1, "&")) return false;
  // a & b[i] is none.
  const size_t sign = base - 1;
  return sign == first || !(code.source.is_name(sign - 1) || code.is(sign - 1, "]")) ||
         code.is(sign - 1, "return");
}

bool names_access(std::string_view name, std::string_view what) {
  return holds(small_letters(name), what);
}

}  // namespace

// A statement cut at its assignment.
struct MemoryNames::Parts {
  Range left, right;
  bool compound = false;
  bool declares = false;
  size_t name = 0;  // the token that is declared or set; 0: none

  Parts(const Code& code, Range statement) {
    size_t equals = statement.last;
    for (size_t i = statement.first; i < statement.last; i = code.past(i)) {
      compound = code.is(i, "+=") || code.is(i, "-=");
      if (code.is(i, "=") || compound) {
        equals = i;
        break;
      }
    }
    left = {statement.first, equals};
    right = {std::min(equals + 1, statement.last), statement.last};
    constexpr std::string_view operators = "*/%|&^";
    if (equals < statement.last && left.last > left.first &&
        code.source.tokens[equals].begin == code.source.tokens[equals - 1].end &&
        holds(operators, code.source.at(equals - 1))) {
      compound = true;
      --left.last;
    }
    find_name(code);
  }

  void find_name(const Code& code) {
    size_t at = left.last;
    for (size_t i = left.first; i < left.last; i = code.past(i)) {
      if (code.is(i, "[") || code.is(i, "(") || code.is(i, "{")) break;
      if (code.source.is_name(i)) at = i;
    }
    if (at >= left.last || is_member(code, at, left.first)) return;
    name = at;
    declares = at > left.first &&
               (code.source.is_name(at - 1) || code.is_any(at - 1, {"*", "&", ">", ")"})) &&
               !code.is(at - 1, "return") && !is_unary_star(code, at - 1, left.first);
  }
};

std::vector<std::string> parameter_names(std::string_view parameters) {
  const cpp::TokenList tokens = cpp::lex(parameters);
  const cpp::Brackets brackets(tokens);
  const Code code{tokens, brackets};
  std::vector<std::string> names;
  for (const Range& one : cpp::split_arguments(code, {0, tokens.size()})) {
    size_t name = one.last;
    for (size_t i = one.first; i < one.last; i = code.past(i)) {
      if (code.is(i, "=") || code.is(i, "[")) break;
      if (tokens.is_name(i)) name = i;
    }
    names.emplace_back(name < one.last ? tokens.at(name) : std::string_view());
  }
  return names;
}

std::vector<bool> parameters_by_value(std::string_view parameters) {
  const cpp::TokenList tokens = cpp::lex(parameters);
  const cpp::Brackets brackets(tokens);
  const Code code{tokens, brackets};
  std::vector<bool> out;
  for (const Range& one : cpp::split_arguments(code, {0, tokens.size()})) {
    bool by_value = true;
    for (size_t i = one.first; i < one.last; i = code.past(i)) {
      if (code.is(i, "=")) break;
      if (code.is(i, "*") || code.is(i, "&") || code.is(i, "&&") || code.is(i, "["))
        by_value = false;
    }
    out.push_back(by_value);
  }
  return out;
}

bool is_element(const Code& code, Range range) {
  return !range.empty() && !code.is(range.first, "&") && !is_cast_to_pointer(code, range) &&
         has_subscript(code, range);
}

namespace {

// x[i], x.y, x->y somewhere in the code: more than a number.
bool is_used_as_object(const Code& code, Range range, std::string_view name) {
  for (size_t i = range.first; i + 1 < std::min(range.last, code.source.size()); ++i) {
    if (code.source.at(i) == name &&
        (code.is(i + 1, "[") || code.is(i + 1, ".") || code.is(i + 1, "->")))
      return true;
  }
  return false;
}

// Length_T of template <typename Length_T>.
bool is_template_type(const Code& code, Range parameter, std::string_view template_parameters) {
  const cpp::TokenList tokens = cpp::lex(template_parameters);
  for (size_t i = parameter.first; i < parameter.last; ++i) {
    for (size_t k = 0; k + 1 < tokens.size(); ++k) {
      if ((tokens.is(k, "typename") || tokens.is(k, "class")) &&
          tokens.at(k + 1) == code.source.at(i))
        return true;
    }
  }
  return false;
}

}  // namespace

void MemoryNames::add_parameters_of_kernel(const cpp::Function& kernel, const Code& body) {
  const cpp::TokenList tokens = cpp::lex(kernel.parameters);
  const cpp::Brackets brackets(tokens);
  const Code code{tokens, brackets};
  const std::vector<std::string> names = parameter_names(kernel.parameters);
  const std::vector<Range> parts = cpp::split_arguments(code, {0, tokens.size()});
  for (size_t i = 0; i < parts.size() && i < names.size(); ++i) {
    const std::string text = code.text(parts[i]);
    if (is_scalar_type(text)) continue;
    const bool pointer = holds(text, '*');
    if (!pointer && is_template_type(code, parts[i], kernel.template_parameters) &&
        !is_used_as_object(body, {kernel.body_first, kernel.body_last}, names[i]))
      continue;
    names_[names[i]] = {Memory::kGlobal, "", "",
                        pointer ? Certainty::kCertain : Certainty::kLikely};
  }
}

NamedMemory MemoryNames::of_expression(const Code& code, Range whole) const {
  const Range range = beginning_of(whole);
  NamedMemory found;
  for (size_t i = range.first; i < range.last; ++i) {
    if (!code.source.is_name(i) || is_word(code, i) || is_member(code, i, range.first)) continue;
    const std::string_view name = code.source.at(i);
    if (const auto value = loaded_.find(name); value != loaded_.end() && found.through.empty()) {
      found.through = value->second;
    }
    const auto known = names_.find(name);
    if (known == names_.end() || found.memory != Memory::kUnknown) continue;
    if (asks_object(code, i + 1, false)) continue;  // shape.getSize(0)
    const std::string through = found.through;
    found = known->second;
    if (!through.empty()) found.through = through;
  }
  if (const std::string type = cast_to(code, range); !type.empty()) found.element = type;
  return found;
}

// What stands before the [ at `bracket`.
NamedMemory MemoryNames::of_base(const Code& code, size_t bracket, std::string& name) const {
  const size_t before = bracket - 1;
  if (code.is(before, ")") && code.brackets.closed(before)) {
    const size_t open = code.brackets.partner(before);
    NamedMemory found = of_expression(code, {open + 1, before});
    if (open > 0 && code.is(open - 1, ">") && code.brackets.closed(open - 1)) {
      const size_t angle = code.brackets.partner(open - 1);
      found.element = cast_to(code, beginning_of({angle - std::min<size_t>(angle, 1), open}));
    }
    for (size_t i = open + 1; i < beginning_of({open + 1, before}).last; ++i) {
      if (code.source.is_name(i) && names_.contains(code.source.at(i))) {
        name = code.source.at(i);
        break;
      }
    }
    return found;
  }
  size_t root = before;
  while (root >= 2 && (code.is(root - 1, ".") || code.is(root - 1, "->")) &&
         code.source.is_name(root - 2)) {
    root -= 2;
  }
  name = code.text({root, bracket});
  const auto known = names_.find(code.source.at(root));
  if (known == names_.end()) return {};
  NamedMemory found = known->second;
  // An array inside a parameter is no memory of its own.
  const bool pointer_member = names_access(code.source.at(before), "ptr");
  if (root != before && !pointer_member) return {};
  return found;
}

// `n = shared.count`: a member of a struct in shared memory is read or written by its name alone.
void MemoryNames::find_members(const Code& code, Range range, bool target,
                               std::vector<MemoryAccess>& out) const {
  for (size_t i = range.first; i < range.last; i = code.past(i)) {
    if (!code.source.is_name(i) || is_member(code, i, range.first) || !code.is(i + 1, "."))
      continue;
    const auto known = names_.find(code.source.at(i));
    if (known == names_.end() || known->second.memory != Memory::kShared) continue;
    const bool address = i > range.first && (code.is(i - 1, "&") || code.is(i - 1, "*"));
    size_t end = i + 1;
    while (end + 1 < range.last && code.is(end, ".") && code.source.is_name(end + 1)) end += 2;
    const bool more = end < range.last && (code.is_any(end, {"(", "[", "->", "<"}));
    if (!address && !more) out.push_back({target, code.text({i, end}), known->second});
    i = end - 1;
  }
}

// `scale = amax / 127`, where `__shared__ float amax`. A target is a number by its last name.
void MemoryNames::find_numbers(const Code& code, Range range, bool target,
                               std::vector<MemoryAccess>& out) const {
  for (size_t i = target ? range.last - 1 : range.first; i < range.last; ++i) {
    if (!code.source.is_name(i) || is_member(code, i, range.first)) continue;
    const auto known = names_.find(code.source.at(i));
    if (known == names_.end() || !known->second.number) continue;
    const bool address = i > range.first && code.is(i - 1, "&") &&
                         (i - 1 == range.first || !code.source.is_name(i - 2));
    if (!address) out.push_back({target, std::string(code.source.at(i)), known->second});
  }
}

void MemoryNames::find_accesses(const Code& code, Range range, bool target,
                                std::vector<MemoryAccess>& out) const {
  size_t outer_end = range.first;  // brackets up to here belong to an index of the target
  bool target_found = !target;
  for (size_t i = range.first; i < range.last; ++i) {
    const bool subscript = code.is(i, "[") && i > range.first &&
                           (code.source.is_name(i - 1) || code.is(i - 1, ")")) &&
                           !is_word(code, i - 1);
    const bool star = is_unary_star(code, i, range.first) && i + 1 < range.last &&
                      (code.source.is_name(i + 1) || code.is(i + 1, "("));
    const std::string_view callee = code.is(i, "(") && i > range.first && code.source.is_name(i - 1)
                                        ? code.source.at(i - 1)
                                        : std::string_view();
    const bool intrinsic = callee.starts_with("__ld") || callee.starts_with("__st");
    // Loader<T> loader(in, n) makes an object, which reads nothing yet.
    const bool makes =
        !callee.empty() && i > range.first + 1 &&
        (code.is(i - 2, ">") || (code.source.is_name(i - 2) && !is_word(code, i - 2)));
    const bool call =
        intrinsic || (!makes && (names_access(callee, "load") || names_access(callee, "store")));
    if (!subscript && !star && !call) continue;
    if (subscript && is_address_of(code, i, range.first)) continue;
    size_t behind = subscript ? code.past(i) : 0;
    while (subscript && code.is(behind, "[")) behind = code.past(behind);
    if (subscript && asks_object(code, behind, true)) continue;  // rows[i].data()
    MemoryAccess access;
    if (subscript) {
      access.of = of_base(code, i, access.name);
      // A loaded index stands in the brackets.
      const NamedMemory index = of_expression(code, {i + 1, std::min(code.past(i), range.last)});
      if (access.of.through.empty() && !index.through.empty()) access.of.through = index.through;
    } else {
      // Of a call the argument that is a pointer; what else it is given is no address.
      Range pointer{i + 1, std::min(range.last, code.past(i + 1) + (call ? 0 : 8))};
      // *x.y is of x.y alone, whatever is done with it.
      if (star && code.source.is_name(i + 1) && !code.is(i + 2, "<") && !code.is(i + 2, "(")) {
        pointer.last = i + 2;
        while (pointer.last + 1 < range.last &&
               (code.is(pointer.last, ".") || code.is(pointer.last, "->")))
          pointer.last += 2;
        pointer.last = std::min(pointer.last, range.last);
      }
      // *reinterpret_cast<T*>(…): what is cast, however long.
      if (star && code.source.at(i + 1).ends_with("_cast") && code.is(i + 2, "<") &&
          code.brackets.closed(i + 2)) {
        pointer.last = std::min(range.last, code.past(code.brackets.partner(i + 2) + 1));
      }
      for (const Range& argument : call ? cpp::arguments_of(code, i) : std::vector<Range>()) {
        pointer = argument;
        if (of_expression(code, argument).memory != Memory::kUnknown) break;
      }
      pointer = beginning_of(pointer);
      access.of = of_expression(code, pointer);
      if (call && !intrinsic) access.of.certainty = Certainty::kLikely;
      for (size_t k = pointer.first; k < pointer.last && access.name.empty(); ++k) {
        if (code.source.is_name(k) && names_.contains(code.source.at(k)))
          access.name = code.source.at(k);
      }
    }
    const bool outer = i >= outer_end;
    access.writes =
        call ? callee.starts_with("__st") || names_access(callee, "store") : !target_found && outer;
    if (!target_found && outer && !call) {
      target_found = true;
      outer_end = code.past(i);
    }
    const bool counts = access.of.memory == Memory::kGlobal || access.of.memory == Memory::kShared;
    if (counts && !access.of.object) out.push_back(std::move(access));
  }
}

// const auto& [a, b] = value
void MemoryNames::add_bindings(const Code& code, size_t open, const NamedMemory& memory) {
  if (memory.memory == Memory::kUnknown || !code.brackets.closed(open)) return;
  for (size_t i = open + 1; i < code.brackets.partner(open); ++i) {
    if (!code.source.is_name(i)) continue;
    NamedMemory one = memory;
    one.certainty = Certainty::kLikely;
    names_[std::string(code.source.at(i))] = std::move(one);
  }
}

void MemoryNames::declare(const Code& code, const Parts& parts, bool loads) {
  const NamedMemory value = of_expression(code, parts.right);
  for (size_t i = parts.left.first; i < parts.left.last; ++i) {
    if (code.is(i, "[") && i > 0 && (code.is(i - 1, "auto") || code.is(i - 1, "&"))) {
      return add_bindings(code, i, value);
    }
  }
  if (parts.name == 0) return;
  const std::string name(code.source.at(parts.name));
  // A number in shared memory stays there, whatever it is set to.
  const auto set = names_.find(name);
  if (!parts.declares && set != names_.end() && set->second.number) return;
  bool shared = false, pointer = false, scalar = false, object = false;
  for (size_t i = parts.left.first; i < parts.name; ++i) {
    shared |= code.is(i, "__shared__");
    pointer |= code.is(i, "*");
    object |= code.is(i, "<") || code.is(i, "::");
    scalar |= names_number(code.source.at(i)) || is_vector_type(code.source.at(i));
  }
  const bool declares_pointer = pointer;
  if (parts.declares) {
    // What is a number by its declaration is no address, whatever it is set to.
    if (scalar && !pointer && !shared && !code.is(parts.name + 1, "["))
      numbers_.insert(name);
    else
      numbers_.erase(name);
  }
  pointer = pointer || is_cast_to_pointer(code, parts.right);
  if (shared) {
    const bool array = code.is(parts.name + 1, "[");
    names_[name] = {
        Memory::kShared, "", "", Certainty::kCertain, scalar && !array && !pointer && !object,
        object && !array};
  } else if (parts.declares && code.is(parts.name + 1, "[")) {
    names_[name] = {Memory::kLocal, "", "", Certainty::kCertain};
  } else if (!parts.right.empty() && parts.left.last == parts.name + 1) {
    const bool address = code.is(parts.right.first, "&");
    if (loads && !pointer && !address) {
      // out += *offset: a pointer that is moved stays where it is.
      if (parts.compound && set != names_.end()) return;
      names_.erase(name);
      if (!parts.compound) loaded_[name] = name;
      return;
    }
    if (!value.through.empty()) loaded_[name] = value.through;
    const bool number = (scalar && !pointer) || numbers_.contains(name) ||
                        (!pointer && !address && has_subscript(code, parts.right));
    if (number || value.memory == Memory::kUnknown || value.memory == Memory::kLocal) return;
    NamedMemory own = value;
    if (declares_pointer && parts.name > parts.left.first) {
      const size_t star = parts.name - 1;
      size_t first = parts.left.first;
      while (first < star && is_word(code, first)) ++first;
      size_t last = first;
      while (last < star && !code.is(last, "*")) ++last;
      if (last > first) own.element = code.text({first, last});
    }
    names_[name] = std::move(own);
  }
}

// `++steps[i]`, `steps[i]--`: what is read there is written too.
void MemoryNames::add_counted(const Code& code, Range range, std::vector<MemoryAccess>& out) const {
  const auto doubled = [&](size_t i) {
    return i + 1 < range.last && (code.is(i, "+") || code.is(i, "-")) &&
           code.source.at(i) == code.source.at(i + 1) &&
           code.source.tokens[i].end == code.source.tokens[i + 1].begin;
  };
  for (size_t i = range.first; i < range.last; ++i) {
    if (!doubled(i)) continue;
    size_t bracket = i + 2;
    while (bracket < range.last && (code.source.is_name(bracket) || code.is(bracket, ".")))
      ++bracket;
    const bool before = i > range.first && code.is(i - 1, "]") && code.brackets.closed(i - 1);
    if (before) bracket = code.brackets.partner(i - 1);
    if (bracket == i + 2 || bracket >= range.last || !code.is(bracket, "[")) continue;
    MemoryAccess access;
    access.writes = true;
    access.of = of_base(code, bracket, access.name);
    if (access.of.memory == Memory::kGlobal || access.of.memory == Memory::kShared)
      out.push_back(std::move(access));
    ++i;
  }
}

// auto first = rows[v], last = rows[v + 1]: what stands behind a comma is a declaration of its own.
std::vector<MemoryAccess> MemoryNames::read(const Code& code, Range statement) {
  std::vector<MemoryAccess> accesses;
  const bool declares = !statement.empty() && Parts(code, statement).declares;
  const auto take = [&](Range one) {
    for (MemoryAccess& access : read_one(code, one)) accesses.push_back(std::move(access));
  };
  for (size_t i = statement.first; declares && i < statement.last; i = code.past(i)) {
    if (!code.is(i, ",") || !code.source.is_name(i + 1) || !code.is(i + 2, "=")) continue;
    take({statement.first, i});
    statement.first = i + 1;
  }
  take(statement);
  return accesses;
}

std::vector<MemoryAccess> MemoryNames::read_one(const Code& code, Range statement) {
  std::vector<MemoryAccess> accesses;
  if (statement.empty()) return accesses;
  const Parts parts(code, statement);
  const bool array = parts.declares && parts.name != 0 && code.is(parts.name + 1, "[");
  if (!array) find_accesses(code, parts.left, !parts.right.empty(), accesses);
  if (!array && !parts.right.empty() && !parts.left.empty()) {
    find_members(code, parts.left, true, accesses);
    if (!parts.declares) find_numbers(code, parts.left, true, accesses);
  }
  const size_t on_left = accesses.size();
  // float m = moments[i] = …: what stands between the two is written.
  const Parts second(code, parts.right);
  const bool chained = !second.right.empty() && !second.compound;
  if (chained) find_accesses(code, second.left, true, accesses);
  find_accesses(code, chained ? second.right : parts.right, false, accesses);
  find_members(code, parts.right, false, accesses);
  find_numbers(code, parts.right.empty() && !parts.declares ? parts.left : parts.right, false,
               accesses);
  add_counted(code, parts.right.empty() ? parts.left : parts.right, accesses);
  if (parts.compound && on_left > 0 && accesses[0].writes) {
    MemoryAccess also_read = accesses[0];
    also_read.writes = false;
    accesses.push_back(std::move(also_read));
  }
  const bool loads = std::any_of(accesses.begin() + static_cast<ptrdiff_t>(on_left), accesses.end(),
                                 [](const MemoryAccess& access) { return !access.writes; });
  declare(code, parts, loads);
  return accesses;
}

}  // namespace fathom
