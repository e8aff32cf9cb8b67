#include "analyze/finding_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/glob.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kFramesShown = 8, kTypesShown = 8, kDimsShown = 16;
// A stack may be as deep as the trace is long, and every finding has one; most frames are noise.
constexpr size_t kFramesWalked = 256, kFrameBytes = 512;

// Frames that every call passes through, or that only repeat the op below them.
constexpr std::string_view kNoiseFrames[] = {
    "*: _call_impl",       "*: _wrapped_call_impl",       "<built-in *",
    "*: decorate_context", "torch/autograd/profiler.py*", "*torch/nn/modules/*.py(*): forward"};

bool is_noise(std::string_view frame) {
  return std::ranges::any_of(
      kNoiseFrames, [frame](std::string_view pattern) { return glob_matches(pattern, frame); });
}

// Without the addresses of objects: " at 0x7f5b4456cdc0".
std::string without_addresses(std::string_view frame) {
  constexpr std::string_view kAt = " at 0x";
  std::string out;
  for (size_t at = frame.find(kAt); at != std::string_view::npos; at = frame.find(kAt)) {
    out += frame.substr(0, at);
    frame.remove_prefix(at + kAt.size());
    frame.remove_prefix(std::min(frame.find_first_not_of("0123456789abcdef"), frame.size()));
  }
  return out += frame;
}

}  // namespace

std::string shown_frame(std::string_view name) {
  constexpr std::string_view kMethod = "<built-in method ", kFunction = "<built-in function ",
                             kOf = " of ", kObject = " object";
  if (name.starts_with(kFunction) && name.ends_with('>')) {
    name.remove_prefix(kFunction.size());
    return std::string(name.substr(0, name.size() - 1)) + " (built-in)";
  }
  const size_t of = name.find(kOf);
  if (!name.starts_with(kMethod) || of == std::string_view::npos) return without_addresses(name);
  const std::string_view method = name.substr(kMethod.size(), of - kMethod.size());
  std::string_view type = name.substr(of + kOf.size());
  type = type.substr(0, type.find(kObject));
  if (method.empty()) return "(built-in)";
  // A function of an extension, and one of a class: torch.cat is a method "of type object".
  const bool is_plain =
      type == "type" || type.starts_with("pybind11") || type.starts_with("module");
  return fmt::format("{}{}{} (built-in)", is_plain ? "" : type, is_plain ? "" : ".", method);
}

