// Linear layers that a loop applies again to a tensor that the loop does not change.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

// Which ops may have written a tensor of some number of elements, and when. A trace has no
// addresses: what no op of the step can have made was there before.
class MadeTensors {
 public:
  struct Maker {
    const AssessedOp* op;
    StringId function;
    size_t place;
  };

  explicit MadeTensors(const PatternInput& in) : in_(in) {}
  void clear() {
    made_.clear();
    unknown_ = 0;
  }

  void add(size_t place, StringId function) {
    const AssessedCall& call = in_.calls()[place];
    const auto note = [&](int64_t elements) {
      remember(elements, {call.assessed, function, place});
    };
    if (const auto& size = in_.product(*call.assessed)) {
      note(element_count({size->batch, size->m, size->n}).value_or(0));
      return;
    }
    int64_t largest = 0, width = 0;
    // A kernel that no op with shapes has launched may have written anything.
    if (in_.view(call).args.inputs.empty()) unknown_ = place;
    for (const ArgValue& value : in_.view(call).args.inputs) {
      int64_t listed = 0;
      for (const ArgValue::Shape& shape : value.list)
        listed += element_count(shape.dims).value_or(0);
      if (listed > 0) note(listed);
      if (!value.is_tensor()) continue;
      const int64_t elements = elements_of(value);
      note(elements);
      if (largest == 0) width = value.shape.dims.back();
      largest = std::max(largest, elements);
      // A sum over one dimension; rows that were looked up.
      for (const int64_t dim : value.shape.dims)
        if (dim > 1) note(elements / dim);
      if (in_.has(call, Role::kGather) && width > 0 && elements < INT64_MAX / width)
        note(elements * width);
    }
  }

  // Since a call, by another op than this one of the same function.
  bool made_since(int64_t elements, size_t place, const AssessedOp* op, StringId function) const {
    if (unknown_ > place) return true;
    const auto found = made_.find(elements);
    if (found == made_.end()) return false;
    return std::ranges::any_of(found->second, [&](const Maker& maker) {
      return maker.place > place && (maker.op != op || maker.function != function);
    });
  }

 private:
  void remember(int64_t elements, const Maker& maker) {
    constexpr size_t kMakers = 4;  // the last ones
    std::vector<Maker>& makers = made_[elements];
    std::erase_if(makers,
                  [&](const Maker& m) { return m.op == maker.op && m.function == maker.function; });
    if (makers.size() == kMakers) makers.erase(makers.begin());
    makers.push_back(maker);
  }

  const PatternInput& in_;
  std::map<int64_t, std::vector<Maker>> made_;
  size_t unknown_ = 0;  // the last call whose results are not known
};

// A product of a linear layer: of the activations [rows, width].
struct LinearCall {
  EventId frame;
  StringId function, module;
  int64_t elements = 0, width = 0;
};

class RepeatedLinears {
 public:
  explicit RepeatedLinears(const PatternInput& in) : in_(in), made_(in) {}

  std::vector<size_t> find() {
    const std::vector<AssessedCall>& calls = in_.calls();
    size_t step = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      const size_t now = in_.step_of(calls[i]);
      if (i > 0 && (now != step || !in_.same_thread(calls[i - 1], calls[i]))) begin_step();
      step = now;
      const auto linear = linear_at(calls[i]);
      if (linear) look_at(i, *linear);
      made_.add(i, linear ? linear->function : StringId{});
    }
    if (!again_.empty()) drop_parts();
    return std::move(again_);
  }

 private:
  struct Last {
    EventId frame;
    size_t place = 0;
  };

  void begin_step() {
    last_.clear();
    made_.clear();
    changing_.clear();
  }

  std::optional<LinearCall> linear_at(const AssessedCall& call) const {
    const auto& size = in_.product(*call.assessed);
    if (!size || size->batch != 1) return {};
    const PlaceIds ids = in_.assessment().places().of(call.op->event);
    if (!ids.frame.valid() || !ids.module.valid() || ids.gradient) return {};
    const int64_t elements = element_count({size->m, size->k}).value_or(0);
    if (elements == 0) return {};
    return LinearCall{ids.frame, in_.store().name_id(ids.frame), in_.store().name_id(ids.module),
                      elements, size->k};
  }

  void look_at(size_t place, const LinearCall& linear) {
    const AssessedCall& call = in_.calls()[place];
    const Nanos begin = in_.store().start(call.op->event);
    const auto [entry, is_new] = last_.try_emplace({call.assessed, linear.function, linear.module});
    Last& last = entry->second;
    const bool is_made =
        made_.made_since(linear.elements, is_new ? 0 : last.place, call.assessed, linear.function);
    const bool again = !is_new && !is_made && last.frame != linear.frame &&
                       is_beside_changing(linear.frame, in_.calls()[last.place], begin);
    if (again) {
      again_.push_back(place);
      sources_[call.assessed] = {linear.elements, linear.width};
    }
    if (is_made) changing_.push_back(begin);
    last = {linear.frame, place};
  }

  // In the same round of the loop a layer has already read what the loop changes: the round is no
  // batch of its own. A round is the outermost function call that began after the last time.
  bool is_beside_changing(EventId frame, const AssessedCall& last, Nanos begin) const {
    const Nanos since = in_.store().end(last.op->event);
    EventId round;
    for (EventId f = frame; f.valid() && in_.store().start(f) > since;
         f = in_.tree().parent_frame(f))
      round = f;
    if (!round.valid()) return false;
    const auto first = std::ranges::lower_bound(changing_, in_.store().start(round));
    return first != changing_.end() && *first < begin;
  }

  // A larger tensor of the same width is cut into parts: each call may have got another one.
  void drop_parts() {
    std::erase_if(again_, [&](size_t place) {
      const auto [elements, width] = sources_[in_.calls()[place].assessed];
      return std::ranges::any_of(
          in_.cut_tensors(), [&, e = elements, w = width](const auto& whole) {
            return whole.width == w && whole.elements > e && whole.elements % e == 0;
          });
    });
  }

  const PatternInput& in_;
  MadeTensors made_;
  std::map<std::tuple<const AssessedOp*, StringId, StringId>, Last> last_;
  std::vector<Nanos> changing_;  // begins of layers that read what was made in the step
  std::vector<size_t> again_;
  std::map<const AssessedOp*, std::pair<int64_t, int64_t>> sources_;
};

}  // namespace

std::vector<Finding> unchanged_inputs(const PatternInput& in) {
  if (!in.assessment().places().has_frames()) return {};
  MatchedCalls found;
  for (const size_t place : RepeatedLinears(in).find()) found.add(in.calls()[place]);
  const double most = found.counted() + found.waited();
  if (found.size() < in.steps() || found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kRepeatedTables,
      std::string(ops_by_time(found.calls()).front()->group->key.name),
      "Layers are applied again to an input that does not change",
      fmt::format("{} repeat what the same layer computed before in the step: no op between can "
                  "have made an input of this size. They take {}, {} of it idle time before their "
                  "launches.",
                  per_step(in, found.size(), "product", "products"),
                  micros_text(nanos_from(found.seconds() + found.waited())),
                  micros_text(nanos_from(found.waited()))),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {found.counted(), most, "computed once a step",
                           "computed once a step, without the idle time before the launches"},
                          Traits{"unchanged"})};
}

}  // namespace fathom::patterns
