#include <algorithm>
#include <map>

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/declarations.h"
#include "scan/cpp/directives.h"
#include "scan/cpp/launches.h"
#include "scan/cpp/macros.h"
#include "scan/cpp/unknown_macros.h"
#include "scan/cpp/vocabulary.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr std::string_view kCName = "extern \"C\"";

std::string join_scopes(std::string_view outer, std::string_view inner) {
  std::string scope(outer);
  if (!scope.empty() && !inner.empty()) scope += "::";
  return scope += inner;
}

class DefinitionFinder {
 public:
  DefinitionFinder(const Code& code, const Vocabulary* vocabulary, Definitions& out)
      : source_(code.source),
        brackets_(code.brackets),
        branches_(find_branches(code.source)),
        vocabulary_(vocabulary),
        out_(out),
        header_{code.source, code.brackets, {}} {}

  void run() {
    for (size_t i = 0; i < source_.size();) i = declaration(i);
    tell_twins_apart();
  }

  void find_aliases() {
    for (const Function& function : out_.functions) {
      if (function.body_last > function.body_first)
        opened_.push_back(
            {function.body_first, function.body_last, local_scope(function.scope, function.name)});
    }
    std::ranges::sort(opened_, {}, &Opened::first);
    std::vector<const Opened*> around;
    size_t next = 0;
    for (size_t i = 0; i < source_.size(); ++i) {
      if (source_.tokens[i].kind != TokenKind::kIdentifier) continue;
      if (source_.text[source_.tokens[i].begin] != 'u' &&
          source_.text[source_.tokens[i].begin] != 't')
        continue;
      std::optional<Alias> alias = alias_at(i);
      if (!alias) continue;
      for (; next < opened_.size() && opened_[next].first < i; ++next) {
        while (!around.empty() && around.back()->last < opened_[next].first) around.pop_back();
        around.push_back(&opened_[next]);
      }
      while (!around.empty() && around.back()->last < i) around.pop_back();
      if (!around.empty()) alias->scope = around.back()->name;
      out_.aliases.push_back(std::move(*alias));
    }
  }

 private:
  struct Scope {
    std::string name;  // with those around it
    size_t last;       // its }
    bool of_class = false;
    bool file_local = false;  // an unnamed namespace, or inside one
    bool c_names = false;     // extern "C" { }
  };

  struct Opened {  // a scope, and the tokens of its { and }
    size_t first, last;
    std::string name;
  };

  std::optional<Alias> alias_at(size_t i) const {
    constexpr size_t kLongest = 400, kLongestTypedef = 40;  // tokens
    if (source_.is(i, "using") && source_.is_name(i + 1) && source_.is(i + 2, "=")) {
      size_t end = i + 3;
      while (end < std::min(source_.size(), i + kLongest) && !source_.is(end, ";")) ++end;
      return Alias{std::string(source_.at(i + 1)), {}, i + 3, end, source_.tokens[i].line};
    }
    if (!source_.is(i, "typedef")) return std::nullopt;
    size_t end = i + 1;
    while (end < std::min(source_.size(), i + kLongestTypedef) && !source_.is(end, ";") &&
           !source_.is(end, "{"))
      ++end;
    if (!source_.is(end, ";") || end < i + 3 || !source_.is_name(end - 1)) return std::nullopt;
    return Alias{std::string(source_.at(end - 1)), {}, i + 1, end - 1, source_.tokens[i].line};
  }

  // Reads one declaration, or the opening of a scope, and gives back where the next begins.
  size_t declaration(size_t i) {
    header_.items.clear();
    if (!shared_header_.empty() && i >= shared_from_) header_.items = std::move(shared_header_);
    shared_header_.clear();
    has_value_ = has_brackets_ = initialising_ = false;
    aliases_.clear();
    while (i < source_.size()) {
      const Token& token = source_.tokens[i];
      if (header_.size() > kMaxItems) header_.items.clear();
      if (token.kind == TokenKind::kDirective) {
        ++i;
      } else if (token.kind == TokenKind::kIdentifier) {
        i = name(i);
      } else if (token.kind != TokenKind::kPunctuator) {
        header_.items.push_back(static_cast<uint32_t>(i++));
      } else {
        const char c = source_.text[token.begin];
        if (c == ';') return statement_end(i);
        if (c == '}') return header_.items.empty() ? scope_end(i) : i;
        if (c == '{' && !is_value()) return body(i);
        i = punctuator(i, c);
      }
    }
    return i;
  }

