// v4: no loop. A row is cut into pieces by how much work there is: small ones reach every SM, large
// ones keep four loads of each lane in flight; rows shorter than a warp share one. May start before
// the stream's last kernel has ended.
#include "piece_kernel.cuh"

namespace fathom::rows {

template <class Job>
cudaError_t launch_v4(const Job& job, const LaunchOptions& options) {
  return with_vector(options.vector_bytes, [&](auto vector) {
    using Vector = decltype(vector);
    const PiecePlan plan = plan_pieces(job.count, job.row_bytes / sizeof(Vector), Job::kTensors, 4);
    if (plan.unroll == 1) return start_pieces<Job, Vector, 1>(job, plan, options);
    if (plan.unroll == 2) return start_pieces<Job, Vector, 2>(job, plan, options);
    return start_pieces<Job, Vector, 4>(job, plan, options);
  });
}

FATHOM_FOR_EVERY_JOB(launch_v4)

}  // namespace fathom::rows
