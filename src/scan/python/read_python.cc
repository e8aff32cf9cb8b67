#include <algorithm>

#include "scan/python/extract.h"

namespace fathom::python {
namespace {

void add_names(const Outline& outline, PythonFile& into) {
  std::vector<std::pair<std::string_view, uint32_t>> names(outline.names.begin(),
                                                           outline.names.end());
  std::sort(names.begin(), names.end());
  into.names_used.reserve(names.size());
  into.names_used_at.reserve(names.size());
  for (const auto& [name, token] : names) {
    into.names_used.emplace_back(name);
    into.names_used_at.push_back(outline.tree.tokens.tokens[token].line);
  }
  for (const auto& [name, token] : outline.settings) {
    into.settings_read.emplace_back(name, outline.tree.tokens.tokens[token].line);
  }
  std::sort(into.settings_read.begin(), into.settings_read.end());
  into.settings_passed.assign(outline.settings_passed.begin(), outline.settings_passed.end());
}

}  // namespace

PythonFile read_python(std::string_view text) { return read_python(parse(text)); }

PythonFile read_python(const Tree& tree) {
  const Outline outline(tree);
  PythonFile out;
  out.damaged = tree.damaged;
  out.imports = find_imports(outline);
  out.functions = find_functions(outline);
  out.classes = find_classes(outline);
  out.constants = find_constants(outline);
  out.main_guard = find_main_guard(outline);
  std::vector<std::vector<Call>> calls = find_calls(outline);
  out.module_calls = std::move(calls.back());
  for (size_t i = 0; i < out.functions.size(); ++i) out.functions[i].calls = std::move(calls[i]);
  find_argparse_options(outline, out.options);
  find_click_options(outline, out.options);
  find_typer_options(outline, out.options);
  find_absl_options(outline, out.options);
  out.globals_set = find_globals_set(outline);
  find_global_options(outline, out.globals_set, out.options);
  find_environment(outline, out);
  find_environment_classes(outline, out.options);
  std::stable_sort(out.options.begin(), out.options.end(),
                   [](const Option& a, const Option& b) { return a.line < b.line; });
  out.parsed_classes = find_parsed_classes(outline);
  out.launches = find_launches(outline);
  out.named_kernels = find_named_kernels(outline);
  out.inline_exports = find_inline_exports(outline);
  mark_kernels(outline, out.functions);
  out.handed = find_handed_names(outline, out);
  find_routes(outline, out);
  out.cuda_texts = find_cuda_texts(outline);
  out.flows = find_value_flows(outline);
  out.exports = find_exports(outline);
  add_names(outline, out);
  return out;
}

}  // namespace fathom::python
