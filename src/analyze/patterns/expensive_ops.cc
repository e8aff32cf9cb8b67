// Ops that are expensive, serial or avoidable by their nature: data/analysis/expensive_ops.tsv.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "analyze/place.h"
#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view expensive_ops_tsv;

namespace fathom::patterns {
namespace {

constexpr int kAround = 24, kFramesAround = 40;

struct ExpensiveRow {
  std::vector<std::string_view> names, when;
  double share = 0, calls = 0, least = 0, most = 0;
  std::string_view title, why, instead;
  bool is_inner = false;
  uint16_t told_as = 0;  // the first row of this title: one finding tells of both
};

double whole_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

const std::vector<ExpensiveRow>& expensive_rows() {
  static const std::vector<ExpensiveRow> all = [] {
    std::vector<ExpensiveRow> list;
    for (const auto& r : read_tsv(expensive_ops_tsv, 8)) {
      ExpensiveRow& row = list.emplace_back();
      row.names = split(r[0], ',');
      row.share = whole_number(r[1]) / 100;
      row.calls = whole_number(r[2]);
      if (r[3] != "*") row.when = split(r[3], ',');
      row.is_inner = std::erase(row.when, "inner") > 0;
      const size_t to = r[4].find('-');
      row.least = whole_number(r[4].substr(0, to)) / 100;
      row.most = whole_number(r[4].substr(to + 1)) / 100;
      row.title = r[5];
      row.why = r[6];
      row.instead = r[7];
      row.told_as = static_cast<uint16_t>(std::ranges::find(list, row.title, &ExpensiveRow::title) -
                                          list.begin());
    }
    return list;
  }();
  return all;
}

enum class NameKind : uint8_t { kOp, kKernel, kFrame };
using RowList = std::vector<uint16_t>;

// Rows by name, each name looked at once.
class RowsOfNames {
 public:
  explicit RowsOfNames(const EventStore& store) : store_(store) {
    const auto rows = static_cast<uint16_t>(expensive_rows().size());
    for (uint16_t i = 0; i < rows; ++i) {
      for (std::string_view name : expensive_rows()[i].names) {
        if (name.starts_with("kernel:")) {
          kernels_.emplace_back(name.substr(7), i);
        } else if (name.starts_with("frame:")) {
          frames_.emplace_back(name.substr(6), i);
        } else if (name.find('*') != std::string_view::npos) {
          globs_.emplace_back(name, i);
        } else {
          ops_[name].push_back(i);
        }
      }
    }
  }

  const RowList& of(EventId event, NameKind kind) {
    const StringId name = store_.name_id(event);
    if (!name.valid()) return none_;
    const auto [found, is_new] = known_[static_cast<size_t>(kind)].try_emplace(name);
    if (is_new) found->second = find(store_.text(name), kind);
    return found->second;
  }

 private:
  RowList find(std::string_view name, NameKind kind) const {
    RowList list;
    if (kind == NameKind::kOp) {
      if (const auto exact = ops_.find(name); exact != ops_.end()) list = exact->second;
      for (const auto& [glob, row] : globs_)
        if (glob_matches(glob, name)) list.push_back(row);
      std::ranges::sort(list);
    } else if (kind == NameKind::kKernel) {
      for (const auto& [glob, row] : kernels_)
        if (glob_matches(glob, name)) list.push_back(row);
    } else if (const auto frame = read_frame_name(name)) {
      for (const auto& [text, row] : frames_) {
        const size_t colon = text.find(':');
        if (glob_matches(text.substr(colon + 1), frame->function) &&
            glob_matches(fmt::format("*{}", text.substr(0, colon)), frame->file))
          list.push_back(row);
      }
    }
    return list;
  }

