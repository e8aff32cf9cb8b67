#include <array>

#include "base/text_parts.h"
#include "scan/cpp/kernel_choice.h"
#include "scan/facts/text_lines.h"

namespace fathom::cpp {
namespace {

std::string text_of_value(const Place& in, const Value& value, int depth);

// `blocks = min(blocks, most)` is made of what the name was before; where that is one value, it is
// put in its place.
std::string with_earlier_value(const Place& in, const Value& value, Range range, int depth) {
  constexpr int kDeepest = 3;
  constexpr size_t kLongest = 2000;  // g = g * g * g, three times over
  const std::string_view name = in.code.source.at(value.name);
  std::string earlier;
  bool asked = false;
  std::string text;
  size_t from = range.first;
  for (size_t i = range.first; i < range.last; ++i) {
    if (in.code.source.at(i) != name || (i > 0 && in.code.is(i - 1, "."))) continue;
    if (!asked && depth < kDeepest) {
      const std::vector<Value> before = in.values.meanings(name, value.name, in.from);
      if (before.size() == 1) earlier = text_of_value(in, before[0], depth + 1);
    }
    asked = true;
    if (earlier.empty()) break;
    if (text.size() > kLongest) return text + "…";
    const bool alone = (in.code.is(i - 1, "(") || in.code.is(i - 1, ",")) &&
                       (in.code.is(i + 1, ")") || in.code.is(i + 1, ","));
    text += written_text(in.code, {from, i});
    if (!text.empty() && text.back() != '(') text += ' ';
    text += alone || !holds(earlier, ' ') ? earlier : "(" + earlier + ")";
    if (in.code.source.is_name(i + 1) || !(in.code.is(i + 1, ",") || in.code.is(i + 1, ")"))) {
      text += ' ';
    }
    from = i + 1;
  }
  return text + written_text(in.code, {from, range.last});
}

std::string text_of_value(const Place& in, const Value& value, int depth) {
  const Range range = in.values.range(value);
  if (range.empty() || value.kind == ValueKind::kAlias) return {};
  if (value.kind == ValueKind::kAssigned) return with_earlier_value(in, value, range, depth);
  std::string one = written_text(in.code, range);
  const bool dim3 =
      in.code.is(value.name - 1, "dim3") || in.code.is(value.name - 1, ",") || one.starts_with('{');
  if (value.kind == ValueKind::kConstructed && !dim3) one = one.substr(1, one.size() - 2);
  if (dim3 && (one.starts_with('(') || one.starts_with('{'))) one.insert(0, "dim3");
  return one;
}

// A variable outside of the function keeps its first value only where nobody can change it.
bool may_have_changed(const Place& in, const Value& value) {
  constexpr size_t kLongestType = 16;
  if (value.name >= in.from || value.kind == ValueKind::kAlias) return false;
  for (size_t i = value.name, steps = 0; i-- > 0 && steps < kLongestType; ++steps) {
    if (in.code.is(i, ";") || in.code.is(i, "{") || in.code.is(i, "}")) break;
    if (in.code.is(i, "const") || in.code.is(i, "constexpr")) return false;
  }
  return true;
}

// What members a value has set behind it, those that still hold where it is used.
std::vector<FieldValue> dimensions_changed(const Place& in, const std::string& name, size_t since) {
  std::vector<FieldValue> out;
  for (FieldValue& field : in.values.fields(name, in.at, in.from)) {
    if (field.path != ".x" && field.path != ".y" && field.path != ".z") continue;
    if (field.name < since) continue;
    const std::string text = written_text(in.code, value_from(in.code, field.begin));
    field.changes = field.changes || text.find(name + field.path) != std::string::npos;
    if (!field.changes && in.values.always_reaches(field.name, in.at))
      std::erase_if(out, [&](const FieldValue& one) { return one.path == field.path; });
    out.push_back(std::move(field));
  }
  return out;
}

// `dim3 grid(1, 1, 1); grid.x = n;` → "dim3(n, 1, 1)"; empty: not so plain.
std::string with_members(const Place& in, const std::string& text,
                         const std::vector<FieldValue>& fields) {
  const bool one =
      text.starts_with("dim3(") && text.ends_with(')') && text.find(" or ") == text.npos;
  if (!one) return {};
  std::vector<std::string> parts;
  for (const std::string_view part : split_list(std::string_view(text).substr(5, text.size() - 6)))
    parts.emplace_back(without_blanks_around(part));
  parts.resize(3, "1");
  std::string seen;
  for (const FieldValue& field : fields) {
    const bool plain = !field.changes && in.values.always_reaches(field.name, in.at);
    if (!plain || seen.find(field.path[1]) != std::string::npos) return {};
    seen += field.path[1];
    parts[std::string_view("xyz").find(field.path[1])] =
        written_text(in.code, value_from(in.code, field.begin));
  }
  return "dim3(" + parts[0] + ", " + parts[1] + ", " + parts[2] + ")";
}

// `dim3 block(n); if (n > most) block.x = most;`: the launch has what the members were set to
// behind the value, too. "dim3(n); .x = most"
std::string with_changes(const Place& in, const std::string& name, size_t since, std::string text) {
  constexpr size_t kMost = 4;
  std::vector<FieldValue> fields = dimensions_changed(in, name, since);
  if (fields.empty()) return text;
  if (std::string plain = with_members(in, text, fields); !plain.empty()) return plain;
  // The last ones hold.
  const size_t first = fields.size() - std::min(fields.size(), kMost);
  if (first > 0) text += "; …";
  for (size_t i = first; i < fields.size(); ++i) {
    text += "; " + fields[i].path + " " + in.code.text({fields[i].name + 3, fields[i].begin}) +
            " " + written_text(in.code, value_from(in.code, fields[i].begin));
  }
  return text;
}

// `dim3 grid; grid.x = rows; grid.y = heads;` → "dim3(rows, heads, 1)".
std::string dimensions_set(const Place& in, const std::string& name) {
  std::array<std::string, 3> parts = {"1", "1", "1"};
  bool found = false;
  for (const FieldValue& field : in.values.fields(name, in.at, in.from)) {
    if (field.path.size() != 2 || field.path[0] != '.' || field.changes) return {};
    const size_t axis = std::string_view("xyz").find(field.path[1]);
    if (axis == std::string_view::npos) return {};
    parts[axis] = written_text(in.code, value_from(in.code, field.begin));
    found = true;
  }
  return found ? "dim3(" + parts[0] + ", " + parts[1] + ", " + parts[2] + ")" : "";
}

}  // namespace

std::string written_text(const Code& code, Range range) {
  constexpr size_t kLongest = 500;
  if (range.last <= range.first + kLongest) return code.text(range);
  return code.text({range.first, range.first + kLongest}) + " …";
}

std::string value_text(const Place& place, Range expression) {
  const Code& code = place.code;
  std::string written = written_text(code, expression);
  if (expression.last != expression.first + 1 || !code.source.is_name(expression.first)) {
    return written;
  }
  for (const Place* in = &place; in != nullptr; in = in->around) {
    std::string text;
    size_t since = 0;
    for (const Value& value : in->values.meanings(written, in->at, in->from)) {
      if (in->values.is_counted(value) || may_have_changed(*in, value)) return written;
      const std::string one = text_of_value(*in, value, 0);
      if (one.empty()) continue;
      since = value.name;
      if (!text.empty() && text.size() < 200) text += " or ";
      if (text.size() < 200) text += one;
    }
    if (!text.empty()) return with_changes(*in, written, since, std::move(text));
    if (std::string set = dimensions_set(*in, written); !set.empty()) return set;
  }
  return written;
}

}  // namespace fathom::cpp
