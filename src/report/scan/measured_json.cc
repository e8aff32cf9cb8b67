#include "report/scan/measured_json.h"

#include <cmath>

namespace fathom {
namespace {

void number(FactWriter& w, std::string_view key, const std::optional<double>& value) {
  w.json().key(key);
  value&& std::isfinite(*value) ? w.json().value(*value) : w.json().null();
}

void dims(FactWriter& w, std::string_view key, const std::optional<Dim3>& d) {
  w.json().key(key);
  if (!d) {
    w.json().null();
    return;
  }
  w.json().begin_array();
  for (const int64_t one : {int64_t{d->x}, int64_t{d->y}, int64_t{d->z}}) w.json().value(one);
  w.json().end_array();
}

void write_quantity(FactWriter& w, const ComparedQuantity& one) {
  w.text("quantity", one.id);
  w.optional_text("unit", one.unit);
  number(w, "low", one.low);
  number(w, "high", one.high);
  number(w, "measured", one.measured);
  w.optional_text("expected_text", one.expected_text);
  w.optional_text("measured_text", one.measured_text);
  w.text("verdict", comparison_name(one.comparison));
  w.optional_text("reason", one.reason);
  w.optional_text("command", one.command);
}

void write_hypothesis(FactWriter& w, const TestedHypothesis& tested) {
  w.text("id", tested.hypothesis->id);
  w.text("verdict", verdict_text(tested.verdict));
  number(w, "least_speedup", tested.least_gain());
  number(w, "most_speedup", tested.most_gain());
  w.json().key("missing").begin_array();
  for (const std::string_view name : tested.missing) w.json().value(value_header(name));
  w.json().end_array();
  w.optional_text("command", tested.command);
}

void write_launch(FactWriter& w, const MeasuredRun& run, const ComparedKernel& compared) {
  const KernelContext& context = run.contexts[compared.context];
  w.text("recording", run.file);
  w.text("name", context.name);
  dims(w, "grid", context.launch.grid);
  dims(w, "block", context.launch.block);
  w.count("runs", static_cast<uint64_t>(context.count));
  w.text("join", quality_text(context.quality));
  w.text("trusted", context.trust);
  w.optional_text("not_comparable", compared.not_comparable);
  w.lines("parameters", compared.solved, [](FactWriter& line, const LaunchValues::Solved& one) {
    line.text("name", one.name);
    number(line, "low", one.least);
    number(line, "high", one.most);
    line.text("from", one.from);
  });
  w.lines("compared", compared.quantities, write_quantity);
  w.json().key("values").begin_object();
  for (const auto& [name, value] : context.values) number(w, name, value);
  w.json().end_object();
  w.json().key("stalls").begin_object();
  for (const auto& [reason, share] : context.stalls) number(w, with_valid_utf8(reason), share);
  w.json().end_object();
  w.lines("hypotheses", context.tested, write_hypothesis);
}

}  // namespace

MeasuredJson::MeasuredJson(const std::vector<MeasuredRun>& runs, size_t kernels)
    : runs_(runs), launches_(runs.empty() ? 0 : kernels), sampled_(runs.empty() ? 0 : kernels) {
  for (const MeasuredRun& run : runs) {
    for (const ComparedKernel& one : run.compared) launches_[one.kernel].push_back({&run, &one});
    for (const MeasuredRun::Sampled& one : run.sampled) sampled_[one.kernel].push_back(&one);
  }
}

void MeasuredJson::write_runs(FactWriter& w) const {
  if (runs_.empty()) return;
  w.lines("measured", runs_, [](FactWriter& line, const MeasuredRun& run) {
    const ComparedCounts counts = count_compared(run.compared);
    line.text("recording", run.file);
    line.optional_text("gpu", run.gpu);
    line.optional_text("refused", run.refusal);
    line.optional_text("doubt", run.doubt);
    line.count("launches", run.launches);
    line.count("in_code", run.in_code);
    if (run.left_out > 0) line.count("left_out", run.left_out);
    line.count("within", counts.within);
    line.count("surprises", counts.surprises);
    line.count("not_comparable", counts.not_comparable);
    line.count("not_measured", counts.not_measured);
  });
}

void MeasuredJson::write_kernel(FactWriter& w, size_t kernel) const {
  if (runs_.empty()) return;
  w.lines("measured", launches_[kernel], [](FactWriter& line, const Launch& launch) {
    write_launch(line, *launch.run, *launch.compared);
  });
  w.json().key("hot_lines").begin_array();
  for (const MeasuredRun::Sampled* sampled : sampled_[kernel]) {
    for (const HotLine& hot : sampled->lines) {
      w.json().begin_object();
      w.text("place", hot.place);
      w.text("reasons", hot.reasons);
      number(w, "percent", hot.percent);
      w.json().end_object();
    }
  }
  w.json().end_array();
}

}  // namespace fathom