namespace {

class StackLines {
 public:
  bool full() const { return lines_.size() >= kFramesShown || walked_ >= kFramesWalked; }
  void add(std::string_view name) {
    ++walked_;
    const std::string frame = cut_to_bytes(name, kFrameBytes);
    constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
    if (is_noise(frame)) return;
    // The engine calls a gradient's node by its name.
    if (frame.starts_with(kEngine) && !lines_.empty() &&
        lines_.back() == std::string_view(frame).substr(kEngine.size())) {
      return;
    }
    std::string line = without_addresses(frame);
    if (lines_.empty() || lines_.back() != line) lines_.push_back(std::move(line));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
  size_t walked_ = 0;
};

std::string dims_text(const std::vector<int64_t>& dims) {
  const std::span shown(dims.data(), std::min(dims.size(), kDimsShown));
  return fmt::format("{}{}", fmt::join(shown, "×"), shown.size() < dims.size() ? "×…" : "");
}

double gain_of(const Assessment& a, double saved_seconds) {
  const double whole = seconds_of(a.length());
  return whole > 0 ? saved_seconds / whole : 0;
}

}  // namespace

std::string shapes_text(const SheetInput& input, EventId event) {
  const std::optional<OpArgs> args = read_op_args(input.store, input.store.args_id(event));
  if (!args) return {};
  constexpr size_t kMost = 6;
  std::vector<std::string> shapes;
  for (const ArgValue& value : args->inputs) {
    if (shapes.size() > kMost) break;
    if (value.is_tensor()) shapes.push_back(dims_text(value.shape.dims));
    for (const ArgValue::Shape& shape : value.list) {
      if (shapes.size() <= kMost) shapes.push_back(dims_text(shape.dims));
    }
  }
  if (shapes.size() > kMost) {
    shapes.resize(kMost);
    shapes.emplace_back("…");
  }
  return fmt::format("{}", fmt::join(shapes, ", "));
}

std::string types_text(const SheetInput& input, EventId event) {
  const std::optional<OpArgs> args = read_op_args(input.store, input.store.args_id(event));
  if (!args) return {};
  std::set<std::string_view> types;
  std::string text;
  for (const ArgValue& value : args->inputs) {
    if (!value.is_tensor() || types.size() == kTypesShown) continue;
    if (types.insert(value.type).second) text += (text.empty() ? "" : ", ") + value.type;
  }
  return text;
}

EvidenceOp evidence_of(const Assessment& a, const AssessedOp& op) {
  EvidenceOp evidence;
  evidence.op = op.group->key.name;
  evidence.shapes = shapes_text(a.input(), op.group->first().event);
  evidence.types = types_text(a.input(), op.group->first().event);
  evidence.calls = op.group->gpu.count;
  evidence.time = op.group->gpu.sum;
  evidence.efficiency = op.efficiency;
  evidence.of_peak = op.of_peak;
  if (op.bound) evidence.bound = op.bound->is_compute() ? "compute" : "memory";
  const KernelMeasures& known = a.input().kernels;
  for (const EventId kernel : op.kernels) {
    evidence.kernels.emplace_back(a.input().store.name(kernel));
    if (known.has_code()) evidence.sources.push_back(known.code(kernel).source);
  }
  return evidence;
}

std::vector<const AssessedOp*> ops_by_time(std::span<const AssessedCall* const> calls) {
  std::map<const AssessedOp*, Nanos> times;
  for (const AssessedCall* call : calls) times[call->assessed] += call->time;
  std::vector<const AssessedOp*> ops;
  for (const auto& [op, time] : times) ops.push_back(op);
  std::ranges::stable_sort(ops, [&times](const AssessedOp* x, const AssessedOp* y) {
    return std::tuple(times[y], x) < std::tuple(times[x], y);
  });
  return ops;
}

std::vector<std::string> call_stack_of(const SheetInput& input, EventId event) {
  StackLines lines;
  if (input.store.kind(event) == EventKind::kPython) {
    for (EventId frame = input.tree.parent_frame(event); frame.valid() && !lines.full();
         frame = input.tree.parent_frame(frame)) {
      lines.add(input.store.name(frame));
    }
    return lines.take();
  }
  const CallId call = input.tree.call(event);
  if (!call.valid()) return {};
  for (CallId c = input.tree.parent(call); c.valid() && !lines.full(); c = input.tree.parent(c)) {
    lines.add(input.store.name(input.tree.event(c)));
  }
  for (EventId frame = input.tree.frame(call); frame.valid() && !lines.full();
       frame = input.tree.parent_frame(frame)) {
    lines.add(input.store.name(frame));
  }
  return lines.take();
}

void cover(const Assessment& a, Finding& finding, const UnifiedOp& call) {
  for (EventId kernel : call.kernels) {
    finding.covered.push_back({kernel, a.input().store.duration(kernel)});
  }
}

void cover(const Assessment& a, Finding& finding, std::span<const AssessedOp* const> ops) {
  for (const AssessedOp* op : ops) {
    for (const UnifiedOp* call : op->group->calls) cover(a, finding, *call);
  }
}

// A bound from shapes that no memory holds is as long as a time can be, not before zero.
Nanos nanos_from(double seconds) {
  return {std::llround(std::min(std::max(0.0, seconds) * 1e9, 0x1p62))};
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string percent_range_text(double least, double most) {
  const std::string from = fmt::format("{:.1f}", least * 100);
  std::string to = percent_text(most);
  if (from + " %" == to) return to;
  return from == "0.0" ? "up to " + to : fmt::format("{}–{}", from, to);
}

std::string micros_text(Nanos time) {
  if (time.count >= 7'200'000'000'000) return fmt::format("{:.1f} h", time.millis() / 3.6e6);
  if (time.count >= 10'000'000'000) return fmt::format("{:.2f} s", time.millis() / 1e3);
  if (time.count >= 1'000'000) return fmt::format("{:.2f} ms", time.millis());
  return fmt::format("{:.1f} µs", time.micros());
}

void project_to_limit(const Assessment& a, Finding& finding, double efficiency, double counted) {
  const double now = static_cast<double>(finding.time.count) / 1e9, limit = now * efficiency;
  finding.efficiency = efficiency;
  finding.share = ratio(finding.time, a.length());
  const auto project = [&](std::string target, double seconds) {
    finding.projections.push_back(
        {std::move(target), nanos_from(seconds), gain_of(a, (now - seconds) * counted)});
  };
  for (double band = next_band(efficiency); band < 1; band = next_band(band)) {
    project(fmt::format("{:.0f} % of achievable", band * 100), limit / band);
  }
  project("100 % of achievable", limit);
  const double next = std::min(1.0, next_band(efficiency));
  finding.saving_at_least = nanos_from((now - limit / next) * counted);
  finding.saving_at_most = nanos_from((now - limit) * counted);
}

void project_replacement(const Assessment& a, Finding& finding, const Replacement& work) {
  constexpr double kGood = 0.6;  // what a well-made kernel reaches
  finding.share = ratio(finding.time, a.length());
  const double counted = work.now > 0 ? work.counted / work.now : 0;
  Nanos* const savings[] = {&finding.saving_at_least, &finding.saving_at_most};
  const double efficiencies[] = {kGood, 1.0};
  for (size_t i = 0; i < std::size(savings); ++i) {
    const double seconds = std::min(work.now, work.limit / efficiencies[i]);
    const double saved = (work.now - seconds) * counted + work.waited;
    finding.projections.push_back(
        {i == 0 ? "fused, at 60 % of achievable" : "fused, at 100 % of achievable",
         nanos_from(seconds), gain_of(a, saved)});
    *savings[i] = nanos_from(saved);
  }
}

}  // namespace fathom
