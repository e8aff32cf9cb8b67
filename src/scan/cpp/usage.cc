#include <algorithm>
#include <bitset>

#include "scan/cpp/bindings.h"
#include "scan/cpp/calls.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/launches.h"
#include "scan/cpp/macros.h"

namespace fathom::cpp {
namespace {

// Tells most names apart from the kernels' without a look-up.
class NameSieve {
 public:
  explicit NameSieve(const std::set<std::string, std::less<>>& names) {
    for (const std::string& name : names) bits_.set(slot(name));
  }
  bool may_contain(std::string_view name) const { return bits_.test(slot(name)); }

 private:
  static size_t slot(std::string_view name) {
    if (name.empty()) return 0;
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(name[at]); };
    return (name.size() * 131 + byte(0) * 31 + byte(name.size() - 1) * 17 + byte(name.size() / 2)) %
           kSlots;
  }
  static constexpr size_t kSlots = 1 << 14;
  std::bitset<kSlots> bits_;
};

std::set<std::string, std::less<>> find_named_kernels(const TokenList& source,
                                                      const Definitions& definitions,
                                                      const KnownNames& known) {
  std::set<std::pair<std::string_view, uint32_t>> own;
  for (const Function& function : definitions.functions) {
    if (function.kind == FunctionKind::kKernel) own.emplace(function.name, function.line_name);
  }
  const NameSieve sieve(known.kernels);
  std::set<std::string, std::less<>> named;
  const auto look = [&](std::string_view name, uint32_t line) {
    if (!sieve.may_contain(name) || !known.kernels.contains(name)) return;
    if (!own.contains({name, line})) named.emplace(name);
  };
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.is_name(i)) look(source.at(i), source.tokens[i].line);
  }
  for (const Macro& macro : definitions.macros) {
    for_each_name(macro.body, [&](std::string_view name) { look(name, 0); });
  }
  return named;
}

}  // namespace

Usage find_usage(const TokenList& source, const Definitions& definitions, const KnownNames& known) {
  const Brackets brackets(source);
  const Code code{source, brackets};
  Usage usage;
  usage.calls.reserve(definitions.functions.size());
  for (const Function& function : definitions.functions) {
    usage.calls.push_back(find_calls(code, {function.body_first, function.body_last}));
  }
  for (FoundLaunch& found : find_launches(code, definitions, known)) {
    usage.launches.push_back(std::move(found.launch));
  }
  usage.bindings = find_bindings(code, definitions);
  usage.kernels_named = find_named_kernels(source, definitions, known);
  for (const Launch& launch : usage.launches) {
    usage.kernels_named.insert(launch.kernels.begin(), launch.kernels.end());
  }
  return usage;
}

}  // namespace fathom::cpp
