#include <optional>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/manifests/dependencies.h"
#include "scan/manifests/structured_text.h"

namespace fathom {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

void add(Declarations& out, std::optional<DependencyFacts> dependency) {
  if (dependency) out.dependencies.push_back(std::move(*dependency));
}

void add(Declarations& out, std::optional<EntryPoint> script) {
  if (script) out.entry_points.push_back(std::move(*script));
}

// Poetry: name = "^1.2", or a table with the version among others.
void add_poetry(Declarations& out, const TextValue& value, size_t name_at, std::string_view group) {
  const std::string& name = value.path[name_at];
  if (name == "python") return;
  const bool is_table = value.path.size() > name_at + 1;
  std::vector<DependencyFacts>& all = out.dependencies;
  const bool is_new = all.empty() || all.back().name != name || all.back().group != group;
  if (is_new)
    all.push_back({name, "", DependencyKind::kPython, std::string(group), {0, value.line}, {}});
  if (!is_table) {
    all.back().requirement = value.value == "*" ? "" : value.value;
  } else if (const std::string& key = value.path.back();
             key == "version" || key == "git" || key == "url" || key == "path") {
    all.back().requirement = value.value == "*" ? "" : value.value;
  }
}

// "requirements-test.txt" is "test", "requirements/cuda.txt" is "cuda", docs/requirements.txt is
// "docs", requirements.txt is what is always needed.
std::string requirements_group(std::string_view path) {
  std::string_view stem = file_name(path);
  stem = stem.substr(0, stem.rfind('.'));
  const std::string_view folder = file_name(folder_of_path(path));
  constexpr std::string_view kWord = "requirements";
  const size_t at = stem.find(kWord);
  if (at == std::string_view::npos) return std::string(stem);
  std::string group(stem.substr(0, at));
  group += stem.substr(at + kWord.size());
  const auto is_separator = [](char c) { return c == '-' || c == '_' || c == '.'; };
  while (!group.empty() && is_separator(group.front())) group.erase(group.begin());
  while (!group.empty() && is_separator(group.back())) group.pop_back();
  return group.empty() && folder != kWord ? std::string(folder) : group;
}

// "git+https://host/name.git@v1#egg=name" or a path to an archive.
std::optional<DependencyFacts> requirement_at_address(std::string_view text, uint32_t line,
                                                      std::string_view group) {
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return {};
  const size_t egg = text.find("#egg=");
  std::string_view name;
  if (egg != std::string_view::npos) {
    name = text.substr(egg + 5, text.find_first_of("&[", egg + 5) - egg - 5);
  } else {
    name = text.substr(0, text.find('#'));
    const size_t revision = name.rfind('@');
    if (revision != std::string_view::npos && revision > scheme + 3 &&
        name.find('/', revision) == std::string_view::npos) {
      name = name.substr(0, revision);
    }
    name = file_name(name);
    if (name.ends_with(".git")) name.remove_suffix(4);
    if (name.ends_with(".whl")) name = name.substr(0, name.find('-'));
  }
  if (name.empty()) return {};
  return DependencyFacts{std::string(name),  std::string(text), DependencyKind::kPython,
                         std::string(group), {0, line},         {}};
}

void read_requirement_line(std::string_view line, uint32_t number, std::string_view group,
                           Declarations& out) {
  for (const std::string_view option : {"-r", "--requirement"}) {
    if (!line.starts_with(option)) continue;
    std::string_view file = line.substr(option.size());
    if (file.starts_with('=')) file.remove_prefix(1);
    if (option == "-r" && line.starts_with("--")) continue;
    out.includes.emplace_back(without_blanks_around(file));
    return;
  }
  for (const std::string_view option : {"-e", "--editable"}) {
    if (!line.starts_with(option)) continue;
    line = without_blanks_around(line.substr(option.size()));
    add(out, requirement_at_address(line, number, group));
    return;
  }
  if (line.starts_with('-')) return;  // --index-url and the like
  if (!holds(line, " @ ") && holds(line, "://")) {
    add(out, requirement_at_address(line, number, group));
    return;
  }
  if (line.starts_with('.') || line.starts_with('/')) return;  // a folder of its own
  add(out, python_requirement(line, number, group));
}

}  // namespace

std::optional<DependencyFacts> python_requirement(std::string_view text, uint32_t line,
                                                  std::string_view group) {
  text = without_blanks_around(text);
  size_t end = 0;
  while (end < text.size() && is_name_character(text[end])) ++end;
  if (end == 0) return {};
  const std::string_view rest = without_blanks_around(text.substr(end));
  // Prose, an unfilled template or a path is no requirement.
  if (!rest.empty() && std::string_view("[(<>=!~;@").find(rest.front()) == std::string_view::npos) {
    return {};
  }
  return DependencyFacts{
      std::string(text.substr(0, end)), std::string(rest), DependencyKind::kPython,
      dependency_group(group),          {0, line},         {}};
}

std::string dependency_group(std::string_view name) {
  constexpr size_t kLongest = 100;
  return shortened_text(std::string(name.substr(0, kLongest + 1)), kLongest);
}

std::optional<EntryPoint> console_script(std::string_view name, std::string_view target,
                                         uint32_t line) {
  name = without_blanks_around(name);
  target = without_blanks_around(target);
  if (name.empty() || target.empty()) return {};
  return EntryPoint{EntryKind::kConsoleScript,
                    std::string(name),
                    std::string(target),
                    std::string(name),
                    {0, line}};
}

