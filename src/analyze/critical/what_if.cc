#include "analyze/critical/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/closest_names.h"
#include "base/glob.h"

namespace fathom {
namespace {

using Target = WhatIfChange::Target;

struct TargetWord {
  std::string_view word;
  Target target;
  bool needs_name;
};
constexpr TargetWord kTargets[] = {
    {"op", Target::kOp, true},          {"kernel", Target::kKernel, true},
    {"copy", Target::kCopy, false},     {"collective", Target::kCollective, false},
    {"launch", Target::kLaunch, false}, {"sync", Target::kSync, false},
    {"call", Target::kCall, true},      {"host", Target::kHost, false},
    {"module", Target::kModule, true},  {"annotation", Target::kAnnotation, true},
};
constexpr double kLargestFactor = 100;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

Result<WhatIfChange> parse_change(std::string_view text) {
  constexpr std::string_view kForms =
      "expected TARGET[=NAME] xFACTOR or TARGET[=NAME] remove, such as 'op=aten::mm x0.5', 'launch "
      "x0' or 'sync remove'";
  const auto wrong = [&](std::string_view why) {
    return Error{fmt::format("'{}': {}", text, why)};
  };
  const size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return wrong(kForms);
  const std::string_view action = text.substr(space + 1);
  const std::string_view what = trimmed(text.substr(0, space));
  const size_t equals = what.find('=');
  const std::string_view word = what.substr(0, equals);
  WhatIfChange change;
  const auto* known = std::ranges::find(kTargets, word, &TargetWord::word);
  if (known == std::end(kTargets)) {
    std::vector<std::string> words;
    for (const TargetWord& target : kTargets) words.emplace_back(target.word);
    return wrong(fmt::format("no target '{}'{}", word, did_you_mean(word, words)));
  }
  change.target = known->target;
  change.pattern = equals == std::string_view::npos ? "*" : std::string(what.substr(equals + 1));
  if (change.pattern.empty() || (known->needs_name && equals == std::string_view::npos))
    return wrong(fmt::format("'{}' needs a name, such as {}=NAME or {}='*'", word, word, word));
  if (action == "remove") {
    change.remove = true;
    change.factor = 0;
    return change;
  }
  if (!action.starts_with('x')) return wrong(kForms);
  const char* const end = action.data() + action.size();
  const auto [stop, error] = std::from_chars(action.data() + 1, end, change.factor);
  if (error != std::errc{} || stop != end) return wrong(kForms);
  // Written so that not-a-number fails too.
  if (!(change.factor >= 0 && change.factor <= kLargestFactor))
    return wrong(fmt::format("the factor must be from 0 to {}", kLargestFactor));
  return change;
}

bool changes_gpu(Target target) {
  return target != Target::kLaunch && target != Target::kSync && target != Target::kCall &&
         target != Target::kHost;
}
bool is_by_call(Target target) {
  return target == Target::kOp || target == Target::kModule || target == Target::kAnnotation;
}

}  // namespace

Result<WhatIfQuestion> parse_what_if(std::string_view text) {
  constexpr std::string_view kAnd = " and ";
  WhatIfQuestion question{std::string(trimmed(text)), {}};
  std::string_view rest = question.text;
  while (true) {
    const size_t end = rest.find(kAnd);
    question.changes.push_back(TRY(parse_change(trimmed(rest.substr(0, end)))));
    if (end == std::string_view::npos) return question;
    rest.remove_prefix(end + kAnd.size());
  }
}

WhatIf::WhatIf(const SheetInput& input, const CriticalPath& path)
    : input_(input), path_(path), graph_(path.graph()), change_(graph_) {}

void WhatIf::reset() {
  change_.duration = graph_.duration;
  change_.removed.assign(graph_.size(), false);
}

int64_t WhatIf::replayed_length(Outlook outlook) {
  replay(graph_, change_, outlook, replayed_);
  return replayed_.length;
}

void WhatIf::mark_call(CallId call) {
  const CallId end = input_.tree.subtree_end(call);
  for (size_t c = call.index; c < end.index; ++c)
    marked_[input_.tree.event(CallId(c)).index] = true;
  for (const EventId work : input_.tree.launched_in_subtree(call)) marked_[work.index] = true;
}

// What begins inside spans of a thread. A span in another of the same name adds nothing.
void WhatIf::mark_spans(const WhatIfChange& change, EventKind kind) {
  struct Span {
    TrackId track;
    Nanos begin, end;
  };
  const EventStore& store = input_.store;
  std::vector<Span> spans;
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    if (store.kind(e) != kind) continue;
    std::string_view name = store.name(e);
    constexpr std::string_view kModule = "nn.Module: ";
    if (kind == EventKind::kPython) {
      if (!name.starts_with(kModule)) continue;
      name.remove_prefix(kModule.size());
    }
    if (!glob_matches(change.pattern, name)) continue;
    spans.push_back({store.track_id(e), store.start(e), store.end(e)});
  }
  marks_ += spans.size();
  std::ranges::sort(spans, [](const Span& a, const Span& b) {
    return std::tie(a.track, a.begin, b.end) < std::tie(b.track, b.begin, a.end);
  });
  // Calls are in the same order: thread by thread, by time.
  size_t next = 0;
  Nanos until{INT64_MIN};
  TrackId track;
  for (size_t c = 0; c < input_.tree.size();) {
    const EventId e = input_.tree.event(CallId(c));
    if (store.track_id(e) != track) {
      track = store.track_id(e);
      until = Nanos{INT64_MIN};
    }
    while (next < spans.size() &&
           std::tie(spans[next].track, spans[next].begin) <= std::tuple(track, store.start(e))) {
      if (spans[next].track == track) until = std::max(until, spans[next].end);
      ++next;
    }
    if (is_host_call(store.kind(e)) && store.start(e) < until) {
      mark_call(CallId(c));
      c = input_.tree.subtree_end(CallId(c)).index;
    } else {
      ++c;
    }
  }
}

