#include "scan/features/signal_search.h"

namespace fathom {
namespace {

using python::TokenKind;

class PythonTokens {
 public:
  explicit PythonTokens(const python::TokenList& list) : list_(list) {}

  std::string_view text(size_t i) const { return list_.at(static_cast<uint32_t>(i)); }
  uint32_t line(size_t i) const { return list_.tokens[i].line; }

  bool is_called(size_t i) const {
    if (is(i + 1, TokenKind::kOpenParen)) return !is_function(i) && !is_class(i);
    // @torch.compile, and what it decorates on the next line.
    size_t first = i;
    while (const auto before = qualifier(first)) first = *before;
    return first > 0 && is(first - 1, TokenKind::kAt) && is(i + 1, TokenKind::kNewline);
  }
  bool is_class(size_t i) const { return i > 0 && is(i - 1, TokenKind::kClass); }
  bool may_be_function(size_t i) const { return is_function(i); }
  bool is_function(size_t i) const { return i > 0 && is(i - 1, TokenKind::kDef); }

  std::optional<size_t> qualifier(size_t i) const {
    if (i < 2 || !is(i - 1, TokenKind::kDot) || !is(i - 2, TokenKind::kName)) return std::nullopt;
    return i - 2;
  }

 private:
  bool is(size_t i, TokenKind kind) const {
    return i < list_.tokens.size() && list_.tokens[i].kind == kind;
  }

  const python::TokenList& list_;
};

// The modules that import statements name, each with its line.
class Imports {
 public:
  Imports(const python::TokenList& list, const SignalTable& table, HitCollector& hits)
      : list_(list), table_(table), hits_(hits) {}

  // At `import` or `from`; where no statement begins, as in `raise … from`, nothing is imported.
  void at(uint32_t i) {
    if (!begins_statement(i)) return;
    if (kind(i) == TokenKind::kImport) {
      import_list(i + 1, "");
      return;
    }
    if (kind(i + 1) == TokenKind::kDot || kind(i + 1) == TokenKind::kEllipsis) return;  // its own
    const std::string module = dotted(++i);
    if (kind(i) != TokenKind::kImport) return;
    imported(module, list_.tokens[i].line);
    import_list(i + 1, module + ".");
  }

 private:
  TokenKind kind(uint32_t i) const {
    return i < list_.tokens.size() ? list_.tokens[i].kind : TokenKind::kEnd;
  }

  bool begins_statement(uint32_t i) const {
    if (i == 0) return true;
    const TokenKind before = kind(i - 1);
    return before == TokenKind::kNewline || before == TokenKind::kIndent ||
           before == TokenKind::kDedent || before == TokenKind::kSemicolon ||
           before == TokenKind::kColon;
  }

  // Reads a.b.c and leaves `i` after it.
  std::string dotted(uint32_t& i) const {
    std::string name;
    for (; kind(i) == TokenKind::kName || kind(i) == TokenKind::kDot; ++i) name += list_.at(i);
    return name;
  }

  void import_list(uint32_t i, const std::string& prefix) {
    while (kind(i) != TokenKind::kNewline && kind(i) != TokenKind::kEnd &&
           kind(i) != TokenKind::kSemicolon) {
      const uint32_t line = list_.tokens[i].line;
      if (kind(i) == TokenKind::kAs) {
        i += 2;
      } else if (const std::string name = dotted(i); !name.empty()) {
        imported(prefix + name, line);
      } else {
        ++i;
      }
    }
  }

  void imported(std::string_view module, uint32_t line) {
    const std::string folded = fold_name(module);
    for (const SignalTable::Wanted& wanted : table_.modules()) {
      if (is_or_holds(wanted.glob, folded)) hits_.add(wanted.signal, module, line);
    }
  }

  // A module counts with everything in it.
  static bool is_or_holds(std::string_view glob, std::string_view module) {
    for (size_t end = module.find('.'); end != std::string_view::npos;
         end = module.find('.', end + 1)) {
      if (glob_matches(glob, module.substr(0, end))) return true;
    }
    return glob_matches(glob, module);
  }

  const python::TokenList& list_;
  const SignalTable& table_;
  HitCollector& hits_;
};

}  // namespace

FileSignals SignalFinder::find(const python::TokenList& source) {
  HitCollector hits(table_.signals());
  const PythonTokens tokens(source);
  SignalSearch<PythonTokens> search(*this, tokens, hits);
  Imports imports(source, table_, hits);
  for (uint32_t i = 0; i < source.tokens.size(); ++i) {
    const TokenKind kind = source.tokens[i].kind;
    if (kind == TokenKind::kName) {
      search.at(i);
    } else if (kind == TokenKind::kImport || kind == TokenKind::kFrom) {
      imports.at(i);
    }
  }
  return hits.take();
}

}  // namespace fathom
