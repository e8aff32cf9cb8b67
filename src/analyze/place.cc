#include "analyze/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/glob.h"
#include "base/tsv.h"
#include "base/utf8.h"
#include "tree/forward_backward.h"
#include "tree/steps.h"

extern const std::string_view frames_tsv;

namespace fathom {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kGradientNode = "autograd::engine::evaluate_function";
constexpr size_t kPlaceBytes = 256, kModulesShown = 8;

struct FrameRule {
  FrameOwner owner;
  std::string_view file;
};

const std::vector<FrameRule>& frame_rules() {
  static const std::vector<FrameRule> all = [] {
    std::vector<FrameRule> list;
    for (const auto& row : read_tsv(frames_tsv, 2)) {
      list.push_back({row[0] == "library" ? FrameOwner::kLibrary : FrameOwner::kFramework, row[1]});
    }
    return list;
  }();
  return all;
}

std::optional<int64_t> line_number(std::string_view text) {
  int64_t line = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  if (error != std::errc() || end != text.data() + text.size() || line < 0) return {};
  return line;
}

// The nearest numbers that differ become one star: Block_3/Attention_3 and Block_4/Attention_4.
std::string common_modules(std::string_view x, std::string_view y) {
  const std::vector<std::string_view> a = split(x, '/'), b = split(y, '/');
  const auto stem = [](std::string_view part) { return part.substr(0, part.rfind('_')); };
  std::string path;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (stem(a[i]) != stem(b[i])) break;
    path += (path.empty() ? "" : "/");
    path += a[i] == b[i] ? std::string(a[i]) : std::string(stem(a[i])) + "_*";
  }
  return path;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::optional<FrameName> read_frame_name(std::string_view name) {
  FrameName frame;
  if (name.starts_with('$')) {
    name.remove_prefix(1);
    const size_t space = name.find(' ');
    const size_t colon = name.substr(0, space).rfind(':');
    if (space == std::string_view::npos || colon == std::string_view::npos) return {};
    const auto line = line_number(name.substr(colon + 1, space - colon - 1));
    if (!line) return {};
    return FrameName{name.substr(0, colon), name.substr(space + 1), *line};
  }
  const size_t close = name.find("): ");
  const size_t open = close == std::string_view::npos ? close : name.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return {};
  const auto line = line_number(name.substr(open + 1, close - open - 1));
  if (!line) return {};
  return FrameName{name.substr(0, open), name.substr(close + 3), *line};
}

FrameOwner owner_of_frame(std::string_view name) {
  const std::optional<FrameName> frame = read_frame_name(name);
  if (!frame) return FrameOwner::kFramework;
  FrameOwner owner = FrameOwner::kUser;
  for (const FrameRule& rule : frame_rules()) {
    if (!glob_matches(rule.file, frame->file)) continue;
    // A package below lib/python3.x is a library all the same, unless it is the framework's own.
    const bool in_packages = frame->file.find("-packages/") != std::string_view::npos;
    const bool standard = rule.file.starts_with("*lib/python");
    if (standard && in_packages) continue;
    if (rule.owner == FrameOwner::kFramework) return FrameOwner::kFramework;
    owner = FrameOwner::kLibrary;
  }
  return owner;
}

PlaceFinder::PlaceFinder(const SheetInput& input) : input_(input) {
  for (size_t i = 0; i < input.store.size() && !has_frames_; ++i) {
    has_frames_ = input.store.kind(EventId(i)) == EventKind::kPython;
  }
}

FrameOwner PlaceFinder::owner(EventId frame) {
  const auto [slot, added] = owners_.try_emplace(input_.store.name_id(frame));
  if (added) slot->second = owner_of_frame(input_.store.name(frame));
  return slot->second;
}

// From the outermost frame that is not known yet inwards, so that no stack is too deep.
const PlaceFinder::FrameFacts& PlaceFinder::facts_of(EventId frame) {
  if (!frame.valid()) return nothing_;
  if (facts_.empty()) facts_.resize(input_.store.size());
  std::vector<EventId> open;
  EventId at = frame;
  for (; at.valid() && !facts_[at.index].known; at = input_.tree.parent_frame(at))
    open.push_back(at);
  FrameFacts facts = at.valid() ? facts_[at.index] : nothing_;
  for (size_t i = open.size(); i-- > 0;) {
    if (input_.store.name(open[i]).starts_with(kModule)) {
      facts.module = open[i];
    } else {
      const FrameOwner owned_by = owner(open[i]);
      if (owned_by != FrameOwner::kFramework) facts.own = open[i];
      if (owned_by == FrameOwner::kUser) facts.caller = open[i];
    }
    facts.known = true;
    facts_[open[i].index] = facts;
  }
  return facts_[frame.index];
}

PlaceIds PlaceFinder::of(EventId event) {
  if (!event.valid()) return {};
  PlaceIds ids;
  if (input_.store.kind(event) == EventKind::kPython) {
    const FrameFacts& facts = facts_of(event);
    ids.frame = facts.own;
    ids.caller = facts.caller == facts.own ? EventId{} : facts.caller;
    ids.module = facts.module;
    return ids;
  }
  const CallId call = input_.tree.call(event);
  // Of a recording without launches GPU work is its own launch, and nobody's call.
  if (!call.valid() || is_gpu_work(input_.store.kind(input_.tree.event(call)))) return {};
  // Findings share events, and each asks for its places.
  if (known_of_.empty()) known_of_.resize(input_.tree.size());
  uint32_t& known = known_of_[call.index];
  if (known == 0) {
    known_.push_back(find_of_call(call));
    known = static_cast<uint32_t>(known_.size());
  }
  return known_[known - 1];
}

PlaceIds PlaceFinder::find_of_call(CallId call) {
  PlaceIds ids = of_call(call, 0);
  if (ids.frame.valid() || ids.gradient) return ids;
  if (!annotations_) annotations_.emplace(input_.store);
  const EventId around = ids.op.valid() ? ids.op : input_.tree.event(call);
  for (EventId annotation : annotations_->around(around)) {
    if (is_profiler_step(annotation)) continue;
    ids.annotation = annotation;
    break;
  }
  return ids;
}

bool PlaceFinder::is_profiler_step(EventId event) {
  if (step_names_.empty()) step_names_.resize(input_.store.text_count());
  uint8_t& known = step_names_[input_.store.name_id(event).index];
  if (known == 0) known = glob_matches(kProfilerSteps, input_.store.name(event)) ? 2 : 1;
  return known == 2;
}

PlaceIds PlaceFinder::of_call(CallId call, int depth) {
  const EventStore& store = input_.store;
  PlaceIds ids;
  EventId node;  // of autograd, around the call
  constexpr int kCallsWalked = 64;
  int walked = 0;
  for (CallId c = call; c.valid() && walked < kCallsWalked; c = input_.tree.parent(c), ++walked) {
    const EventId event = input_.tree.event(c);
    if (store.kind(event) != EventKind::kCpuOp) continue;
    if (store.name(event).starts_with(kGradientNode)) {
      node = event;
      break;
    }
    if (is_profiler_step(event)) continue;  // an op in old traces
    // Without a namespace it is a range of the program, or a function of autograd's.
    if (!ids.op.valid() || store.name(event).find("::") != std::string_view::npos) ids.op = event;
  }
  const EventId frame = input_.tree.frame(call);
  const FrameFacts& facts = facts_of(frame);
  // A frame inside of the gradient's node is the user's own backward function. One around it is
  // where backward() was called, which tells nothing of this op.
  const bool own_backward =
      !node.valid() || (facts.own.valid() && store.start(facts.own) >= store.start(node));
  if (own_backward) {
    ids.frame = facts.own;
    ids.caller = facts.caller == facts.own ? EventId{} : facts.caller;
    ids.module = facts.module;
  }
  if (!node.valid()) return ids;
  ids.gradient = true;
  if (ids.frame.valid()) return ids;
  if (!forward_) forward_ = link_backward_to_forward(store);
  const auto forward = forward_->find(node);
  constexpr int kGradientsOfGradients = 3;
  if (forward != forward_->end() && depth < kGradientsOfGradients) {
    const CallId forward_call = input_.tree.call(forward->second);
    if (forward_call.valid()) {
      PlaceIds there = of_call(forward_call, depth + 1);
      there.gradient = true;
      return there;
    }
  }
  ids.op = node;
  ids.frame = facts.own;  // at least who called backward()
  ids.caller = facts.caller == facts.own ? EventId{} : facts.caller;
  ids.gradient = !ids.frame.valid();
  return ids;
}

std::string PlaceFinder::module_path(EventId module) const {
  std::vector<std::string_view> names;
  constexpr size_t kFramesLookedAt = 512;
  size_t looked_at = 0;
  for (EventId at = module; at.valid() && looked_at < kFramesLookedAt;
       at = input_.tree.parent_frame(at), ++looked_at) {
    const std::string_view name = input_.store.name(at);
    if (name.starts_with(kModule)) names.push_back(name.substr(kModule.size()));
  }
  if (names.size() > kModulesShown) names.resize(kModulesShown);
  std::string path;
  for (size_t i = names.size(); i-- > 0;) path += (path.empty() ? "" : "/") + std::string(names[i]);
  return cut_to_bytes(path, kPlaceBytes);
}

Place PlaceFinder::describe(const PlaceIds& ids) const {
  const EventStore& store = input_.store;
  Place place;
  if (ids.frame.valid()) {
    const FrameName frame = read_frame_name(store.name(ids.frame)).value_or(FrameName{});
    place.file = cut_to_bytes(frame.file, kPlaceBytes);
    place.function = cut_to_bytes(frame.function, kPlaceBytes);
    place.line = frame.line;
  }
  if (ids.caller.valid()) {
    const FrameName caller = read_frame_name(store.name(ids.caller)).value_or(FrameName{});
    place.caller = cut_to_bytes(fmt::format("{}:{} {}", caller.file, caller.line, caller.function),
                                kPlaceBytes);
  }
  if (ids.module.valid()) place.module = module_path(ids.module);
  if (ids.op.valid()) place.op = cut_to_bytes(store.name(ids.op), kPlaceBytes);
  if (ids.annotation.valid()) {
    const std::string around = cut_to_bytes(store.name(ids.annotation), kPlaceBytes);
    place.op = place.op.empty() ? around : fmt::format("{} in {}", place.op, around);
  }
  place.gradient = ids.gradient;
  return place;
}

std::vector<Place> PlaceFinder::places_of(std::span<const CoveredEvent> events, double* unplaced,
                                          size_t most) {
  const EventStore& store = input_.store;
  const auto name = [&store](EventId e) { return e.valid() ? store.name_id(e) : StringId{}; };
  struct Merged {
    PlaceIds first;
    Nanos time;
    bool all_gradients = true;
    std::map<StringId, EventId> modules;  // by name, a few
  };
  constexpr size_t kModulesMerged = 64;
  using Key = std::tuple<StringId, StringId, StringId, StringId>;
  std::map<Key, Merged> merged;
  Nanos all, without;
  for (const CoveredEvent& covered : events) {
    const PlaceIds ids = of(covered.event);
    all += covered.time;
    if (!ids.known()) {
      without += covered.time;
      continue;
    }
    const bool by_line = ids.frame.valid();
    Merged& place = merged[{name(ids.frame), name(ids.caller), by_line ? StringId{} : name(ids.op),
                            by_line ? StringId{} : name(ids.annotation)}];
    if (place.time.count == 0) place.first = ids;
    place.time += covered.time;
    place.all_gradients = place.all_gradients && ids.gradient;
    if (ids.module.valid() && place.modules.size() < kModulesMerged) {
      place.modules.emplace(name(ids.module), ids.module);
    }
  }
  if (unplaced != nullptr) *unplaced = ratio(without, all);
  std::vector<const Merged*> by_time;
  for (const auto& [key, place] : merged) by_time.push_back(&place);
  std::ranges::stable_sort(by_time, [](const Merged* x, const Merged* y) {
    return std::tuple(y->time, x->first.frame) < std::tuple(x->time, y->first.frame);
  });
  std::vector<Place> places;
  for (size_t i = 0; i < std::min(most, by_time.size()); ++i) {
    Place& place = places.emplace_back(describe(by_time[i]->first));
    for (const auto& [module_name, module] : by_time[i]->modules) {
      place.module = common_modules(place.module, module_path(module));
    }
    place.gradient = by_time[i]->all_gradients;
    place.time = by_time[i]->time;
    place.share = ratio(place.time, all);
  }
  return places;
}

namespace {

std::string text_of(const Place& place, std::string_view file) {
  const std::string_view gradient = place.gradient ? "gradient of " : "";
  if (!place.file.empty()) {
    return fmt::format("{}{}:{} {}", gradient, file, place.line, place.function);
  }
  if (!place.module.empty()) return fmt::format("{}{}", gradient, place.module);
  return fmt::format("{}{}", gradient, place.op);
}

}  // namespace

std::string place_text(const Place& place) { return text_of(place, place.file); }

std::string short_place_text(const Place& place) { return text_of(place, base_name(place.file)); }

void find_places(PlaceFinder& finder, Finding& finding) {
  finding.places = finder.places_of(finding.covered, &finding.unplaced);
}

}  // namespace fathom