  size_t past_bracket(size_t i) {
    header_.items.push_back(static_cast<uint32_t>(i));
    has_brackets_ |= source_.is(i, "(");
    return brackets_.closed(i) && brackets_.partner(i) > i ? brackets_.partner(i) + 1 : i + 1;
  }

  size_t punctuator(size_t i, char c) {
    std::vector<uint32_t>& items = header_.items;
    if (c == '(' || c == '[' || c == '{' || (c == '<' && brackets_.closed(i))) {
      return past_bracket(i);
    }
    if (c == ':' && source_.is(i, ":")) {
      const std::string_view before = items.empty() ? "" : source_.at(items.back());
      if (before == "public" || before == "private" || before == "protected") {
        if (items.size() == 1) {
          items.clear();
          return i + 1;
        }
      }
      initialising_ |= has_brackets_;
    }
    if (c == '=' && source_.is(i, "=")) {
      bool is_operator = false;
      for (size_t back = 1; back <= 3 && back <= items.size(); ++back) {
        is_operator |= source_.is(items[items.size() - back], "operator");
      }
      has_value_ |= !is_operator;
    }
    items.push_back(static_cast<uint32_t>(i));
    return i + 1;
  }

  size_t name(size_t i) {
    std::vector<uint32_t>& items = header_.items;
    const std::string_view word = source_.at(i);
    if (!items.empty() && !has_value_ && begins_anew(word)) {
      items.clear();
      has_brackets_ = false;
    }
    if (vocabulary_ != nullptr) {
      if (const Macro* macro = vocabulary_->kernel_macro(word, source_.tokens[i].line)) {
        const size_t end = use_end(source_, brackets_, i, *macro);
        if (end < source_.size()) return kernel_macro(i, end, find_macro());
      }
      if (const size_t end = kernel_list(i); end > 0)
        return kernel_macro(i, end, find_macro_or_list());
    }
    items.push_back(static_cast<uint32_t>(i));
    return i + 1;
  }

  // Whether the word begins a declaration, and what was read before it were macros.
  bool begins_anew(std::string_view word) const {
    if (word == "template") {
      const std::string_view before = source_.at(header_.items.back());
      return !is_one_of(before, {".", "->", "::", "<", "extern"});
    }
    return is_one_of(word, {"namespace", "struct", "class", "union", "enum", "using", "typedef"}) &&
           only_macros_before();
  }

  // Macros without a semicolon, like NAMESPACE_BEGIN, belong to no declaration.
  bool only_macros_before() const {
    return std::all_of(header_.items.begin(), header_.items.end(), [&](uint32_t item) {
      return source_.is(item, "(") || (source_.is_name(item) && is_all_caps(source_.at(item)));
    });
  }

  // A { that is part of a value: an initialiser, or a member's in a constructor.
  bool is_value() const {
    if (has_value_) return true;
    if (header_.items.empty()) return false;
    const uint32_t before = header_.items.back();
    if (source_.is(before, "requires")) return true;
    return initialising_ && (source_.is_name(before) || source_.is(before, "<"));
  }

  size_t scope_end(size_t i) {
    while (!scopes_.empty() && scopes_.back().last < i) scopes_.pop_back();
    if (!scopes_.empty() && scopes_.back().last == i) scopes_.pop_back();
    return i + 1;
  }

  std::string scope() { return scopes_.empty() ? std::string() : scopes_.back().name; }

  size_t enter(size_t brace, std::string_view name) {
    const size_t last = brackets_.closed(brace) ? brackets_.partner(brace) : source_.size();
    if (scopes_.size() > kMaxScopes) return brace + 1;
    std::string full = join_scopes(scope(), name);
    if (full.size() > kMaxScope) full.resize(kMaxScope);
    Scope opened{std::move(full), last};
    if (!scopes_.empty()) {
      opened.file_local = scopes_.back().file_local;
      opened.c_names = scopes_.back().c_names;
    }
    opened_.push_back({brace, last, opened.name});
    scopes_.push_back(std::move(opened));
    return brace + 1;
  }

  size_t enter_namespace(size_t brace, std::string_view name) {
    const size_t depth = scopes_.size(), next = enter(brace, name);
    if (scopes_.size() > depth) scopes_.back().file_local |= name.empty();
    return next;
  }

