#include <algorithm>
#include <set>

#include "scan/facts/text_lines.h"
#include "scan/manifests/cmake_text.h"
#include "scan/manifests/dependencies.h"
#include "scan/manifests/structured_text.h"

namespace fathom {
namespace {

std::string word_after(const CMakeCommand& command, std::string_view key) {
  for (size_t i = 0; i + 1 < command.words.size(); ++i) {
    if (command.words[i].text == key) return command.words[i + 1].text;
  }
  return {};
}

bool is_computed(std::string_view word) { return holds(word, '$'); }

void add_linked_libraries(const CMakeCommand& command, Declarations& out) {
  for (size_t i = 1; i < command.words.size(); ++i) {
    std::string_view name = command.words[i].text;
    if (is_one_of(name, {"PUBLIC", "PRIVATE", "INTERFACE", "LINK_PUBLIC", "LINK_PRIVATE", "debug",
                         "optimized", "general", "LINK_INTERFACE_LIBRARIES"}) ||
        is_computed(name))
      continue;
    if (name.starts_with("-l")) name.remove_prefix(2);
    if (name.empty() || name.starts_with('-') || holds(name, '/')) continue;
    out.dependencies.push_back(
        {std::string(name), "", DependencyKind::kSystem, "", {0, command.words[i].line}, {}});
  }
}

}  // namespace

Declarations read_cmake(std::string_view text) {
  Declarations out;
  for (const CMakeCommand& c : cmake_commands(text)) {
    if (c.words.empty() || is_computed(c.words[0].text)) continue;
    const std::string& first = c.words[0].text;
    const auto declare = [&](std::string requirement) {
      out.dependencies.push_back(
          {first, std::move(requirement), DependencyKind::kCMake, "", {0, c.line}, {}});
    };
    if (c.name == "find_package") {
      const std::string second = c.words.size() > 1 ? c.words[1].text : "";
      declare(!second.empty() && second[0] >= '0' && second[0] <= '9' ? second : "");
    } else if (c.name == "fetchcontent_declare" || c.name == "externalproject_add") {
      const std::string repository = word_after(c, "GIT_REPOSITORY"),
                        tag = word_after(c, "GIT_TAG");
      const std::string from = repository.empty() ? word_after(c, "URL") : repository;
      declare(from + (tag.empty() ? "" : " @ " + tag));
    } else if (c.name == "pkg_check_modules" || c.name == "pkg_search_module") {
      for (size_t i = 1; i < c.words.size(); ++i) {
        const std::string& word = c.words[i].text;
        if (word.empty() || is_computed(word) || (word[0] >= 'A' && word[0] <= 'Z')) continue;
        const size_t end = std::min(word.find_first_of("<>="), word.size());
        out.dependencies.push_back({word.substr(0, end),
                                    word.substr(end),
                                    DependencyKind::kSystem,
                                    "",
                                    {0, c.words[i].line},
                                    {}});
      }
    } else if (c.name == "target_link_libraries") {
      add_linked_libraries(c, out);
    } else if (c.name.ends_with("add_library") || c.name.ends_with("add_executable") ||
               c.name.ends_with("add_module") || c.name == "add_custom_target") {
      // A macro of the project may name it by a keyword: my_add_library(NAME core SRCS …).
      const std::string named = word_after(c, "NAME");
      out.targets.push_back(named.empty() ? first : named);
    }
  }
  return out;
}

// dependency('zlib', version : '>=1.2'), compiler.find_library('cudart', …): each name once.
Declarations read_meson(std::string_view text) {
  Declarations out;
  std::set<std::string, std::less<>> seen;
  uint32_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const std::string_view code = line.substr(0, line.find('#'));
    for (const std::string_view call : {"dependency('", "find_library('"}) {
      const size_t at = code.find(call);
      const size_t name = at + call.size();
      const size_t close = at == std::string_view::npos ? at : code.find('\'', name);
      if (close == std::string_view::npos || close == name) continue;
      // declare_dependency(…) is the project's own.
      if (at > 0 && is_word_character(code[at - 1])) continue;
      const std::string_view found = code.substr(name, close - name);
      if (!seen.emplace(found).second) continue;
      std::string requirement;
      if (const size_t key = code.find("version", close); key != std::string_view::npos) {
        const size_t open = code.find('\'', key), end = code.find('\'', open + 1);
        if (open != std::string_view::npos && end != std::string_view::npos)
          requirement = code.substr(open + 1, end - open - 1);
      }
      out.dependencies.push_back({std::string(found),
                                  std::move(requirement),
                                  DependencyKind::kSystem,
                                  "",
                                  {0, number},
                                  {}});
    }
  }
  return out;
}

Declarations read_package_json(std::string_view text) {
  Declarations out;
  read_json_values(text, [&](const TextValue& v) {
    const auto add = [&](std::string_view group) {
      out.dependencies.push_back(
          {v.path[1], v.value, DependencyKind::kNpm, std::string(group), {0, v.line}, {}});
    };
    if (path_is(v, {"dependencies", "*"})) add("");
    if (path_is(v, {"devDependencies", "*"})) add("dev");
    if (path_is(v, {"peerDependencies", "*"})) add("peer");
    if (path_is(v, {"optionalDependencies", "*"})) add("optional");
    if (!path_is(v, {"bin", "*"})) return;
    if (auto script = console_script(v.path[1], v.value, v.line)) {
      out.entry_points.push_back(std::move(*script));
    }
  });
  return out;
}

Declarations read_cargo_toml(std::string_view text) {
  Declarations out;
  std::set<std::string> own;  // crates of the same repository
  const auto add_crate = [&](const TextValue& v) {
    // dependencies.NAME, workspace.dependencies.NAME, target.'cfg(…)'.dependencies.NAME
    const auto last = v.path.begin() + static_cast<ptrdiff_t>(std::min<size_t>(v.path.size(), 3));
    const auto table = std::find_if(v.path.begin(), last, [](const std::string& name) {
      return name.ends_with("dependencies");
    });
    const auto before = table - v.path.begin();
    if (table == last || table + 1 == v.path.end()) return;
    if (before == 1 && v.path[0] != "workspace") return;
    if (before == 2 && v.path[0] != "target") return;
    const std::string& name = *(table + 1);
    const std::string group =
        *table == "dependencies" ? "" : dependency_group(table->substr(0, table->find('-')));
    std::vector<DependencyFacts>& all = out.dependencies;
    if (all.empty() || all.back().name != name || all.back().group != group) {
      all.push_back({name, "", DependencyKind::kCargo, group, {0, v.line}, {}});
    }
    const bool is_table = table + 2 != v.path.end();
    const std::string key = is_table ? *(table + 2) : "version";
    if (key == "version" || key == "git") all.back().requirement = v.value;
    if (key == "path") own.insert(name);
  };
  read_toml(text, [&](const TextValue& v) {
    add_crate(v);
    if (path_is(v, {"bin", "*", "name"}))
      out.entry_points.push_back({EntryKind::kConsoleScript, v.value, "", v.value, {0, v.line}});
  });
  std::erase_if(out.dependencies, [&own](const DependencyFacts& dependency) {
    return own.contains(dependency.name);
  });
  return out;
}

}  // namespace fathom
