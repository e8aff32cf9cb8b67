#include "story/op_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_parts.h"
#include "cost/element_type.h"
#include "scan/cpp/tree/code_tree.h"
#include "story/parameters.h"
#include "story/source_outlines.h"

namespace fathom {
namespace {

constexpr size_t kMostValues = 400;

std::string_view after_last_joint(std::string_view name) {
  const size_t joint = name.find_last_of(":.");
  return joint == std::string_view::npos ? name : name.substr(joint + 1);
}

void add_value(std::vector<NamedValue>& out, std::string name, double value) {
  if (out.size() < kMostValues) out.push_back({std::move(name), fmt::format("{:.0f}", value), {}});
}

// What code asks of a tensor, in Python and in C++.
void add_tensor(const std::string& name, const ArgValue& argument, std::vector<NamedValue>& out) {
  const std::vector<int64_t>& dims = argument.shape.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t i = 0; i < rank; ++i) {
    const auto size = static_cast<double>(dims[static_cast<size_t>(i)]);
    for (const int64_t index : {i, i - rank}) {
      add_value(out, fmt::format("{}.shape[{}]", name, index), size);
      add_value(out, fmt::format("{}.size({})", name, index), size);
      add_value(out, fmt::format("{}.sizes()[{}]", name, index), size);
    }
  }
  for (int64_t i = 0; i < static_cast<int64_t>(argument.shape.strides.size()); ++i) {
    const auto stride = static_cast<double>(argument.shape.strides[static_cast<size_t>(i)]);
    add_value(out, fmt::format("{}.stride({})", name, i), stride);
    add_value(out, fmt::format("{}.stride({})", name, i - rank), stride);
  }
  add_value(out, name + ".dim()", static_cast<double>(rank));
  if (const auto count = element_count(dims))
    add_value(out, name + ".numel()", static_cast<double>(*count));
  if (const ElementType* type = find_element_type(argument.type)) {
    add_value(out, name + ".element_size()", type->bytes());
    add_value(out, name + ".itemsize", type->bytes());
  }
}

std::vector<NamedValue> argument_values(const std::vector<std::string>& names, const OpArgs& op) {
  std::vector<NamedValue> out;
  for (size_t i = 0; i < names.size() && i < op.inputs.size(); ++i) {
    const ArgValue& argument = op.inputs[i];
    if (argument.is_tensor()) {
      add_tensor(names[i], argument, out);
      continue;
    }
    if (const auto number = number_in<int64_t>(argument.concrete))
      add_value(out, names[i], static_cast<double>(*number));
  }
  return out;
}

std::vector<std::string> python_names(const python::Function& function) {
  std::vector<std::string> out;
  for (const python::Argument& one : function.parameters) {
    if (one.name == "self" || one.name == "*" || one.name == "/") continue;
    out.push_back(one.name);
  }
  return out;
}

std::vector<std::string> cpp_names(const cpp::Function& function) {
  std::vector<std::string> out;
  for (const CodeParameter& one : code_parameters(function.parameters)) out.push_back(one.name);
  return out;
}

// "a, f(b, c)" → a and f(b, c).
std::vector<std::string> split_outside(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  for (std::string& one : out) {
    while (one.ends_with(' ')) one.pop_back();
  }
  return out;
}

// What a call of this function is given in a statement; none: it has no such call.
std::optional<std::vector<std::string>> arguments_of_call(std::string_view text,
                                                          std::string_view function) {
  for (size_t at = text.find(function); at != std::string_view::npos;
       at = text.find(function, at + 1)) {
    const size_t open = at + function.size();
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool whole = before != '_' && std::isalnum(static_cast<unsigned char>(before)) == 0;
    if (!whole || open >= text.size() || text[open] != '(') continue;
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return split_outside(text.substr(open + 1, i - open - 1));
    }
  }
  return std::nullopt;
}

// "row_bytes = table.shape[1] * table.element_size()": names that the function gives once.
void add_assignments(const PythonBody& body, std::vector<NamedValue>& values) {
  for (const Statement& statement : body.statements) {
    const size_t equals = statement.text.find(" = ");
    if (statement.kind != StatementKind::kPlain || equals == std::string::npos) continue;
    const std::string name = statement.text.substr(0, equals);
    const bool plain = std::ranges::all_of(
        name, [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
    if (plain && values.size() < kMostValues)
      values.push_back({name, statement.text.substr(equals + 3), {}});
  }
}

}  // namespace

std::vector<NamedValue> values_of_op(const CodeFacts& facts, const KernelFacts& kernel,
                                     const KernelLauncher& launcher, const LaunchingOp& op,
                                     SourceOutlines& sources) {
  const std::string_view wanted = after_last_joint(op.name);
  const auto is_python = [&](uint32_t file) {
    return facts.files[file].language == Language::kPython;
  };
  sources.make_room();
  // The function that launches is the op itself.
  if (after_last_joint(launcher.function) == wanted && !is_python(launcher.at.file)) {
    const CppBody* body = sources.cpp_function(launcher.at);
    if (body == nullptr || body->function->name != wanted) return {};
    return argument_values(cpp_names(*body->function), op.arguments);
  }
  for (const PathHop& hop : kernel.path) {
    if (hop.kind != PathHopKind::kPython || after_last_joint(hop.name) != wanted) continue;
    const PythonBody* body = sources.python_function(hop.at);
    if (body == nullptr) return {};
    std::vector<NamedValue> values = argument_values(python_names(*body->function), op.arguments);
    add_assignments(*body, values);
    if (is_python(launcher.at.file))
      return body->function->name == launcher.function ? values : std::vector<NamedValue>();
    // A C or C++ function that it calls by its name launches.
    const CppBody* below = sources.cpp_function(launcher.at);
    if (below == nullptr) return {};
    const std::vector<std::string> names = cpp_names(*below->function);
    for (const Statement& statement : body->statements) {
      const auto given = arguments_of_call(statement.text, below->function->name);
      if (!given || given->size() != names.size()) continue;
      std::vector<NamedValue> out;
      for (size_t i = 0; i < names.size(); ++i) {
        if (const auto number = Parameters().evaluate_in((*given)[i], values))
          add_value(out, names[i], *number);
      }
      return out;
    }
    return {};
  }
  return {};
}

}  // namespace fathom
