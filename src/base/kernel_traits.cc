#include "base/kernel_traits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/kernel_name.h"
#include "base/tsv.h"

extern const std::string_view kernel_families_tsv;

namespace fathom {
namespace {

// Names of templates grow to megabytes; what tells a kernel stands at the front.
constexpr size_t kReadBytes = 4096;

// Letters and digits between anything else, "_" included.
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && (is_letter(name[i]) || is_digit(name[i]))) continue;
    if (i > begin) words.push_back(name.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

// "128x64x32" → the numbers; nothing where it is anything else.
std::vector<int> sizes_in(std::string_view word) {
  std::vector<int> sizes;
  for (const std::string_view part : split(word, 'x')) {
    int size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (error != std::errc() || end != part.data() + part.size() || size < 1 || size > 4096)
      return {};
    sizes.push_back(size);
  }
  return sizes.size() < 2 || sizes.size() > 3 ? std::vector<int>{} : sizes;
}

std::string tile_text(const std::vector<int>& sizes) {
  std::string out;
  for (const int size : sizes) out += (out.empty() ? "" : "x") + std::to_string(size);
  return out;
}

// The first three whole numbers of at least 8 behind `begin`, as in "GemmShape<128, 128, 32>".
std::vector<int> numbers_behind(std::string_view name, std::string_view begin) {
  const size_t at = name.find(begin);
  if (at == std::string_view::npos) return {};
  std::vector<int> sizes;
  for (const std::string_view word : words_of(name.substr(at + begin.size(), 200))) {
    int size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size()) break;
    sizes.push_back(size);
    if (sizes.size() == 3) return sizes;
  }
  return {};
}

// "tuple<C<128>, C<64>, C<64>>" of CuTe: the first that is no cluster.
std::vector<int> cute_tile(std::string_view name) {
  size_t at = 0;
  while ((at = name.find("tuple<", at)) != std::string_view::npos) {
    at += 6;
    std::vector<int> sizes;
    for (const std::string_view word : words_of(name.substr(at, 120))) {
      if (word == "C" || word == "cute") continue;
      int size = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
      if (error != std::errc() || end != word.data() + word.size()) break;
      sizes.push_back(size);
      if (sizes.size() == 3) break;
    }
    const bool is_tile =
        sizes.size() == 3 && std::ranges::all_of(sizes, [](int size) { return size >= 8; });
    if (is_tile) return sizes;
  }
  return {};
}

std::string find_tile(std::string_view name, const std::vector<std::string_view>& words) {
  if (const auto sizes = cute_tile(name); !sizes.empty()) return tile_text(sizes);
  if (const auto sizes = numbers_behind(name, "GemmShape<"); !sizes.empty())
    return tile_text(sizes);
  // Head size, then rows of queries and of keys.
  for (const std::string_view traits : {"fwd_kernel_traits<", "bwd_kernel_traits<"}) {
    if (const auto sizes = numbers_behind(name, traits); !sizes.empty())
      return tile_text({sizes[1], sizes[2], sizes[0]});
  }
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    for (const std::string_view mark : {"tilesize", "MT"}) {
      if (word.starts_with(mark)) word.remove_prefix(mark.size());
    }
    std::vector<int> sizes = sizes_in(word);
    if (sizes.empty()) continue;
    // "128x64_32x6": depth and stages.
    if (sizes.size() == 2) {
      for (size_t next = i + 1; next < std::min(words.size(), i + 5); ++next) {
        const std::vector<int> depth = sizes_in(words[next]);
        if (depth.size() != 2) continue;
        sizes.push_back(depth[0]);
        break;
      }
    }
    return tile_text(sizes);
  }
  return {};
}

struct TypeWord {
  std::string_view word, dtype;
};
constexpr TypeWord kTypeWords[] = {
    {"bf16", "bf16"},  {"bfloat16", "bf16"}, {"BFloat16", "bf16"}, {"e4m3", "fp8"},
    {"e5m2", "fp8"},   {"fp8", "fp8"},       {"f8", "fp8"},        {"tf32", "tf32"},
    {"f16", "fp16"},   {"fp16", "fp16"},     {"half", "fp16"},     {"Half", "fp16"},
    {"F16", "fp16"},   {"hgemm", "fp16"},    {"f32", "fp32"},      {"fp32", "fp32"},
    {"float", "fp32"}, {"sgemm", "fp32"},    {"dgemm", "fp64"},    {"double", "fp64"},
    {"f64", "fp64"},   {"int8", "int8"},     {"s8", "int8"},       {"i8", "int8"},
    {"igemm", "int8"},
};

std::string_view type_of_word(std::string_view word) {
  for (const TypeWord& known : kTypeWords) {
    // "bf16bf16", "half_t" and "float8": a type may be repeated, but is no part of another word.
    if (!word.starts_with(known.word)) continue;
    const std::string_view rest = word.substr(known.word.size());
    if (rest.empty() || rest == "t" || rest.starts_with(known.word) ||
        (is_digit(known.word.back()) && is_letter(rest.front())))
      return known.dtype;
  }
  return {};
}

