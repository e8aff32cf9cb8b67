#include <algorithm>

#include "base/text_parts.h"
#include "scan/cpp/code_structures.h"
#include "scan/cpp/pointer_names.h"
#include "scan/cpp/token_pattern.h"
#include "scan/facts/pattern_ids.h"

namespace fathom::cpp {
namespace {

// How far after a pointer's definition its uses are looked for, in tokens: keeps the search linear.
constexpr size_t kFurthestUse = 2000;

// A variable whose value came from memory, or was made of one that did.
struct LoadedValue {
  std::string from;  // "indices[warp_id]"
};

bool is_read_only_load(const TokenList& source, size_t at) {
  return source.is(at, "__ldg") && source.is(at + 1, "(");
}

bool names_an_address(std::string_view name) {
  return name_holds(name, "offset") || name_holds(name, "ptr") || name_holds(name, "pointer") ||
         name_holds(name, "address");
}

class Indirections {
 public:
  Indirections(const TokenRange& range, const DeclaredArrays& arrays,
               std::vector<StructureHit>& out)
      : range_(range), source_(range.source), arrays_(arrays), out_(out), pointers_(range) {}

  void run() {
    for (size_t i = range_.first; i + 1 < range_.last; ++i) {
      if (source_.is_name(i) && source_.is(i + 1, "=")) assignment(i);
      if (source_.is(i, "[")) subscript(i);
      if (source_.is(i, "+")) moved_pointer(i);
      if (source_.is(i, "+=")) advanced_pointer(i);
      if (source_.is_name(i) && names_an_address(source_.at(i))) address_call(i);
    }
  }

 private:
  // The array that a subscript at `open` reads, where that is memory: not one of this function's
  // own arrays. For a cast it is the pointer inside: static_cast<const T*>(indices)[i].
  std::optional<std::string_view> memory_base(size_t open) const {
    if (open <= range_.first) return std::nullopt;
    size_t base = open - 1;
    if (source_.is(base, ")") && base >= range_.first + 2 && source_.is(base - 2, "(")) --base;
    if (!source_.is_name(base)) return std::nullopt;
    const std::string_view name = source_.at(base);
    if (arrays_.is_declared(name) || name_holds(name, "smem") || name_holds(name, "shared") ||
        name.starts_with("s_") || name.starts_with("sh_") ||
        is_one_of(name, {"operator", "return", "auto", "const"})) {
      return std::nullopt;
    }
    return name;
  }

  // The first load from memory between two tokens, as text; segment bounds are none.
  std::optional<std::string> load_within(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (is_read_only_load(source_, i)) {
        const auto close = closing_near(source_, i + 1);
        if (close && !is_segment_load(i + 2, *close)) return short_source(source_, i, *close + 1);
      }
      if (!source_.is(i, "[")) continue;
      const auto base = memory_base(i);
      const auto close = closing_near(source_, i);
      if (!base || !close || *close == i + 1 || names_segments(*base)) continue;
      if (*close == i + 2 && source_.tokens[i + 1].kind == TokenKind::kNumber) continue;
      if (!source_.is_name(i - 1)) return std::string(*base) + short_source(source_, i, *close + 1);
      return short_source(source_, i - 1, *close + 1);
    }
    return std::nullopt;
  }

  bool is_segment_load(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (source_.is_name(i) && names_segments(source_.at(i))) return true;
    }
    return false;
  }