  const EventStore& store_;
  std::unordered_map<std::string_view, RowList> ops_;
  std::vector<std::pair<std::string_view, uint16_t>> globs_, kernels_, frames_;
  std::unordered_map<StringId, RowList> known_[3];
  RowList none_;
};

// A call that a row is about; the work below it is its own.
struct ExpensiveCall {
  EventId event;  // an op, a Python frame, or a kernel
  std::optional<uint16_t> row;
};

bool has_large_prime(int64_t size) {
  constexpr int64_t kLargest = 127;  // of cuFFT's own factors
  for (int64_t factor = 2; factor <= kLargest && size > 1; ++factor)
    while (size % factor == 0) size /= factor;
  return size > 1;
}

// Of the sizes that a transform goes along: argument 1 lists them, else the last.
bool is_awkward_transform(const OpArgs& args) {
  const ArgValue* in = args.at(0);
  if (in == nullptr || in->shape.dims.empty()) return false;
  const std::vector<int64_t>& dims = in->shape.dims;
  const ArgValue* listed = args.at(1);
  const auto places = listed != nullptr ? read_int_list(listed->concrete) : std::nullopt;
  if (!places || places->empty()) return has_large_prime(dims.back());
  return std::ranges::any_of(*places, [&dims](int64_t place) {
    const auto count = static_cast<int64_t>(dims.size());
    if (place < 0) place += count;
    return place >= 0 && place < count && has_large_prime(dims[static_cast<size_t>(place)]);
  });
}

// argN=TEXT, argN!=TEXT
bool argument_fits(const OpArgs& args, std::string_view condition) {
  const size_t equals = condition.find('=');
  const bool negated = equals > 0 && condition[equals - 1] == '!';
  const auto place = static_cast<size_t>(whole_number(condition.substr(3)));
  const ArgValue* value = args.at(place);
  if (value == nullptr || value->concrete.empty()) return false;
  return (value->concrete == condition.substr(equals + 1)) != negated;
}

class ExpensiveOps {
 public:
  explicit ExpensiveOps(const PatternInput& in) : in_(in), names_(in.store()) {}

  // Of the outermost op that a row fits, or of an inner one that is told of itself; else of its
  // kernel, else of the Python code around it.
  ExpensiveCall of(const AssessedCall& call, size_t place) {
    const CallTree& tree = in_.tree();
    CallId c = tree.call(call.op->event);
    if (!call.op->kernels.empty() && tree.has_launches()) {
      const CallId launch = tree.launch(call.op->kernels.front());
      if (launch.valid()) c = launch;
    }
    const CallId innermost = c;
    ExpensiveCall found;
    for (int i = 0; i < kAround && c.valid(); ++i, c = tree.parent(c)) {
      const EventId event = tree.event(c);
      if (const auto row = row_of(event, NameKind::kOp, place)) found = {event, row};
      if (found.row && expensive_rows()[*found.row].is_inner) break;
    }
    if (found.row) return found;
    for (const EventId kernel : call.op->kernels)
      if (const auto row = row_of(kernel, NameKind::kKernel, place)) return {kernel, row};
    if (innermost.valid()) return of_frames(tree.frame(innermost), place);
    return {};
  }

 private:
  ExpensiveCall of_frames(EventId frame, size_t place) {
    ExpensiveCall found;
    for (int i = 0; i < kFramesAround && frame.valid(); ++i, frame = in_.tree().parent_frame(frame))
      if (const auto row = row_of(frame, NameKind::kFrame, place)) found = {frame, row};
    return found;
  }

  std::optional<uint16_t> row_of(EventId event, NameKind kind, size_t place) {
    const RowList& list = names_.of(event, kind);
    if (list.empty()) return {};
    const auto [known, is_new] = row_of_event_.try_emplace(event);
    if (!is_new) return known->second;
    for (const uint16_t row : list) {
      if (!std::ranges::all_of(expensive_rows()[row].when, [&](std::string_view condition) {
            return holds(condition, event, place);
          }))
        continue;
      return row_of_event_[event] = row;
    }
    return {};
  }

  bool holds(std::string_view condition, EventId event, size_t place) {
    if (condition == "inference") return !in_.has_backward();
    if (condition == "training") return in_.has_backward();
    const auto args = read_op_args(in_.store(), in_.store().args_id(event));
    if (!args) return false;
    if (condition.starts_with("arg")) return argument_fits(*args, condition);
    if (condition == "awkward") return is_awkward_transform(*args);
    const auto first = std::ranges::find_if(args->inputs, &ArgValue::is_tensor);
    if (first == args->inputs.end()) return false;
    const std::vector<int64_t>& dims = first->shape.dims;
    const bool is_matrix = dims.size() > 1;
    const bool is_single = is_matrix && element_count({dims.begin(), dims.end() - 2}) == 1;
    if (condition == "double") return is_float_type(*first, 64);
    if (condition == "real")
      return find_element_type(first->type) != nullptr && !is_complex(*first);
    if (condition == "integer") return is_integer_type(*first);
    if (condition == "square") return is_matrix && dims.back() == dims[dims.size() - 2];
    if (condition == "single") return is_single;
    if (condition == "few") return is_large_beside_others(*args, *first);
    if (condition == "batched") return is_matrix && !is_single;
    if (condition.starts_with("after="))
      return runs_after(condition.substr(6), event, place, elements_of(*first));
    return false;
  }

