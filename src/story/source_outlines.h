#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scan/code_facts.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/device_patterns.h"
#include "scan/cpp/expressions.h"
#include "scan/python/python_file.h"
#include "scan/statement.h"

namespace fathom {

// A C++ function's body, statement by statement.
struct CppBody {
  uint32_t file = 0;
  const cpp::Function* function = nullptr;
  const cpp::Code* code = nullptr;
  std::vector<Statement> statements;

  // What it does on the GPU, or on the host; in order of line.
  std::vector<cpp::PatternHit> hits(cpp::PatternScope scope) const {
    return cpp::find_patterns(code->source, function->body_first, function->body_last + 1, scope);
  }
  std::vector<cpp::PatternHit> hits(const Statement& statement, cpp::PatternScope scope) const {
    return cpp::find_patterns(code->source, statement.first, statement.last, scope);
  }
};

struct PythonBody {
  uint32_t file = 0;
  const python::Function* function = nullptr;
  std::vector<Statement> statements;
};

// The files of a scanned repository once more, for the functions that stories are told of: reading
// those few again costs less than keeping the statements of all.
class SourceOutlines {
 public:
  SourceOutlines(std::filesystem::path root, const std::vector<SourceFile>& files);
  ~SourceOutlines();

  // The function that is named in a line, or the innermost around it; null: none that is read.
  const CppBody* cpp_function(const CodePlace& at);
  // The method of a class that stands in these lines.
  const CppBody* cpp_method(const CodePlace& from, uint32_t line_last, std::string_view name);
  const PythonBody* python_function(const CodePlace& at);
  // The function of a Python file by its name; null: it has none.
  const PythonBody* python_function(uint32_t file, std::string_view name);

 private:
  struct CppText;
  struct PythonText;
  CppText& cpp_text(uint32_t file);
  PythonText& python_text(uint32_t file);
  std::string read(uint32_t file) const;

  const std::filesystem::path root_;
  const std::vector<SourceFile>& files_;
  std::map<uint32_t, std::unique_ptr<CppText>> cpp_;
  std::map<uint32_t, std::unique_ptr<PythonText>> python_;
};

}  // namespace fathom