  size_t enter_c_names(size_t brace) {
    const size_t depth = scopes_.size(), next = enter(brace, "");
    if (scopes_.size() > depth) scopes_.back().c_names = true;
    return next;
  }

  // A macro that stands alone on its lines before a declaration is no part of it.
  void drop_macro_lines() {
    std::vector<uint32_t>& items = header_.items;
    while (items.size() > 2 && source_.is_name(items[0]) && source_.is(items[1], "(") &&
           is_all_caps(source_.at(items[0])) && brackets_.closed(items[1]) &&
           source_.tokens[items[2]].line > source_.tokens[brackets_.partner(items[1])].line &&
           source_.is_name(items[2])) {
      items.erase(items.begin(), items.begin() + 2);
    }
  }

  size_t statement_end(size_t i) {
    if (!header_.items.empty() && !has_value_) {
      drop_macro_lines();
      if (!aliases_.empty()) {
        expanded_function(i, i, false);
      } else if (is_kernel_header()) {
        declare(i);
      }
    }
    return i + 1;
  }

  bool is_kernel_header() const {
    return std::any_of(header_.items.begin(), header_.items.end(),
                       [&](uint32_t item) { return source_.is(item, "__global__"); });
  }

  void declare(size_t end) {
    // `template __global__ void f<int>(…);` fills a template in.
    if (header_.is(0, "template") && !header_.is(1, "<")) return;
    if (header_.is(0, "extern") && header_.is(1, "template")) return;
    std::optional<Function> function = read_function(header_, device_words());
    if (!function) return;
    function->defined = false;
    add(std::move(*function), end, end);
  }

  const std::set<std::string, std::less<>>& device_words() const {
    static const std::set<std::string, std::less<>> none;
    return vocabulary_ == nullptr ? none : vocabulary_->device_words();
  }

  size_t body(size_t brace) {
    if (header_.items.empty()) return enter(brace, "");
    drop_macro_lines();
    if (const std::optional<std::string> name = namespace_name())
      return enter_namespace(brace, *name);
    if (header_.size() == 2 && header_.is(0, "extern")) return enter_c_names(brace);
    const size_t after = brackets_.closed(brace) ? brackets_.partner(brace) + 1 : brace + 1;
    if (is_enum()) return after;
    if (std::optional<Class> found = read_class(header_)) return class_body(brace, *found);
    if (!aliases_.empty()) {
      expanded_function(brace, after - 1, true);
      return after;
    }
    std::optional<Function> function = read_function(header_, device_words());
    if (!function) return header_.size() == 1 ? enter(brace, "") : after;
    const size_t name = name_token(*function, brace);
    mark_kernel(*function, brace);
    // What is never closed has no body: it would hold all that follows.
    add(std::move(*function), brace, brackets_.closed(brace) ? brackets_.partner(brace) : brace);
    if (!brackets_.closed(brace)) out_.functions.back().line_last = source_.tokens.back().line;
    out_.functions.back().condition = condition_at(name, brace, true);
    return after_function(name, brace, after);
  }

  // A macro that nothing here defines can be no other than __global__ before such a function.
  void mark_kernel(Function& function, size_t brace) const {
    if (vocabulary_ == nullptr || !brackets_.closed(brace)) return;
    const auto is_known = [&](std::string_view word) { return vocabulary_->is_other_macro(word); };
    const std::string macro = unknown_kernel_macro(
        function, {source_, brace, static_cast<size_t>(brackets_.partner(brace))}, is_known);
    if (macro.empty()) return;
    function.kind = FunctionKind::kKernel;
    function.marked_by = macro;
    if (const size_t at = function.return_type.find(macro + " "); at != std::string::npos)
      function.return_type.erase(at, macro.size() + 1);
  }

  size_t name_token(const Function& function, size_t otherwise) const {
    for (const uint32_t item : header_.items) {
      if (source_.at(item) == function.name) return item;
    }
    return otherwise;
  }

