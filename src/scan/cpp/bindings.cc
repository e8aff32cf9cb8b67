#include "scan/cpp/bindings.h"

#include <algorithm>

#include "base/text_parts.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// "name(Tensor x) -> Tensor" and its quotes → "name".
std::string name_in_string(std::string_view literal) {
  const size_t open = literal.find('"');
  if (open == std::string_view::npos) return {};
  std::string_view inside = literal.substr(open + 1);
  if (open > 0 && literal[open - 1] == 'R')
    inside.remove_prefix(std::min(inside.find('(') + 1, inside.size()));
  const size_t begin = inside.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  inside.remove_prefix(begin);
  return std::string(inside.substr(0, inside.find_first_of("( \"\t\n")));
}

class BindingFinder {
 public:
  BindingFinder(const Code& code, const Definitions& definitions)
      : code_(code), definitions_(definitions) {}

  std::vector<Binding> run() {
    const TokenList& source = code_.source;
    size_t next = 0;
    for (size_t i = 1; i + 1 < source.size(); ++i) {
      const std::vector<Function>& functions = definitions_.functions;
      while (next < functions.size() && functions[next].body_first <= i)
        around_ = &functions[next++];
      if (!source.is_name(i) || !code_.is(i + 1, "(") || !code_.brackets.closed(i + 1)) continue;
      const std::string_view word = source.at(i);
      if (word == "TVM_FFI_DLL_EXPORT_TYPED_FUNC") {
        exported_function(i);
      } else if (word == "set_body_typed" && code_.is(i - 1, ".")) {
        global_function(i);
      } else if (is_one_of(word, {"def", "impl", "def_static", "op", "def_packed"}) &&
                 (code_.is(i - 1, ".") || code_.is(i - 1, "->"))) {
        registration(i);
      }
    }
    extern_c_functions();
    return std::move(found_);
  }

 private:
  void exported_function(size_t name) {
    const std::vector<Range> arguments = arguments_of(code_, name + 1);
    if (arguments.size() < 2) return;
    const std::string target = target_of(arguments[1]);
    found_.push_back({code_.text(arguments[0]), target, std::string(code_.source.at(name)),
                      code_.source.tokens[name].line});
  }

  // TVM_REGISTER_GLOBAL("name").set_body_typed(function)
  void global_function(size_t name) {
    const size_t close = name - 2;
    if (name < 2 || !code_.is(close, ")") || !code_.brackets.closed(close)) return;
    const size_t open = code_.brackets.partner(close);
    if (open == 0 || code_.source.tokens[open + 1].kind != TokenKind::kString) return;
    const std::vector<Range> arguments = arguments_of(code_, name + 1);
    const std::string target = arguments.empty() ? std::string() : target_of(arguments[0]);
    if (target.empty()) return;
    found_.push_back({name_in_string(code_.source.at(open + 1)), target,
                      std::string(code_.source.at(open - 1)), code_.source.tokens[name].line});
  }

  // m.def("name", &function), m.impl("name", torch::kCUDA, &function)
  void registration(size_t name) {
    const std::vector<Range> arguments = arguments_of(code_, name + 1);
    if (arguments.size() < 2) return;
    std::string exported = name_in_string(code_.source.at(literal_in(arguments[0])));
    if (exported.empty()) return;
    std::string target;
    for (size_t k = 1; k < arguments.size() && k < 4 && target.empty(); ++k) {
      target = target_of(arguments[k]);
    }
    if (target.empty()) return;
    std::string via = "pybind11", module;
    if (around_ != nullptr && name <= around_->body_last) {
      const std::string& macro = around_->name;
      if (holds(macro, "TORCH_LIBRARY")) {
        const std::string library = around_->parameters.substr(0, around_->parameters.find(','));
        if (!holds(exported, "::")) exported = library + "::" + exported;
        via = macro;
      } else if (macro == "PYBIND11_MODULE" || macro == "NB_MODULE") {
        via = macro;
        module = around_->parameters.substr(0, around_->parameters.find_first_of(", "));
        if (is_all_caps(module)) module.clear();
      } else if (holds(macro, "PYBIND11") || macro.starts_with("TVM_FFI")) {
        via = macro;
      }
    }
    found_.push_back({std::move(exported), std::move(target), std::move(via),
                      code_.source.tokens[name].line, std::move(module)});
  }

  // "name", or what macros stand around: TORCH_SELECTIVE_NAME("name").
  size_t literal_in(Range range) const {
    size_t at = range.first;
    for (int steps = 0; steps < 4 && code_.source.is_name(at) && code_.is(at + 1, "("); ++steps)
      at += 2;
    return at;
  }

  // &function, (function<T>), TORCH_BOX(&function), or the first call of a lambda.
  std::string target_of(Range range) const {
    for (int steps = 0; steps < 8 && !range.empty(); ++steps) {
      if (code_.is(range.first, "&") || code_.is(range.first, "(")) {
        const bool bracket = code_.is(range.first, "(") && code_.brackets.closed(range.first);
        if (bracket && code_.brackets.partner(range.first) + 1 == range.last) --range.last;
        ++range.first;
        continue;
      }
      if (code_.is(range.first, "[")) return first_call(range);
      const Path path = path_from(code_, range.first, range.last);
      if (!path.valid()) return {};
      if (path.all.last == range.last) {
        const std::string name = path_name(code_, path);
        // torch::kCUDA, c10::DispatchKey::CUDA: for which device, not which function.
        const bool key = name.starts_with("torch::k") || name.starts_with("c10::") ||
                         name.starts_with("at::k") || name.starts_with("py::");
        return key ? std::string() : name;
      }
      if (!code_.is(path.all.last, "(") || !code_.brackets.closed(path.all.last)) return {};
      if (path_name(code_, path).starts_with("py::")) return {};
      range = {path.all.last + 1, code_.brackets.partner(path.all.last)};
    }
    return {};
  }

  std::string first_call(Range range) const {
    size_t brace = range.first;
    while (brace < range.last && !code_.is(brace, "{")) brace = code_.past(brace);
    if (brace >= range.last) return {};
    for (const Reference& one : find_references(code_, {brace + 1, range.last})) {
      if (one.kind != ReferenceKind::kType) return one.name;
    }
    return {};
  }

  void extern_c_functions() {
    for (const Function& function : definitions_.functions) {
      const auto& attributes = function.attributes;
      if (function.kind != FunctionKind::kHost || !function.defined) continue;
      if (!contains(attributes, "extern \"C\"")) continue;
      found_.push_back({function.name, function.name, "extern \"C\"", function.line_name});
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Binding& a, const Binding& b) { return a.line < b.line; });
  }

  const Code& code_;
  const Definitions& definitions_;
  const Function* around_ = nullptr;
  std::vector<Binding> found_;
};

}  // namespace

std::vector<Binding> find_bindings(const Code& code, const Definitions& definitions) {
  return BindingFinder(code, definitions).run();
}

}  // namespace fathom::cpp
