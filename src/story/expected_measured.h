#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/compared_counts.h"
#include "platform/platform.h"
#include "sheets/kernel_contexts.h"
#include "story/expectation.h"
#include "story/measured_launch.h"
#include "story/op_values.h"

// What the code makes expect of a kernel beside what was counted of it, quantity by quantity. The
// expectation is of the launch that was measured. Rows and reasons: data/stories/compared.tsv,
// measured_sides.tsv, surprises.tsv.
namespace fathom {

enum class Comparison : uint8_t {
  kWithin,
  kSurprise,
  kNotComparable,  // the expectation is not known
  kNotMeasured,
};
std::string_view comparison_name(Comparison comparison);

struct ComparedQuantity {
  std::string_view id, title, unit;
  // The range as it is expected, not widened.
  std::optional<double> low = {}, high = {}, measured = {};
  // Of a quantity that is no number, such as the stall reasons.
  std::string expected_text = {}, measured_text = {};
  Comparison comparison = Comparison::kNotComparable;
  // Of a surprise the likeliest reason; else what is missing: "parameter n unknown".
  std::string reason = {};
  std::string command = {};  // where not measured: what would count it
};

struct ComparedKernel {
  size_t kernel = 0;   // in CodeFacts::kernels
  size_t context = 0;  // in the contexts
  std::vector<LaunchValues::Solved> solved;
  Expectation expected;        // for the measured launch; of two ends the lower
  std::string not_comparable;  // why no expectation holds; empty: one does
  std::vector<std::string> remarks;
  std::vector<ComparedQuantity> quantities;
};

// Of the contexts whose kernels the code defines and which have counters, in their order. The
// definitions are those of `measures`. Nothing is compared where a name fits several kernels.
// `ops`: the op of each context; `sources`: the code, to follow its arguments. Either may be empty.
std::vector<ComparedKernel> compare_expected(
    const CodeFacts& code, const KernelMeasures& measures,
    const std::vector<KernelContext>& contexts, const Parameters& parameters,
    const Platform* platform, const std::vector<std::optional<LaunchingOp>>& ops = {},
    SourceOutlines* sources = nullptr);
ComparedCounts count_compared(const std::vector<ComparedKernel>& kernels);

// The comparison of one launch with one definition.
using OpValues = std::function<std::vector<NamedValue>(const KernelLauncher&)>;
ComparedKernel compare_kernel(const KernelFacts& kernel, const KernelContext& context,
                              const Parameters& parameters, const Platform* platform,
                              const OpValues& op_values = nullptr);

}  // namespace fathom
