// Kernels of the program itself, which no cost model knows: what their grids and operands tell.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "analyze/priority.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

// An op of another library than PyTorch, or a kernel that no op launched.
bool is_own(const AssessedOp& op) {
  const std::string_view name = op.group->key.name;
  return !op.group->cost && !name.starts_with("aten::") && op.category != "communication" &&
         op.category != "memcpy" && op.category != "gemm" && op.category != "convolution" &&
         op.category != "sdpa_fwd" && op.category != "sdpa_bwd";
}

bool fits_into(const std::vector<int64_t>& dims, const std::vector<int64_t>& largest) {
  if (dims.size() > largest.size()) return false;
  for (size_t i = 1; i <= dims.size(); ++i) {
    const int64_t dim = dims[dims.size() - i];
    if (dim != 1 && dim != largest[largest.size() - i]) return false;
  }
  return true;
}

// Bytes of an op whose operands look like those of an elementwise one: floats that all stretch over
// the largest, which is written once more. None for lookups and products.
std::optional<double> bytes_as_elementwise(const OpView& view) {
  const ArgValue* largest = nullptr;
  for (const ArgValue& value : view.args.inputs) {
    if (!value.list.empty()) return {};
    if (!value.is_tensor()) continue;
    if (largest == nullptr || elements_of(value) > elements_of(*largest)) largest = &value;
  }
  if (largest == nullptr) return {};
  double bytes = bytes_of(*largest).value_or(0);
  for (const ArgValue& value : view.args.inputs) {
    if (!value.is_tensor()) continue;
    const ElementType* type = find_element_type(value.type);
    if (type == nullptr || !type->is_float || !fits_into(value.shape.dims, largest->shape.dims))
      return {};
    bytes += bytes_of(value).value_or(0);
  }
  return bytes;
}

constexpr Nanos kWorthALook{20'000};

}  // namespace