std::string_view type_of_letter(char letter) {
  switch (letter) {
    case 't':
    case 'B':
      return "bf16";
    case 'h':
    case 'H':
      return "fp16";
    case 's':
    case 'S':
      return "fp32";
    case 'd':
    case 'D':
      return "fp64";
    case 'q':
      return "fp8";
    default:
      return {};
  }
}

std::string find_dtype(std::string_view library, const std::vector<std::string_view>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    // nvjet_sm90_tst_…: inputs, accumulator, output.
    if (library == "nvjet") {
      if (word.size() == 3 && word != "nvjet" && std::ranges::all_of(word, is_letter))
        return std::string(type_of_letter(word[0]));
      continue;
    }
    // Cijk_Ailk_Bljk_HHS_…
    if (library == "tensile") {
      if (i < 3 || !std::ranges::all_of(word, [](char c) { return is_letter(c) || is_digit(c); }))
        continue;
      if (word.starts_with("I8")) return "int8";
      if (word.starts_with("F8")) return "fp8";
      return std::string(type_of_letter(word[0]));
    }
    // "float_e4m3_t" is two words.
    const bool is_narrow =
        word == "float" && i + 1 < words.size() && type_of_word(words[i + 1]) == "fp8";
    if (is_narrow) return "fp8";
    if (const std::string_view type = type_of_word(word); !type.empty()) return std::string(type);
  }
  return {};
}

std::string find_layout(std::string_view library, std::string_view name,
                        const std::vector<std::string_view>& words) {
  if (library == "tensile") {
    // l is the summed index: before i it is contiguous, which is a transposed A.
    std::string layout;
    for (const std::string_view word : words) {
      if (word.starts_with("Alik")) layout += 't';
      if (word.starts_with("Ailk")) layout += 'n';
      if (word.starts_with("Bjlk")) layout += 't';
      if (word.starts_with("Bljk")) layout += 'n';
    }
    return layout;
  }
  for (size_t i = words.size(); i-- > 0;) {
    const std::string_view word = words[i];
    const bool is_layout = (word.size() == 2 || word.size() == 3) &&
                           word.find_first_not_of("ntNT") == std::string_view::npos;
    if (is_layout) {
      std::string layout(word);
      for (char& c : layout) c = static_cast<char>(c | 32);
      return layout;
    }
    if (word == "nhwc" || word == "nchw" || word == "ndhwc") return std::string(word);
  }
  // Row-major A is transposed in BLAS's terms, row-major B too.
  std::string layout;
  size_t at = 0;
  while (layout.size() < 2 && (at = name.find("Major", at)) != std::string_view::npos) {
    const std::string_view before = name.substr(0, at);
    if (before.ends_with("Row")) layout += 't';
    if (before.ends_with("Column") || before.ends_with("Col")) layout += 'n';
    at += 5;
  }
  return layout.size() == 2 ? layout : std::string();
}

using FamilyRow = std::vector<std::string_view>;

// A row with its alternatives, each a list of parts that a name must have: cut once, not for each
// kernel.
struct Family {
  FamilyRow row;
  std::vector<std::vector<std::string_view>> alternatives;

  explicit Family(const FamilyRow& cells) : row(cells) {
    for (const std::string_view parts : split(row[0], '|'))
      alternatives.push_back(split(parts, '+'));
  }
  bool fits(std::string_view name) const {
    return std::ranges::any_of(alternatives, [name](const auto& parts) {
      return std::ranges::all_of(parts, [name](std::string_view part) {
        return name.find(part) != std::string_view::npos;
      });
    });
  }
};

// The first row that fits; null: none.
const FamilyRow* find_family(std::string_view name) {
  static const auto families = [] {
    std::vector<Family> all;
    for (const FamilyRow& row : read_tsv(kernel_families_tsv, 6)) all.emplace_back(row);
    return all;
  }();
  const auto family =
      std::ranges::find_if(families, [name](const Family& f) { return f.fits(name); });
  return family == families.end() ? nullptr : &family->row;
}

constexpr std::string_view kOtherKernels = "other";

}  // namespace

KernelTraits kernel_traits(std::string_view raw) {
  const std::string whole = demangled(raw);
  const std::string_view name = std::string_view(whole).substr(0, kReadBytes);
  KernelTraits traits;
  traits.category = kOtherKernels;
  const std::vector<std::string_view> words = words_of(name);
  if (const FamilyRow* row = find_family(name)) {
    traits.library = (*row)[1];
    traits.family = (*row)[2];
    traits.category = (*row)[3];
    if ((*row)[4] == "yes") {
      traits.tile = find_tile(name, words);
      traits.layout = find_layout(traits.library, name, words);
    }
  }
  traits.dtype = find_dtype(traits.library, words);
  return traits;
}

std::string_view kernel_category(std::string_view raw) {
  const std::string whole = demangled(raw);
  const FamilyRow* row = find_family(std::string_view(whole).substr(0, kReadBytes));
  return row == nullptr ? kOtherKernels : (*row)[3];
}

}  // namespace fathom
