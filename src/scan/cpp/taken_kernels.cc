// Kernels that code takes by their address outside of a launch: kept in a member or a table, or
// handed to a function or macro whose launch is not seen.
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
  TakenKernels(const Code& code, const KnownNames& known) : code_(code), known_(known) {
    // Of many short sources each would read all kernels' names.
    sieved_ = code.source.size() > known.kernels.size();
    if (!sieved_) return;
    for (const std::string& kernel : known.kernels) sieve_.add(kernel);
  }

  std::vector<TakenKernel> find(const std::vector<Function>& functions) {
    size_t read_to = 0;  // functions in branches of an #if can share a body
    for (const Function& function : functions) {
      if (function.kind != FunctionKind::kHost || function.body_first < read_to) continue;
      const std::vector<std::string> parameters = parameter_names(function.parameters);
      own_ = {parameters.begin(), parameters.end()};
      for (size_t i = function.body_first + 1; i < function.body_last; ++i) name(i);
      read_to = function.body_last;
    }
    return std::move(out_);
  }

 private:
  void name(size_t at) {
    if (!code_.source.is_name(at) || out_.size() == kMostTaken) return;
    const std::string_view name = code_.source.at(at);
    if ((sieved_ && !sieve_.may_contain(name)) || !known_.kernels.contains(name)) return;
    const Path path = path_before(code_, at + 1);
    if (!path.valid() || path.all.first == 0) return;
    const size_t before = path.all.first - 1;
    // Kernel add = …; auto& add : …
    const bool typed = (code_.source.is_name(before) && !is_keyword(code_.source.at(before))) ||
                       code_.is_any(before, {"auto", ">", "*"}) ||
                       (code_.is(before, "&") && before > 0 && code_.is(before - 1, "auto"));
    if (typed && path.names.size() == 1) own_.insert(name);
    if (own_.contains(name) && path.names.size() == 1) return;
    if (!code_.is_any(before, {"=", "(", ",", "{", "&", "?", ":", "return"})) return;
    size_t behind = at + 1;
    if (code_.is(behind, "<")) {
      const auto close = closing_angle_near(code_.source, behind);
      if (!close) return;
      behind = *close + 1;
    }
    if (!code_.is_any(behind, {";", ",", ")", "}", ":"})) return;
    if (seen_.insert(name).second)
      out_.push_back({path_name(code_, path), code_.source.tokens[at].line});
  }

  const Code& code_;
  const KnownNames& known_;
  NameSieve sieve_;
  bool sieved_ = false;
  std::set<std::string_view> own_;   // names of the function's own
  std::set<std::string_view> seen_;  // each once in a file
  std::vector<TakenKernel> out_;
};

}  // namespace

std::vector<TakenKernel> find_taken_kernels(const Code& code,
                                            const std::vector<Function>& functions,
                                            const KnownNames& known) {
  return TakenKernels(code, known).find(functions);
}

}  // namespace fathom::cpp
