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