// Marks events of nodes of the target's kinds; returns what they are called.
template <typename Matches>
std::string_view WhatIf::mark_nodes(const WhatIfChange& change, Matches matches) {
  const Target target = change.target;
  const auto wanted = [target](NodeKind kind) {
    if (target == Target::kCopy) return kind == NodeKind::kCopy;
    if (target == Target::kCollective) return kind == NodeKind::kCollective;
    if (target == Target::kLaunch) return kind == NodeKind::kLaunch;
    if (target == Target::kSync) return kind == NodeKind::kSync;
    if (target == Target::kHost) return !is_on_gpu(kind);
    return is_on_gpu(kind) && kind != NodeKind::kCopy;
  };
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (!wanted(graph_.kind[i])) continue;
    if (target == Target::kHost && change.pattern == "*") {
      ++marks_;
      continue;
    }
    for (const HostSlice& slice : graph_.slices_of(i))
      if (slice.event.valid() && matches(slice.event)) marked_[slice.event.index] = true;
    if (const EventId e = graph_.event[i]; e.valid() && matches(e)) marked_[e.index] = true;
  }
  if (target == Target::kCopy) return "copy";
  if (target == Target::kCollective) return "collective";
  if (target == Target::kKernel) return "kernel";
  if (target == Target::kSync) return "call that waits for the GPU";
  return target == Target::kLaunch ? "launch call" : "host call";
}

Status WhatIf::mark(const WhatIfChange& change) {
  const EventStore& store = input_.store;
  marked_.assign(store.size(), false);
  marks_ = 0;
  std::string_view of = "";
  std::set<std::string> names;  // for a name that is none
  constexpr size_t kMostNames = 20'000;
  const auto matches = [&](EventId e) {
    const bool matched = glob_matches(change.pattern, store.name(e));
    if (!matched && marks_ == 0 && names.size() < kMostNames) names.emplace(store.name(e));
    marks_ += matched;
    return matched;
  };
  switch (change.target) {
    case Target::kOp:
    case Target::kCall:
      of = change.target == Target::kOp ? "op" : "call";
      for (size_t c = 0; c < input_.tree.size();) {
        const EventId e = input_.tree.event(CallId(c));
        const bool wanted = change.target == Target::kOp ? store.kind(e) == EventKind::kCpuOp
                                                         : is_host_call(store.kind(e));
        if (wanted && matches(e)) {
          mark_call(CallId(c));
          c = input_.tree.subtree_end(CallId(c)).index;
        } else {
          ++c;
        }
      }
      break;
    case Target::kModule:
    case Target::kAnnotation: {
      const EventKind kind =
          change.target == Target::kModule ? EventKind::kPython : EventKind::kAnnotation;
      of = change.target == Target::kModule ? "module" : "annotation";
      for (size_t i = 0; i < store.size() && names.size() < kMostNames; ++i) {
        std::string_view name = store.name(EventId(i));
        if (store.kind(EventId(i)) != kind) continue;
        if (kind == EventKind::kPython) {
          if (!name.starts_with("nn.Module: ")) continue;
          name.remove_prefix(11);
        }
        names.emplace(name);
      }
      mark_spans(change, kind);
      break;
    }
    default:
      of = mark_nodes(change, matches);
  }
  if (marks_ > 0) return Nothing{};
  // Of all there is, nothing is an answer; a name that is none is a mistake.
  if (change.pattern == "*") return Nothing{};
  if (change.target == Target::kModule && names.empty())
    return Error{"--what-if: the trace has no nn.Module frames; record with with_stack=True"};
  const std::vector<std::string> all(names.begin(), names.end());
  return Error{fmt::format("--what-if: no {} named '{}' in the trace{}", of, change.pattern,
                           did_you_mean(change.pattern, all))};
}

