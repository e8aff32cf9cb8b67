#pragma once

#include <string>
#include <string_view>
#include <vector>

// Names of C and C++ functions as --probe takes them: `libfoo.so:ns::Class::method`, `c:symbol`.
namespace fathom::probe {

// A number of a call: an argument or the result, as whole 64 bits or as an int.
struct NativeNumber {
  std::string text;       // "arg2", "int(result)"
  uint32_t argument = 0;  // 0: the result; 1 to 6
  bool is_int = false;
};

struct NativeProbe {
  std::string object;    // the file that defines it; empty: any
  std::string function;  // a symbol, or a C++ name without parameters
  std::vector<NativeNumber> numbers;
};

// Whether this is the form of a C function: what stands before the first colon is "c", has a slash,
// or is the name of a shared library.
bool is_native_probe(std::string_view probe);
// `c:f(arg1, int(arg2), result)`. What is in brackets and no such list belongs to the name.
NativeProbe native_probe(std::string_view probe);

// "ns::f" of "int ns::f<3>(char*) const"; with its template arguments where they are asked for.
std::string function_name(std::string_view demangled, bool with_arguments);
// As c++filt shows it; the symbol itself where it is no mangled name.
std::string demangled_symbol(const char* symbol);

bool matches_symbol(const NativeProbe& probe, const char* symbol);
// libfoo.so is libfoo.so.1.2 too; paths are compared by their last part.
bool matches_object(const NativeProbe& probe, std::string_view path);

}  // namespace fathom::probe
