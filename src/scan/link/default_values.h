#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// A default as it is after names were followed.
struct ResolvedDefault {
  std::string text;
  std::string from;  // "EngineConfig.page_size at python/…/config.py:23"; empty: it stands there
  Certainty certainty = Certainty::kCertain;
};

// Follows the expression of a default through constants and class fields, inherited ones too.
class DefaultValues {
 public:
  DefaultValues(const Readings& readings, const PythonNames& names)
      : readings_(readings), names_(names) {}

  // What `text` stands for in a file; itself where it is a value already.
  ResolvedDefault resolve(const std::string& text, uint32_t file) const {
    return resolve(text, file, 0);
  }
  ResolvedDefault of_field(const PythonField& field) const { return of_field(field, 0); }
  std::optional<PythonField> find_field(std::string_view class_name, std::string_view field,
                                        uint32_t file) const;

 private:
  ResolvedDefault resolve(const std::string& text, uint32_t file, int depth) const;
  ResolvedDefault of_field(const PythonField& field, int depth) const;

  const Readings& readings_;
  const PythonNames& names_;
};

}  // namespace fathom
