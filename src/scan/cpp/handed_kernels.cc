// What a file tells of kernels that other functions choose and hand on, before the kernels of the
// repository are known.
#include <algorithm>
#include <map>
#include <set>

#include "scan/cpp/launches.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMostHanded = 4096, kMostInTables = 512;  // of a file

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

// Tables outside of functions, `Kernel table[4][2] = {first<64>, …}`: what they name, themselves or
// in the file's macros that they are written with.
class KernelTables {
 public:
  KernelTables(const Code& code, Definitions& out) : code_(code), out_(out) {}

  // auto table = std::array {…}, too.
  void read(size_t name) {
    size_t open = name + 1;
    while (code_.is(open, "[") && code_.brackets.closed(open)) open = code_.past(open);
    const bool array = open > name + 1;
    if (code_.is(open, "="))
      open = past_type(open + 1);
    else if (!array)
      return;
    if (!code_.is(open, "{") || !code_.brackets.closed(open)) return;
    table_ = code_.source.at(name);
    expanded_.clear();
    add_names(code_, open + 1, code_.brackets.partner(open), true);
  }

 private:
  // Past `std::array<K, 2>` in front of a {.
  size_t past_type(size_t at) const {
    const Path type = path_from(code_, at, code_.source.size());
    return type.valid() ? type.all.last : at;
  }

  void add_names(const Code& in, size_t first, size_t last, bool expands) {
    for (size_t i = first; i < last && left_ > 0; ++i) {
      if (!in.source.is_name(i) || is_keyword(in.source.at(i)) || in.is(i + 1, "::")) continue;
      --left_;
      if (!in.is(i + 1, "(")) {
        out_.returned_names.emplace_back(table_, path_name(in, path_before(in, i + 1)));
      } else if (expands && expanded_.insert(in.source.at(i)).second) {
        add_expansion(in.source.at(i), in.source.tokens[i].line);
      }
    }
  }

  void add_expansion(std::string_view name, uint32_t line) {
    if (macros_.empty()) {
      for (const Macro& macro : out_.macros) macros_.emplace(macro.name, &macro);
    }
    // The last of its definitions so far: such macros are defined anew for each table.
    const Macro* meant = nullptr;
    const auto [first, last] = macros_.equal_range(name);
    for (auto at = first; at != last; ++at) {
      if (at->second->line <= line) meant = at->second;
    }
    if (meant == nullptr) return;
    const TokenList body = lex(meant->body);
    const Brackets brackets(body);
    add_names({body, brackets}, 0, body.size(), false);
  }

  const Code& code_;
  Definitions& out_;
  std::string table_;
  std::set<std::string_view> expanded_;
  std::multimap<std::string_view, const Macro*> macros_;
  size_t left_ = kMostInTables;
};

}  // namespace

void find_handed_kernels(const Code& code, Definitions& out) {
  const std::vector<Function>& functions = out.functions;
  size_t next = 0, names_of = SIZE_MAX;
  std::optional<size_t> around;
  std::vector<std::string> parameters;
  KernelTables tables(code, out);
  for (size_t i = 0; i + 1 < code.source.size(); ++i) {
    while (next < functions.size() && functions[next].body_first <= i) around = next++;
    if (!around || i > functions[*around].body_last) {
      if (code.source.is_name(i) && (code.is(i + 1, "[") || code.is(i + 1, "="))) tables.read(i);
      continue;
    }
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
