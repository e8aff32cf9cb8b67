// Ops that PyTorch runs by its own loops, as the vendor's library is switched off or refuses them.
#include <fmt/format.h>

#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {

namespace {

// Inside of the op that the program called, where its kernels are launched.
std::optional<CallId> fallback_of(const PatternInput& in, const AssessedCall& call) {
  if (const auto op = in.around(call.op->event, Role::kFallback)) return op;
  return call.op->kernels.empty() ? std::nullopt
                                  : in.around(call.op->kernels.front(), Role::kFallback);
}

}  // namespace

std::vector<Finding> fallback_ops(const PatternInput& in) {
  constexpr double kReached = 0.4;  // of achievable, by the library's kernels
  MatchedCalls found;
  std::map<CallId, size_t> ops;
  double least = 0, most = 0;
  size_t convolutions = 0;
  for (const AssessedCall& call : in.calls()) {
    const auto op = fallback_of(in, call);
    if (!op) continue;
    const std::string_view name = in.store().name(in.tree().event(*op));
    if (ops[*op]++ == 0) convolutions += name.find("conv") != std::string_view::npos;
    found.add(call);
    const double now = seconds_of(call.time);
    const auto& bound = call.assessed->bound;
    const double needed = bound ? std::min(now, bound->seconds()) : 0;
    most += (now - needed) * call.assessed->counted;
    if (bound) least += (now - std::min(now, needed / kReached)) * call.assessed->counted;
  }
  most += found.waited();
  if (found.empty() || !is_noticeable(in, most)) return {};
  const bool are_convolutions = 2 * convolutions > ops.size();
  Traits traits;
  if (are_convolutions) traits.add("convolutions");
  PatternText text{
      FindingKind::kFallbackOp, std::string(in.store().name(in.tree().event(ops.begin()->first))),
      are_convolutions
          ? "Convolutions run without the vendor's library: unfolded copies and a product for each"
          : "Recurrent layers run without the vendor's library: a few kernels for each time step",
      fmt::format("{} run PyTorch's own implementation for {} in all, {} of it idle time before "
                  "their launches.",
                  per_step(in, ops.size(), "op", "ops"),
                  micros_text(nanos_from(found.seconds() + found.waited())),
                  micros_text(nanos_from(found.waited()))),
      Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found,
                          {least, most, "the library's kernels at 40 % of achievable",
                           "the library's kernels at 100 % of achievable"},
                          traits)};
}

}  // namespace fathom::patterns
