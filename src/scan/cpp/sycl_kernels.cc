#include <algorithm>

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"
#include "scan/cpp/found_kernels.h"

namespace fathom::cpp {
namespace {

// Tokens of a range or of a lambda's header. Calls inside calls would be read again and again.
constexpr size_t kLongestPart = 400;

class SyclReader {
 public:
  SyclReader(const TokenList& source, const Definitions& functions)
      : source_(source), brackets_(source), functions_(functions) {}

  std::vector<FoundKernel> run() {
    for (size_t i = 1; i + 1 < source_.size(); ++i) {
      if (!source_.is(i, "parallel_for") && !source_.is(i, "single_task")) continue;
      // tbb::parallel_for and Kokkos::parallel_for run elsewhere.
      if (source_.is(i - 1, ".") || source_.is(i - 1, "->")) read(i);
    }
    return std::move(found_);
  }

 private:
  void read(size_t call) {
    size_t open = call + 1;
    std::string name;
    if (source_.is(open, "<") && brackets_.closed(open)) {
      name = kernel_name(open + 1, brackets_.partner(open));
      open = brackets_.partner(open) + 1;
    }
    if (!source_.is(open, "(") || !brackets_.closed(open)) return;
    const size_t close = brackets_.partner(open);
    const size_t lambda = lambda_in(open, close);
    if (lambda == close && name.empty()) return;
    FoundKernel& kernel = found_.emplace_back();
    kernel.kind = KernelKind::kSycl;
    kernel.via = source_.at(call);
    kernel.function = function_around(call);
    if (lambda > open + 1 && lambda < close && lambda - open < kLongestPart)
      kernel.grid = source_.source(open + 1, lambda - 1);
    if (name.empty()) name = only_call_in(lambda, close);
    if (name.empty()) name = kernel.function.substr(kernel.function.rfind(':') + 1) + "_lambda";
    kernel.name = std::move(name);
    kernel.line_first = kernel.line_name = source_.tokens[call].line;
    kernel.line_last = source_.tokens[close].line;
  }

  // parallel_for<class Name<int>>
  std::string kernel_name(size_t first, size_t last) const {
    // dpct_kernel_name<class scale_89d785>: what migrates CUDA makes a name of the kernel's.
    if (source_.is(first, "dpct_kernel_name") && source_.is(first + 1, "<"))
      return without_hash(kernel_name(first + 2, last));
    for (size_t i = first; i < last; ++i) {
      if (source_.is(i, "<") || source_.is(i, ",")) break;
      if (source_.is_name(i) && !source_.is(i, "class") && !source_.is(i, "struct") &&
          !source_.is(i, "typename") && !source_.is(i + 1, "::"))
        return std::string(source_.at(i));
    }
    return "";
  }

  static std::string without_hash(std::string name) {
    constexpr size_t kDigits = 6;
    const size_t bar = name.rfind('_');
    if (bar != std::string::npos && bar > 0 && name.size() == bar + 1 + kDigits &&
        name.find_first_not_of("0123456789abcdef", bar + 1) == std::string::npos)
      name.resize(bar);
    return name;
  }

  // The lambda among the arguments that copies what it uses, as kernels do; `close`: none.
  size_t lambda_in(size_t open, size_t close) const {
    for (size_t i = open + 1; i < close; ++i) {
      if (source_.is(i, "[") && (source_.is(i - 1, ",") || source_.is(i - 1, "("))) {
        const bool by_reference = source_.is(i + 1, "&");
        return by_reference ? close : i;
      }
      const bool opens = source_.is(i, "(") || source_.is(i, "{") || source_.is(i, "[");
      if (opens && brackets_.closed(i) && brackets_.partner(i) > i) i = brackets_.partner(i);
    }
    return close;
  }

  // The function that a lambda only calls: what it runs is that.
  std::string only_call_in(size_t lambda, size_t close) const {
    size_t brace = lambda;
    const size_t farthest = std::min(close, lambda + kLongestPart);
    while (brace < farthest && !source_.is(brace, "{")) ++brace;
    if (brace == farthest || !brackets_.closed(brace)) return "";
    const size_t end = brackets_.partner(brace);
    size_t i = brace + 1;
    size_t name = i;
    for (; i < end && (source_.is_name(i) || source_.is(i, "::")); ++i) name = i;
    if (i == brace + 1) return "";
    if (source_.is(i, "<") && brackets_.closed(i)) i = brackets_.partner(i) + 1;
    if (!source_.is(i, "(") || !brackets_.closed(i)) return "";
    i = brackets_.partner(i) + 1;
    const bool alone = source_.is(i, ";") && i + 1 == end;
    return alone ? std::string(source_.at(name)) : "";
  }

  std::string function_around(size_t token) const {
    // Functions stand in order of their bodies, save those of macros.
    const Function* inner = nullptr;
    const auto& all = functions_.functions;
    auto after = std::upper_bound(all.begin(), all.end(), token,
                                  [](size_t at, const Function& f) { return at < f.body_first; });
    for (int tries = 0; after != all.begin() && tries < 8; ++tries) {
      --after;
      if (after->body_first < token && token < after->body_last) {
        inner = &*after;
        break;
      }
    }
    if (inner == nullptr) return "";
    return qualified_name(*inner);
  }

  const TokenList& source_;
  const Brackets brackets_;
  const Definitions& functions_;
  std::vector<FoundKernel> found_;
};

}  // namespace

std::vector<FoundKernel> find_sycl_kernels(const TokenList& source, const Definitions& functions) {
  // A word that only SYCL's own code has.
  if (!holds(source.text, "sycl") ||
      (!holds(source.text, "parallel_for") && !holds(source.text, "single_task")))
    return {};
  return SyclReader(source, functions).run();
}

}  // namespace fathom::cpp
