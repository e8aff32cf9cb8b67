#include "scan/files/origin.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/glob.h"
#include "base/tsv.h"
#include "scan/facts/code_names.h"

extern const std::string_view vendored_tsv;

namespace fathom {
namespace {

struct OriginRules {
  std::vector<std::string_view> folders, top_folders, roots, starts;

  explicit OriginRules(std::string_view tsv) {
    for (const auto& row : read_tsv(tsv, 3)) {
      const bool is_folder = row[0] == "folder" && row[1] == "vendored",
                 is_top = row[0] == "top" && row[1] == "vendored",
                 is_root = row[0] == "root" && row[1] == "vendored",
                 is_start = row[0] == "start" && row[1] == "generated";
      CHECK(is_folder || is_top || is_root || is_start);
      (is_folder ? folders : is_top ? top_folders : is_root ? roots : starts).push_back(row[2]);
    }
  }

  static const OriginRules& built_in() {
    static const OriginRules rules(vendored_tsv);
    return rules;
  }
};

// The program that writes a file holds the same words, but in a string.
bool is_comment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  line.remove_prefix(first);
  return starts_with_any(line,
                         {"//", "/*", "*", "#", "--", ";", "<!--", "%", "{#", "..", "\"\"\""});
}

}  // namespace

bool is_copied_repository(const std::vector<std::string_view>& names) {
  bool licence = false, root = false;
  for (const std::string_view one : names) {
    const std::string name = small_letters(one);
    licence = licence || name.starts_with("licen") || name.starts_with("copying");
    root = root || std::ranges::any_of(OriginRules::built_in().roots, [&](std::string_view rule) {
             return glob_matches(rule, name);
           });
  }
  return licence && root;
}

bool is_vendored_folder(std::string_view path) {
  const size_t slash = path.rfind('/');
  const bool top = slash == std::string_view::npos;
  const std::string name = small_letters(top ? path : path.substr(slash + 1));
  const auto fits = [&](std::string_view pattern) { return glob_matches(pattern, name); };
  const OriginRules& rules = OriginRules::built_in();
  return std::ranges::any_of(rules.folders, fits) ||
         (top && std::ranges::any_of(rules.top_folders, fits));
}

bool says_generated(std::string_view beginning) {
  constexpr size_t kLines = 12, kBytes = 2000;
  const std::vector<std::string_view> lines = split(beginning.substr(0, kBytes), '\n');
  for (size_t i = 0; i < std::min(lines.size(), kLines); ++i) {
    if (!is_comment(lines[i])) continue;
    const std::string line = small_letters(lines[i]);
    for (const std::string_view start : OriginRules::built_in().starts) {
      if (holds(line, start)) return true;
    }
  }
  return false;
}

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kOwn:
      return "own";
    case Origin::kVendored:
      return "vendored";
    case Origin::kSubmodule:
      return "submodule";
    case Origin::kGenerated:
      return "generated";
  }
  return "";
}

}  // namespace fathom
