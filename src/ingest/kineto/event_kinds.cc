#include "ingest/kineto/event_kinds.h"

namespace fathom::kineto {
namespace {

struct Row {
  std::string_view category;
  EventKind kind;
};

// Most frequent first: the list is searched from the front.
constexpr Row kCategories[] = {
    {"python_function", EventKind::kPython},
    {"cpu_op", EventKind::kCpuOp},
    {"cuda_runtime", EventKind::kRuntime},
    {"kernel", EventKind::kKernel},
    {"cuda_driver", EventKind::kDriver},
    {"gpu_memcpy", EventKind::kMemcpy},
    {"gpu_memset", EventKind::kMemset},
    {"user_annotation", EventKind::kAnnotation},
    {"gpu_user_annotation", EventKind::kGpuAnnotation},
    {"cuda_sync", EventKind::kOther},
    {"overhead", EventKind::kOther},
    {"cuda_profiler_range", EventKind::kProfilerRange},
    {"Trace", EventKind::kOther},
    {"cpu_instant_event", EventKind::kInstant},
    // Before 2021.
    {"Operator", EventKind::kCpuOp},
    {"Runtime", EventKind::kRuntime},
    {"Kernel", EventKind::kKernel},
    {"Memcpy", EventKind::kMemcpy},
    {"Memset", EventKind::kMemset},
};

}  // namespace

KindOfCategory kind_of_category(std::string_view category) {
  for (const Row& row : kCategories) {
    if (row.category == category) return {row.kind, true};
  }
  return {EventKind::kOther, category.starts_with("mtia_")};
}

}  // namespace fathom::kineto
