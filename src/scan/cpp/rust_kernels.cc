// Kernels written in Rust: #[kernel] of Rust-CUDA, #[cube(launch)] of CubeCL, #[spirv(compute(…))]
// of Rust-GPU, and functions with a calling convention of GPUs; and who launches them.
#include <algorithm>
#include <array>
#include <optional>

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/found_kernels.h"
#include "scan/cpp/go_options.h"

namespace fathom::cpp {
namespace {

// An attribute that makes a kernel of a function, and a word that must stand in its brackets.
struct KernelAttribute {
  std::string_view name, argument;
};
constexpr std::array kAttributes = {
    KernelAttribute{"kernel", ""}, KernelAttribute{"cube", "launch"},
    KernelAttribute{"cube", "launch_unchecked"}, KernelAttribute{"spirv", "compute"}};
constexpr std::array<std::string_view, 3> kConventions = {"\"ptx-kernel\"", "\"gpu-kernel\"",
                                                          "\"amdgpu-kernel\""};

// #[ and #![ as brackets: to the C++ lexer they are directives.
std::string without_hashes(std::string text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '#' && (text[i + 1] == '[' || text[i + 1] == '!')) text[i] = ' ';
  }
  return text;
}

class RustReader {
 public:
  explicit RustReader(std::string_view text)
      : text_(without_hashes(host_spelling(text))), source_(lex(text_)), brackets_(source_) {}

  RustKernels run() {
    for (size_t i = 0; i + 1 < source_.size(); ++i) {
      if (source_.is(i, "[") && is_kernel_attribute(i)) attribute_ = i;
      if (source_.is(i, "extern") && contains(kConventions, source_.at(i + 1))) attribute_ = i;
      if (source_.is(i, "fn")) function(i);
      if (source_.is(i, "launch")) launch(i);
      if (source_.is(i, "launch_unchecked")) method_launch(i);
    }
    return std::move(out_);
  }

 private:
  bool is_kernel_attribute(size_t open) const {
    if (!brackets_.closed(open)) return false;
    const size_t close = brackets_.partner(open);
    return std::ranges::any_of(kAttributes, [&](const KernelAttribute& one) {
      if (!source_.is(open + 1, one.name)) return false;
      if (one.argument.empty()) return close == open + 2 || source_.is(open + 2, "(");
      for (size_t i = open + 2; i < std::min(close, open + kLongestHeader); ++i) {
        if (source_.is(i, one.argument)) return true;
      }
      return false;
    });
  }

  // Between an attribute and its function stand other attributes and words.
  bool is_marked(size_t fn) const {
    if (!attribute_ || fn - *attribute_ > kLongestHeader) return false;
    for (size_t i = *attribute_; i < fn;) {
      if (source_.is(i, "[") || source_.is(i, "(")) {
        if (!brackets_.closed(i)) return false;
        i = brackets_.partner(i) + 1;
        continue;
      }
      const bool word = source_.is_name(i) || source_.tokens[i].kind == TokenKind::kString;
      if (!word) return false;
      ++i;
    }
    return true;
  }

  void function(size_t fn) {
    if (!source_.is_name(fn + 1)) return;
    const bool marked = is_marked(fn);
    size_t open = fn + 2;
    if (source_.is(open, "<")) open = source_.closing_angle(open) + 1;
    if (!source_.is(open, "(") || !brackets_.closed(open)) return;
    size_t brace = brackets_.partner(open) + 1;
    while (brace < source_.size() && brace - fn < kLongestHeader && !source_.is(brace, "{") &&
           !source_.is(brace, ";"))
      ++brace;
    if (!source_.is(brace, "{") || !brackets_.closed(brace)) return;
    const size_t last = brackets_.partner(brace);
    while (!open_.empty() && open_.back().last < fn) open_.pop_back();
    open_.push_back({source_.at(fn + 1), last});
    if (!marked) return;
    FoundKernel& kernel = out_.kernels.emplace_back();
    kernel.kind = KernelKind::kRust;
    kernel.name = source_.at(fn + 1);
    kernel.parameters = source_.source(open + 1, brackets_.partner(open));
    if (source_.is(*attribute_, "["))
      kernel.attributes.push_back(source_.source(*attribute_ + 1, brackets_.partner(*attribute_)));
    kernel.line_first = source_.tokens[*attribute_].line;
    kernel.line_name = source_.tokens[fn + 1].line;
    kernel.line_last = source_.tokens[last].line;
    attribute_.reset();
  }

  // launch!(module.scale<<<grid, block, 0, stream>>>(…)), and scale::launch::<F>(…).
  void launch(size_t at) {
    if (!source_.is(at + 1, "!")) return method_launch(at);
    if (!source_.is(at + 2, "(") && !source_.is(at + 2, "{") && !source_.is(at + 2, "[")) return;
    for (size_t i = at + 3; i < std::min(source_.size(), at + kLongestName); ++i) {
      if (!source_.is(i, "<<<")) continue;
      if (source_.is_name(i - 1) && brackets_.closed(i)) add(i - 1, "launch!", argument(i, 0));
      return;
    }
  }

  // scale::launch::<F, R>(&client, count, dim, …)
  void method_launch(size_t at) {
    if (at < 2 || !source_.is(at - 1, "::")) return;
    size_t name = at - 2, open = at + 1;
    if (source_.is(open, "::")) ++open;
    if (source_.is(open, "<")) open = source_.closing_angle(open) + 1;
    if (source_.is_name(name) && source_.is(open, "(") && brackets_.closed(open))
      add(name, source_.at(at), argument(open, 1));
  }

  // The argument of a number behind an opening bracket, as it is written.
  std::string argument(size_t open, size_t number) const {
    const size_t end = std::min<size_t>(brackets_.partner(open), open + kLongestHeader);
    size_t begin = open + 1;
    for (size_t i = open + 1; i <= end; ++i) {
      const bool opens = source_.is(i, "(") || source_.is(i, "[") || source_.is(i, "{");
      if (opens && i < end && brackets_.closed(i)) {
        i = brackets_.partner(i);
      } else if (i == end || source_.is(i, ",")) {
        if (number == 0) return source_.source(begin, std::min(i, end));
        --number;
        begin = i + 1;
      }
    }
    return "";
  }

  void add(size_t name, std::string_view via, std::string grid) {
    while (!open_.empty() && open_.back().last < name) open_.pop_back();
    out_.launches.push_back({std::string(source_.at(name)), std::string(via), std::move(grid),
                             open_.empty() ? "" : std::string(open_.back().name),
                             source_.tokens[name].line});
  }

  struct Open {
    std::string_view name;
    size_t last;  // its }
  };

  static constexpr size_t kLongestHeader = 400, kLongestName = 24;  // tokens
  const std::string text_;
  const TokenList source_;
  const Brackets brackets_;
  std::optional<size_t> attribute_;  // the last one that makes a kernel
  std::vector<Open> open_;           // functions around
  RustKernels out_;
};

}  // namespace

RustKernels find_rust_kernels(std::string_view text) {
  // A program that only launches kernels says so, too.
  const bool named = std::ranges::any_of(
      std::array<std::string_view, 7>{"#[kernel", "#[cube(", "#[spirv(", "-kernel\"", "launch!",
                                      "::launch", "kernel]"},
      [&](std::string_view word) { return holds(text, word); });
  return named ? RustReader(text).run() : RustKernels();
}

}  // namespace fathom::cpp