// Slices that several changes select are shortened by each, down to nothing.
template <typename Selected>
void WhatIf::change_slices(uint32_t node, double factor, Selected selected, size_t& changed) {
  int64_t less = 0;
  for (const HostSlice& slice : graph_.slices_of(node)) {
    if (!selected(slice.event)) continue;
    less += std::llround(static_cast<double>(slice.length) * (1 - factor));
    ++changed;
  }
  const int64_t left = std::max<int64_t>(0, change_.duration[node] - less);
  change_.duration[node] = left;
}

Status WhatIf::apply(const WhatIfChange& change, WhatIfAnswer& answer) {
  TRY(mark(change));
  const Target target = change.target;
  // An op of the CPU is its host time; of others the host's part stays unless the op goes.
  bool has_gpu_work = false;
  for (uint32_t i = 0; i < graph_.size() && !has_gpu_work; ++i)
    has_gpu_work = is_on_gpu(graph_.kind[i]) && marked_[graph_.event[i].index];
  const bool host_too =
      !changes_gpu(target) || change.remove || (is_by_call(target) && !has_gpu_work);
  // Work that is not there needs no launch.
  if (change.remove && !is_by_call(target) && changes_gpu(target)) {
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!is_on_gpu(graph_.kind[i]) || !marked_[graph_.event[i].index]) continue;
      const CallId call =
          input_.tree.has_launches() ? input_.tree.launch(graph_.event[i]) : CallId{};
      if (call.valid() && input_.tree.launched_by(call).size() == 1)
        marked_[input_.tree.event(call).index] = true;
    }
  }
  const bool all_host = target == Target::kHost && change.pattern == "*";
  const auto selected = [&](EventId e) { return all_host || (e.valid() && marked_[e.index]); };
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    const bool on_gpu = is_on_gpu(graph_.kind[i]);
    if (on_gpu ? !changes_gpu(target) : !host_too) continue;
    if (target == Target::kLaunch && graph_.kind[i] != NodeKind::kLaunch) continue;
    if (target == Target::kSync && graph_.kind[i] != NodeKind::kSync) continue;
    if (graph_.kind[i] == NodeKind::kHost) {
      change_slices(i, change.factor, selected, answer.host_segments);
      continue;
    }
    if (!selected(graph_.event[i])) continue;
    ++(on_gpu ? answer.gpu_events : answer.host_segments);
    change_.removed[i] = change_.removed[i] || change.remove;
    change_.duration[i] = std::llround(static_cast<double>(change_.duration[i]) * change.factor);
  }
  return Nothing{};
}

Result<WhatIfAnswer> WhatIf::ask(const WhatIfQuestion& question) {
  reset();
  WhatIfAnswer answer;
  answer.question = question.text;
  answer.step = path_.step_time();
  for (const WhatIfChange& change : question.changes) TRY(apply(change, answer));
  const auto steps = static_cast<int64_t>(std::max<size_t>(1, graph_.steps));
  answer.at_most = {replayed_length(Outlook::kPessimistic) / steps};
  answer.at_least = {replayed_length(Outlook::kOptimistic) / steps};
  if (!unprofiled_) unprofiled_.emplace(input_, path_);
  std::tie(answer.saved_at_least, answer.saved_at_most) = unprofiled_->saved_by(change_);
  answer.path = share_path(input_.store, graph_, change_, find_path(graph_, change_, replayed_));
  return answer;
}

Nanos WhatIf::saving_if_removed(std::span<const EventId> events) {
  if (events.empty() || graph_.empty() || spent()) return {};
  reset();
  marked_.assign(input_.store.size(), false);
  std::vector<CallId> calls;
  for (const EventId e : events) {
    const CallId call = input_.tree.call(e);
    if (call.valid() && is_host_call(input_.store.kind(e))) {
      calls.push_back(call);
    } else {
      marked_[e.index] = true;
    }
  }
  // The outer ones first: what is inside them is marked once, however deep they nest.
  std::ranges::sort(calls);
  CallId end(0);
  for (const CallId call : calls) {
    if (call < end) continue;
    mark_call(call);
    end = input_.tree.subtree_end(call);
  }
  const auto selected = [this](EventId e) { return e.valid() && marked_[e.index]; };
  size_t changed = 0;
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (graph_.kind[i] == NodeKind::kHost) {
      change_slices(i, 0, selected, changed);
    } else if (selected(graph_.event[i])) {
      change_.removed[i] = true;
      change_.duration[i] = 0;
    }
  }
  replayed_nodes_ += graph_.size();
  return {graph_.length - replayed_length(Outlook::kOptimistic)};
}

}  // namespace fathom
