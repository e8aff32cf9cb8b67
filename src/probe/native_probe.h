#pragma once

#include <string>
#include <string_view>

// Names of C and C++ functions as --probe takes them: `libfoo.so:ns::Class::method`, `c:symbol`.
namespace fathom::probe {

struct NativeProbe {
  std::string object;    // the file that defines it; empty: any
  std::string function;  // a symbol, or a C++ name without parameters
};

// Whether this is the form of a C function: what stands before the first colon is "c", has a slash,
// or is the name of a shared library.
bool is_native_probe(std::string_view probe);
NativeProbe native_probe(std::string_view probe);

// "ns::f" of "int ns::f<3>(char*) const"; with its template arguments where they are asked for.
std::string function_name(std::string_view demangled, bool with_arguments);
// As c++filt shows it; the symbol itself where it is no mangled name.
std::string demangled_symbol(const char* symbol);

bool matches_symbol(const NativeProbe& probe, const char* symbol);
// libfoo.so is libfoo.so.1.2 too; paths are compared by their last part.
bool matches_object(const NativeProbe& probe, std::string_view path);

}  // namespace fathom::probe
