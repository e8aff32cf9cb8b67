#include "story/source_outlines.h"

#include <algorithm>
#include <utility>

#include "scan/cpp/body_outline.h"
#include "scan/cpp/plain_spelling.h"
#include "scan/cpp/pointer_names.h"
#include "scan/files/source_text.h"
#include "scan/python/ast.h"
#include "scan/python/body_outline.h"
#include "scan/python/extract.h"

namespace fathom {

// Finds functions by their lines.
template <typename Function>
class FunctionLines {
 public:
  explicit FunctionLines(const std::vector<Function>& functions) {
    for (const Function& function : functions) {
      named_.emplace(function.line_name, &function);
      by_first_.push_back(&function);
    }
    std::ranges::stable_sort(by_first_, {}, first_line);
  }

  // The innermost function around the line, unless one is named in it.
  const Function* at(uint32_t line) const {
    constexpr int kMostTries = 256;  // functions that begin before the line, the nearest first
    if (const auto named = named_.find(line); named != named_.end()) return named->second;
    auto next = std::ranges::upper_bound(by_first_, line, {}, first_line);
    for (int tries = 0; next != by_first_.begin() && tries < kMostTries; ++tries) {
      --next;
      if ((*next)->line_last >= line) return *next;
    }
    return nullptr;
  }

 private:
  static uint32_t first_line(const Function* function) { return function->line_first; }

  std::map<uint32_t, const Function*> named_;
  std::vector<const Function*> by_first_;
};

struct SourceOutlines::CppText {
  CppText(std::string content, bool jinja)
      : text(jinja ? std::move(content) : cpp::plain_spelling(std::move(content))),
        source(jinja ? cpp::lex_jinja(text) : cpp::lex(text)),
        brackets(source),
        code{source, brackets},
        definitions(cpp::find_definitions(source, {})),
        lines(definitions.functions) {}

  const std::string text;
  const cpp::TokenList source;
  const cpp::Brackets brackets;
  const cpp::Code code;
  const cpp::Definitions definitions;
  const FunctionLines<cpp::Function> lines;
  std::map<const cpp::Function*, CppBody> bodies;
};

struct SourceOutlines::PythonText {
  explicit PythonText(std::string content)
      : text(std::move(content)),
        tree(python::parse(text)),
        nodes(python::functions_by_line(tree)) {
    const python::Outline outline(tree);
    functions = python::find_functions(outline);
    std::vector<std::vector<python::Call>> calls = python::find_calls(outline);
    for (size_t i = 0; i < functions.size(); ++i) functions[i].calls = std::move(calls[i]);
    lines.emplace(functions);
    for (const python::Function& function : functions)
      by_name.try_emplace(function.name, &function);
  }

