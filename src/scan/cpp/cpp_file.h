#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/references.h"
#include "scan/facts/code_facts.h"
#include "scan/facts/code_names.h"

namespace fathom::cpp {

// A C-family file is read twice: first what it defines, then, when the kernels and macros of the
// whole repository are known, what its functions do with them. Both are functions of one file's
// text, so files are read in parallel:
//   find_definitions of every file, with nothing known  → known_names
//   find_definitions again where needs_known_macros says so  → known_names, now with their kernels
//   find_usage of every file

struct Macro {
  std::string name;
  std::optional<std::vector<std::string>> parameters;  // none: an object-like macro
  std::string body;
  uint32_t line = 0;
};

enum class FunctionKind : uint8_t { kHost, kDevice, kKernel };

struct Function {
  std::string name;   // "operator()" too; a macro's functions have their expanded names
  std::string scope;  // namespaces and classes, joined with "::"; unnamed namespaces left out
  FunctionKind kind = FunctionKind::kHost;
  bool defined = true;      // false: a declaration, kept for kernels only
  bool file_local = false;  // static, or in an unnamed namespace: no other source means it
  std::string template_parameters, parameters, return_type;
  std::vector<std::string> attributes;  // "__launch_bounds__(kNumThreads, 2)"
  std::string made_by;                  // the macro that defines it; empty: it is written out
  // The macro that makes it a kernel though nothing in the file defines it; empty: none.
  std::string marked_by;
  std::string condition;  // the #if branch it stands in, where it has an alternative
  uint32_t line_first = 0, line_name = 0, line_last = 0;
  size_t body_first = 0, body_last = 0;  // tokens of { and }; equal: no body of its own
  std::string expansion;  // the body that a macro gives it, where it has none of its own
};

// A struct or class, with what `cutlass::device_kernel<Class>` needs to know of it.
struct Class {
  std::string name, scope, template_parameters;
  uint32_t line_first = 0, line_name = 0, line_last = 0;
  std::vector<std::string> bases;
  size_t body_first = 0, body_last = 0;  // tokens of { and }
};

// "md::Run::step" of a function or class.
template <typename Definition>
std::string qualified_name(const Definition& one) {
  return joined_name(one.scope, "::", one.name);
}

// `using name = …;` and `typedef … name;`, in namespaces, classes and functions.
struct Alias {
  std::string name;
  std::string scope;           // as Function::scope; inside a function local_scope of that
  size_t first = 0, last = 0;  // tokens of what it stands for
  uint32_t line = 0;
};

// The scope of an alias inside a function: no other code sees it.
inline std::string local_scope(std::string_view scope, std::string_view function) {
  return std::string(scope) + (scope.empty() ? "" : "::") + std::string(function) + "{}";
}

// A function that launches the kernel it is given, or a class that does with its constructor's
// arguments. Positions are counted from 0; none: not given there.
struct LaunchHelper {
  std::string name;    // of the function; of the class
  std::string method;  // the class's method that launches: "operator()"; empty: a function
  std::optional<size_t> kernel;           // the parameter that is the kernel
  std::optional<size_t> kernel_template;  // the template parameter that is the kernel or its class
  bool of_class = false;                  // kernel_template is the class's, not the function's
  // Parameters of the function, or of the class's constructor.
  std::optional<size_t> grid, block, shared_memory, stream;
  std::string grid_text, block_text, shared_memory_text;  // what it says where no parameter does
  struct Attribute {
    LaunchAttribute set;              // without its condition
    std::string setter;               // the method that sets it; empty: the launch itself
    std::optional<size_t> condition;  // the parameter of the setter or function that decides
  };
  std::vector<Attribute> attributes;
};

// A function's parameter that it hands to a call as it is.
struct HandedParameter {
  std::string function;
  size_t parameter = 0;
  std::string callee;
  size_t argument = 0;
};

struct Definitions {
  std::vector<Macro> macros;
  std::vector<Function> functions;
  std::vector<Class> classes;  // in order of their {
  std::vector<Alias> aliases;  // in order of line
  std::vector<LaunchHelper> launch_helpers;
  std::vector<std::pair<std::string, std::string>> returned_names;  // a function, what it returns
  std::vector<HandedParameter> handed_parameters;
  std::vector<std::string> includes;
  std::vector<uint32_t> include_lines;  // of each of `includes`
};

// What the first reading of all files adds up to.
struct KnownNames {
  std::set<std::string, std::less<>> device_words;  // macros that stand for __device__
  std::map<std::string, Macro, std::less<>>
      kernel_macros;  // those whose expansion defines a kernel or is __global__
  // Macros that were taken for __global__ and that the repository defines as something else.
  std::set<std::string, std::less<>> other_macros;
  // Those whose expansion launches one; files define the same name differently.
  std::map<std::string, std::vector<Macro>, std::less<>> launch_macros;
  // Those that call a parameter, as X-macros do: what they are given may launch one.
  std::map<std::string, std::vector<Macro>, std::less<>> passing_macros;
  std::set<std::string, std::less<>> kernels;
  std::map<std::string, LaunchHelper, std::less<>> launch_helpers;
  // Functions that return one of the kernels.
  std::map<std::string, std::vector<std::string>, std::less<>> kernel_choosers;
  // Classes with an operator(), which device_kernel<Class> runs.
  std::set<std::string, std::less<>> callable_classes;
  // Class templates that inherit from a template parameter of theirs, and which: what they are
  // given is what runs.
  std::map<std::string, size_t, std::less<>> class_wrappers;
};

// A variable of a class, as far as its type is a name: "Force force" of "md::Run".
struct Field {
  std::string owner, name;
  std::string type;  // as Reference::type says it; what a pointer points to, "Atom[]": many of them
};

struct Launch {
  std::vector<std::string> kernels;  // names it can mean, as qualified as they are written: both
                                     // sides of ?:, through `auto` and `using`
  std::string expression;            // as written
  std::string template_arguments;
  std::string via;  // "<<<>>>", "cudaLaunchKernelEx", a helper's or a macro's name
  std::string grid, block, shared_memory, stream;
  std::vector<LaunchAttribute> attributes;
  std::vector<std::string> arguments;  // of the kernel, as written; empty: not seen
  uint32_t line_first = 0, line_last = 0;
  bool device_kernel = false;      // `kernels` are classes that cutlass::device_kernel runs
  std::optional<size_t> function;  // in Definitions::functions
  bool through_parameter =
      false;  // the kernel is a parameter: the function around is a launch helper
};

// A C++ function that another language can call.
struct Binding {
  std::string exported;  // the name outside
  std::string target;    // the C++ function, as written
  std::string via;       // TORCH_LIBRARY, PYBIND11_MODULE, TVM_FFI_DLL_EXPORT_TYPED_FUNC …
  uint32_t line = 0;
  std::string module = {};  // the one that PYBIND11_MODULE names; empty: a macro says it, or none
};

// A kernel that code takes by its address, outside of a launch.
struct TakenKernel {
  std::string name;  // as qualified as it is written
  uint32_t line = 0;
};

struct Usage {
  std::vector<std::vector<Reference>> references;  // of each function of the definitions, in order
  std::vector<Launch> launches;
  std::vector<Binding> bindings;
  std::vector<Field> fields;
  std::vector<std::string> alias_types;  // of each alias of the definitions; empty: names no class
  std::vector<TakenKernel> kernels_taken;
  std::set<std::string, std::less<>> kernels_named;  // kernels mentioned outside their definition
  std::vector<std::string> using_namespaces;         // of `using namespace a::b`, as written
  std::map<std::string, std::string, std::less<>> namespace_aliases;  // of `namespace b = a::b`
};

// The macros that a file defines are known to it; `known` adds those of the repository.
Definitions find_definitions(const TokenList& source, const KnownNames& known);

// What the definitions of all files add up to.
KnownNames known_names(const std::vector<const Definitions*>& files);

// Whether a file uses a kernel macro that another file defines, so that its definitions must be
// found again now that it is known.
bool needs_known_macros(const TokenList& source, const Definitions& own, const KnownNames& known);
// Whether a function was taken for a kernel because of a macro that another file defines otherwise.
bool misreads_macros(const Definitions& own, const KnownNames& known);

struct Code;
Usage find_usage(const Code& code, const Definitions& definitions, const KnownNames& known);
Usage find_usage(const TokenList& source, const Definitions& definitions, const KnownNames& known);

}  // namespace fathom::cpp
