#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "plan/goal.h"
#include "plan/program_sources.h"
#include "scan/python/python_file.h"

namespace fathom {
namespace {

constexpr size_t kLongestLabel = 60;
constexpr size_t kMostLogLines = 2000;  // of one file

// Calls that print or log.
// Not those of warnings and errors: what they print is no measurement.
constexpr std::array<std::string_view, 6> kPythonLogs = {"print", "info",  "info_rank0",
                                                         "log",   "write", "echo"};

std::string_view last_name(std::string_view callee) {
  const size_t dot = callee.rfind('.');
  return dot == std::string_view::npos ? callee : callee.substr(dot + 1);
}

// A text with numbers in it: literals and the fields between them.
struct Format {
  std::vector<std::string> literals;  // one more than fields
  std::vector<std::string> fields;    // "{float}", "{int}", "{}"
};

std::string kind_of(char conversion) {
  if (conversion == 'd' || conversion == 'i' || conversion == 'u') return "{int}";
  return conversion == 's' || conversion == 'r' ? "{}" : "{float}";
}

// {name:.2f} of an f-string or format(); %.2f of the older form. '{{' and '%%' are letters.
Format read_format(std::string_view text, bool braces, bool percents) {
  Format format;
  format.literals.emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& literal = format.literals.back();
    if (braces && (c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      ++i;
    } else if (braces && c == '{') {
      size_t depth = 1, end = i + 1;
      while (end < text.size() && depth > 0) {
        depth += text[end] == '{' ? 1 : 0;
        depth -= text[end] == '}' ? 1 : 0;
        ++end;
      }
      if (depth > 0) return {};
      const std::string_view field = text.substr(i + 1, end - i - 2);
      const size_t colon = field.rfind(':');
      const std::string_view shape = colon == std::string_view::npos ? "" : field.substr(colon + 1);
      const bool number =
          !shape.empty() && std::string_view("defgn%").find(shape.back()) != std::string_view::npos;
      format.fields.emplace_back(number ? (shape.back() == 'd' ? "{int}" : "{float}") : "{}");
      format.literals.emplace_back();
      i = end - 1;
    } else if (percents && c == '%' && i + 1 < text.size()) {
      size_t end = i + 1;
      while (end < text.size() &&
             std::string_view("0123456789.-+ #lzhj*").find(text[end]) != std::string_view::npos)
        ++end;
      const bool conversion =
          end < text.size() &&
          std::string_view("diufegsrxEG").find(text[end]) != std::string_view::npos;
      if (!conversion) {
        literal += c;
        i = text[i + 1] == '%' ? i + 1 : i;
        continue;
      }
      format.fields.push_back(kind_of(text[end]));
      format.literals.emplace_back();
      i = end;
    } else {
      literal += c;
    }
  }
  return format;
}

// The words right before a number: behind the last line break, without what separates it from the
// number before.
std::string label_before(std::string_view literal, bool behind_number) {
  const size_t line = literal.rfind('\n');
  if (line != std::string_view::npos) literal.remove_prefix(line + 1);
  // The unit of the number before ends at a comma.
  const size_t unit = behind_number ? literal.find_first_of(",;|)]") : std::string_view::npos;
  if (unit != std::string_view::npos) literal.remove_prefix(unit);
  const size_t first = literal.find_first_not_of(" ,;|)]}\t.");
  if (first == std::string_view::npos) return "";
  literal.remove_prefix(first);
  if (literal.size() > kLongestLabel) {
    literal.remove_prefix(literal.size() - kLongestLabel);
    const size_t blank = literal.find(' ');
    if (blank == std::string_view::npos) return "";
    literal.remove_prefix(blank + 1);
  }
  return std::string(literal);
}
// Its unit: " tok/s".
std::string unit_after(std::string_view literal) {
  const size_t end = literal.find_first_of(",;|()[]\n\t");
  literal = literal.substr(0, std::min({end, literal.size(), size_t{20}}));
  while (literal.ends_with(' ') || literal.ends_with('.')) literal.remove_suffix(1);
  return std::string(literal);
}

bool has_letters(std::string_view text) { return std::ranges::count_if(text, is_letter) >= 2; }
// What cannot be typed as one argument, or would be read as a field.
bool is_plain_text(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
           std::string_view("{}\"'`\\<>$").find(c) != std::string_view::npos;
  });
}

