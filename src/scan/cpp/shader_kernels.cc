#include <algorithm>

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/directives.h"
#include "scan/cpp/found_kernels.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr size_t kLongestHeader = 400;  // tokens between a mark and its kernel's {

class ShaderReader {
 public:
  ShaderReader(const TokenList& source, const ShaderRule& rule, std::string_view stem,
               const KernelWords& words)
      : source_(source), brackets_(source), rule_(rule), stem_(stem) {
    const auto own = words.find(rule.kind);
    if (own != words.end()) words_ = &own->second;
  }

  std::vector<FoundKernel> run(bool is_entry) {
    if (rule_.form == ShaderForm::kEntry) {
      if (is_entry || names_a_mark()) read_entry();
      return std::move(found_);
    }
    for (size_t i = 0; i < source_.size(); ++i) {
      if (source_.is_name(i) && is_mark(source_.at(i)) && is_outside(i)) {
        i = std::max(i, read_function(i));
      }
    }
    return std::move(found_);
  }

 private:
  bool is_mark(std::string_view word) const {
    return contains(rule_.marks, word) || (words_ != nullptr && words_->contains(word));
  }

  bool names_a_mark() const {
    for (size_t i = 0; i < source_.size(); ++i) {
      if (source_.is_name(i) && contains(rule_.marks, source_.at(i))) return true;
    }
    return false;
  }

  // Not inside a function's body: in no braces but those of namespaces.
  bool is_outside(size_t i) const {
    uint32_t brace = brackets_.enclosing(i);
    for (int depth = 0; brace != Brackets::kNone && depth < 16; ++depth) {
      const bool scope = brace >= 1 && (source_.is(brace - 1, "namespace") ||
                                        (brace >= 2 && source_.is(brace - 2, "namespace")) ||
                                        source_.is(brace - 1, "\"C\""));
      if (!scope) return false;
      brace = brackets_.enclosing(brace);
    }
    return true;
  }

  size_t past(size_t open) const {
    return brackets_.closed(open) && brackets_.partner(open) > open ? brackets_.partner(open) + 1
                                                                    : open + 1;
  }

  // The declaration's first token: behind the last ; } or directive.
  size_t begin_of(size_t mark) const {
    size_t first = mark;
    while (first > 0 && mark - first < kLongestHeader) {
      const size_t before = first - 1;
      if (source_.tokens[before].kind == TokenKind::kDirective ||
          source_.is_any(before, {";", "}", "{"}))
        break;
      first = before;
    }
    return first;
  }

  // An attribute's name or a macro, not a function's name: another name follows its brackets.
  bool is_attribute(size_t name, size_t open) const {
    const std::string_view word = source_.at(name);
    if (takes_attribute_arguments(word) || contains(rule_.threads, word)) return true;
    const size_t after = past(open);
    return is_all_caps(word) && (source_.is_name(after) || source_.is(after, "["));
  }

  // Returns the last token that was read.
  size_t read_function(size_t mark) {
    const std::string_view word = rule_.form == ShaderForm::kFn ? "fn" : "void";
    const size_t first = begin_of(mark);
    bool has_word = false;
    for (size_t k = first; k < mark; ++k) has_word |= source_.is(k, word);
    for (size_t i = mark + 1; i < source_.size() && i - mark < kLongestHeader; ++i) {
      if (source_.is(i, ";") || source_.is(i, "{") || source_.is(i, "}")) return i;
      has_word |= source_.is(i, word);
      if (source_.is(i, "[")) i = past(i) - 1;
      if (!source_.is(i, "(")) continue;
      if (!source_.is_name(i - 1) || !has_word || is_attribute(i - 1, i)) {
        i = past(i) - 1;
        continue;
      }
      return read_body(first, i - 1, i);
    }
    return mark;
  }

  size_t read_body(size_t first, size_t name, size_t open) {
    size_t brace = past(open);
    for (size_t steps = 0; brace < source_.size() && steps < kLongestHeader; ++steps) {
      if (source_.is(brace, "{")) break;
      if (source_.is(brace, ";") || source_.is(brace, "}")) return brace;  // declared, or a macro's
      const bool opens = source_.is(brace, "(") || source_.is(brace, "[");
      brace = opens ? past(brace) : brace + 1;
    }
    // Another branch of an #if may have another header for the same body.
    if (source_.is(brace, "{")) add(first, name, open, brace);
    return open;
  }

