#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/directives.h"
#include "scan/cpp/expressions.h"
#include "scan/cpp/kernel_constants.h"
#include "scan/cpp/kernel_handles.h"
#include "scan/cpp/macros.h"
#include "scan/cpp/values.h"

namespace fathom::cpp {

// A place from which names are understood: a file's function, or a macro's expansion inside one.
struct Place {
  const Code& code;
  const Values& values;
  size_t at = 0;    // the token where the names stand
  size_t from = 0;  // where the function begins
  const Place* around = nullptr;
};

// Whose body is read, and what is known of the repository.
struct Surroundings {
  const Definitions& definitions;
  const KnownNames& known;
  const Code& file;
  const Function* function = nullptr;  // in `file`; null: outside any
  // Names of the function's parameters, its template's, and those of the class it belongs to.
  std::vector<std::string> parameters = {}, template_parameters = {}, class_parameters = {};
  const MacroTable* macros = nullptr;             // of the file
  KernelHandles* handles = nullptr;               // of the file
  const std::vector<Branch>* branches = nullptr;  // of the file
  const KernelConstants* constants = nullptr;     // of the file
  // Tokens that may still be searched for who calls a lambda or gives a kernel back: a file of
  // launches and nothing else must not cost its square.
  size_t* searches_left = nullptr;
};

// What an expression that stands for a kernel can mean.
struct KernelChoice {
  std::vector<std::string> kernels, template_arguments;
  bool device_kernel = false;
  // The function's parameter or template parameter, or its class's, that it comes down to.
  std::optional<size_t> parameter, template_parameter, class_parameter;

  bool found() const { return !kernels.empty(); }
  bool through_parameter() const { return parameter || template_parameter || class_parameter; }
};

KernelChoice choose_kernel(const Surroundings& around, const Place& place, Range expression);
// The same for a type: the class that device_kernel<type> runs.
KernelChoice choose_class(const Surroundings& around, const Place& place, Range type);

// The names of parameters, or of template parameters; empty where one has none.
std::vector<std::string> parameter_names(std::string_view parameters);

// As written; of what is longer than a reader would follow, the beginning. Launches may stand in
// the arguments of launches without end, and each would hold the text of all in it.
std::string written_text(const Code& code, Range range);

// The expression as text; a local name is replaced by what it was given, once.
std::string value_text(const Place& place, Range expression);

}  // namespace fathom::cpp
