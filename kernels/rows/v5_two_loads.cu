// v5: two loads of each lane and tensor are enough: four only make a warp's stores come in larger
// bursts. Much work streams its stores.
#include "piece_kernel.cuh"

namespace fathom::rows {

template <class Job>
cudaError_t launch_v5(const Job& job, const LaunchOptions& options) {
  return with_vector(options.vector_bytes, [&](auto vector) {
    using Vector = decltype(vector);
    const PiecePlan plan = plan_pieces(job.count, job.row_bytes / sizeof(Vector), Job::kTensors, 2);
    if (plan.unroll == 1) return start_pieces<Job, Vector, 1>(job, plan, options);
    if (plan.much_work) return start_pieces<Job, Vector, 2, true>(job, plan, options);
    return start_pieces<Job, Vector, 2>(job, plan, options);
  });
}

FATHOM_FOR_EVERY_JOB(launch_v5)

}  // namespace fathom::rows
