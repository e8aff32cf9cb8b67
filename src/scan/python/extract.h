#pragma once

#include <vector>

#include "scan/python/outline.h"
#include "scan/python/python_file.h"

namespace fathom::python {

// The extractors: each looks for one kind of thing in the outline of a file. Lists are in order of
// the text, except that options are sorted by line when all are found.

std::vector<Import> find_imports(const Outline& outline);
std::vector<Function> find_functions(const Outline& outline);
std::vector<Class> find_classes(const Outline& outline);
std::vector<Field> find_fields(const Outline& outline, NodeId class_block);
std::vector<std::pair<std::string, std::string>> find_constants(const Outline& outline);
std::optional<uint32_t> find_main_guard(const Outline& outline);
// Calls in the body of each function, and last those at module level.
std::vector<std::vector<Call>> find_calls(const Outline& outline);

void find_argparse_options(const Outline& outline, std::vector<Option>& into);
void find_click_options(const Outline& outline, std::vector<Option>& into);
void find_typer_options(const Outline& outline, std::vector<Option>& into);
void find_absl_options(const Outline& outline, std::vector<Option>& into);
// The line that sets variables of the module, whatever their names, from sys.argv.
std::optional<uint32_t> find_globals_set(const Outline& outline);
void find_global_options(const Outline& outline, std::optional<uint32_t> set_at,
                         std::vector<Option>& into);
void find_environment(const Outline& outline, PythonFile& into);
void find_environment_classes(const Outline& outline, std::vector<Option>& into);
std::vector<ParsedClass> find_parsed_classes(const Outline& outline);

std::vector<Launch> find_launches(const Outline& outline);
std::vector<NamedKernel> find_named_kernels(const Outline& outline);
std::vector<InlineExport> find_inline_exports(const Outline& outline);
// Notes which of the outline's functions are kernels.
void mark_kernels(const Outline& outline, std::vector<Function>& functions);
// The row for a call, and how well it fits; null: none.
struct KernelCall {
  const KernelCallRule* rule = nullptr;
  RuleFit fit = RuleFit::kNone;
};
KernelCall kernel_call(const Outline& outline, NodeId call);
// Whether a file names a function of such a row at all: most do not.
bool names_kernel_calls(const Outline& outline);
// Of `file` the functions and imports must be known.
std::vector<HandedName> find_handed_names(const Outline& outline, const PythonFile& file);
void find_routes(const Outline& outline, PythonFile& into);
std::vector<CudaText> find_cuda_texts(const Outline& outline);
std::vector<ValueFlow> find_value_flows(const Outline& outline);
// The names that __all__ lists, with their lines.
std::vector<std::pair<std::string, uint32_t>> find_exports(const Outline& outline);

}  // namespace fathom::python
