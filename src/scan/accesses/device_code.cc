#include "scan/accesses/device_code.h"

#include <array>

namespace fathom {
namespace {

// Longer bodies are generated or unrolled by hand, and would cost more than they tell.
constexpr uint32_t kLongestBody = 60000, kLongestAlias = 80;

void add_alias(const cpp::TokenList& source, size_t at, std::vector<cpp::LocalValue>& out) {
  size_t end = at + 1;
  while (end < source.size() && !source.is(end, ";") && !source.is(end, "{") && end < at + 40)
    ++end;
  if (!source.is(end, ";")) return;
  cpp::LocalValue alias;
  alias.line = source.tokens[at].line;
  if (source.is(at, "using")) {
    if (!source.is_name(at + 1) || !source.is(at + 2, "=")) return;
    alias.name = source.at(at + 1);
    alias.text = source.source(at + 3, end);
  } else {
    if (!source.is_name(end - 1) || end < at + 3) return;
    alias.name = source.at(end - 1);
    alias.text = source.source(at + 1, end - 1);
  }
  if (alias.text.size() <= kLongestAlias) out.push_back(std::move(alias));
}

// struct alignas(16) Packed128 { … }: the alignment in bits ends the name. One without the other
// may be any class.
void add_vector(const cpp::TokenList& source, size_t at, DeviceCode& out) {
  if (at == 0 || !(source.is(at - 1, "struct") || source.is(at - 1, "class"))) return;
  if (!source.is(at + 1, "(") || !source.is(at + 3, ")") || !source.is_name(at + 4)) return;
  constexpr std::array<std::pair<std::string_view, uint32_t>, 4> widths = {
      {{"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}}};
  for (const auto& [written, bytes] : widths) {
    const std::string_view name = source.at(at + 4);
    if (source.is(at + 2, written) && name.ends_with(std::to_string(8 * bytes)))
      out.vectors.emplace_back(name, bytes);
  }
}

}  // namespace

DeviceCode keep_device_code(const cpp::TokenList& source, const cpp::Definitions& definitions,
                            bool own) {
  DeviceCode out;
  bool device = false;
  for (size_t i = 0; i < definitions.functions.size(); ++i) {
    const cpp::Function& function = definitions.functions[i];
    if (function.kind == cpp::FunctionKind::kHost || !function.defined) continue;
    if (!own && function.kind != cpp::FunctionKind::kKernel) continue;
    if (function.body_last <= function.body_first || function.body_last >= source.size()) continue;
    const cpp::Token &first = source.tokens[function.body_first],
                     &last = source.tokens[function.body_last];
    if (last.end - first.begin > kLongestBody) continue;
    out.bodies[i] = {std::string(source.text.substr(first.begin, last.end - first.begin)),
                     first.line};
    device = true;
  }
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.is(i, "using") || source.is(i, "typedef")) add_alias(source, i, out.aliases);
    if (source.is(i, "alignas")) add_vector(source, i, out);
  }
  if (!device && out.aliases.size() > 400) out.aliases.clear();
  return out;
}

}  // namespace fathom
