#include "scan/files/language.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "base/glob.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view languages_tsv;

namespace fathom {
namespace {

struct LanguageName {
  Language language;
  std::string_view id, name;
  bool is_code;
};

constexpr std::array kLanguages = {
    LanguageName{Language::kCpp, "cpp", "C/C++", true},
    LanguageName{Language::kCuda, "cuda", "CUDA", true},
    LanguageName{Language::kHip, "hip", "HIP", true},
    LanguageName{Language::kMusa, "musa", "MUSA", true},
    LanguageName{Language::kPython, "python", "Python", true},
    LanguageName{Language::kCython, "cython", "Cython", true},
    LanguageName{Language::kJinja, "jinja", "Jinja", true},
    LanguageName{Language::kRust, "rust", "Rust", true},
    LanguageName{Language::kGo, "go", "Go", true},
    LanguageName{Language::kZig, "zig", "Zig", true},
    LanguageName{Language::kJava, "java", "Java/Kotlin/Scala", true},
    LanguageName{Language::kJavaScript, "javascript", "JavaScript/TypeScript", true},
    LanguageName{Language::kSwift, "swift", "Swift", true},
    LanguageName{Language::kJulia, "julia", "Julia", true},
    LanguageName{Language::kFortran, "fortran", "Fortran", true},
    LanguageName{Language::kAssembly, "assembly", "assembly", true},
    LanguageName{Language::kOpenCl, "opencl", "OpenCL", true},
    LanguageName{Language::kMetal, "metal", "Metal", true},
    LanguageName{Language::kShader, "shader", "shaders", true},
    LanguageName{Language::kMlir, "mlir", "MLIR/LLVM", true},
    LanguageName{Language::kPerl, "perl", "Perl", true},
    LanguageName{Language::kRuby, "ruby", "Ruby", true},
    LanguageName{Language::kShell, "shell", "shell", true},
    LanguageName{Language::kCMake, "cmake", "CMake", false},
    LanguageName{Language::kMake, "make", "Make", false},
    LanguageName{Language::kBazel, "bazel", "Bazel", false},
    LanguageName{Language::kMeson, "meson", "Meson", false},
    LanguageName{Language::kDocker, "docker", "Dockerfile", false},
    LanguageName{Language::kProtobuf, "protobuf", "Protobuf", false},
    LanguageName{Language::kSql, "sql", "SQL", false},
    LanguageName{Language::kToml, "toml", "TOML", false},
    LanguageName{Language::kYaml, "yaml", "YAML", false},
    LanguageName{Language::kJson, "json", "JSON", false},
    LanguageName{Language::kIni, "ini", "INI", false},
    LanguageName{Language::kXml, "xml", "XML", false},
    LanguageName{Language::kHtml, "html", "HTML/CSS", false},
    LanguageName{Language::kMarkdown, "markdown", "Markdown", false},
    LanguageName{Language::kRestructuredText, "restructured_text", "reStructuredText", false},
    LanguageName{Language::kTex, "tex", "TeX", false},
    LanguageName{Language::kText, "text", "text", false},
    LanguageName{Language::kCsv, "csv", "CSV/TSV", false},
};

const LanguageName* find_language(Language language) {
  const auto* found = std::ranges::find(kLanguages, language, &LanguageName::language);
  return found == kLanguages.end() ? nullptr : found;
}

struct LanguageRules {
  std::vector<std::pair<std::string_view, Language>> names;
  std::map<std::string_view, Language> endings, shebangs;

  explicit LanguageRules(std::string_view tsv) {
    for (const auto& row : read_tsv(tsv, 3)) {
      const auto* language = std::ranges::find(kLanguages, row[0], &LanguageName::id);
      CHECK(language != kLanguages.end());
      CHECK(row[1] == "name" || row[1] == "ending" || row[1] == "shebang");
      for (const std::string_view pattern : split(row[2], ' ')) {
        if (row[1] == "name") names.emplace_back(pattern, language->language);
        if (row[1] == "ending") endings.emplace(pattern, language->language);
        if (row[1] == "shebang") shebangs.emplace(pattern, language->language);
      }
    }
  }

  static const LanguageRules& built_in() {
    static const LanguageRules rules(languages_tsv);
    return rules;
  }
};

// "#!/usr/bin/env -S python3 -u" is "python3".
std::string_view shebang_program(std::string_view beginning) {
  if (!beginning.starts_with("#!")) return {};
  const std::string_view line = beginning.substr(2, beginning.find('\n') - 2);
  for (std::string_view word : split(line, ' ')) {
    word = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
    if (!word.empty() && word.back() == '\r') word.remove_suffix(1);
    if (!word.empty() && word != "env" && word.front() != '-') return word;
  }
  return {};
}

}  // namespace

Language language_of(std::string_view path, std::string_view beginning) {
  const LanguageRules& rules = LanguageRules::built_in();
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const auto& [pattern, language] : rules.names) {
    if (glob_matches(pattern, name)) return language;
  }
  // version.h.in becomes version.h.
  if (name.ends_with(".in")) name.remove_suffix(3);
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && dot > 0) {
    const auto found = rules.endings.find(small_letters(name.substr(dot + 1)));
    if (found != rules.endings.end()) return found->second;
  }
  return value_or_empty(rules.shebangs, shebang_program(beginning));
}

std::string_view language_name(Language language) {
  const LanguageName* found = find_language(language);
  return found == nullptr ? "other" : found->name;
}

bool is_program_code(Language language) {
  const LanguageName* found = find_language(language);
  return found != nullptr && found->is_code;
}

}  // namespace fathom
