#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// The parts of a kernel's name as a profiler shows it:
// "void flash::fwd<128, true>(Params)" → scope "flash", name "fwd", template arguments "128, true".
struct ProfilerName {
  std::string scope;  // unnamed namespaces left out
  std::string name;
  std::string template_arguments;
};
// Mangled names are demangled first. A name that is not C++ (Triton's) is a name without scope.
ProfilerName parse_profiler_name(std::string_view text);

// How a profile will show the kernel: '*' stands for any text.
std::string profiler_pattern(const KernelFacts& kernel);

// Finds the source of the kernels in a profile.
class KernelIdentity {
 public:
  // The facts must outlive it.
  explicit KernelIdentity(const CodeFacts& facts);

  // The kernels that the profiler's name can mean, by position in facts.kernels: none where it is
  // not the repository's, several where its name does not tell them apart, 64 at most.
  std::vector<size_t> find(std::string_view profiler_name) const;

 private:
  std::vector<size_t> candidates(const ProfilerName& wanted) const;
  std::vector<size_t> named(const ProfilerName& wanted) const;

  const CodeFacts& facts_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
  // By name and innermost scope, so that thousands of one name are not all compared.
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> by_scope_;
};

}  // namespace fathom
