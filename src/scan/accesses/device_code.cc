#include "scan/accesses/device_code.h"

#include <array>

namespace fathom {
namespace {

// Longer bodies are generated or unrolled by hand, and would cost more than they tell.
constexpr uint32_t kLongestBody = 60000;
constexpr size_t kLongestAlias = 40;  // tokens
constexpr size_t kMostAliases = 400;  // of a file without code of the GPU

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
    if (source.is(i, "alignas")) add_vector(source, i, out);
  }
  if (!device && definitions.aliases.size() > kMostAliases) return out;
  for (const cpp::Alias& alias : definitions.aliases) {
    if (alias.last - alias.first > kLongestAlias) continue;
    std::string text = source.source(alias.first, alias.last);
    if (text.size() <= 2 * kLongestAlias)
      out.aliases.push_back({alias.name, std::move(text), alias.line});
  }
  return out;
}

}  // namespace fathom
