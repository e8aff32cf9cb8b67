#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/device_patterns.h"
#include "scan/cpp/tree/code_tree.h"
#include "scan/facts/code_facts.h"
#include "scan/facts/statement.h"
#include "scan/python/python_file.h"

namespace fathom {

// A C++ function's body, statement by statement.
struct CppBody {
  // The calls of one name in it, with what is called, in order of line.
  using CallsOfName = std::vector<std::pair<const FunctionCall*, const CppBody*>>;

  uint32_t file = 0;
  const cpp::Function* function = nullptr;
  const cpp::Code* code = nullptr;
  CodeTree tree;
  std::vector<Statement> statements;

  // What it does on the GPU, or on the host, in order of line; and the same of a statement of it.
  // Worked out once, for a story asks again and again.
  const std::vector<cpp::PatternHit>& hits(cpp::PatternScope scope) const;
  const std::vector<cpp::PatternHit>& hits(const Statement& statement,
                                           cpp::PatternScope scope) const;

  // By the name of what is called; filled by whoever knows the calls.
  mutable std::optional<std::map<std::string_view, CallsOfName>> calls;

 private:
  friend class SourceOutlines;
  using Range = std::tuple<uint32_t, uint32_t, cpp::PatternScope>;
  mutable std::map<Range, std::vector<cpp::PatternHit>> known_hits_;
  mutable std::optional<cpp::DeclaredPointers> pointers_;
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
  // The kernels that the lines of a file launch, in order of place.
  using LaunchPlaces = std::vector<std::pair<CodePlace, const KernelFacts*>>;
  const LaunchPlaces& launches(const CodeFacts& facts);
  // How many lines the code that is no Python has.
  size_t cpp_lines() const { return cpp_lines_; }
  // Forgets files where many were read. What it gave before is gone then.
  void make_room();

 private:
  struct CppText;
  struct PythonText;
  CppText& cpp_text(uint32_t file);
  PythonText& python_text(uint32_t file);
  std::string read(uint32_t file) const;

  const std::filesystem::path root_;
  const std::vector<SourceFile>& files_;
  size_t cpp_lines_ = 0;
  std::map<uint32_t, std::unique_ptr<CppText>> cpp_;
  std::map<uint32_t, std::unique_ptr<PythonText>> python_;
  std::map<CodePlace, const CppBody*> cpp_found_;
  std::optional<LaunchPlaces> launches_;
};

}  // namespace fathom
