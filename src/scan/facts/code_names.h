#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace fathom {

// "kernel/rows.cu" → "rows.cu"
inline std::string_view file_name(std::string_view path) { return after_last(path, '/'); }

// "python/engine/__main__.py" → "engine/__main__.py": from where Python's import path usually
// begins, for packages without __init__.py, which say themselves nowhere where they begin.
inline std::string_view import_path(std::string_view path) {
  for (const std::string_view root : {"python/", "src/", "lib/"}) {
    if (path.starts_with(root)) return path.substr(root.size());
  }
  return path;
}

// "torch.cuda.graph" → "graph"
inline std::string_view last_part(std::string_view dotted) { return after_last(dotted, '.'); }

// "at::native::copy" → "copy"
inline std::string_view last_name(std::string_view qualified) {
  return after_last(qualified, "::");
}

// "at::native" and "copy" → "at::native::copy"
inline std::string joined_name(std::string_view scope, std::string_view joint,
                               std::string_view name) {
  std::string out(scope);
  if (!scope.empty()) out += joint;
  return out += name;
}

// Whether the name as written can mean the full one: "native::copy" of "at::native::copy".
inline bool ends_with_name(std::string_view full, std::string_view written) {
  return ends_with_part(full, written, ':');
}

// How many bytes two paths share from the left: what lies nearer shares more.
inline size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

}  // namespace fathom
