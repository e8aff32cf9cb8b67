#include "cli/case_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/glob.h"

namespace fathom::test {
namespace {

using Kind = CaseLine::Kind;

struct Mark {
  std::string_view text;
  Kind kind;
  bool glob;
};

// A mark that another begins with comes after it.
constexpr Mark kMarks[] = {
    {"#", Kind::kText, false},     {"needs ", Kind::kNeeds, false}, {"file ", Kind::kFile, false},
    {"$ ", Kind::kCommand, false}, {"exit ", Kind::kExit, false},   {"| ", Kind::kContent, false},
    {"|", Kind::kContent, false},  {">* ", Kind::kOutput, true},    {"> ", Kind::kOutput, false},
    {">", Kind::kOutput, false},   {"!* ", Kind::kError, true},     {"! ", Kind::kError, false},
    {"!", Kind::kError, false},
};

bool is_expectation(Kind kind) {
  return kind == Kind::kOutput || kind == Kind::kError || kind == Kind::kExit;
}

// What may stand before a line of this kind.
bool may_follow(Kind kind, std::optional<Kind> before) {
  if (is_expectation(kind))
    return before && (*before == Kind::kCommand || (is_expectation(*before) && *before <= kind));
  if (kind == Kind::kContent)
    return before && (*before == Kind::kFile || *before == Kind::kContent);
  return true;
}

std::optional<int> read_code(std::string_view text) {
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return code;
}

std::optional<CaseLine> parse_line(std::string_view line) {
  if (line.empty()) return CaseLine{};
  for (const Mark& mark : kMarks) {
    if (!line.starts_with(mark.text)) continue;
    // ">x" is a slip of the pen, not an empty line of output.
    const bool bare = mark.text.size() == 1 && mark.kind != Kind::kText;
    if (bare && line.size() > 1) return {};
    const bool whole = mark.kind == Kind::kText;
    return CaseLine{mark.kind, mark.glob, std::string(line.substr(whole ? 0 : mark.text.size())),
                    0};
  }
  return {};
}

std::string print_line(const CaseLine& line) {
  if (line.kind == Kind::kText) return line.text;
  std::string_view shortest;  // "> " has the bare ">" for an empty line
  for (const Mark& mark : kMarks) {
    if (mark.kind != line.kind || mark.glob != line.glob) continue;
    if (shortest.empty() || line.text.empty()) shortest = mark.text;
  }
  return std::string(shortest) + line.text;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool matches(const CaseLine& expected, std::string_view printed) {
  return expected.glob ? glob_matches(expected.text, printed) : expected.text == printed;
}

}  // namespace

CaseFile parse_case(std::string_view text) {
  CaseFile file;
  std::optional<Kind> before;
  size_t number = 0;
  for (const std::string& raw : split_lines(text)) {
    ++number;
    const auto fail = [&](std::string_view why) {
      file.error = std::to_string(number) + ": " + std::string(why) + ": " + raw;
      return file;
    };
    std::optional<CaseLine> line = parse_line(raw);
    if (!line) return fail("a line of no known kind");
    if (!may_follow(line->kind, before)) return fail("a line out of place");
    if (line->kind == Kind::kExit && read_code(line->text).value_or(0) == 0)
      return fail("an exit code is a number over 0, and left out when it is 0");
    line->number = number;
    before = line->kind;
    file.lines.push_back(std::move(*line));
  }
  if (case_commands(file.lines).empty()) file.error = "no command";
  if (file.lines.empty() || !file.lines.front().text.starts_with("#"))
    file.error = "1: a case begins with a comment that says why it is there";
  return file;
}

std::string print_case(const std::vector<CaseLine>& lines) {
  std::string text;
  for (const CaseLine& line : lines) text += print_line(line) + '\n';
  return text;
}

std::vector<CaseCommand> case_commands(const std::vector<CaseLine>& lines) {
  std::vector<CaseCommand> commands;
  for (const CaseLine& line : lines) {
    if (line.kind == Kind::kCommand) commands.push_back({line.text, line.number, {}});
    if (line.kind == Kind::kOutput) commands.back().expected.output.push_back(line);
    if (line.kind == Kind::kError) commands.back().expected.errors.push_back(line);
    if (line.kind == Kind::kExit)
      commands.back().expected.exit_code = read_code(line.text).value_or(0);
  }
  return commands;
}

std::vector<CaseInput> case_inputs(const std::vector<CaseLine>& lines) {
  std::vector<CaseInput> inputs;
  for (const CaseLine& line : lines) {
    if (line.kind == Kind::kFile) inputs.push_back({line.text, {}});
    if (line.kind == Kind::kContent) inputs.back().content += line.text + '\n';
  }
  return inputs;
}

std::vector<std::string> visible_lines(std::string_view printed) {
  std::string text;
  for (size_t i = 0; i < printed.size(); ++i) {
    const auto c = static_cast<unsigned char>(printed[i]);
    const auto next = static_cast<unsigned char>(i + 1 < printed.size() ? printed[i + 1] : ' ');
    if (c == 0xc2 && next < 0xa0) {
      text += "(C1)";  // U+0080 to U+009F: a second set of control characters
      ++i;
    } else if (c == '\n' || (c >= 0x20 && c != 0x7f)) {
      text += printed[i];
    } else {
      // U+2400 and on are the pictures of the control characters; DEL has the one after them.
      text += "\xe2\x90";
      text += static_cast<char>(0x80 + (c == 0x7f ? 0x21 : c));
    }
  }
  std::vector<std::string> lines = split_lines(text);
  if (!text.empty() && text.back() != '\n') lines.emplace_back("\\ no newline at the end");
  return lines;
}

std::string first_difference(const std::vector<CaseLine>& expected,
                             const std::vector<std::string>& printed) {
  for (size_t i = 0; i < std::max(expected.size(), printed.size()); ++i) {
    const bool more_expected = i < expected.size(), more_printed = i < printed.size();
    if (more_expected && more_printed && matches(expected[i], printed[i])) continue;
    return "\n  expected: " + (more_expected ? expected[i].text : "(end)") +
           "\n  printed:  " + (more_printed ? printed[i] : "(end)");
  }
  return {};
}

std::vector<CaseLine> expect_lines(Kind kind, const std::vector<CaseLine>& before,
                                   const std::vector<std::string>& printed) {
  std::vector<CaseLine> lines;
  auto next_glob = before.begin();
  for (const std::string& text : printed) {
    const auto glob = std::find_if(next_glob, before.end(), [&text](const CaseLine& line) {
      return line.glob && matches(line, text);
    });
    if (glob == before.end()) {
      lines.push_back({kind, false, text, 0});
    } else {
      lines.push_back(*glob);
      next_glob = glob + 1;
    }
  }
  return lines;
}

}  // namespace fathom::test