  // A body that begins in one branch of an #if and ends behind the #endif has other headers in the
  // other branches.
  size_t after_function(size_t name, size_t brace, size_t after) {
    const uint32_t branch = branch_around(branches_, name);
    if (branch == kNoBranch || !branches_[branch].ended_by_else) return after;
    if (branches_[branch].last < brace) return after;  // one function whose header has branches
    // A `template` before the #if opens the functions of all branches.
    for (const uint32_t item : header_.items) {
      if (item < branches_[branch].first) shared_header_.push_back(item);
    }
    shared_from_ = branches_[branch].last;
    return std::min<size_t>(branches_[branch].last, after);
  }

  std::optional<std::string> namespace_name() const {
    size_t i = header_.is(0, "inline") ? 1 : 0;
    if (!header_.is(i, "namespace")) return std::nullopt;
    std::string name;
    for (++i; i < header_.size(); ++i) {
      if (header_.is(i, "(") || header_.is(i, "[") || header_.is(i, "inline") ||
          takes_attribute_arguments(header_.at(i))) {
        continue;
      }
      // namespace THING_EXPORT thing: what stands before another name is an attribute's macro.
      if (!name.empty() && !name.ends_with(':') && !header_.is(i, "::")) name.clear();
      name += header_.at(i);
    }
    return name;
  }

  bool is_enum() const {
    for (size_t i = 0; i < header_.size() && i < 4; ++i) {
      if (header_.is(i, "enum")) return true;
    }
    return false;
  }

  size_t class_body(size_t brace, Class& found) {
    found.scope = scope();
    const size_t last = brackets_.closed(brace) ? brackets_.partner(brace) : source_.size() - 1;
    found.line_last = source_.tokens[last].line;
    found.body_first = brace;
    found.body_last = last;
    const std::string name = found.name;
    if (!name.empty()) out_.classes.push_back(std::move(found));
    const size_t depth = scopes_.size(), next = enter(brace, name);
    if (scopes_.size() > depth) scopes_.back().of_class = true;
    return next;
  }

  void add(Function function, size_t body_first, size_t body_last) {
    // A static method is its class's; everybody who sees the class can call it.
    const bool method = !function.scope.empty() || (!scopes_.empty() && scopes_.back().of_class);
    function.file_local =
        !method && (function.file_local || (!scopes_.empty() && scopes_.back().file_local));
    if (!scopes_.empty() && scopes_.back().c_names && function.kind != FunctionKind::kDevice &&
        !contains(function.attributes, kCName)) {
      function.attributes.emplace_back(kCName);
    }
    function.scope = join_scopes(scope(), function.scope);
    function.line_last = source_.tokens[body_last].line;
    function.body_first = body_first;
    function.body_last = body_last;
    function.condition = condition_at(body_first, body_first, true);
    out_.functions.push_back(std::move(function));
  }

  // Of the branches around both tokens.
  std::string condition_at(size_t token, size_t also, bool only_with_alternative) const {
    std::string condition;
    uint32_t branch = branch_around(branches_, token);
    for (int depth = 0; branch != kNoBranch && depth < 8; ++depth) {
      const Branch& one = branches_[branch];
      if (one.last > also && (one.has_alternative || !only_with_alternative)) {
        condition = condition.empty() ? one.condition : one.condition + " && " + condition;
      }
      branch = one.parent;
    }
    return condition;
  }

  // A kernel that is defined twice without #else is told apart by the #ifs around it.
  void tell_twins_apart() {
    std::map<std::pair<std::string_view, std::string_view>, size_t> seen;
    for (const Function& function : out_.functions) {
      if (function.kind == FunctionKind::kKernel && function.defined) {
        ++seen[{function.scope, function.name}];
      }
    }
    for (Function& function : out_.functions) {
      if (function.kind != FunctionKind::kKernel || !function.condition.empty()) continue;
      if (seen[{function.scope, function.name}] < 2) continue;
      function.condition = condition_at(function.body_first, function.body_first, false);
    }
  }

  // OPS(DEFINE): a list that is given a macro which defines kernels; its last token, or 0.
  size_t kernel_list(size_t name) const {
    if (!header_.items.empty() || !source_.is(name + 1, "(") || !brackets_.closed(name + 1))
      return 0;
    const uint32_t line = source_.tokens[name].line;
    const std::vector<Range> arguments = arguments_of({source_, brackets_}, name + 1);
    const bool gives = std::ranges::any_of(arguments, [&](const Range& one) {
      return one.last == one.first + 1 && source_.is_name(one.first) &&
             vocabulary_->kernel_macro(source_.at(one.first), line) != nullptr;
    });
    return gives && vocabulary_->list_macro(source_.at(name), line) != nullptr
               ? brackets_.partner(name + 1)
               : 0;
  }

