#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::python {

// What one Python file says, as a function of its text alone; names are resolved across files when
// all are read (scan/link/).

struct Import {
  std::string module;  // "minisgl.kernel.utils"; relative ones with their leading dots
  std::string name;    // of `from module import name`; "*"; empty for `import module`
  std::string bound_to;
  uint32_t line = 0;
};

struct Argument {
  std::string name;  // empty: positional
  std::string text;  // as written
};

struct Call {
  std::string callee;  // as written: "module.launch", "kernel[grid]"
  std::vector<Argument> arguments;
  uint32_t line_first = 0, line_last = 0;
};

struct Function {
  std::string name, scope;              // scope: classes and functions around it, joined with "."
  std::vector<std::string> decorators;  // as written, without the @
  std::vector<Argument> parameters;     // name and default; annotations apart
  std::vector<std::string> annotations;
  std::string doc;                                        // first paragraph of its docstring
  uint32_t line_first = 0, line_name = 0, line_last = 0;  // line_first: of the first decorator
  std::vector<Call> calls;  // in its body, nested functions' own left out
};

struct Field {
  std::string name, type;
  std::optional<std::string> default_value;
  std::string help;  // of a comment or docstring beside it
  uint32_t line = 0;
};

struct Class {
  std::string name, scope;
  std::vector<std::string> bases, decorators;
  std::vector<Field> fields;
  std::string doc;
  uint32_t line_first = 0, line_name = 0, line_last = 0;
};

// name[grid](…): the launch of a Triton or CuTe kernel.
struct Launch {
  std::string kernel, grid;
  std::vector<Argument> arguments;
  std::string function;  // around it, with scope
  uint32_t line_first = 0, line_last = 0;
};

enum class OptionSource : uint8_t { kArgparse, kClick, kTyper, kAbsl, kDataclass, kEnvironment };

struct Option {
  OptionSource source = OptionSource::kArgparse;
  std::vector<std::string> names;  // "--model-path", "-m"; env: one, with {part} where composed
  std::string type, action, help, dest;
  std::optional<std::string> default_value;  // the expression as written
  std::vector<std::string> choices;
  std::string function;  // around it
  uint32_t line = 0;
};

struct Route {
  std::string method, path, function;
  uint32_t line = 0;
};

// A string literal that holds CUDA source, or names a file of it.
struct CudaText {
  std::string text;   // the literal's content
  uint32_t line = 0;  // of its first character
  std::string assigned_to, function;
  bool is_source = false;  // it contains __global__
};

struct Constant {
  std::string name, value;  // NAME = literal at module level
  uint32_t line = 0;
};

struct PythonFile {
  std::vector<Import> imports;
  std::vector<Function> functions;
  std::vector<Class> classes;
  std::vector<Call> module_calls;  // at module level
  std::vector<Launch> launches;
  std::vector<Option> options;
  std::vector<Route> routes;
  std::vector<CudaText> cuda_texts;
  std::vector<Constant> constants;
  std::optional<uint32_t>
      main_guard;        // the line of `if __name__ == "__main__"`, in all its disguises
  bool damaged = false;  // some statement could not be parsed and was passed over
};

PythonFile read_python(std::string_view text);

}  // namespace fathom::python
