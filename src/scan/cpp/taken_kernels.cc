// Kernels that code takes by their address outside of a launch: kept in a member or a table, or
// handed to a function or macro whose launch is not seen. Macros do so for those who write them.
#include <algorithm>
#include <set>

#include "scan/cpp/launches.h"
#include "scan/cpp/name_sieve.h"
#include "scan/cpp/token_pattern.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMostTaken = 512;  // of a file

class TakenKernels {
 public:
  TakenKernels(const Code& code, const KnownNames& known) : known_(known) {
    // Of many short sources each would read all kernels' names.
    sieved_ = code.source.size() > known.kernels.size();
    if (!sieved_) return;
    for (const std::string& kernel : known.kernels) sieve_.add(kernel);
  }

  void in_functions(const Code& code, const std::vector<Function>& functions) {
    size_t read_to = 0;  // functions in branches of an #if can share a body
    for (const Function& function : functions) {
      if (function.kind != FunctionKind::kHost || function.body_first < read_to) continue;
      const std::vector<std::string> parameters = parameter_names(function.parameters);
      own_ = {parameters.begin(), parameters.end()};
      for (size_t i = function.body_first + 1; i < function.body_last; ++i) name(code, i);
      read_to = function.body_last;
    }
  }

  void in_macro(const Macro& macro) {
    const TokenList body = lex(macro.body);
    const Brackets brackets(body);
    own_.clear();
    if (macro.parameters) own_.insert(macro.parameters->begin(), macro.parameters->end());
    for (size_t i = 0; i < body.size(); ++i) name({body, brackets}, i, macro.line);
  }

  std::vector<TakenKernel> found() { return std::move(out_); }

 private:
  void name(const Code& code, size_t at, uint32_t line = 0) {
    if (!code.source.is_name(at) || out_.size() == kMostTaken) return;
    const std::string_view name = code.source.at(at);
    if ((sieved_ && !sieve_.may_contain(name)) || !known_.kernels.contains(name)) return;
    const Path path = path_before(code, at + 1);
    if (!path.valid() || path.all.first == 0) return;
    const size_t before = path.all.first - 1;
    // Kernel add = …; auto& add : …
    const bool typed = (code.source.is_name(before) && !is_keyword(code.source.at(before))) ||
                       code.is_any(before, {"auto", ">", "*"}) ||
                       (code.is(before, "&") && before > 0 && code.is(before - 1, "auto"));
    if (typed && path.names.size() == 1) own_.emplace(name);
    if (own_.contains(name) && path.names.size() == 1) return;
    const bool cast = code.is(before, ")") && before > 0 && code.is(before - 1, "*");
    if (!cast && !code.is_any(before, {"=", "(", ",", "{", "&", "?", ":", "return"})) return;
    size_t behind = at + 1;
    if (code.is(behind, "<")) {
      const auto close = closing_angle_near(code.source, behind);
      if (!close) return;
      behind = *close + 1;
    }
    const bool ends = line != 0 && behind == code.source.size();
    if (!ends && !code.is_any(behind, {";", ",", ")", "}", ":"})) return;
    if (seen_.emplace(name).second)
      out_.push_back({path_name(code, path), line != 0 ? line : code.source.tokens[at].line});
  }

  const KnownNames& known_;
  NameSieve sieve_;
  bool sieved_ = false;
  std::set<std::string, std::less<>> own_;   // names of the function's own
  std::set<std::string, std::less<>> seen_;  // each once in a file
  std::vector<TakenKernel> out_;
};

}  // namespace

std::vector<TakenKernel> find_taken_kernels(const Code& code, const Definitions& definitions,
                                            const KnownNames& known) {
  TakenKernels taken(code, known);
  taken.in_functions(code, definitions.functions);
  for (size_t i = 0; i < definitions.macros.size() && !known.kernels.empty(); ++i) {
    const Macro& macro = definitions.macros[i];
    if (!launches_directly(macro)) taken.in_macro(macro);
  }
  return taken.found();
}

}  // namespace fathom::cpp
