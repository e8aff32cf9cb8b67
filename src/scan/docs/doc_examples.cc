#include "scan/docs/doc_examples.h"

#include <algorithm>
#include <map>
#include <set>

#include "scan/docs/doc_text.h"
#include "scan/facts/code_names.h"
#include "scan/files/source_text.h"
#include "scan/python/python_file.h"

namespace fathom {
namespace {

constexpr uint64_t kMaxExampleBytes = 1u << 20;
// A bare name may be of any package that the document imports; more than the first few are not
// tried.
constexpr size_t kMaxPackages = 8;

std::string_view first_word(std::string_view line) {
  size_t end = 0;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
    ++end;
  return line.substr(0, end);
}

bool opens_block(std::string_view word) {
  return is_one_of(word, {"def", "class", "if", "elif", "else", "for", "while", "with", "try",
                          "except", "async", "match"});
}

// Reads the code blocks of one document, in order: what one imports, the next ones use.
class ExampleReader {
 public:
  std::vector<DocumentedCall> run(std::string_view text, bool markdown) {
    for (const DocLine& line : read_doc(text, markdown)) {
      const bool python =
          line.code && is_one_of(line.language, {"python", "py", "python3", "pycon"});
      if (python)
        add_line(line);
      else
        end_block();
    }
    end_block();
    return std::move(out_);
  }

 private:
  void add_line(const DocLine& line) {
    std::string text = line.text;
    if (lines_.empty()) indent_ = std::min(text.find_first_not_of(" \t"), text.size());
    text.erase(0, std::min({indent_, text.find_first_not_of(" \t"), text.size()}));
    for (const std::string_view prompt : {">>> ", "... "}) {
      if (text.starts_with(prompt)) text.erase(0, 4);
    }
    if (!first_word(text).empty()) statement_ = first_word(text);
    // `function(a, b):` without def, and then its documentation: people show signatures so.
    if (text.ends_with("):") && !statement_.empty() && !opens_block(statement_)) text.pop_back();
    (block_ += text) += '\n';
    lines_.push_back(line.line);
  }

  void end_block() {
    if (!block_.empty()) read(python::read_python(block_));
    block_.clear();
    lines_.clear();
    statement_.clear();
  }

  void read(const python::PythonFile& python) {
    for (const python::Import& import : python.imports) add_import(import);
    objects_.clear();
    for (const python::ValueFlow& flow : python.flows) {
      if (flow.kind == python::FlowKind::kAssign) objects_[flow.target] = flow.value;
    }
    std::map<uint32_t, std::vector<std::string>> named;  // by line
    const auto add_calls = [&](const std::vector<python::Call>& calls) {
      for (const python::Call& call : calls) named[call.line_first].push_back(call.callee);
    };
    add_calls(python.module_calls);
    for (const python::Function& function : python.functions) {
      add_calls(function.calls);
      // A signature that is shown: it means the package's function of this name.
      if (function.scope.empty()) named[function.line_name].push_back(function.name);
    }
    for (const auto& [line, names] : named) {
      for (const std::string& name : names) add(name, line);
    }
  }

  void add_import(const python::Import& import) {
    if (import.module.starts_with('.') || import.name == "*") return;
    // `import a.b` binds a.
    std::string meant = import.name.empty() ? import.module : import.module + "." + import.name;
    if (import.name.empty() && import.bound_to == import.module.substr(0, import.module.find('.')))
      meant = import.bound_to;
    imported_[import.bound_to] = std::move(meant);
    const std::string package = import.module;
    if (packages_.size() < kMaxPackages && !contains(packages_, package))
      packages_.push_back(package);
  }

  void add(std::string_view callee, uint32_t line) {
    if (callee.find_first_of("([…") != std::string_view::npos) return;
    const uint32_t at = line > 0 && line <= lines_.size() ? lines_[line - 1] : 0;
    const size_t dot = callee.find('.');
    const std::string head(callee.substr(0, dot));
    const std::string rest(dot == std::string_view::npos ? "" : callee.substr(dot));
    if (const auto object = objects_.find(head); object != objects_.end()) {
      // wrapper = package.Wrapper(…); wrapper.run(…)
      std::string_view made = object->second;
      if (!made.ends_with("()") || rest.empty()) return;
      made.remove_suffix(2);
      if (made.find_first_of("([") != std::string_view::npos) return;
      const size_t first = made.find('.');
      const auto bound = imported_.find(made.substr(0, first));
      if (bound == imported_.end()) return;
      push(bound->second + std::string(first == std::string_view::npos ? "" : made.substr(first)) +
               rest,
           at);
    } else if (const auto bound = imported_.find(head); bound != imported_.end()) {
      push(bound->second + rest, at);
    } else if (rest.empty()) {
      // A bare name that no import explains is of a package that the document imports, if any.
      for (const std::string& package : packages_) push(package + "." + head, at);
    }
  }

  void push(const std::string& name, uint32_t line) {
    if (seen_.insert(name).second) out_.push_back({name, {0, line}, false});
  }

  std::map<std::string, std::string, std::less<>> imported_, objects_;
  std::vector<std::string> packages_;
  std::set<std::string> seen_;
  std::string block_, statement_;
  std::vector<uint32_t> lines_;  // of the document
  size_t indent_ = 0;
  std::vector<DocumentedCall> out_;
};

// Whether a document shows how a library is used, by its name. Others are about one thing each, and
// their examples may call what few people need.
bool is_introduction(std::string_view path) {
  if (path.starts_with("docs/")) path.remove_prefix(5);
  const std::string name = small_letters(path.substr(0, path.find('.')));
  if (holds(name, '/')) return false;
  return holds_any(name,
                   {"index", "usage", "quickstart", "quick_st", "quick-st", "getting", "tutorial"});
}

}  // namespace

std::vector<DocumentedCall> read_doc_examples(std::string_view text, bool markdown) {
  return ExampleReader().run(text, markdown);
}

std::vector<DocumentedCall> find_doc_examples(const Repository& repository,
                                              const CodeFacts& facts) {
  std::vector<DocumentedCall> readme, others;
  for (uint32_t file = 0; file < facts.files.size(); ++file) {
    const SourceFile& source = facts.files[file];
    const bool markdown = source.language == Language::kMarkdown;
    if ((!markdown && source.language != Language::kRestructuredText) ||
        source.origin != Origin::kOwn || !source.skipped.empty() || source.size > kMaxExampleBytes)
      continue;
    const bool is_readme = facts.readme && facts.readme->file == file;
    if (!is_readme && !is_introduction(source.path)) continue;
    Result<std::string> text = read_source_text(repository.root / source.path);
    if (!text.ok()) continue;
    for (DocumentedCall& call : read_doc_examples(text.value(), markdown)) {
      call.at.file = file;
      call.from_readme = is_readme;
      (is_readme ? readme : others).push_back(std::move(call));
    }
  }
  readme.insert(readme.end(), others.begin(), others.end());
  return readme;
}

}  // namespace fathom
