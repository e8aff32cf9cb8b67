#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"
#include "scan/kernels/shader_rules.h"

namespace fathom::cpp {

// A kernel that is known by its place: what its body does is not read.
struct FoundKernel {
  KernelKind kind = KernelKind::kOpenCl;
  std::string name, scope, parameters;
  std::vector<std::string> attributes;
  uint32_t line_first = 0, line_name = 0, line_last = 0;
  // Of one that is launched where it is written, or at `launch_line`; empty: others launch it.
  std::string via, grid, function;
  uint32_t launch_line = 0;
};

// Macros that stand for a language's mark of kernels: #define KERNEL __kernel.
using KernelWords = std::map<KernelKind, std::set<std::string, std::less<>>>;
void add_kernel_words(const std::vector<Macro>& macros, KernelWords& words);
// The macros that a program in such a language defines.
std::vector<Macro> macros_of(const TokenList& source);

// The kernels of a program in OpenCL C, Metal, WGSL, GLSL or HLSL. `stem` names what is called
// `main`.
std::vector<FoundKernel> find_shader_kernels(const TokenList& source, const ShaderRule& rule,
                                             std::string_view stem, std::string_view ending,
                                             const KernelWords& words = {});

// queue.parallel_for(range, [=](…) {…}) of SYCL.
std::vector<FoundKernel> find_sycl_kernels(const TokenList& source, const Definitions& functions);

// Functions of Julia that @cuda and its like launch in the same file, and those that @kernel marks.
std::vector<FoundKernel> find_julia_kernels(std::string_view text);

// A launch of a kernel that is called so, in this file or another.
struct NamedLaunch {
  std::string name, via, grid, function;
  uint32_t line = 0;
};
struct RustKernels {
  std::vector<FoundKernel> kernels;
  std::vector<NamedLaunch> launches;
};
RustKernels find_rust_kernels(std::string_view text);

// Kernels in string literals: CUDA for NVRTC, and the languages above. Literals that stand side by
// side are one text. OpenCL C that a macro makes a string of, too.
std::vector<FoundKernel> find_kernels_in_strings(const TokenList& source);

// The lines of a text inside a file → the file's lines.
using FileLine = std::function<uint32_t(uint32_t)>;
// The kernels of a text that a program holds in a string; none: it is no GPU program. CUDA source
// is left out where `with_cuda` is false.
std::vector<FoundKernel> find_kernels_in_text(std::string_view text, const FileLine& line,
                                              bool with_cuda);

}  // namespace fathom::cpp
