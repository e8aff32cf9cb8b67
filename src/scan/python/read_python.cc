#include <algorithm>

#include "scan/python/extract.h"

namespace fathom::python {
namespace {

std::vector<std::string> names_in_order(const std::unordered_set<std::string_view>& names) {
  std::vector<std::string> out(names.begin(), names.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

PythonFile read_python(std::string_view text) {
  const Tree tree = parse(text);
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
  find_environment(outline, out);
  find_environment_classes(outline, out.options);
  std::stable_sort(out.options.begin(), out.options.end(),
                   [](const Option& a, const Option& b) { return a.line < b.line; });
  out.parsed_classes = find_parsed_classes(outline);
  out.launches = find_launches(outline);
  find_routes(outline, out);
  out.cuda_texts = find_cuda_texts(outline);
  out.names_used = names_in_order(outline.names);
  return out;
}

}  // namespace fathom::python
