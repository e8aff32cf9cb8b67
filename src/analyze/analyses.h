#pragma once

#include <vector>

#include "analyze/assessment.h"
#include "analyze/finding.h"

// The analyses, each a function of the assessed trace; pipeline.cc is the only list of them.
namespace fathom::analyses {

// Ops that take longer than the platform needs.
std::vector<Finding> low_efficiency(const Assessment& a);
// softmax(QKᵀ)V in separate ops.
std::vector<Finding> unfused_attention(const Assessment& a);
// Runs of memory-bound ops that hand each other the same tensor.
std::vector<Finding> fusible_chains(const Assessment& a);
// Loops of small matrix products that could be one.
std::vector<Finding> tiny_products(const Assessment& a);
// Convolutions that convert between image layouts.
std::vector<Finding> image_layout(const Assessment& a);
// Why the GPU waits.
std::vector<Finding> idle_time(const Assessment& a);
// Gradients that are reduced, then accumulated into and reduced again.
std::vector<Finding> repeated_reductions(const Assessment& a);
// Collectives that nothing hides: how many, how fast, what overlap can save.
std::vector<Finding> exposed_communication(const Assessment& a);
// Gradients exchanged in many small collectives, each with its cost on the host.
std::vector<Finding> small_collectives(const Assessment& a);
// Kernels too short for the launches they need.
std::vector<Finding> short_kernels(const Assessment& a);
// Of a trace without GPU work: ops, dispatch, copies, and time between ops.
std::vector<Finding> cpu_time(const Assessment& a);
// Work that should not be there, or not like this (patterns/patterns.h).
std::vector<Finding> patterns(const Assessment& a);
// What counters confirm of kernels: why they take as long.
std::vector<Finding> kernel_limits(const Assessment& a);
// Forward work that runs again for the gradients.
std::vector<Finding> recompute(const Assessment& a);

}  // namespace fathom::analyses