  static bool is_large_beside_others(const OpArgs& args, const ArgValue& first) {
    constexpr int64_t kTimes = 4;
    return std::ranges::all_of(args.inputs, [&first](const ArgValue& value) {
      return &value == &first || !value.is_tensor() || is_integer_type(value) ||
             elements_of(value) <= elements_of(first) / kTimes;
    });
  }

  static bool is_complex(const ArgValue& value) {
    return value.type.find("omplex") != std::string::npos;
  }

  // Another call of such an op on as many elements, before this one in the same function, with no
  // product between.
  bool runs_after(std::string_view glob, EventId event, size_t place, int64_t elements) const {
    constexpr size_t kBefore = 12;
    const EventId frame = in_.user_frame(event);
    for (size_t back = 1; back <= std::min(kBefore, place); ++back) {
      const AssessedCall& call = in_.calls()[place - back];
      if (!in_.same_thread(call, in_.calls()[place])) return false;
      if (in_.product(*call.assessed)) return false;  // another layer or round
      const EventId op = call.op->event;
      if (in_.store().start(op) >= in_.store().start(event)) continue;  // within it
      if (frame.valid() && in_.user_frame(op) != frame) continue;
      if (!in_.any_around(op, glob)) continue;
      const ArgValue* tensor = in_.view(call).tensor(0);
      if (tensor != nullptr && elements_of(*tensor) == elements) return true;
    }
    return false;
  }

  const PatternInput& in_;
  RowsOfNames names_;
  std::unordered_map<EventId, std::optional<uint16_t>> row_of_event_;
};

// Ops of most programs, told of where they take much: nothing shows that they are not needed.
bool is_common(const ExpensiveRow& row) {
  constexpr double kMuch = 0.15;
  return row.least == 0 && row.share >= kMuch;
}

struct FoundOps {
  MatchedCalls calls;
  std::set<EventId> instances;
};

// Idle time of the GPU while the host was in these calls: what a wait or a slow launch costs.
double idle_seconds_in(const PatternInput& in, const std::set<EventId>& instances) {
  const EventStore& store = in.store();
  std::vector<Interval> spans;
  for (const EventId event : instances)
    if (!is_gpu_work(store.kind(event))) spans.push_back({store.start(event), store.end(event)});
  return seconds_of(idle_time_in(in.assessment().idle(), merge_intervals(std::move(spans))));
}

std::optional<Finding> expensive_finding(const PatternInput& in, const ExpensiveRow& row,
                                         const FoundOps& found) {
  const Nanos length = in.assessment().length();
  const double idle = idle_seconds_in(in, found.instances);
  const Nanos time = nanos_from(found.calls.seconds() + idle);
  const auto instances = static_cast<double>(found.instances.size());
  if (ratio(time, length) < row.share || instances < row.calls * static_cast<double>(in.steps()))
    return {};
  const std::string idle_text =
      idle > 0 ? fmt::format(", {} of it idle GPU time while the host is in them",
                             micros_text(nanos_from(idle)))
               : "";
  PatternText text{
      FindingKind::kExpensiveOp,
      std::string(ops_by_time(found.calls.calls()).front()->group->key.name),
      std::string(row.title),
      fmt::format("{} take {}, {} of the wall time{}. {}",
                  per_step(in, found.instances.size(), "call", "calls"), micros_text(time),
                  percent_text(ratio(time, length)), idle_text, row.why),
      Confidence::kMedium};
  Finding f =
      pattern_finding(in, std::move(text), found.calls,
                      {row.least * found.calls.counted(), row.most * (found.calls.counted() + idle),
                       "", "without it (upper bound: what takes its place is not counted)"});
  f.time = time;
  f.share = ratio(time, length);
  f.change_code = row.instead;
  if (is_common(row) && f.priority < Priority::kMedium) {
    f.priority = Priority::kMedium;
    f.priority_reason = "an op of many programs that may be needed";
  }
  return f;
}

}  // namespace

std::vector<Finding> expensive_ops(const PatternInput& in) {
  ExpensiveOps ops(in);
  std::map<uint16_t, FoundOps> found;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const ExpensiveCall instance = ops.of(in.calls()[i], i);
    if (!instance.row) continue;
    FoundOps& of_row = found[expensive_rows()[*instance.row].told_as];
    of_row.calls.add(in.calls()[i], false);
    of_row.instances.insert(instance.event);
  }
  std::vector<Finding> findings;
  for (const auto& [row, of_row] : found)
    if (auto f = expensive_finding(in, expensive_rows()[row], of_row))
      findings.push_back(std::move(*f));
  return findings;
}

}  // namespace fathom::patterns