// Where the program wraps a kernel of its own into an op, its operands tell what it has to move.
std::vector<Finding> slow_own_ops(const PatternInput& in) {
  constexpr double kClearly = 4;  // arithmetic and other passes may take as long as this
  if (!in.memory_rate()) return {};
  MatchedCalls found;
  double least = 0, most = 0, moved = 0;
  for (const AssessedCall& call : in.calls()) {
    const AssessedOp& op = *call.assessed;
    if (!is_own(op) || call.op->kernels.size() != 1 || call.time < kWorthALook) continue;
    const auto bytes = bytes_as_elementwise(in.view(call));
    if (!bytes) continue;
    const double needed = *bytes / *in.memory_rate(), now = seconds_of(call.time);
    if (needed <= 0 || now < kClearly * needed) continue;
    found.add(call, false);
    moved += needed;
    least += (now - kClearly * needed) * op.counted;
    most += (now - needed) * op.counted;
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  const AssessedOp& first = *ops_by_time(found.calls()).front();
  PatternText text{
      FindingKind::kLowEfficiency, std::string(first.group->key.name),
      fmt::format("{} takes {:.1f} times as long as moving its operands", first.group->key.name,
                  found.seconds() / moved),
      fmt::format("{} take {}; reading all operands once and writing a result as large as the "
                  "largest takes {}. Its arithmetic is not known.",
                  per_step(in, found.size(), "call", "calls"),
                  micros_text(nanos_from(found.seconds())), micros_text(nanos_from(moved))),
      Confidence::kLow};
  Finding f = pattern_finding(
      in, std::move(text), found,
      {least, most, "four times as long as its operands take", "as long as its operands take"});
  f.change_code =
      "Call a library's op for this work if there is one, or let torch.compile make it.";
  f.improve_kernel =
      "Let neighbouring threads read neighbouring addresses, in blocks of 1,024 elements and more.";
  return {f};
}

namespace {

// The call of a function of the program; what launches a kernel for it is no part of the program.
EventId function_of(const PatternInput& in, const AssessedCall& call) {
  return in.assessment().places().of(call.op->kernels.front()).frame;
}

// Bytes and elements of the tensors that each call of a function allocates, as far as it launches
// kernels of its own: their results.
struct Allocated {
  double bytes = 0, elements = 0;
};

std::unordered_map<EventId, Allocated> find_allocated(
    const PatternInput& in, const std::unordered_set<EventId>& functions) {
  std::unordered_map<EventId, Allocated> found;
  std::vector<uint8_t> allocates(in.store().text_count());  // by name: 1 no, 2 yes
  for (CallId c(0); c.index < in.tree().size(); ++c.index) {
    const EventId e = in.tree().event(c);
    if (in.store().kind(e) != EventKind::kCpuOp || !in.store().name_id(e).valid()) continue;
    uint8_t& known = allocates[in.store().name_id(e).index];
    if (known == 0) known = has_role(roles_of(in.store().name(e)), Role::kAllocates) ? 2 : 1;
    if (known == 1) continue;
    const CallId parent = in.tree().parent(c);
    if (parent.valid() && in.store().kind(in.tree().event(parent)) == EventKind::kCpuOp) continue;
    const EventId frame = in.assessment().places().of(e).frame;
    if (!functions.contains(frame)) continue;
    const auto args = read_op_args(in.store(), in.store().args_id(e));
    if (!args || args->inputs.empty()) continue;
    const ArgValue& first = args->inputs[0];
    constexpr double kFloat = 4;  // where the type is not an argument
    double elements = 0, bytes = 0;
    if (first.is_tensor()) {
      elements = static_cast<double>(elements_of(first));
      bytes = bytes_of(first).value_or(kFloat * elements);
    } else if (const auto dims = read_int_list(first.concrete)) {
      elements = static_cast<double>(element_count(*dims).value_or(0));
      const ArgValue* type = args->at(1);
      const ElementType* element = type != nullptr ? find_scalar_type(type->concrete) : nullptr;
      bytes = elements * (element != nullptr ? element->bytes() : kFloat);
    }
    found[frame].elements += elements;
    found[frame].bytes += bytes;
  }
  return found;
}

}  // namespace

// A kernel that no op describes writes what its function allocates, and mostly reads about as much.
std::vector<Finding> slow_own_kernels(const PatternInput& in) {
  constexpr double kClearly = 4, kShareOfStep = 0.05;
  if (!in.memory_rate() || !in.assessment().places().has_frames()) return {};
  std::unordered_set<EventId> functions;
  std::vector<const AssessedCall*> own;
  for (const AssessedCall& call : in.calls()) {
    if (!is_own(*call.assessed) || call.op->kernels.size() != 1 || call.time < kWorthALook ||
        !in.view(call).args.inputs.empty())
      continue;
    const EventId frame = function_of(in, call);
    if (!frame.valid()) continue;
    functions.insert(frame);
    own.push_back(&call);
  }
  if (own.empty()) return {};
  const auto allocated = find_allocated(in, functions);
  MatchedCalls found;
  double most = 0, moved = 0, lanes = 0, blocks_per_element = 0;
  for (const AssessedCall* call : own) {
    const auto result = allocated.find(function_of(in, *call));
    if (result == allocated.end() || result->second.bytes <= 0) continue;
    const double needed = 2 * result->second.bytes / *in.memory_rate();
    const double now = seconds_of(call->time);
    if (now < kClearly * needed) continue;
    found.add(*call, false);
    moved += needed;
    most += (now - needed) * call->assessed->counted;
    const GpuWork& work = in.store().gpu_work(call->op->kernels.front());
    if (work.grid && work.block) {
      const double blocks = static_cast<double>(work.grid->x) * work.grid->y * work.grid->z;
      const double threads = blocks * work.block->x * work.block->y * work.block->z;
      lanes = std::max(lanes, threads / result->second.elements);
      blocks_per_element = std::max(blocks_per_element, blocks / result->second.elements);
    }
  }
  if (found.empty() || most < kShareOfStep * seconds_of(in.assessment().length())) return {};
  const UnifiedOp& longest = ops_by_time(found.calls()).front()->group->first();
  const std::string name(in.store().name(longest.kernels.front()));
  // More blocks than elements of the result: blocks add to the same elements, and the operands,
  // which are not recorded, are larger than the result.
  const bool reduces = blocks_per_element > 1;
  // A thread has no more: what its values need beyond lies in local memory.
  constexpr int32_t kMostRegisters = 255;
  const bool is_full =
      in.store().gpu_work(longest.kernels.front()).registers.value_or(0) >= kMostRegisters;
  PatternText text{
      FindingKind::kLowEfficiency, name,
      is_full   ? fmt::format("{} uses all {} registers of its threads and takes {:.0f} times as "
                                "long as moving its result",
                              name, kMostRegisters, found.seconds() / moved)
      : reduces ? fmt::format("{} reduces over {:.0f} blocks for each element of its result", name,
                              blocks_per_element)
                : fmt::format("{} takes {:.0f} times as long as moving its result", name,
                              found.seconds() / moved),
      fmt::format("{} take {}; reading and writing as much as their functions allocate takes {}. "
                  "Its arithmetic and its other operands are not known.",
                  per_step(in, found.size(), "launch", "launches"),
                  micros_text(nanos_from(found.seconds())), micros_text(nanos_from(moved))),
      Confidence::kLow};
  constexpr double kIdleLanes = 2;
  if (lanes >= kIdleLanes && !reduces)
    text.issue += fmt::format(
        " It launches {:.1f} threads for each element of the result: most of them have nothing to "
        "do.",
        lanes);
  if (is_full)
    text.issue += " What does not fit into the registers is kept in local memory, which is DRAM.";
  Finding f = pattern_finding(in, std::move(text), found,
                              {0, most, "", "as long as its result takes to move"});
  rate_pattern(f, false);
  f.change_code =
      is_full ? "Give each thread fewer values: a smaller tile, or more warps for it (num_warps). "
                "The compiler says how much spills (ptxas -v, kernel.n_spills)."
      : reduces ? "Check how blocks add up: each sums its part in registers first (tl.sum, a warp "
                  "shuffle) and adds once. An atomic addition of each thread to the same address "
                  "makes all of them wait for one another."
      : lanes >= kIdleLanes
          ? "Choose BLOCK by the row: the next power of two above its length, several short rows "
            "to a block, and as few warps as it fills."
          : "Check what limits the kernel: products belong on the matrix units (tl.dot), and "
            "neighbouring threads should read neighbouring addresses.";
  f.improve_kernel = "Count it (fathom record --counters): occupancy, tensor pipes, DRAM bytes.";
  return {f};
}

// Blocks of a warp or two that end at once: starting blocks takes the time.
std::vector<Finding> tiny_blocks(const PatternInput& in) {
  constexpr double kFewThreads = 64, kManyRounds = 64, kGood = 0.5;
  constexpr double kStartOfBlock = 0.3e-6;  // seconds a unit takes for a block, at most
  constexpr double kUsualThreads = 256;
  if (!in.compute_units()) return {};
  const auto units = static_cast<double>(*in.compute_units());
  MatchedCalls found;
  double most = 0, blocks_of_all = 0;
  for (const AssessedCall& call : in.calls()) {
    const AssessedOp& op = *call.assessed;
    if (!is_own(op) || op.efficiency.value_or(0) > kGood || call.time < kWorthALook) continue;
    double saved = 0;
    for (const EventId kernel : call.op->kernels) {
      const GpuWork& work = in.store().gpu_work(kernel);
      if (in.store().kind(kernel) != EventKind::kKernel || !work.grid || !work.block) continue;
      const double blocks = static_cast<double>(work.grid->x) * work.grid->y * work.grid->z;
      const double threads = static_cast<double>(work.block->x) * work.block->y * work.block->z;
      const double seconds = seconds_of(in.store().duration(kernel));
      if (threads < 1 || threads > kFewThreads || blocks < kManyRounds * units) continue;
      if (seconds * units / blocks > kStartOfBlock) continue;
      saved += seconds * (1 - threads / kUsualThreads);
      blocks_of_all += blocks;
    }
    if (saved <= 0) continue;
    found.add(call, false);
    most += saved * op.counted;
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kSmallBlocks, std::string(ops_by_time(found.calls()).front()->group->key.name),
      "Very many blocks of one or two warps: starting them takes the time",
      fmt::format("{} take {} for {:.0f} blocks on average, each of {:.0f} threads or fewer and "
                  "over within {:.1f} µs.",
                  counted(found.size(), "call"), micros_text(nanos_from(found.seconds())),
                  blocks_of_all / static_cast<double>(found.size()), kFewThreads,
                  kStartOfBlock * 1e6),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {most / 2, most, "half of what as many blocks of 256 threads would save",
                           "a block of 256 threads in the time of one of today"})};
}

