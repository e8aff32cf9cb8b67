// Every function, class, decorator, parameter and call of real files, held against CPython's
// parser. The files are those below the folder that FATHOM_SCAN_REPOS names, else the project's
// own.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "checks.h"
#include "scan/python/python_file.h"
#include "test_files.h"

namespace fathom::python {
namespace {

using test::CommandResult;
using test::run_command;

constexpr size_t kCut = 60;  // CUT of scan_python_oracle.py

// Without white space, line continuations and brackets around it all.
std::string squeezed(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\\\n")) {
      ++i;
    } else if (rest.starts_with("\\\r\n")) {
      i += 2;
    } else if (std::string_view(" \t\n\r\f\v").find(text[i]) == std::string_view::npos) {
      out += text[i];
    }
  }
  while (!out.empty() && out[0] == '(') {
    int depth = 0;
    size_t close = 0;
    for (; close < out.size(); ++close) {
      depth += (out[close] == '(') - (out[close] == ')');
      if (depth == 0) break;
    }
    if (close + 1 != out.size()) break;
    out = out.substr(1, out.size() - 2);
  }
  return out;
}

std::string first_of(std::string_view text) { return squeezed(text).substr(0, kCut); }
std::string last_of(std::string_view text) {
  std::string out = squeezed(text);
  if (out.starts_with("…")) out = out.substr(std::string_view("…").size());
  return out.size() > kCut ? out.substr(out.size() - kCut) : out;
}

template <class Items, class Text>
std::string joined(const Items& items, const char* between, Text&& text) {
  std::string out;
  for (const auto& item : items) {
    if (&item != &items.front()) out += between;
    out += text(item);
  }
  return out;
}

std::string row(const std::string& owner, const Call& call) {
  return "X\t" + owner + "\t" + std::to_string(call.line_first) + "\t" +
         std::to_string(call.line_last) + "\t" + last_of(call.callee);
}

template <class Definition>
std::string row(const char* kind, const Definition& found, const std::string& rest) {
  return std::string(kind) + "\t" + std::to_string(found.line_first) + "\t" + found.name + "\t" +
         std::to_string(found.line_last) + "\t" + found.scope + "\t" + rest + "\t" +
         joined(found.decorators, "@", first_of);
}

// The oracle's rows of what our reader says.
std::vector<std::string> rows_of(const PythonFile& file) {
  std::vector<std::string> rows;
  for (const Function& function : file.functions) {
    const std::string parameters = joined(function.parameters, ",", [](const Argument& parameter) {
      return parameter.name + (parameter.text.empty() ? "" : "=" + first_of(parameter.text));
    });
    rows.push_back(row("F", function, parameters));
    const std::string owner =
        function.scope.empty() ? function.name : function.scope + "." + function.name;
    for (const Call& call : function.calls) rows.push_back(row(owner, call));
  }
  for (const Class& found : file.classes) {
    rows.push_back(row("C", found, joined(found.bases, ",", first_of)));
  }
  for (const Call& call : file.module_calls) rows.push_back(row("", call));
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Takes the calls in f-strings out, whose place an old Python does not know: by owner and name.
void take_placeless(std::vector<std::string>& ours, const std::vector<std::string>& placeless) {
  for (const std::string& wanted : placeless) {
    const size_t tab = wanted.find('\t', 2);
    const std::string begin = "X" + wanted.substr(1, tab);
    const std::string name = wanted.substr(tab + 1);
    const auto found = std::find_if(ours.begin(), ours.end(), [&](const std::string& one) {
      return one.starts_with(begin) && one.ends_with(name);
    });
    if (found != ours.end()) ours.erase(found);
  }
}

struct Expected {
  std::string path;
  std::vector<std::string> rows, placeless;
};

std::string difference(const Expected& expected) {
  const PythonFile file = read_python(test::read_file(expected.path));
  if (file.damaged) return "damaged";
  std::vector<std::string> ours = rows_of(file), theirs = expected.rows, missing, extra;
  std::sort(theirs.begin(), theirs.end());
  std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                      std::back_inserter(missing));
  std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      std::back_inserter(extra));
  take_placeless(extra, expected.placeless);
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(missing.size(), 3); ++i) out += "\n  - " + missing[i];
  for (size_t i = 0; i < std::min<size_t>(extra.size(), 3); ++i) out += "\n  + " + extra[i];
  return out;
}

TEST(ScanPythonOracle, AgreesWithPythonsOwnParser) {
  const CommandResult version = run_command("python3 --version", "/");
  if (version.exit_code != 0) GTEST_SKIP() << "no python3 here";
  const char* repositories = std::getenv("FATHOM_SCAN_REPOS");
  const std::string root = test::source_dir().string();
  const std::string folders =
      repositories != nullptr
          ? "'" + std::string(repositories) + "'"
          : "'" + root + "/examples' '" + root + "/data' '" + root + "/tools' '" + root + "/tests'";
  const CommandResult result =
      run_command("python3 '" + root + "/tests/unit/scan_python_oracle.py' " + folders, "/");
  ASSERT_EQ(result.exit_code, 0) << result.errors;

  size_t files = 0, facts = 0, skipped = 0, differing = 0;
  Expected current;
  const auto check = [&] {
    if (current.path.empty()) return;
    ++files;
    facts += current.rows.size() + current.placeless.size();
    const std::string found = difference(current);
    if (found.empty()) return;
    if (++differing <= 20) ADD_FAILURE() << current.path << found;
  };
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("FILE\t")) {
      check();
      current = {line.substr(5), {}, {}};
    } else if (line.starts_with("SKIP\t")) {
      ++skipped;
      ::testing::Test::RecordProperty("skipped_" + std::to_string(skipped), line);
    } else {
      (line[0] == 'J' ? current.placeless : current.rows).push_back(line);
    }
  }
  check();
  EXPECT_EQ(differing, 0u);
  EXPECT_GT(files, 3u);
  EXPECT_GT(facts, 300u);
  std::printf("%zu files, %zu facts, %zu files that Python refuses\n", files, facts, skipped);
}

}  // namespace
}  // namespace fathom::python
