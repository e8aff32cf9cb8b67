#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scan/facts/code_names.h"
#include "scan/kernels/python_rules.h"

namespace fathom::python {

// What one Python file says, as a function of its text alone; names are resolved across files when
// all are read (scan/link/). Expressions are text as written, on one line.

// "Server.start" of a function or class.
template <typename Definition>
std::string qualified_name(const Definition& one) {
  return joined_name(one.scope, ".", one.name);
}

struct Import {
  std::string module;  // "minisgl.kernel.utils"; relative ones with their leading dots
  std::string name;    // of `from module import name`; "*"; empty for `import module`
  std::string bound_to;
  uint32_t line = 0;
};

struct Argument {
  std::string name;  // empty: positional; "*" and "**": unpacked
  std::string text;  // as written
};

struct Call {
  std::string callee;  // as written: "module.launch", "kernel[grid]"; long ones keep their end
  std::string path;    // of a long one: "make(…).run", without what its calls are given
  // Kept only where a string literal is among them: files, names and options are passed as such,
  // and all arguments of a repository would not fit into memory.
  std::vector<Argument> arguments;
  uint32_t line_first = 0, line_last = 0;
};

// What makes a function a kernel: a row of data/kernels/python_decorators.tsv.
struct KernelMark {
  const DecoratorRule* rule = nullptr;
  RuleFit fit = RuleFit::kExact;
  std::string decorator;      // as written, without its arguments
  std::string configuration;  // the call of the body that says how it is launched: T.Kernel(…)
};

struct Function {
  std::string name, scope;              // scope: classes and functions around it, joined with "."
  std::vector<std::string> decorators;  // as written, without the @
  // Name and default (empty: none); "*args", "**kwargs", and the marks "*" and "/".
  std::vector<Argument> parameters;
  std::vector<std::string> annotations;  // of each parameter; empty: none
  std::string returns;
  std::string doc;                                        // first paragraph of its docstring
  bool doc_has_example = false;                           // the docstring shows a call: >>> f(x)
  uint32_t line_first = 0, line_name = 0, line_last = 0;  // line_first: of the first decorator
  std::optional<KernelMark> kernel;
  bool gives_back = false;  // `return x`, somewhere in it
  // In its body; nested functions' own left out, lambdas' and comprehensions' within.
  std::vector<Call> calls;
};

struct Field {
  std::string name, type;  // type empty: a plain assignment
  std::optional<std::string>
      default_value;  // of field() and Field() their default; a factory's call
  std::string help;   // of metadata, a comment or a docstring beside it
  uint32_t line = 0;
};

struct Class {
  std::string name, scope;
  std::vector<std::string> bases, decorators;
  std::vector<Field> fields;
  std::string doc;
  bool doc_has_example = false;
  uint32_t line_first = 0, line_name = 0, line_last = 0;
};

enum class LaunchKind : uint8_t {
  kSubscript,  // kernel[grid](…): Triton and Numba; also any call of a subscript, so look it up
  kCute,       // kernel(…).launch(grid=…, block=…)
  kApi,        // ct.launch(stream, grid, kernel, (…)): a row of data/kernels/python_calls.tsv
  kRaw,        // kernel(…, grid=…, block=…) or a CuPy RawKernel
};

struct Launch {
  LaunchKind kind = LaunchKind::kSubscript;
  std::string kernel;                // the expression: "self.kernel", "kernel"
  std::vector<std::string> kernels;  // what it can mean: through local assignments and `if else`
  std::string wrapped;               // of trace(kernel)[grid](…) what the call is given
  std::string grid, block, shared_memory, stream, cluster;
  std::string grid_value;            // what a local name given as grid was set to
  std::vector<Argument> arguments;   // of the kernel
  std::vector<Argument> attributes;  // other keywords of .launch(…)
  std::string function;              // around it, with scope
  std::string via;                   // kApi: the call as written, "wp.launch"
  std::vector<std::string> named;    // kRaw: of RawKernel(source, "name"), get_function("name")
  bool named_by_module = false;      // by get_function, of a module that may be any
  std::optional<KernelKind> makes;   // the call makes a kernel of the function it is given
  uint32_t line_first = 0, line_last = 0;
};

// A kernel that a call makes of a source text: cupy.ElementwiseKernel(…, "scale").
struct NamedKernel {
  KernelKind kind = KernelKind::kCupy;
  std::string name;
  std::string function;  // around it, with scope
  bool called = false;   // where it is made: cupy.ElementwiseKernel(…)(x, y)
  uint32_t line_first = 0, line_last = 0;
};

// load_inline(…, functions=["relu"]): a function of C++ that the module is built with.
struct InlineExport {
  std::string name;
  uint32_t line = 0;
};

// A name of module level that a call is given: a function that may be a kernel, and what runs it.
struct HandedName {
  std::string callee, name;
  size_t position = 0;  // among the arguments; SIZE_MAX: by keyword
  std::string keyword;
  std::string function;  // around it, with scope
  uint32_t line_first = 0, line_last = 0;
};

enum class OptionSource : uint8_t {
  kArgparse,
  kClick,
  kTyper,
  kAbsl,
  kDataclass,
  kFunction,  // a parameter of a function that fire or tyro calls
  kGlobals,   // a variable of the module; `via`: the file that sets it, empty: this one
  kEnvironment
};

struct Option {
  OptionSource source = OptionSource::kArgparse;
  std::vector<std::string> names;  // "--model-path", "-m"; env: one, with {part} where composed
  std::string type, action, help, dest;
  std::optional<std::string> default_value;  // the expression as written
  bool default_implied = false;              // by store_true and the like
  bool required = false;
  std::vector<std::string> choices;
  std::string function;    // around it
  std::string from_class;  // a class whose field of this name says the rest (kDataclass, **kwargs)
  std::string unpacked;    // the expression after **: more of it stands there
  std::string via;         // what reads or adds it: "os.getenv", a helper's name
  bool certain = true;     // false: the helper is not in this file, and only its name says so
  bool written = false;    // env: the file sets or deletes it, and this is not a reading
  uint32_t line = 0;
};

// A function that reads the environment variable which it is given the name of, for calls
// elsewhere.
struct EnvironmentHelper {
  std::string function;       // a class's name where it is its constructor
  std::string name_template;  // "{name}", "APP_{name}"
  std::string name_parameter, default_parameter;
  std::optional<size_t> name_position, default_position;  // among the arguments of a call
  std::optional<std::string> default_value;               // where no argument says another
  uint32_t line = 0;
};

// HfArgumentParser((A, B)), tyro.cli(Args), fire.Fire(main): the options are what these have.
struct ParsedClass {
  std::string name, via, function;
  uint32_t line = 0;
};

struct Route {
  std::string method, path, function;
  std::string router;  // the object it is added to
  uint32_t line = 0;
};

// app.include_router(router, prefix="/v1")
struct RouterMount {
  std::string onto, router, prefix;
  uint32_t line = 0;
};

enum class CudaTextKind : uint8_t {
  kSource,         // contains __global__
  kCode,           // C++ without a kernel: #include, template <…>
  kFileName,       // "index.cu"
  kInstantiation,  // f"IndexKernel<{args}>::run"
  kShader,         // a program in OpenCL C, Metal, WGSL, GLSL or HLSL
};

// A string literal that holds CUDA source, or names a file of it, or fills in template arguments.
struct CudaText {
  CudaTextKind kind = CudaTextKind::kFileName;
  std::string text;             // the literal's content; fields of f-strings as {expression}
  uint32_t line = 0;            // of its first character
  std::vector<uint32_t> lines;  // of programs: for each line of the text its line in the file
  std::string assigned_to, function;
  std::string call;  // whose argument it is; empty: none's
};

enum class FlowKind : uint8_t {
  kAssign,  // target = value, target: type
  kEntry,   // target holds value: an element of a list, a dictionary or a container made of them
  kReturn,  // return value
  kMember,  // return SimpleNamespace(target=value)
  kLoop,    // for target in value
  kCheck,   // isinstance(…, value)
  kHand,    // value is given to the call `target`, which runs or builds it: Process(target=value)
};

// How a value gets its name, as far as that tells whose object it is. Values are ways of names:
// "self.x", "make().y", "TABLE[]()"; what calls are given and subscripts say is left out.
struct ValueFlow {
  FlowKind kind = FlowKind::kAssign;
  std::string target, value;
  std::string type;  // the annotation of the target; empty: none
  uint32_t line = 0;
  uint32_t function = UINT32_MAX;  // in PythonFile::functions; UINT32_MAX: at module level
};

struct PythonFile {
  std::vector<Import> imports;
  std::vector<Function> functions;
  std::vector<Class> classes;
  std::vector<Call> module_calls;  // at module level, and in the bodies of classes there
  std::vector<Launch> launches;
  std::vector<NamedKernel> named_kernels;
  std::vector<InlineExport> inline_exports;
  std::vector<HandedName> handed;
  std::vector<Option> options;
  std::vector<EnvironmentHelper> environment_helpers;
  std::vector<ParsedClass> parsed_classes;
  std::vector<Route> routes;
  std::vector<RouterMount> router_mounts;
  std::vector<CudaText> cuda_texts;
  std::vector<ValueFlow> flows;                                // in order of line
  std::vector<std::pair<std::string, uint32_t>> exports;       // names of __all__, with their lines
  std::vector<std::pair<std::string, std::string>> constants;  // NAME = literal at module level
  // Every name and attribute that is used or imported, in order of the alphabet; defining a
  // function is not using it.
  std::vector<std::string> names_used;
  std::vector<uint32_t> names_used_at;  // the line of each where it is first used
  // Attributes of objects that are called like settings, args.x and self.config.x, with the line
  // where each is first used; in order of the alphabet.
  std::vector<std::pair<std::string, uint32_t>> settings_read;
  // Calls that are given such an object as a whole, by their callee as written: run(args).
  std::vector<std::string> settings_passed;
  // The line that sets variables of the module from the command line: globals()[key] = value.
  std::optional<uint32_t> globals_set;
  std::optional<uint32_t>
      main_guard;        // the line of `if __name__ == "__main__"`, in all its disguises
  bool damaged = false;  // some statement could not be parsed and was passed over
};

PythonFile read_python(std::string_view text);
struct Tree;  // python/ast.h
PythonFile read_python(const Tree& tree);

// The options that a parser makes of a class's fields: --name, its type, default and help.
std::vector<Option> options_of_class(const Class& fields_of);

// The content of an expression that is a string literal, as a constant's; none: it is none.
std::optional<std::string> string_content(std::string_view expression);

}  // namespace fathom::python