// One warp that holds a whole row in its registers: few loads are on their way at a time.
std::vector<Finding> starved_blocks(const PatternInput& in) {
  constexpr double kOneWarp = 32, kManyRounds = 8, kAssumed = 0.5;
  constexpr int32_t kNearLimit = 200;  // of 255 registers that a thread can have
  if (!in.compute_units()) return {};
  const double many = kManyRounds * static_cast<double>(*in.compute_units());
  MatchedCalls found;
  int32_t registers = 0;
  for (const AssessedCall& call : in.calls()) {
    if (!is_own(*call.assessed) || call.op->kernels.size() != 1 || call.time < kWorthALook)
      continue;
    const GpuWork& work = in.store().gpu_work(call.op->kernels.front());
    if (!work.grid || !work.block || work.registers.value_or(0) < kNearLimit) continue;
    const double blocks = static_cast<double>(work.grid->x) * work.grid->y * work.grid->z;
    const double threads = static_cast<double>(work.block->x) * work.block->y * work.block->z;
    if (threads > kOneWarp || blocks < many) continue;
    registers = std::max(registers, *work.registers);
    found.add(call, false);
  }
  const double most = kAssumed * found.counted();
  if (found.empty() || !is_noticeable(in, most)) return {};
  const UnifiedOp& longest = ops_by_time(found.calls()).front()->group->first();
  const std::string name(in.store().name(longest.kernels.front()));
  PatternText text{
      FindingKind::kSmallBlocks, name,
      fmt::format("{} runs one warp per block with {} registers per thread", name, registers),
      fmt::format("{} take {}. Registers limit an SM to a few such warps: occupancy is low, and "
                  "values may be spilled. Its operands are not recorded: the efficiency is not "
                  "known.",
                  per_step(in, found.size(), "call", "calls"),
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kLow};
  return {pattern_finding(in, std::move(text), found,
                          {0, most, "", "twice as fast with more warps (assumed)"},
                          Traits{"one_warp"})};
}

}  // namespace fathom::patterns