Declarations read_pyproject(std::string_view text) {
  Declarations out;
  read_toml(text, [&](const TextValue& v) {
    const auto group = [&v](size_t i) { return std::string_view(v.path[i]); };
    if (path_is(v, {"project", "dependencies", "*"})) {
      add(out, python_requirement(v.value, v.line, ""));
    } else if (path_is(v, {"project", "optional-dependencies", "*", "*"})) {
      add(out, python_requirement(v.value, v.line, group(2)));
    } else if (path_is(v, {"dependency-groups", "*", "*"})) {
      add(out, python_requirement(v.value, v.line, group(1)));
    } else if (path_is(v, {"build-system", "requires", "*"})) {
      add(out, python_requirement(v.value, v.line, "build"));
    } else if (path_is(v, {"tool", "uv", "dev-dependencies", "*"})) {
      add(out, python_requirement(v.value, v.line, "dev"));
    } else if (path_is(v, {"project", "scripts", "*"}) ||
               path_is(v, {"project", "gui-scripts", "*"}) ||
               path_is(v, {"project", "entry-points", "console_scripts", "*"}) ||
               path_is(v, {"tool", "poetry", "scripts", "*"})) {
      add(out, console_script(v.path.back(), v.value, v.line));
    } else if (v.path.size() >= 4 && v.path[0] == "tool" && v.path[1] == "poetry") {
      if (v.path[2] == "dependencies") add_poetry(out, v, 3, "");
      if (v.path[2] == "dev-dependencies") add_poetry(out, v, 3, "dev");
      if (v.path[2] == "group" && v.path.size() >= 6 && v.path[4] == "dependencies") {
        add_poetry(out, v, 5, dependency_group(v.path[3]));
      }
    }
  });
  return out;
}

Declarations read_requirements(std::string_view path, std::string_view text) {
  Declarations out;
  const std::string group = requirements_group(path);
  std::string joined;
  uint32_t number = 0, first = 0;
  for (std::string_view line : lines_of(text)) {
    ++number;
    if (joined.empty()) first = number;
    const size_t comment = line.starts_with('#') ? 0 : line.find(" #");
    line = without_blanks_around(line.substr(0, comment));
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    joined += line;
    if (goes_on) continue;
    // "name==1.0 --hash=sha256:…"
    const std::string_view whole = joined;
    const std::string_view without_hash = whole.substr(0, whole.find(" --hash"));
    if (!whole.empty()) read_requirement_line(without_hash, first, group, out);
    joined.clear();
  }
  return out;
}

Declarations read_setup_cfg(std::string_view text) {
  Declarations out;
  std::string section, key;
  uint32_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    std::string_view content = without_blanks_around(line);
    if (content.empty() || content.starts_with('#') || content.starts_with(';')) continue;
    if (content.starts_with('[')) {
      section = content.substr(1, content.find(']') - 1);
      key.clear();
      continue;
    }
    const bool continues = line.front() == ' ' || line.front() == '\t';
    const size_t equals = content.find('=');
    if (!continues) {
      key = without_blanks_around(content.substr(0, equals));
      content = equals == std::string_view::npos
                    ? std::string_view()
                    : without_blanks_around(content.substr(equals + 1));
      if (content.empty()) continue;
    }
    if (section == "options" && key == "install_requires") {
      add(out, python_requirement(content, number, ""));
    } else if (section == "options" && (key == "setup_requires" || key == "tests_require")) {
      add(out, python_requirement(content, number, key == "setup_requires" ? "build" : "test"));
    } else if (section == "options.extras_require") {
      add(out, python_requirement(content, number, key));
    } else if (section == "options.entry_points" && key == "console_scripts" && continues &&
               equals != std::string_view::npos) {
      add(out, console_script(content.substr(0, equals), content.substr(equals + 1), number));
    }
  }
  return out;
}

Declarations read_conda_environment(std::string_view text) {
  Declarations out;
  bool inside = false;
  constexpr size_t kNowhere = SIZE_MAX;
  size_t pip_indent = kNowhere;  // of the item that holds pip's own list
  uint32_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view uncommented = line.substr(0, line.find(" #"));
    std::string_view content = without_blanks_around(uncommented);
    if (content.empty() || content.starts_with('#')) continue;
    const size_t indent = line.find_first_not_of(' ');
    if (!content.starts_with('-')) {
      if (indent == 0) inside = content.starts_with("dependencies:");
      continue;
    }
    if (!inside) continue;
    content = without_blanks_around(content.substr(1));
    if (content == "pip:") {
      pip_indent = indent;
      continue;
    }
    const bool in_pip = pip_indent != kNowhere && indent > pip_indent;
    if (!in_pip) pip_indent = kNowhere;
    while (!content.empty() && (content.front() == '"' || content.front() == '\'')) {
      content.remove_prefix(1);
      content = content.substr(0, content.find_first_of("\"'"));
    }
    if (in_pip) {
      read_requirement_line(content, number, "", out);
      continue;
    }
    const size_t channel = content.rfind("::");
    if (channel != std::string_view::npos) content.remove_prefix(channel + 2);
    size_t end = 0;
    while (end < content.size() && is_name_character(content[end])) ++end;
    if (end == 0 || content.substr(0, end) == "python") continue;
    out.dependencies.push_back({std::string(content.substr(0, end)),
                                std::string(without_blanks_around(content.substr(end))),
                                DependencyKind::kConda,
                                "",
                                {0, number},
                                {}});
  }
  return out;
}

}  // namespace fathom
