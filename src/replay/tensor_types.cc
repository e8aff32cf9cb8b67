#include "replay/tensor_types.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"

extern const std::string_view replay_tensor_types_tsv;

namespace fathom {
namespace {

std::unordered_map<std::string_view, std::string_view> read_types(std::string_view tsv) {
  std::unordered_map<std::string_view, std::string_view> types;
  while (!tsv.empty()) {
    const size_t end = std::min(tsv.find('\n'), tsv.size());
    const std::string_view line = tsv.substr(0, end);
    tsv.remove_prefix(std::min(end + 1, tsv.size()));
    const size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == std::string_view::npos) continue;
    types.emplace(line.substr(0, tab), line.substr(tab + 1));
  }
  types.erase("type");
  return types;
}

// At a word's borders: "float" is in "Functor<float, 4>", not in "float4" or "bfloat16".
size_t find_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string_view> torch_dtype(std::string_view type) {
  static const auto types = read_types(replay_tensor_types_tsv);
  const auto found = types.find(type);
  if (found == types.end()) return {};
  return found->second;
}

std::optional<std::string_view> dtype_in_kernel_name(std::string_view kernel) {
  // The first one named is that of the data; what follows are indices and accumulators. Kernels
  // that copy know the size alone: the commonest type of that size.
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"c10::BFloat16", "bfloat16"}, {"__nv_bfloat16", "bfloat16"},  {"c10::Half", "float16"},
      {"__half", "float16"},         {"double", "float64"},          {"float", "float32"},
      {"OpaqueType<1u>", "uint8"},   {"OpaqueType<2u>", "bfloat16"}, {"OpaqueType<4u>", "float32"},
      {"OpaqueType<8u>", "int64"}};
  std::optional<std::string_view> first;
  size_t first_at = std::string_view::npos;
  for (const auto& [word, dtype] : kWords) {
    const size_t at = find_word(kernel, word);
    if (at < first_at) {
      first_at = at;
      first = dtype;
    }
  }
  return first;
}

}  // namespace fathom