  // A macro that defines kernels, or that is a part of a kernel's header.
  size_t kernel_macro(size_t name, size_t end, const FindMacro& find) {
    const std::string text = expand(source_, brackets_, name, end + 1, find, expansions_left_);
    const bool whole = text.ends_with('}') || text.ends_with(';');
    if (!whole) {
      aliases_.push_back(static_cast<uint32_t>(name));
      header_.items.push_back(static_cast<uint32_t>(name));
      if (end > name) header_.items.push_back(static_cast<uint32_t>(name + 1));
      return end + 1;
    }
    const size_t first = header_.items.empty() ? name : header_.items[0];
    add_expanded(text, first, name, end, end);
    header_.items.clear();
    return end + 1;
  }

  FindMacro find_macro() const {
    return [this](std::string_view word, uint32_t line, size_t) {
      return vocabulary_->find(word, line);
    };
  }

  FindMacro find_macro_or_list() const {
    return [this](std::string_view word, uint32_t line, size_t) {
      const Macro* macro = vocabulary_->find(word, line);
      return macro != nullptr ? macro : vocabulary_->list_macro(word, line);
    };
  }

  // The header names a kernel macro; `end` is its { or ;.
  void expanded_function(size_t end, size_t body_last, bool defined) {
    const size_t first = header_.items[0];
    std::string text = expand(source_, brackets_, first, end, find_macro(), expansions_left_);
    text += defined ? " {}" : ";";
    add_expanded(text, first, aliases_[0], end, body_last);
  }

  // Reads the functions of an expansion and puts them where the macro is used.
  void add_expanded(const std::string& text, size_t first, size_t use, size_t body_first,
                    size_t body_last) {
    const TokenList list = lex(text);
    Definitions found;
    const Brackets brackets(list);
    DefinitionFinder({list, brackets}, nullptr, found).run();
    for (Function& function : found.functions) {
      function.line_first = source_.tokens[first].line;
      function.line_name = source_.tokens[use].line;
      const std::string_view macro = source_.at(use);
      if (!name_in_header(function)) function.made_by = macro;
      const Macro* of_library = library_kernel_macro(macro);
      const Macro* meant =
          vocabulary_ == nullptr ? nullptr : vocabulary_->find(macro, source_.tokens[use].line);
      if (of_library != nullptr && meant == of_library) function.marked_by = macro;
      if (body_first == body_last && function.body_last > function.body_first) {
        function.expansion = list.source(function.body_first, function.body_last + 1);
      }
      add(std::move(function), body_first, body_last);
    }
  }

  // Whether a function's name stands in the header outside a macro's arguments.
  bool name_in_header(Function& function) const {
    for (const uint32_t item : header_.items) {
      if (source_.at(item) != function.name) continue;
      function.line_name = source_.tokens[item].line;
      return true;
    }
    return false;
  }

  // Deeper nesting and longer headers are no program.
  static constexpr size_t kMaxScope = 1000;  // bytes
  static constexpr size_t kMaxScopes = 1000, kMaxItems = 100000;

  const TokenList& source_;
  const Brackets& brackets_;
  const std::vector<Branch> branches_;
  const Vocabulary* vocabulary_;
  Definitions& out_;
  Header header_;
  std::vector<uint32_t> aliases_;  // uses of kernel macros in the header
  bool has_value_ = false, has_brackets_ = false, initialising_ = false;
  std::vector<Scope> scopes_;
  std::vector<Opened> opened_;           // all that was, in order
  std::vector<uint32_t> shared_header_;  // what opens functions in several branches of an #if
  size_t shared_from_ = 0;               // the next of these branches
  size_t expansions_left_ = expansions_of(source_.text.size());
};

}  // namespace

Definitions find_definitions(const TokenList& source, const KnownNames& known) {
  Definitions out;
  find_directives(source, out);
  const Vocabulary vocabulary(out.macros, known);
  const Brackets brackets(source);
  const Code code{source, brackets};
  DefinitionFinder finder(code, &vocabulary, out);
  finder.run();
  finder.find_aliases();
  out.launch_helpers = find_launch_helpers(code, out);
  find_handed_kernels(code, out);
  return out;
}

}  // namespace fathom::cpp
