#include "analyze/finding.h"

#include "base/check.h"

namespace fathom {

std::string_view kind_name(FindingKind kind) {
  static constexpr std::string_view kNames[] = {"low_efficiency",
                                                "unfused_attention",
                                                "fusible_chain",
                                                "tiny_products",
                                                "image_layout",
                                                "host_bound",
                                                "synchronization",
                                                "data_loading",
                                                "first_use",
                                                "host_work",
                                                "allocation",
                                                "queued_work",
                                                "exposed_communication",
                                                "exposed_copies",
                                                "short_kernels",
                                                "recompute",
                                                "wide_products",
                                                "double_precision",
                                                "casts",
                                                "attention_math",
                                                "repeated_keys",
                                                "layout_copies",
                                                "growing_cache",
                                                "overwritten_fills",
                                                "one_hot_product",
                                                "full_sort",
                                                "repeated_tables",
                                                "training_mode",
                                                "gradient_mode",
                                                "dense_gradient",
                                                "discarded_rows",
                                                "moved_cache",
                                                "full_mask",
                                                "sorted_additions",
                                                "padding_copies",
                                                "product_order",
                                                "unused_gradients",
                                                "repeated_backward",
                                                "strided_reduction",
                                                "large_intermediate",
                                                "fallback_op",
                                                "expensive_op",
                                                "hot_line",
                                                "kernel_limit",
                                                "looped_optimizer",
                                                "looped_products",
                                                "odd_sizes",
                                                "few_blocks",
                                                "small_blocks",
                                                "contended_atomics",
                                                "pageable_copies",
                                                "copies_in_turns",
                                                "small_collectives",
                                                "repeated_reduction",
                                                "cpu_op",
                                                "cpu_dispatch",
                                                "cpu_between_ops",
                                                "cpu_copies"};
  static_assert(std::size(kNames) == static_cast<size_t>(FindingKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

std::string_view priority_name(Priority priority) {
  static constexpr std::string_view kNames[] = {"critical", "high", "medium", "low"};
  return kNames[static_cast<size_t>(priority)];
}

std::string_view confidence_name(Confidence confidence) {
  static constexpr std::string_view kNames[] = {"high", "medium", "low"};
  return kNames[static_cast<size_t>(confidence)];
}

}  // namespace fathom
