#include "scan/docs/doc_programs.h"

#include <algorithm>
#include <filesystem>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

// Modules are not nested deeper than this where somebody types their names.
constexpr size_t kMaxParts = 32;

bool is_python(std::string_view word) {
  const std::string_view name = file_name(word);
  return name == "python" || name == "python3" || name.starts_with("python3.") ||
         name == "torchrun" || name == "accelerate" || name == "deepspeed";
}

bool has_placeholder(std::string_view word) {
  return word.find_first_of("<>{}$*[]?…") != std::string_view::npos;
}

// "train_gpt2.cu" and "train_gpt2cu": a program is often called like its source.
std::string without_dots(std::string_view name) {
  std::string out(name);
  std::erase(out, '.');
  return out;
}

}  // namespace

std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (parts.empty()) return "";
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string out;
  for (const std::string_view part : parts) (out += out.empty() ? "" : "/") += part;
  return out;
}

namespace {

std::vector<std::string_view> paths_of(const CodeFacts& facts) {
  std::vector<std::string_view> paths;
  for (const SourceFile& file : facts.files) paths.push_back(file.path);
  return paths;
}

}  // namespace

DocPrograms::DocPrograms(const std::string& root, const CodeFacts& facts)
    : root_(root), ends_(paths_of(facts)) {
  for (const SourceFile& file : facts.files) {
    files_.insert(file.path);
    for (size_t slash = file.path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = file.path.rfind('/', slash - 1)) {
      if (!folders_.insert(file.path.substr(0, slash)).second) break;
    }
    if (file.language == Language::kPython && file.origin == Origin::kOwn) {
      std::string module =
          file.path.substr(0, file.path.size() - std::min<size_t>(3, file.path.size()));
      // A single word is often another's module: `python -m build`.
      const bool runs = module.ends_with("/__main__") || !holds(module, '/');
      if (module.ends_with("/__main__") || module.ends_with("/__init__"))
        module.resize(module.size() - 9);
      std::replace(module.begin(), module.end(), '/', '.');
      // "python/minisgl" is run as minisgl: every end of the name that has a dot less.
      for (size_t end = module.size(), parts = 0; parts < kMaxParts && end != 0; ++parts) {
        const size_t dot = module.rfind('.', end - 1);
        const size_t at = dot == std::string::npos ? 0 : dot + 1;
        if (runs || parts > 0) modules_.insert(module.substr(at));
        end = at == 0 ? 0 : dot;
      }
    }
  }
  for (const EntryPoint& entry : facts.entry_points) {
    if (entry.kind == EntryKind::kConsoleScript) names_.insert(entry.name);
    if (entry.kind == EntryKind::kCppMain) {
      const std::string_view name = file_name(entry.name);
      names_.insert(without_dots(name));
      names_.insert(std::string(name.substr(0, name.rfind('.'))));
    }
  }
}

bool DocPrograms::exists_from(std::string_view path, std::string_view folder) const {
  std::string joined(folder);
  (joined += folder.empty() ? "" : "/") += path;
  const std::string plain = normal_path(joined);
  if (plain.empty()) return true;  // it leads out of the repository, or is its root
  if (files_.contains(plain) || folders_.contains(plain)) return true;
  // What git ignores or the scan leaves out may lie there all the same.
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(root_) / plain, error);
}

bool DocPrograms::exists(std::string_view path, std::string_view doc_folder) const {
  if (exists_from(path, "") || exists_from(path, doc_folder)) return true;
  return ends_.has_below_folder(normal_path(path));
}

std::optional<size_t> DocPrograms::own_program(const std::vector<std::string>& words,
                                               std::string_view doc_folder) const {
  bool python = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (is_python(word)) python = true;
    if (python && word == "-m" && i + 1 < words.size() && modules_.contains(words[i + 1]) &&
        words[i + 1].find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
            std::string::npos)
      return i + 2;
    if (word.ends_with(".py") && !has_placeholder(word) && exists(word, doc_folder)) return i + 1;
    // A console script is the command itself, not somebody's argument.
    const bool first = i == 0 || words[i - 1] == "run" ||
                       words[i - 1].find('=') != std::string::npos || words[i - 1] == "sudo" ||
                       words[i - 1] == "time";
    if (first && names_.contains(word.starts_with("./") ? word.substr(2) : word)) return i + 1;
  }
  return std::nullopt;
}

std::optional<std::string> DocPrograms::missing_script(const std::vector<std::string>& words,
                                                       std::string_view doc_folder) const {
  bool python = false;
  for (const std::string& word : words) {
    if (is_python(word)) python = true;
    if (!python || !word.ends_with(".py") || has_placeholder(word) || word.starts_with('/'))
      continue;
    const std::string plain = normal_path(word);
    const size_t slash = plain.find('/');
    if (slash == std::string::npos || !is_folder(plain.substr(0, slash))) continue;
    if (!exists(word, doc_folder)) return word;
  }
  return std::nullopt;
}

}  // namespace fathom
