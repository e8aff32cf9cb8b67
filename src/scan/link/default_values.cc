#include "scan/link/default_values.h"

#include <algorithm>
#include <cctype>

namespace fathom {
namespace {

// Constants that name one another in circles end here.
constexpr int kMaxHops = 8;

bool is_dotted_name(std::string_view text) {
  const auto part = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), part);
}

bool is_value_name(std::string_view text) {
  return text == "None" || text == "True" || text == "False";
}

}  // namespace

ResolvedDefault DefaultValues::resolve(const std::string& text, uint32_t file, int depth) const {
  if (depth > kMaxHops || !is_dotted_name(text) || is_value_name(text)) return {text, "", {}};
  if (const size_t dot = text.rfind('.'); dot != std::string::npos) {
    const auto field = find_field(text.substr(0, dot), text.substr(dot + 1), file);
    if (field && field->field->default_value) return of_field(*field, depth + 1);
  }
  const auto found = names_.resolve(text, file);
  if (!found || found->kind != PythonName::Kind::kConstant) return {text, "", Certainty::kUnsure};
  const auto& [name, value] = readings_.readings[found->file].python.constants[found->index];
  ResolvedDefault deeper = resolve(value, found->file, depth + 1);
  if (deeper.from.empty()) deeper.from = name + " in " + readings_.files[found->file].path;
  return deeper;
}

ResolvedDefault DefaultValues::of_field(const PythonField& field, int depth) const {
  ResolvedDefault deeper = resolve(*field.field->default_value, field.file, depth);
  if (deeper.from.empty()) {
    deeper.from = field.owner->name + "." + field.field->name + " at " +
                  readings_.files[field.file].path + ":" + std::to_string(field.field->line);
  }
  return deeper;
}

std::optional<PythonField> DefaultValues::find_field(std::string_view class_name,
                                                     std::string_view field, uint32_t file) const {
  const auto found = names_.resolve(class_name, file);
  if (!found || found->kind != PythonName::Kind::kClass) return std::nullopt;
  const python::Class& type = readings_.readings[found->file].python.classes[found->index];
  return names_.find_field(found->file, type, field);
}

}  // namespace fathom
