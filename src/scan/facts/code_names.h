#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace fathom {

// "kernel/rows.cu" → "rows.cu"
inline std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "python/engine/__main__.py" → "engine/__main__.py": from where Python's import path usually
// begins, for packages without __init__.py, which say themselves nowhere where they begin.
inline std::string_view import_path(std::string_view path) {
  for (const std::string_view root : {"python/", "src/", "lib/"}) {
    if (path.starts_with(root)) return path.substr(root.size());
  }
  return path;
}

// "torch.cuda.graph" → "graph"
inline std::string_view last_part(std::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

// "at::native::copy" → "copy"
inline std::string_view last_name(std::string_view qualified) {
  const size_t colons = qualified.rfind("::");
  return colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
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
  if (!full.ends_with(written)) return false;
  return full.size() == written.size() || full[full.size() - written.size() - 1] == ':';
}

inline bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// How many bytes two paths share from the left: what lies nearer shares more.
inline size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace fathom