  // What an address between two tokens depends on, where that came from memory.
  std::optional<std::string> loaded_within(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (source_.is_name(i) && source_.is(i + 1, "[") && names_segments(source_.at(i))) {
        i = closing_near(source_, i + 1).value_or(i);  // where a run begins
        continue;
      }
      if (!source_.is_name(i) || source_.is(i + 1, "[") || source_.is(i + 1, "(")) continue;
      if (i > range_.first && (source_.is(i - 1, ".") || source_.is(i - 1, "->"))) continue;
      if (i > range_.first && source_.is(i - 1, "&")) continue;  // the variable's own address
      const auto found = loaded_.find(source_.at(i));
      if (found != loaded_.end()) return std::string(source_.at(i)) + " = " + found->second.from;
    }
    return std::nullopt;
  }

  bool calls_for_address(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (source_.is_name(i) && source_.is(i + 1, "(") && names_an_address(source_.at(i)))
        return true;
    }
    return false;
  }

  void assignment(size_t name) {
    const size_t begin = name + 2;
    const size_t end = expression_end(range_, begin);
    const bool declared_pointer =
        name > range_.first && (source_.is(name - 1, "*") || source_.is(name - 1, "__restrict__"));
    auto from = loaded_within(begin, end);
    if (declared_pointer || calls_for_address(begin, end)) {
      loaded_.erase(source_.at(name));
      if (!from && declared_pointer) from = load_after_plus(begin, end);
      if (!from) return;
      report_pointer(name, begin, end, *from);
      told_until_ = end;
    } else if (names_segments(source_.at(name)) || is_declared_no_index(name)) {
      loaded_.erase(source_.at(name));
    } else if (auto load = load_within(begin, end)) {
      // The value of data[idx[i]] is data: no index unless it is used as one, which types forbid
      // for most; kept, since an index may be two loads away.
      loaded_[source_.at(name)] = {std::move(*load)};
    } else if (from) {
      loaded_[source_.at(name)] = {from->substr(from->find(" = ") + 3)};
    } else {
      loaded_.erase(source_.at(name));
    }
  }

  // `table + static_cast<int64_t>(rows[row]) * width`: the load moves the pointer; in `ptrs[i]` and
  // `ptrs[i] + width` it is the pointer.
  std::optional<std::string> load_after_plus(size_t begin, size_t end) const {
    size_t plus = begin;
    while (plus < end && !source_.is(plus, "+")) {
      if (source_.is(plus, "[")) return std::nullopt;
      ++plus;
    }
    return load_within(plus, end);
  }

  // `float x = …`, `bool found = …`: no index.
  bool is_declared_no_index(size_t name) const {
    if (name == range_.first || !source_.is_name(name - 1)) return false;
    const std::string_view type = source_.at(name - 1);
    return name_holds(type, "float") || name_holds(type, "half") || type == "double" ||
           type == "bool";
  }

  bool is_assigned(size_t at) const {
    const std::string_view token = at < range_.last ? source_.at(at) : std::string_view();
    return token == "=" || token == "+=" || token == "-=";
  }

  void subscript(size_t open) {
    const auto base = memory_base(open);
    const auto close = closing_near(source_, open);
    if (!base || !close || *close >= range_.last) return;
    auto from = load_within(open + 1, *close);
    if (!from) from = loaded_within(open + 1, *close);
    // Bounds of runs, looked up by another index, are bookkeeping and not the data.
    if (!from || names_segments(*base)) return;
    if (const auto pointer = pointer_to_element(open)) {
      return report_pointer(*pointer, open - 1, *close + 1, *from);
    }
    const bool atomic = is_atomic_target(open);
    const bool stored = atomic || is_assigned(*close + 1);
    add(stored, std::string(*base), *from, open, Certainty::kLikely);
  }

  // atomicAdd(&bins[idx[i]], 1)
  bool is_atomic_target(size_t open) const {
    return open >= range_.first + 4 && source_.is(open - 2, "&") && source_.is(open - 3, "(") &&
           source_.is_name(open - 4) && source_.at(open - 4).starts_with("atomic");
  }

  // The p of `float* p = &out[idx[i] * width]`: its uses tell what is done there.
  std::optional<size_t> pointer_to_element(size_t open) const {
    if (open < range_.first + 4 || !source_.is(open - 2, "&") || !source_.is(open - 3, "="))
      return std::nullopt;
    return source_.is_name(open - 4) ? std::optional(open - 4) : std::nullopt;
  }

  // Where the operand of a sum ends that begins at a token.
  size_t operand_end(size_t begin) const {
    constexpr size_t kLongest = 80;
    size_t depth = 0;
    size_t i = begin;
    for (; i < std::min(range_.last, begin + kLongest); ++i) {
      if (source_.tokens[i].kind != TokenKind::kPunctuator) continue;
      const char c = source_.text[source_.tokens[i].begin];
      if (c == ';' || (c == ',' && depth == 0) || (c == '?' && depth == 0)) break;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && depth-- == 0) break;
    }
    return i;
  }

  // `table + from * width`, as an argument or a value: `from` came from memory.
  void moved_pointer(size_t plus) {
    if (plus < told_until_ || plus == range_.first || !source_.is_name(plus - 1)) return;
    const size_t end = operand_end(plus + 1);
    auto from = load_within(plus + 1, end);
    if (!from) from = loaded_within(plus + 1, end);
    if (!from) return;
    const std::string_view base = source_.at(plus - 1);
    const bool member =
        plus >= range_.first + 2 && (source_.is(plus - 2, ".") || source_.is(plus - 2, "->"));
    const std::optional<bool> is_const = member ? std::nullopt : pointers_.points_to_const(base);
    const bool points =
        is_const || (member && (name_holds(base, "ptr") || name_holds(base, "ptr_")));
    if (!points || names_segments(base)) return;
    if (const auto stored = use_of_sum(plus, end, is_const.value_or(false))) {
      add(*stored, std::string(base), *from, plus - 1, Certainty::kLikely);
    }
  }

  // Whether what a sum of a pointer and an index points to is written (true) or read (false).
  std::optional<bool> use_of_sum(size_t plus, size_t end, bool is_const) const {
    const size_t base = plus - 1;
    const bool in_brackets = base > range_.first && source_.is(base - 1, "(");
    if (in_brackets && source_.is(end, ")")) {
      if (base >= range_.first + 2 && source_.is(base - 2, "*")) return is_assigned(end + 1);
      if (source_.is(end + 1, "[")) {
        if (const auto close = closing_near(source_, end + 1)) return is_assigned(*close + 1);
      }
    }
    if (is_const) return false;
    if (base >= range_.first + 2 && source_.is(base - 1, "=") && source_.is_name(base - 2)) {
      bool read = false, written = false;
      uses_of_pointer(source_.at(base - 2), end, read, written);
      if (read != written) return written;
    }
    if (const std::optional<bool> use = use_of(base)) return use;
    if (base > range_.first && source_.is(base - 1, "=")) return std::nullopt;  // kept for later
    // Handed on: the pointer is not const, and its name says that it is written.
    const std::string_view name = source_.at(base);
    const bool target = name_holds(name, "dst") || name_holds(name, "out") ||
                        name_holds(name, "cache") || name_holds(name, "dest");
    return target ? std::optional(true) : std::nullopt;
  }

  // `table += idx[i] * width`
  void advanced_pointer(size_t plus) {
    if (plus == range_.first || !source_.is_name(plus - 1)) return;
    const size_t end = expression_end(range_, plus + 1);
    auto from = load_within(plus + 1, end);
    if (!from) from = loaded_within(plus + 1, end);
    if (!from || !pointers_.points_to_const(source_.at(plus - 1))) return;
    report_pointer(plus - 1, plus - 1, end, *from);
  }

  // An address that a call works out of an index straight from memory: offset(__ldg(pages + i)).
  void address_call(size_t name) {
    if (!source_.is(name + 1, "(")) return;
    const auto close = closing_near(source_, name + 1);
    if (!close || *close > range_.last) return;
    for (size_t i = name + 2; i < *close; ++i) {
      if (!is_read_only_load(source_, i)) continue;
      const auto end = closing_near(source_, i + 1);
      if (!end || is_segment_load(i + 2, *end)) continue;
      add(false, "address", short_source(source_, i, *end + 1), name, Certainty::kUnsure);
      return;
    }
  }

  // A pointer that an index moved: where it is used tells whether it is read or written.
  void report_pointer(size_t name, size_t begin, size_t end, const std::string& from) {
    const std::string_view pointer = source_.at(name);
    bool read = false, written = false;
    uses_of_pointer(pointer, end, read, written);
    if (!read && !written) {
      written = name_holds(pointer, "dst") || name_holds(pointer, "out");
      read = !written && name_holds(pointer, "src");
    }
    std::string target(pointer);
    for (size_t i = begin; i < end; ++i) {  // the array it points into: the first argument or name
      if (source_.is(i, "<")) i = closing_angle_near(source_, i).value_or(i);
      if (!source_.is_name(i) || source_.is(i + 1, "::") || source_.is(i + 1, "(")) continue;
      if (source_.is(i + 1, "<") || source_.is(i, "auto") || source_.is(i, "const")) continue;
      target = source_.at(i);
      break;
    }
    if (from.starts_with(target + " = ")) return;  // a copy of the value, not an address
    if (written) add(true, target, from, name, Certainty::kLikely);
    if (read) add(false, target, from, name, Certainty::kLikely);
    if (!read && !written) add(false, target, from, name, Certainty::kUnsure);
  }

  void uses_of_pointer(std::string_view pointer, size_t end, bool& read, bool& written) const {
    for (size_t i = end; i < std::min(range_.last, end + kFurthestUse); ++i) {
      if (source_.at(i) != pointer) continue;
      if (is_declared_at(i)) return;  // another pointer of this name
      const std::optional<bool> use = use_of(i);
      written = written || (use && *use);
      read = read || (use && !*use);
    }
  }

  // `T* p =`, which is no `*p =`.
  bool is_declared_at(size_t at) const {
    return at >= range_.first + 2 && source_.is(at - 1, "*") &&
           (source_.is_name(at - 2) || source_.is(at - 2, ">")) && source_.is(at + 1, "=");
  }

  // Whether the pointer at token `at` is written (true) or read (false) there, where that shows.
  std::optional<bool> use_of(size_t at) const {
    if (source_.is(at + 1, "[")) {
      const auto close = closing_near(source_, at + 1);
      return close ? std::optional(is_assigned(*close + 1)) : std::nullopt;
    }
    if (source_.is(at - 1, "*") && is_assigned(at + 1) && !is_assigned(at)) return true;
    size_t depth = 0;
    size_t commas = 0;
    for (size_t i = at; i-- > range_.first && at - i < kLongestArguments;) {
      if (source_.is(i, ";") || source_.is(i, "{") || source_.is(i, "}")) return std::nullopt;
      if (source_.is(i, ")")) ++depth;
      if (source_.is(i, ",") && depth == 0) ++commas;
      if (!source_.is(i, "(")) continue;
      if (depth-- > 0) continue;
      return copy_target(i, commas);
    }
    return std::nullopt;
  }

  std::optional<bool> copy_target(size_t open, size_t argument) const {
    size_t callee = open - 1;
    if (source_.is(callee, ">")) {  // back over template arguments
      for (size_t angles = 0; callee > range_.first; --callee) {
        if (source_.is(callee, ">")) ++angles;
        if (source_.is(callee, "<") && --angles == 0) break;
      }
      if (callee <= range_.first) return std::nullopt;
      --callee;
    }
    if (!source_.is_name(callee)) return std::nullopt;
    const std::string_view name = source_.at(callee);
    // A function called copy may have its target first or last; memcpy has it first.
    if (name_holds(name, "memcpy")) return argument == 0;
    if (name_holds(name, "store") || name_holds(name, "reset") || name_holds(name, "write")) {
      return true;
    }
    if (name_holds(name, "load") || name == "__ldg" || name_holds(name, "read")) return false;
    return std::nullopt;
  }

  void add(bool stored, const std::string& array, std::string_view index, size_t token,
           Certainty certainty) {
    out_.push_back({stored ? pattern_id::kScatter : pattern_id::kGather,
                    array + " through " + std::string(index), token, certainty, array});
  }

  const TokenRange& range_;
  const TokenList& source_;
  const DeclaredArrays& arrays_;
  std::vector<StructureHit>& out_;
  const PointerNames pointers_;
  std::map<std::string_view, LoadedValue> loaded_;
  size_t told_until_ = 0;  // what a pointer's definition told is not told again
};

}  // namespace

void find_indirections(const TokenRange& range, const DeclaredArrays& arrays,
                       std::vector<StructureHit>& out) {
  Indirections(range, arrays, out).run();
}

}  // namespace fathom::cpp
