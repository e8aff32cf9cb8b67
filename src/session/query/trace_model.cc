#include "session/query/trace_model.h"

#include <algorithm>

#include "session/summarize.h"

namespace fathom {

Result<std::unique_ptr<TraceModel>> TraceModel::make(OpenedTrace opened) {
  std::unique_ptr<TraceModel> model(new TraceModel(std::move(opened)));
  const OpenedTrace& o = model->opened_;
  TRY(check_has_events(o.trace));
  KernelMeasures measures =
      o.code ? KernelMeasures(o.trace.store, o.code->facts()) : KernelMeasures();
  if (!o.counters.empty()) measures.add_counters(o.trace.store, o.counters);
  if (o.samples) measures.add_samples(*o.samples);
  model->input_ =
      std::make_unique<const SheetInput>(o.trace.store, o.trace.tree, o.scope, std::move(measures));
  TRY(check_scope(*model->input_, o.trace.path));
  return model;
}

const Platform* TraceModel::platform() const {
  return opened_.platform ? &*opened_.platform : detect_platform(opened_.trace);
}

const TimeBase& TraceModel::base() const {
  std::call_once(base_once_, [this] {
    base_ = assessment_ ? assessment_->base()
                        : find_time_base(assessed_input(), work_by_device(assessed_input()));
  });
  return *base_;
}

const SheetInput& TraceModel::assessed_input() const {
  std::call_once(steady_once_, [this] { steady_ = SteadyInput::of(*input_); });
  return steady_ ? steady_->input : *input_;
}

const Assessment& TraceModel::assessment() const {
  if (!assessment_) {
    const SheetInput& assessed = assessed_input();
    if (!steady_) {
      launchers_ = find_launchers(assessed);
      ops_ = std::make_unique<const MeasuredOps>(assessed, launchers_);
    }
    assessment_ =
        std::make_unique<const Assessment>(assessed, steady_ ? steady_->ops : *ops_, platform());
  }
  return *assessment_;
}

const CriticalPath& TraceModel::path() const {
  if (!path_) path_ = std::make_unique<const CriticalPath>(assessed_input(), assessment().base());
  return *path_;
}

const std::vector<Finding>& TraceModel::findings() const {
  if (!findings_) findings_ = find_all(assessment(), &path());
  return *findings_;
}

std::optional<int64_t> TraceModel::step_at(Nanos time) const {
  const std::vector<BaseStep>& steps = base().steps;
  const auto after = std::ranges::upper_bound(steps, time, {}, &BaseStep::begin);
  if (after == steps.begin() || (after - 1)->end < time) return {};
  return after - 1 - steps.begin();
}

}  // namespace fathom
