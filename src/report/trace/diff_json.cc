#include "base/json_writer.h"
#include "report/trace/diff_report.h"

namespace fathom {
namespace {

constexpr int64_t kDiffSchemaVersion = 1;

class DiffJson {
 public:
  explicit DiffJson(const DiffReport& report) : report_(report), diff_(report.diff) {}

  std::string write() {
    json_.begin_object().key("schema_version").value(kDiffSchemaVersion);
    trace("a", report_.a, diff_.a);
    trace("b", report_.b, diff_.b);
    json_.key("same_file").value(report_.same_file);
    json_.key("nothing_differs").value(nothing_differs(diff_));
    // What the times ending in _us are divided by; those ending in _ns are exact totals.
    json_.key("per").value(diff_.per.steps ? "step" : "trace");
    timeline();
    explanation();
    categories();
    ops();
    json_.key("report");
    report_.listing.directory.empty() ? json_.null() : json_.value(report_.listing.directory);
    json_.key("files").begin_array();
    for (const std::string& file : report_.listing.files) json_.value(file);
    json_.end_array().end_object();
    return json_.take() + "\n";
  }

 private:
  void text(std::string_view key, std::string_view value) {
    json_.key(key);
    value.empty() ? json_.null() : json_.value(value);
  }

  void integer(std::string_view key, std::optional<int64_t> value) {
    json_.key(key);
    value ? json_.value(*value) : json_.null();
  }

  void trace(std::string_view key, const Summary& s, const DiffSide& side) {
    json_.key(key).begin_object().key("trace").value(s.trace);
    text("gpu", s.gpu);
    text("runtime", s.runtime);
    integer("rank", s.rank);
    integer("world_size", s.world_size);
    json_.key("events").value(s.events).key("skipped_events").value(s.skipped_events);
    json_.key("steps").value(side.steps);
    text("scope", s.scope);
    json_.key("gpu_work_ns").value(side.work.count);
    json_.key("gpu_work_outside_steps_ns").value(side.outside_steps.count);
    json_.key("unlinked_events").value(s.unlinked.events);
    json_.key("unlinked_included").value(s.unlinked.included);
    json_.end_object();
  }

  void times(const Change& change) {
    json_.key("a_ns").value(change.a.count).key("b_ns").value(change.b.count);
    json_.key("a_us").value(divided_a(change.a, diff_.per) / 1e3);
    json_.key("b_us").value(divided_b(change.b, diff_.per) / 1e3);
    json_.key("difference_us").value(difference(change, diff_.per) / 1e3);
    json_.key("difference_percent");
    const auto percent = percent_more(change, diff_.per);
    percent ? json_.value(*percent) : json_.null();
  }

  void timeline() {
    json_.key("timeline").begin_array();
    for (const TimelineChange& change : timeline_changes(diff_)) {
      json_.begin_object().key("part").value(change.name);
      json_.key("is_sum").value(!change.is_part);
      times(change.time);
      json_.end_object();
    }
    json_.end_array();
  }

  void explanation() {
    const Explanation why = explain(diff_);
    json_.key("gpu_work").begin_object();
    times(diff_.work());
    json_.key("increases_us").value(why.more / 1e3).key("decreases_us").value(why.less / 1e3);
    json_.end_object().key("explanation").begin_object();
    json_.key("ops").value(static_cast<int64_t>(why.ops));
    json_.key("percent").value(why.share * 100);
    json_.key("of").value(why.of_difference ? "difference" : "all changes");
    const NameWriter as_is = [](std::string_view name) { return std::string(name); };
    json_.key("timeline_text").value(timeline_sentence(diff_));
    json_.key("ops_text").value(ops_sentence(diff_, as_is));
    json_.end_object();
  }

  void categories() {
    json_.key("categories").begin_array();
    for (const CategoryChange& category : diff_.categories) {
      json_.begin_object().key("name").value(category.name);
      json_.key("a_calls").value(category.calls_a).key("b_calls").value(category.calls_b);
      times(category.time);
      json_.end_object();
    }
    json_.end_array();
  }

  void side(std::string_view key, const std::optional<OpSide>& side) {
    json_.key(key);
    if (!side) {
      json_.null();
      return;
    }
    json_.begin_object().key("calls").value(side->calls).key("category").value(side->category);
    json_.key("call_path").value(side->path);
    text("input_dims", side->dims);
    text("input_types", side->types);
    json_.key("places_merged").value(side->merged).end_object();
  }

  void ops() {
    json_.key("ops").begin_array();
    for (const OpChange& op : diff_.ops) {
      json_.begin_object().key("name").value(op.name);
      json_.key("change").value(describe(op.kind(diff_.per)));
      json_.key("matched_by").value(describe(op.matched));
      times(op.time());
      side("a", op.a);
      side("b", op.b);
      json_.key("explained_by_limits");
      if (op.explained_by_limits) {
        json_.begin_object().key("a_us").value(op.explained_by_limits->nanos_a / 1e3);
        json_.key("b_us").value(op.explained_by_limits->nanos_b / 1e3).end_object();
      } else {
        json_.null();
      }
      json_.key("other_kernels").value(op.other_kernels).key("kernels").begin_array();
      for (const KernelChange& kernel : op.kernels) {
        json_.begin_object().key("name").value(kernel.name);
        json_.key("a_count").value(kernel.count_a).key("b_count").value(kernel.count_b);
        times(kernel.time);
        json_.end_object();
      }
      json_.end_array().end_object();
    }
    json_.end_array();
  }

  const DiffReport& report_;
  const Diff& diff_;
  JsonWriter json_{true};
};

}  // namespace

std::string diff_json(const DiffReport& report) { return DiffJson(report).write(); }

}  // namespace fathom
