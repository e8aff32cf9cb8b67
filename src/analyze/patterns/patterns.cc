#include "analyze/patterns/patterns.h"

#include "analyze/analyses.h"

namespace fathom::analyses {

std::vector<Finding> patterns(const Assessment& a) {
  using Pattern = std::vector<Finding> (*)(const fathom::patterns::PatternInput&);
  namespace p = fathom::patterns;
  // The only list of them.
  static constexpr Pattern kPatterns[] = {
      p::wide_products,
      p::double_precision,
      p::casts,
      p::attention_math,
      p::repeated_keys,
      p::layout_copies,
      p::growing_cache,
      p::overwritten_fills,
      p::one_hot_products,
      p::full_sorts,
      p::repeated_tables,
      p::computed_again,
      p::unchanged_inputs,
      p::unused_gradients,
      p::repeated_backward,
      p::strided_reductions,
      p::explicit_inverses,
      p::training_mode,
      p::gradient_mode,
      p::dense_gradients,
      p::looped_optimizer,
      p::looped_products,
      p::odd_sizes,
      p::few_blocks,
      p::contended_atomics,
      p::host_copies,
      p::repeated_weights,
      p::discarded_rows,
      p::moved_cache,
      p::full_masks,
      p::widened_products,
      p::sorted_additions,
      p::padding_copies,
      p::recomputed_prefixes,
      p::product_order,
      p::repeated_copies,
      p::scattered_messages,
      p::gathered_products,
      p::zeroed_gradients,
      p::cut_rows,
      p::widened_sums,
      p::slow_own_ops,
      p::slow_own_kernels,
      p::large_intermediates,
      p::gathered_operands,
      p::repeated_rows,
      p::enlarged_pixels,
      p::shared_operands,
      p::forward_again,
      p::custom_gradients,
      p::fallback_ops,
      p::expensive_ops,
      p::tiny_blocks,
      p::starved_blocks,
  };
  if (a.cpu() != nullptr) return {};
  const p::PatternInput input(a);
  std::vector<Finding> findings;
  for (Pattern pattern : kPatterns) {
    for (Finding& finding : pattern(input)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace fathom::analyses