void add_lines(const Format& format, uint32_t line, std::vector<LogLine>& out) {
  for (size_t i = 0; i < format.fields.size() && out.size() < kMostLogLines; ++i) {
    const std::string label = label_before(format.literals[i], i > 0);
    const std::string unit = unit_after(format.literals[i + 1]);
    LogLine found;
    found.at.line = line;
    // A field of no stated form may be any text: it is a number where a label names it.
    const bool typed = format.fields[i] != "{}";
    const bool named = label.ends_with(": ") || label.ends_with(":") || label.ends_with("=");
    if (has_letters(label) && is_plain_text(label) && (typed || named)) {
      found.metrics = metrics_in_words(label);
      found.pattern = label + format.fields[i];
    }
    if (found.metrics.empty() && typed && has_letters(unit) && is_plain_text(unit)) {
      found.metrics = metrics_in_words(unit);
      found.pattern = format.fields[i] + unit;
    }
    if (!found.metrics.empty()) out.push_back(std::move(found));
  }
}

void read_call(const python::Call& call, std::vector<LogLine>& out) {
  const std::string_view name = last_name(call.callee);
  if (std::ranges::find(kPythonLogs, name) == kPythonLogs.end() || call.arguments.empty()) return;
  for (const python::Argument& argument : call.arguments) {
    if (!argument.name.empty() && argument.name != "msg") continue;
    // f"…", "…" % x, "…".format(x), and "…", x of logging.
    const std::string_view text = argument.text;
    const size_t quote = text.find_first_of("\"'");
    if (quote == std::string_view::npos || quote > 2) continue;
    const std::string_view prefix = text.substr(0, quote);
    const size_t end = text.rfind(text[quote]);
    if (end <= quote) continue;
    const std::string_view content = text.substr(quote + 1, end - quote - 1);
    const bool formatted = prefix.find_first_of("fF") != std::string_view::npos;
    const bool called = text.find(".format(") != std::string_view::npos;
    std::string plain(content);
    for (size_t escape; (escape = plain.find("\\n")) != std::string::npos;)
      plain.replace(escape, 2, "\n");
    add_lines(read_format(plain, formatted || called, !formatted && !called), call.line_first, out);
    return;
  }
}

}  // namespace

std::vector<LogLine> python_log_lines(std::string_view text) {
  std::vector<LogLine> out;
  const python::PythonFile file = python::read_python(text);
  for (const python::Call& call : file.module_calls) read_call(call, out);
  for (const python::Function& function : file.functions) {
    for (const python::Call& call : function.calls) read_call(call, out);
  }
  std::ranges::stable_sort(out, {}, [](const LogLine& line) { return line.at.line; });
  return out;
}

// printf("…%f") and log calls with "{}": the literal that opens the call's arguments, on the same
// line or the next.
std::vector<LogLine> cpp_log_lines(std::string_view text) {
  std::vector<LogLine> out;
  uint32_t line = 1;
  size_t counted = 0;
  for (size_t at = 0; (at = text.find('"', at)) != std::string_view::npos;) {
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) break;
    line += static_cast<uint32_t>(std::ranges::count(text.substr(counted, at - counted), '\n'));
    counted = at;
    // What stands before the literal: "printf(", "fprintf(stderr, ", "info(", "LOG(INFO) <<".
    const std::string_view before = text.substr(at < 60 ? 0 : at - 60, at < 60 ? at : 60);
    const size_t open = before.rfind('(');
    const std::string_view call = open == std::string_view::npos ? "" : before.substr(0, open);
    const bool prints = call.ends_with("printf") || call.ends_with("info") ||
                        call.ends_with("debug") || call.ends_with("warn") ||
                        call.ends_with("print") || call.ends_with("println");
    if (prints && text[end] == '"') {
      const std::string_view content = text.substr(at + 1, end - at - 1);
      const bool percents = call.ends_with("printf");
      std::string plain(content);
      for (size_t escape; (escape = plain.find("\\n")) != std::string::npos;)
        plain.replace(escape, 2, "\n");
      add_lines(read_format(plain, !percents, percents), line, out);
    }
    at = end + 1;
    if (out.size() >= kMostLogLines) break;
  }
  return out;
}

}  // namespace fathom
