#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "scan/cpp/tokens.h"
#include "scan/python/tokens.h"

namespace fathom {

using Names = std::set<std::string, std::less<>>;

struct NamesInStrings {
  Names names;
  // Those that are a literal's whole text, as what looks something up by name is given, or that
  // generated code instantiates or takes the address of, and the line of the first.
  std::map<std::string, uint32_t, std::less<>> alone;
};

// Names that are looked for in many texts.
class WantedNames {
 public:
  // The names must outlive it.
  explicit WantedNames(const Names& names);

  bool contains(std::string_view word) const;
  const Names& in_order() const { return names_; }

 private:
  const Names& names_;
  std::unordered_set<std::string_view> lookup_;
  uint64_t lengths_ = 0;  // bit n: a name of n characters; the last bit: of that many or more
};

// Adds the names among `wanted` that string literals contain: a kernel may be found by its name at
// run time, or be written into generated code. Comments and docstrings' prose count as little as
// they can: a name must stand there as a whole word. A wanted name may be a file's, "gemm.cu": what
// a program reads as text it compiles.
void find_names_in_strings(const cpp::TokenList& source, const WantedNames& wanted,
                           NamesInStrings& found);
// Rust's, which look kernels up in modules that were compiled before.
void find_names_in_rust_strings(std::string_view text, const WantedNames& wanted,
                                NamesInStrings& found);
// Python's f-strings too: the fields of f"kernel_m{m}" stand for any text.
void find_names_in_strings(const python::TokenList& source, const WantedNames& wanted,
                           NamesInStrings& found);

}  // namespace fathom
