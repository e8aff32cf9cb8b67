#include "scan/manifests/build_targets.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text_parts.h"
#include "scan/manifests/cmake_text.h"

namespace fathom {
namespace {

constexpr size_t kMostTargets = 500, kMostExpanded = 2000;

bool is_source_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return false;
  return is_one_of(name.substr(dot + 1), {"c", "cc", "cpp", "cxx", "cu", "C", "hip", "c++", "m"});
}

using Variables = std::map<std::string, std::vector<std::string>, std::less<>>;

// ${NAME} as a whole word becomes the words that it was set to, inside of one its first.
void expand_word(const std::string& word, const Variables& variables,
                 std::vector<std::string>& out) {
  const size_t open = word.find("${");
  const size_t close = open == std::string::npos ? open : word.find('}', open);
  if (close == std::string::npos || out.size() >= kMostExpanded) {
    if (out.size() < kMostExpanded) out.push_back(word);
    return;
  }
  const std::string name = word.substr(open + 2, close - open - 2);
  const auto known = variables.find(name);
  if (known == variables.end()) {
    out.push_back(word);
    return;
  }
  if (open == 0 && close + 1 == word.size()) {
    for (const std::string& one : known->second) {
      if (out.size() < kMostExpanded) out.push_back(one);
    }
  } else if (!known->second.empty()) {
    out.push_back(word.substr(0, open) + known->second[0] + word.substr(close + 1));
  }
}

// A path from the build folder; `${CMAKE_BINARY_DIR}/x` is x, marked by a slash in front.
std::string output_path(std::string path) {
  constexpr std::string_view kTop = "${CMAKE_BINARY_DIR}/", kHere = "${CMAKE_CURRENT_BINARY_DIR}/";
  if (path.starts_with(kTop)) return "/" + path.substr(kTop.size());
  if (path.starts_with(kHere)) path.erase(0, kHere.size());
  return !holds(path, '$') ? path : std::string();
}

std::string source_path(std::string path) {
  for (const std::string_view here : {"${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_CURRENT_LIST_DIR}/",
                                      "${PROJECT_SOURCE_DIR}/", "${CMAKE_SOURCE_DIR}/"}) {
    if (path.starts_with(here)) path.erase(0, here.size());
  }
  // An object that a custom rule names after its source.
  if (path.ends_with(".o")) path.resize(path.size() - 2);
  return path;
}

bool is_built_in(std::string_view name) {
  for (const std::string_view begin :
       {"add_",    "cmake_", "find_",        "include",         "install",
        "message", "option", "project",      "target_",         "get_",
        "file",    "end",    "export",       "enable_",         "configure_",
        "mark_",   "math",   "fetchcontent", "externalproject", "check_",
        "pkg_"}) {
    if (name.starts_with(begin)) return true;
  }
  return is_one_of(name, {"if", "elseif", "else", "endif", "foreach", "endforeach", "list",
                          "string", "while", "return", "function", "macro"});
}

class CMakeTargets {
 public:
  std::vector<BuildTarget> read(std::string_view text) {
    for (const CMakeCommand& command : cmake_commands(text)) {
      if (command.words.empty() || targets_.size() >= kMostTargets) continue;
      std::vector<std::string> words;
      for (const CMakeWord& word : command.words) expand_word(word.text, variables_, words);
      if (command.name == "set" || command.name.starts_with("set_")) {
        if (command.name == "set") set(command.words[0].text, words, false);
      } else if (command.name.ends_with("add_executable")) {
        add_executable(command, words);
      } else if (command.name == "add_custom_command") {
        add_custom(command, words);
      } else if (!is_built_in(command.name)) {
        set(command.words[0].text, words, true);
      }
    }
    return std::move(targets_);
  }

 private:
  void set(const std::string& name, const std::vector<std::string>& words, bool append) {
    std::vector<std::string>& value = variables_[name];
    if (!append) value.clear();
    for (size_t i = 1; i < words.size() && value.size() < kMostExpanded; ++i) {
      if (words[i] != "PARENT_SCOPE" && words[i] != "CACHE") value.push_back(words[i]);
    }
  }

  void add_executable(const CMakeCommand& command, const std::vector<std::string>& words) {
    const std::string& name = words[0];
    if (holds(name, '$') || name.empty()) return;
    BuildTarget target{name, name, {}, command.line};
    for (size_t i = 1; i < words.size(); ++i) {
      const std::string path = source_path(words[i]);
      if (is_source_name(path)) target.sources.push_back(path);
    }
    if (!target.sources.empty()) targets_.push_back(std::move(target));
  }

