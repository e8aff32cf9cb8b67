#include "scan/link/python_ops.h"

#include <algorithm>
#include <optional>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

// torch.library's own functions, and what projects call their wrappers around them.
bool registers_op(std::string_view callee) {
  return is_one_of(last_part(callee), {"custom_op", "triton_op", "impl", "register_kernel",
                                       "register_custom_op", "direct_register_custom_op"});
}

// What the first literal of a text holds.
std::string_view first_literal(std::string_view text) {
  const size_t open = text.find_first_of("\"'");
  if (open == std::string_view::npos) return {};
  const size_t close = text.find(text[open], open + 1);
  return close == std::string_view::npos ? std::string_view()
                                         : text.substr(open + 1, close - open - 1);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
}

}  // namespace

PythonOps::PythonOps(const Readings& readings, const PythonNames& names)
    : readings_(readings), names_(names) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const python::PythonFile& python = readings.readings[file].python;
    for (uint32_t i = 0; i < python.functions.size(); ++i) {
      read_decorators(file, i);
      for (const python::Call& call : python.functions[i].calls) read_call(call, file);
    }
    for (const python::Call& call : python.module_calls) read_call(call, file);
  }
}

// @torch.library.custom_op("library::name", …), @torch.library.impl(library, "name", "CUDA")
void PythonOps::read_decorators(uint32_t file, uint32_t function) {
  for (const std::string& decorator :
       readings_.readings[file].python.functions[function].decorators) {
    const size_t open = decorator.find('(');
    if (open == std::string::npos || !registers_op(std::string_view(decorator).substr(0, open)))
      continue;
    add(first_literal(decorator), {file, function});
  }
}

// custom_op("library::name", function), library.impl("name", function, "CUDA"),
// register(op_name="name", op_func=function)
void PythonOps::read_call(const python::Call& call, uint32_t file) {
  if (call.arguments.empty() || !registers_op(call.callee)) return;
  std::string_view name, function;
  for (const python::Argument& argument : call.arguments) {
    if (name.empty()) {
      name = first_literal(argument.text);
    } else if (function.empty() && is_identifier(argument.text)) {
      function = argument.text;
    }
  }
  if (function.empty()) return;
  if (const auto found = names_.resolve_function(function, file)) add(name, *found);
}

void PythonOps::add(std::string_view text, const PythonRef& function) {
  text = text.substr(0, text.find('('));  // a schema may follow
  const size_t colons = text.find("::");
  Op op;
  op.name = colons == std::string_view::npos ? text : text.substr(colons + 2);
  if (colons != std::string_view::npos) op.library = text.substr(0, colons);
  op.function = function;
  if (op.name.empty() || !is_identifier(op.name)) return;
  by_name_[op.name].push_back(op);
  by_function_[function].push_back(std::move(op));
}

std::vector<PythonOps::Op> PythonOps::named(std::string_view library, std::string_view name) const {
  std::vector<Op> out;
  for (const Op& op : value_or_empty(by_name_, name)) {
    if (op.library.empty() || op.library == library) out.push_back(op);
  }
  return out;
}

const std::vector<PythonOps::Op>& PythonOps::of(const PythonRef& function) const {
  return value_or_empty(by_function_, function);
}

bool is_library_call(std::string_view callee, std::string_view exported) {
  if (!callee.starts_with("torch.ops.")) return false;
  callee.remove_prefix(10);
  const size_t dot = callee.rfind('.'), colons = exported.rfind("::");
  if (dot == std::string_view::npos || colons == std::string_view::npos) return false;
  if (callee.substr(dot + 1) != exported.substr(colons + 2)) return false;
  const std::string_view library = exported.substr(0, colons);
  const auto small = [](unsigned char c) { return std::islower(c) != 0; };
  const bool macro = library.size() > 2 && std::none_of(library.begin(), library.end(), small);
  return macro || callee.substr(0, dot) == library;
}

}  // namespace fathom
