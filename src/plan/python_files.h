#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// Python files of a repository by the end of their paths.
class PythonFiles {
 public:
  explicit PythonFiles(const CodeFacts& facts) : facts_(facts) {
    for (uint32_t i = 0; i < facts.files.size(); ++i) {
      if (facts.files[i].language == Language::kPython)
        by_name_[name_of(facts.files[i].path)].push_back(i);
    }
  }

  // The module or script that a command runs; none: it is not a Python file of the repository.
  // `folder`: that of the document, which is written from there; several folders have a run.py.
  std::optional<uint32_t> of_command(const std::vector<std::string>& words,
                                     std::string_view folder = "") const {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "-m" && i > 0 && i + 1 < words.size()) return of_module(words[i + 1]);
      if (!words[i].ends_with(".py")) continue;
      const std::string script = words[i].starts_with("./") ? words[i].substr(2) : words[i];
      const std::optional<uint32_t> beside =
          folder.empty() ? std::nullopt : ending_with(std::string(folder) + "/" + script);
      return beside ? beside : ending_with(script);
    }
    return std::nullopt;
  }
  std::optional<uint32_t> of_module(std::string module) const {
    std::ranges::replace(module, '.', '/');
    const std::optional<uint32_t> main = ending_with(module + "/__main__.py");
    return main ? main : ending_with(module + ".py");
  }

 private:
  static std::string_view name_of(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
  }
  std::optional<uint32_t> ending_with(const std::string& end) const {
    const auto found = by_name_.find(name_of(end));
    if (found == by_name_.end()) return std::nullopt;
    for (const uint32_t file : found->second) {
      const std::string& path = facts_.files[file].path;
      if (path == end || path.ends_with("/" + end)) return file;
    }
    return std::nullopt;
  }

  const CodeFacts& facts_;
  std::map<std::string_view, std::vector<uint32_t>> by_name_;
};

}  // namespace fathom