  void add(size_t first, size_t name, size_t open, size_t brace) {
    FoundKernel& kernel = found_.emplace_back();
    kernel.kind = rule_.kind;
    kernel.name = source_.is(name, "main") ? std::string(stem_) : std::string(source_.at(name));
    if (brackets_.closed(open))
      kernel.parameters = source_.source(open + 1, brackets_.partner(open));
    kernel.line_first = source_.tokens[first].line;
    kernel.line_name = source_.tokens[name].line;
    const size_t last = brackets_.closed(brace) ? brackets_.partner(brace) : source_.size() - 1;
    kernel.line_last = source_.tokens[last].line;
    add_threads(first, brace, kernel);
  }

  // "workgroup_size(64)", "numthreads(8, 8, 1)"
  void add_threads(size_t first, size_t last, FoundKernel& kernel) const {
    for (size_t i = first; i + 1 < last; ++i) {
      if (source_.is_name(i) && contains(rule_.threads, source_.at(i)) && source_.is(i + 1, "("))
        kernel.attributes.push_back(source_.source(i, past(i + 1)));
    }
  }

  // void main() {…}, and layout(local_size_x = 64) in; beside it.
  void read_entry() {
    for (size_t i = 0; i + 3 < source_.size(); ++i) {
      if (source_.is(i, "void") && source_.is(i + 1, "main") && source_.is(i + 2, "(") &&
          is_outside(i)) {
        read_body(i, i + 1, i + 2);
        if (!found_.empty()) break;
      }
    }
    if (found_.empty()) return;
    for (size_t i = 0; i + 1 < source_.size(); ++i) {
      if (!source_.is(i, "layout") || !source_.is(i + 1, "(")) continue;
      std::string text = source_.source(i + 2, past(i + 1) - 1);
      if (holds(text, "local_size")) found_[0].attributes.push_back(std::move(text));
    }
  }

  const TokenList& source_;
  const Brackets brackets_;
  const ShaderRule& rule_;
  std::string_view stem_;
  const std::set<std::string, std::less<>>* words_ = nullptr;
  std::vector<FoundKernel> found_;
};

// Words and their arguments alone, as of `extern "C" __kernel`: no statement that names a kernel.
bool qualifies_with(const TokenList& body, const std::vector<std::string_view>& marks) {
  bool marked = false;
  for (size_t i = 0; i < body.size(); ++i) {
    marked |= body.is_name(i) && contains(marks, body.at(i));
    const bool plain = body.is_name(i) || body.is(i, "(") || body.is(i, ")") || body.is(i, ",") ||
                       body.tokens[i].kind == TokenKind::kString ||
                       body.tokens[i].kind == TokenKind::kNumber;
    if (!plain) return false;
  }
  return marked;
}

}  // namespace

void add_kernel_words(const std::vector<Macro>& macros, KernelWords& words) {
  for (const Macro& macro : macros) {
    if (macro.parameters) continue;
    for (const ShaderRule& rule : shader_rules()) {
      if (rule.form == ShaderForm::kEntry) continue;
      const bool named = holds_any(macro.body, rule.marks);
      if (named && qualifies_with(lex(macro.body), rule.marks)) words[rule.kind].insert(macro.name);
    }
  }
}

std::vector<Macro> macros_of(const TokenList& source) {
  std::vector<Macro> out;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.tokens[i].kind != TokenKind::kDirective) continue;
    const Directive directive = read_directive(source.at(i));
    if (directive.kind == DirectiveKind::kDefine)
      out.push_back(read_macro(directive, source.tokens[i].line));
  }
  return out;
}

std::vector<FoundKernel> find_shader_kernels(const TokenList& source, const ShaderRule& rule,
                                             std::string_view stem, std::string_view ending,
                                             const KernelWords& words) {
  return ShaderReader(source, rule, stem, words).run(contains(rule.always, ending));
}

}  // namespace fathom::cpp