  // nvcc a.cu.o b.cu.o -o program
  void add_custom(const CMakeCommand& command, const std::vector<std::string>& words) {
    BuildTarget target;
    target.line = command.line;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "-shared" || words[i] == "-c") return;
      if (words[i] == "-o" && i + 1 < words.size()) target.output = output_path(words[i + 1]);
      const std::string path = source_path(words[i]);
      if (is_source_name(path) && !contains(target.sources, path)) target.sources.push_back(path);
    }
    const std::string_view file =
        std::string_view(target.output).substr(target.output.rfind('/') + 1);
    const bool is_program = !file.empty() && !holds(file, '.');
    if (is_program && !target.sources.empty()) targets_.push_back(std::move(target));
  }

  Variables variables_;
  std::vector<BuildTarget> targets_;
};

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

// $(NAME) and ${NAME} by what the Makefile sets them to; what it does not stays.
std::string expand_make(std::string text, const std::map<std::string, std::string>& variables) {
  for (int depth = 0; depth < 8; ++depth) {
    const size_t open = text.find('$');
    if (open == std::string::npos || open + 1 >= text.size()) return text;
    const char end = text[open + 1] == '(' ? ')' : text[open + 1] == '{' ? '}' : '\0';
    const size_t close = end == '\0' ? std::string::npos : text.find(end, open);
    if (close == std::string::npos) return text;
    const auto known = variables.find(text.substr(open + 2, close - open - 2));
    if (known == variables.end() || text.size() + known->second.size() > 4096) return text;
    text.replace(open, close + 1 - open, known->second);
  }
  return text;
}

}  // namespace

std::vector<BuildTarget> cmake_targets(std::string_view text) { return CMakeTargets().read(text); }

std::vector<BuildTarget> make_targets(std::string_view text,
                                      const std::vector<std::string>& files) {
  std::vector<BuildTarget> targets;
  std::map<std::string, std::string> variables;
  uint32_t number = 0;
  while (!text.empty() && targets.size() < kMostTargets) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.starts_with('\t') || line.size() > 4096) continue;
    line = line.substr(0, line.find('#'));
    const size_t equals = line.find('='), colon = line.find(':');
    if (equals != std::string_view::npos &&
        (colon == std::string_view::npos || equals < colon + 3)) {
      const std::string_view head = line.substr(0, std::min(equals, colon));
      const std::vector<std::string> names =
          words_in(head.substr(0, head.find_last_not_of("?+:") + 1));
      const std::vector<std::string> value = words_in(line.substr(equals + 1));
      if (names.size() == 1 && value.size() <= 1 && variables.size() < 2000)
        variables[names[0]] = value.empty() ? "" : value[0];
      continue;
    }
    if (colon == std::string_view::npos) continue;
    const std::vector<std::string> outputs =
        words_in(expand_make(std::string(line.substr(0, colon)), variables));
    const std::vector<std::string> needs =
        words_in(expand_make(std::string(line.substr(colon + 1)), variables));
    if (outputs.size() != 1 || holds(outputs[0], '$')) continue;
    const std::string& output = outputs[0];
    if (is_source_name(output) || output.ends_with(".o") || output.ends_with(".so") ||
        output.ends_with(".a") || output.starts_with('.'))
      continue;
    const size_t percent = output.find('%');
    if (percent == std::string::npos) {
      BuildTarget target{output, output, {}, number};
      for (const std::string& need : needs) {
        if (is_source_name(need)) target.sources.push_back(need);
      }
      if (!target.sources.empty()) targets.push_back(std::move(target));
      continue;
    }
    // "%: %.cu" makes each file that fits.
    for (const std::string& need : needs) {
      const size_t hole = need.find('%');
      if (hole == std::string::npos || !is_source_name(need)) continue;
      const std::string before = need.substr(0, hole), after = need.substr(hole + 1);
      for (const std::string& file : files) {
        if (file.size() <= before.size() + after.size() || !file.starts_with(before) ||
            !file.ends_with(after) || targets.size() >= kMostTargets)
          continue;
        const std::string stem =
            file.substr(before.size(), file.size() - before.size() - after.size());
        const std::string made = output.substr(0, percent) + stem + output.substr(percent + 1);
        targets.push_back({made, made, {file}, number});
      }
      break;
    }
  }
  return targets;
}

}  // namespace fathom
