#include <algorithm>
#include <map>

#include "scan/cpp/code_structures.h"
#include "scan/cpp/token_pattern.h"
#include "scan/facts/pattern_ids.h"

namespace fathom::cpp {
namespace {

class TritonStructures {
 public:
  TritonStructures(const TokenRange& range, std::vector<StructureHit>& out)
      : range_(range), source_(range.source), out_(out) {}

  void run() {
    for (size_t i = range_.first; i + 1 < range_.last; ++i) {
      if (!source_.is_name(i)) continue;
      if (is_assignment(i)) assignment(i);
      if (is_memory_call(i)) access(i);
      if (source_.is(i, "range") && source_.is(i + 1, "(")) loop(i);
    }
  }

 private:
  // A name at the start of a line, and =: not a keyword argument.
  bool is_assignment(size_t at) const {
    if (!source_.is(at + 1, "=")) return false;
    return at == range_.first || source_.tokens[at - 1].line != source_.tokens[at].line ||
           source_.is(at - 1, ";");
  }

  bool is_memory_call(size_t at) const {
    const std::string_view name = source_.at(at);
    return at >= range_.first + 2 && source_.is(at - 1, ".") && source_.is(at - 2, "tl") &&
           source_.is(at + 1, "(") &&
           (name == "load" || name == "store" || name.starts_with("atomic_"));
  }

  // A statement of Python ends with its line, outside brackets.
  size_t statement_end(size_t begin) const {
    size_t i = begin;
    while (i < range_.last) {
      if (i > begin && source_.tokens[i].line != source_.tokens[i - 1].line) break;
      if (source_.is(i, "(") || source_.is(i, "[") || source_.is(i, "{")) {
        i = closing_near(source_, i).value_or(i);
      }
      ++i;
    }
    return std::min(i, range_.last);
  }

  void assignment(size_t name) {
    const size_t begin = name + 2;
    const size_t end = statement_end(begin);
    for (size_t i = begin; i < end; ++i) {
      if (source_.is(i, "num_programs")) strides_[source_.at(name)] = true;
      if (!source_.is(i, "load") || !is_memory_call(i)) continue;
      const auto arguments = arguments_of(source_, i + 1);
      if (arguments.empty() || names_segments(first_name(i + 2))) continue;
      loaded_[source_.at(name)] = arguments[0];
      return;
    }
    if (auto from = loaded_within(begin, end)) {
      loaded_[source_.at(name)] = *from;
    } else {
      loaded_.erase(source_.at(name));
    }
  }

  std::string_view first_name(size_t at) const {
    while (at < range_.last && !source_.is_name(at)) ++at;
    return at < range_.last ? source_.at(at) : std::string_view();
  }

  std::optional<std::string> loaded_within(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (!source_.is_name(i) || source_.is(i + 1, "=")) continue;
      const auto found = loaded_.find(source_.at(i));
      if (found != loaded_.end()) return found->second;
    }
    return std::nullopt;
  }

  void access(size_t name) {
    const auto close = closing_near(source_, name + 1);
    if (!close) return;
    size_t end = name + 2;  // of the pointer, the first argument
    while (end < *close && !source_.is(end, ",")) {
      if (source_.is(end, "(") || source_.is(end, "[")) {
        end = closing_near(source_, end).value_or(end);
      }
      ++end;
    }
    auto from = loaded_within(name + 2, end);
    for (size_t i = name + 2; i < end && !from; ++i) {
      if (!source_.is(i, "load") || !is_memory_call(i) || names_segments(first_name(i + 2)))
        continue;
      const auto arguments = arguments_of(source_, i + 1);
      if (!arguments.empty()) from = arguments[0];
    }
    if (!from) return;
    const std::string array = short_source(source_, name + 2, end);
    out_.push_back({source_.is(name, "load") ? pattern_id::kGather : pattern_id::kScatter,
                    array + " through tl.load(" + *from + ")", name, Certainty::kLikely, array});
  }

  // range(first, end, step): a step by the number of programs, or of SMs.
  void loop(size_t name) {
    const auto close = closing_near(source_, name + 1);
    if (!close) return;
    size_t commas = 0;
    for (size_t i = name + 2; i < *close; ++i) {
      if (source_.is(i, "(") || source_.is(i, "[")) {
        const size_t end = closing_near(source_, i).value_or(i);
        if (commas < 2) i = end;
      }
      if (source_.is(i, ",")) ++commas;
      if (commas != 2) continue;
      const std::string_view token = source_.at(i);
      const bool by_sms = token == "NUM_SMS";
      if (!by_sms && token != "num_programs" && !strides_.contains(token)) continue;
      const std::string text = short_source(source_, name, *close + 1);
      if (by_sms) {
        out_.push_back({pattern_id::kPersistent, text, name, Certainty::kLikely});
      } else {
        out_.push_back({"block_stride", "blocks: " + text, name, Certainty::kLikely, text});
      }
      return;
    }
  }

  const TokenRange& range_;
  const TokenList& source_;
  std::vector<StructureHit>& out_;
  std::map<std::string_view, std::string> loaded_;
  std::map<std::string_view, bool> strides_;
};

}  // namespace

void find_triton_structures(const TokenRange& range, std::vector<StructureHit>& out) {
  TritonStructures(range, out).run();
}

}  // namespace fathom::cpp