  const std::string text;
  const python::Tree tree;
  const std::map<uint32_t, python::NodeId> nodes;
  std::vector<python::Function> functions;
  std::optional<FunctionLines<python::Function>> lines;
  std::map<std::string_view, const python::Function*> by_name;  // the first of each name
  std::map<const python::Function*, PythonBody> bodies;
};

SourceOutlines::SourceOutlines(std::filesystem::path root, const std::vector<SourceFile>& files)
    : root_(std::move(root)), files_(files) {
  for (const SourceFile& file : files) {
    const bool code = file.language == Language::kCpp || file.language == Language::kCuda ||
                      file.language == Language::kJinja;
    if (code) cpp_lines_ += file.lines;
  }
}

SourceOutlines::~SourceOutlines() = default;

std::string SourceOutlines::read(uint32_t file) const {
  if (file >= files_.size() || !files_[file].skipped.empty()) return "";
  Result<std::string> text = read_source_text(root_ / files_[file].path);
  return text.ok() ? text.take() : "";
}

SourceOutlines::CppText& SourceOutlines::cpp_text(uint32_t file) {
  std::unique_ptr<CppText>& text = cpp_[file];
  if (!text) {
    const Language language = files_[file].language;
    const bool python = language == Language::kPython;
    text = std::make_unique<CppText>(python ? "" : read(file), language == Language::kJinja);
  }
  return *text;
}

SourceOutlines::PythonText& SourceOutlines::python_text(uint32_t file) {
  std::unique_ptr<PythonText>& text = python_[file];
  if (!text) {
    const bool python = files_[file].language == Language::kPython;
    text = std::make_unique<PythonText>(python ? read(file) : "");
  }
  return *text;
}

const std::vector<cpp::PatternHit>& CppBody::hits(cpp::PatternScope scope) const {
  Statement whole;
  whole.first = static_cast<uint32_t>(function->body_first);
  whole.last = static_cast<uint32_t>(function->body_last + 1);
  return hits(whole, scope);
}

const std::vector<cpp::PatternHit>& CppBody::hits(const Statement& statement,
                                                  cpp::PatternScope scope) const {
  const auto [found, added] =
      known_hits_.try_emplace(Range(statement.first, statement.last, scope));
  if (!added) return found->second;
  if (!pointers_) pointers_ = cpp::declared_pointers(tree);
  found->second = cpp::find_patterns(code->source, statement.first, statement.last, scope,
                                     {.tree = &tree, .pointers = &*pointers_});
  return found->second;
}

const CppBody* SourceOutlines::cpp_function(const CodePlace& at) {
  const auto [known, asked_first] = cpp_found_.try_emplace(at, nullptr);
  if (!asked_first) return known->second;
  if (at.file >= files_.size()) return nullptr;
  CppText& text = cpp_text(at.file);
  const cpp::Function* function = text.lines.at(at.line);
  if (function == nullptr || function->body_last <= function->body_first) return nullptr;
  CppBody& body = text.bodies[function];
  if (body.function == nullptr) {
    body.file = at.file;
    body.function = function;
    body.code = &text.code;
    body.tree = read_statements(text.code, function->body_first + 1, function->body_last);
    body.statements = cpp::outline_body(body.tree);
  }
  return known->second = &body;
}

const SourceOutlines::LaunchPlaces& SourceOutlines::launches(const CodeFacts& facts) {
  if (launches_) return *launches_;
  launches_.emplace();
  for (const KernelFacts& kernel : facts.kernels) {
    for (const KernelLauncher& launcher : kernel.launchers)
      launches_->emplace_back(launcher.at, &kernel);
  }
  std::stable_sort(launches_->begin(), launches_->end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return *launches_;
}

void SourceOutlines::make_room() {
  constexpr size_t kMostFiles = 100;
  if (cpp_.size() + python_.size() < kMostFiles) return;
  cpp_found_.clear();
  cpp_.clear();
  python_.clear();
}

const CppBody* SourceOutlines::cpp_method(const CodePlace& from, uint32_t line_last,
                                          std::string_view name) {
  if (from.file >= files_.size()) return nullptr;
  for (const cpp::Function& function : cpp_text(from.file).definitions.functions) {
    if (function.name == name && function.line_first >= from.line &&
        function.line_last <= line_last) {
      return cpp_function({from.file, function.line_name});
    }
  }
  return nullptr;
}

const PythonBody* SourceOutlines::python_function(const CodePlace& at) {
  if (at.file >= files_.size()) return nullptr;
  PythonText& text = python_text(at.file);
  const python::Function* function = text.lines->at(at.line);
  if (function == nullptr) return nullptr;
  const auto [body, added] = text.bodies.try_emplace(function);
  if (added) {
    const auto node = text.nodes.find(function->line_name);
    body->second = {at.file, function,
                    python::outline_function(
                        text.tree, node == text.nodes.end() ? python::NodeId{} : node->second)};
  }
  return &body->second;
}

const PythonBody* SourceOutlines::python_function(uint32_t file, std::string_view name) {
  if (file >= files_.size()) return nullptr;
  const auto& by_name = python_text(file).by_name;
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : python_function({file, found->second->line_name});
}

}  // namespace fathom
