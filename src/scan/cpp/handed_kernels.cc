// What a file tells of kernels that other functions choose and hand on, before the kernels of the
// repository are known.
#include <algorithm>

#include "scan/cpp/launches.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMostHanded = 4096;  // of a file

// The ( of the list that a token stands in, and how many commas stand between; 0: none near.
std::pair<size_t, size_t> list_and_position(const Code& code, size_t at) {
  constexpr int kMostTokens = 128;
  size_t commas = 0;
  for (int steps = 0; at > 1 && steps < kMostTokens; ++steps) {
    --at;
    if (code.is(at, ",")) ++commas;
    if (code.is(at, ";") || code.is(at, "{") || code.is(at, "}")) return {0, 0};
    if (!code.brackets.closed(at)) continue;
    const size_t partner = code.brackets.partner(at);
    if (partner > at) return {code.is(at, "(") ? at : 0, commas};
    at = partner;
  }
  return {0, 0};
}

// fp_kernel pick(int n) { return n > 1 ? …; return kernel<2>; }
void add_returned(const Code& code, const Function& function, size_t at, Definitions& out) {
  size_t first = at + 1;
  while (code.is(first, "&") || code.is(first, "(")) ++first;
  const Path path = path_from(code, first, code.source.size());
  if (!path.valid() || path.names.size() > 6) return;
  if (!code.is(path.all.last, ";") && !code.is(path.all.last, ")")) return;
  if (is_keyword(code.source.at(path.names.back()))) return;
  out.returned_names.emplace_back(function.name, path_name(code, path));
}

// void launch_twice(Kernel kernel, int n) { launch(kernel, n); }
void add_handed(const Code& code, const Function& function,
                const std::vector<std::string>& parameters, size_t at, Definitions& out) {
  const auto parameter = std::find(parameters.begin(), parameters.end(), code.source.at(at));
  if (parameter == parameters.end()) return;
  const auto [open, position] = list_and_position(code, at);
  if (open == 0) return;
  const Path callee = path_before(code, open);
  if (!callee.valid() || is_keyword(code.source.at(callee.names.back()))) return;
  out.handed_parameters.push_back({function.name,
                                   static_cast<size_t>(parameter - parameters.begin()),
                                   std::string(code.source.at(callee.names.back())), position});
}

}  // namespace

void find_handed_kernels(const Code& code, Definitions& out) {
  const std::vector<Function>& functions = out.functions;
  size_t next = 0, names_of = SIZE_MAX;
  std::optional<size_t> around;
  std::vector<std::string> parameters;
  for (size_t i = 0; i + 1 < code.source.size(); ++i) {
    while (next < functions.size() && functions[next].body_first <= i) around = next++;
    if (!around || i > functions[*around].body_last) continue;
    const Function& function = functions[*around];
    if (function.kind != FunctionKind::kHost || !code.source.is_name(i)) continue;
    if (code.is(i, "return")) {
      const bool plain = function.return_type.empty() || is_builtin_type(function.return_type);
      if (!plain && out.returned_names.size() < kMostHanded) add_returned(code, function, i, out);
      continue;
    }
    // A whole argument.
    if (i == 0 || (!code.is(i - 1, "(") && !code.is(i - 1, ",")) ||
        (!code.is(i + 1, ")") && !code.is(i + 1, ",")))
      continue;
    if (out.handed_parameters.size() >= kMostHanded) continue;
    if (names_of != *around) {
      names_of = *around;
      parameters = parameter_names(function.parameters);
    }
    add_handed(code, function, parameters, i, out);
  }
}

}  // namespace fathom::cpp
