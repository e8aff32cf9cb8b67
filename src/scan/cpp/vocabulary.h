#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/macros.h"

namespace fathom::cpp {

// A file's macros and what it includes.
void find_directives(const TokenList& source, Definitions& out);

// A macro of a published library that stands for __global__, though its header is not in the
// repository; null: none of that name.
const Macro* library_kernel_macro(std::string_view name);

// Whether a macro's body holds __global__; whether it stands for __device__.
bool makes_kernels(const Macro& macro);
bool makes_device_functions(const Macro& macro);

// What a file's macros and the repository's mean for reading its declarations.
class Vocabulary {
 public:
  Vocabulary(const std::vector<Macro>& macros, const KnownNames& known);

  // The macro that makes kernels, or is a part of their headers; null: the name is none.
  const Macro* kernel_macro(std::string_view name, uint32_t line) const;
  // Those, and macros that paste names together.
  const Macro* find(std::string_view name, uint32_t line) const;
  // An X-macro: a list of uses of a macro that it is given; null: the name is none.
  const Macro* list_macro(std::string_view name, uint32_t line) const;
  const std::set<std::string, std::less<>>& device_words() const { return device_words_; }
  // Whether the file or the repository defines the name as something that makes no kernels.
  bool is_other_macro(std::string_view name) const {
    return own_other_macros_.contains(name) || known_.other_macros.contains(name);
  }

 private:
  const KnownNames& known_;
  MacroTable own_, own_lists_;
  std::set<std::string, std::less<>> own_kernel_macros_, device_words_;
  std::set<std::string_view> own_other_macros_;  // all capitals, or of a library's name
};

}  // namespace fathom::cpp
