#include "scan/link/python_value.h"

#include <algorithm>

namespace fathom {
namespace {

constexpr size_t kMaxPythonValues = 24;

}  // namespace

bool is_ambiguous(const PythonValues& values) { return values.size() >= kMaxPythonValues; }

void add_value(PythonValues& into, const PythonValue& value) {
  if (is_ambiguous(into)) return;
  const auto same = [&](const PythonValue& v) {
    return v.kind == value.kind && v.ref == value.ref && v.module == value.module &&
           v.member == value.member;
  };
  if (std::none_of(into.begin(), into.end(), same)) into.push_back(value);
}

void add_values(PythonValues& into, const PythonValues& values) {
  for (const PythonValue& value : values) add_value(into, value);
}

bool has_instance(const PythonValues& values) {
  return std::any_of(values.begin(), values.end(), [](const PythonValue& value) {
    return value.kind == PythonValue::Kind::kInstance;
  });
}

}  // namespace fathom
