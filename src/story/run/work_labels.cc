#include "story/run/work_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/kernel_name.h"
#include "base/kernel_traits.h"
#include "base/utf8.h"
#include "story/run/work_shares.h"

namespace fathom {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr size_t kLongestLabel = 120;  // bytes: a trace may have names of megabytes
constexpr size_t kMostModules = 64;    // of a chain
constexpr size_t kMostOps = 6;         // that a block lists in their order
constexpr size_t kMainOps = 3;         // that stand for many
constexpr size_t kLabelledName = 2000;

std::string cut(std::string_view text) { return cut_to_bytes(text, kLongestLabel); }

}  // namespace

WorkLabels::WorkLabels(const Assessment& assessment)
    : a_(assessment),
      store_(assessment.input().store),
      op_(store_.size()),
      call_time_(store_.size()) {
  for (const AssessedOp& op : a_.ops()) {
    for (const UnifiedOp* call : op.group->calls) {
      Nanos time;
      for (const EventId kernel : call->kernels) time += store_.duration(kernel);
      for (const EventId kernel : call->kernels) {
        op_[kernel.index] = &op;
        call_time_[kernel.index] = time;
      }
    }
  }
}

double WorkLabels::part_of_call(EventId event) const {
  const Nanos call = call_time_[event.index];
  if (call.count <= 0) return 0;
  return std::clamp(ratio(store_.duration(event), call), 0.0, 1.0);
}

std::string_view WorkLabels::full_op_name(EventId event) const {
  if (!a_.input().tree.has_ops() || op(event) == nullptr) return {};
  return op(event)->group->key.name;
}

std::string WorkLabels::op_name(EventId event) const {
  std::string_view name = full_op_name(event);
  const bool is_synthetic = name.ends_with("(Synthetic Op)");  // source text: a sheet's own name
  if (name.empty() || is_synthetic) {
    if (is_copy_work(store_, event)) return cut(store_.name(event));
    return cut(normal_kernel_name(store_.name(event).substr(0, kLabelledName)).base());
  }
  if (const size_t at = name.find("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  return cut(name);
}

const std::string& WorkLabels::work_class(EventId event) const {
  const auto [known, is_new] = classes_.try_emplace({store_.name_id(event), op(event)});
  if (is_new) known->second = find_class(event);
  return known->second;
}

std::string WorkLabels::find_class(EventId event) const {
  if (is_copy_work(store_, event))
    return store_.kind(event) == EventKind::kMemset ? "memset" : "copy";
  if (a_.input().selection.is_communication(event)) return "communication";
  const AssessedOp* known = op(event);
  if (known != nullptr && is_pointwise(*known)) return "pointwise";
  if (known != nullptr && !known->category.empty() && known->category != "other" &&
      known->category != "triton")
    return std::string(known->category);
  const KernelTraits traits = kernel_traits(store_.name(event).substr(0, kLabelledName));
  if (!traits.family.empty()) return traits.family;
  if (!full_op_name(event).empty()) return op_name(event);
  // Template arguments tell kernels of one skeleton apart.
  return cut(normal_kernel_name(store_.name(event).substr(0, kLabelledName)).text);
}

std::string_view WorkLabels::module_class(std::string_view name) {
  if (is_module(name)) name.remove_prefix(kModule.size());
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  return end > 1 && end < name.size() && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

bool WorkLabels::is_module(std::string_view name) { return name.starts_with(kModule); }

EventId WorkLabels::module_above(EventId frame) const {
  std::vector<EventId> passed;
  EventId found;
  for (EventId at = frame; at.valid(); at = a_.input().tree.parent_frame(at)) {
    if (const auto known = module_.find(at.index); known != module_.end()) {
      found = known->second;
      break;
    }
    passed.push_back(at);
    if (is_module(store_.name(at))) {
      found = at;
      break;
    }
  }
  for (const EventId e : passed) module_[e.index] = found;
  return found;
}

std::vector<EventId> WorkLabels::modules(EventId event) const {
  const CallId launch = a_.input().tree.launch(event);
  std::vector<EventId> chain;
  if (!launch.valid() || !a_.input().tree.has_launches()) return chain;
  for (EventId at = module_above(a_.input().tree.frame(launch));
       at.valid() && chain.size() < kMostModules;
       at = module_above(a_.input().tree.parent_frame(at)))
    chain.push_back(at);
  std::ranges::reverse(chain);
  return chain;
}

RepeatedUnit find_repeated_unit(const std::vector<uint32_t>& tokens) {
  constexpr size_t kCandidates = 8;
  // Distances between equal tokens, by how much of the sequence they would explain.
  std::unordered_map<uint32_t, size_t> last;
  std::map<size_t, size_t> distances;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto [at, is_new] = last.try_emplace(tokens[i], i);
    if (!is_new) ++distances[i - at->second];
    at->second = i;
  }
  std::vector<std::pair<size_t, size_t>> candidates;
  for (const auto& [distance, count] : distances)
    if (distance <= tokens.size() / 2) candidates.emplace_back(count * distance, distance);
  std::ranges::sort(candidates, std::greater<>());
  if (candidates.size() > kCandidates) candidates.resize(kCandidates);
  std::ranges::sort(candidates, {}, [](const auto& c) { return c.second; });
  RepeatedUnit best;
  const auto covered = [](const RepeatedUnit& r) { return r.length * r.times; };
  for (const auto& [weight, length] : candidates) {
    RepeatedUnit longest{0, length, 0};
    size_t same = 0;
    for (size_t i = 0; i + length < tokens.size(); ++i) {
      same = tokens[i] == tokens[i + length] ? same + 1 : 0;
      const size_t times = same / length + 1;
      if (same >= length && times > longest.times) longest = {i + 1 - same, length, times};
    }
    // A shorter unit wins where a longer one explains little more: it is the same thing doubled.
    if (10 * covered(longest) > 11 * covered(best)) best = longest;
  }
  return best.times >= 2 && 2 * covered(best) >= tokens.size() ? best : RepeatedUnit{};
}

// The ops of a block in their order; of many, those that take the most time. Of a block that
// repeats, the first time tells.
void list_ops(const WorkLabels& labels, const EventStore& store, WorkBlock& block) {
  block.ops.clear();
  block.is_mixed = false;
  std::vector<std::string> order;
  std::map<std::string, std::pair<Nanos, size_t>> times;
  const size_t once = std::max<size_t>(1, block.events.size() / std::max<size_t>(1, block.repeats));
  for (size_t i = 0; i < block.events.size(); ++i) {
    std::string name = labels.op_name(block.events[i]);
    auto& [time, first] = times.try_emplace(name, Nanos{}, i).first->second;
    time += store.duration(block.events[i]);
    if (i < once && order.size() <= kMostOps && (order.empty() || order.back() != name))
      order.push_back(std::move(name));
  }
  // A few that alternate are no sequence.
  const bool alternates = order.size() > times.size() && times.size() <= kMainOps;
  if (order.size() <= kMostOps && !alternates) {
    block.ops = std::move(order);
    return;
  }
  std::vector<std::pair<std::pair<Nanos, size_t>, std::string>> sorted;
  for (const auto& [name, time] : times) sorted.emplace_back(time, name);
  std::ranges::sort(sorted, [](const auto& x, const auto& y) {
    return std::tuple(y.first.first, x.first.second) < std::tuple(x.first.first, y.first.second);
  });
  for (size_t i = 0; i < std::min(sorted.size(), kMainOps); ++i)
    block.ops.push_back(sorted[i].second);
  block.is_mixed = true;
}

namespace {

// By modules, where most of the work has some: the layers are the first modules of one class that
// come several times side by side.
std::vector<WorkBlock> module_blocks(const WorkLabels& labels, const EventStore& store,
                                     const std::vector<EventId>& run) {
  std::vector<std::vector<EventId>> chains;
  size_t known = 0, deepest = 0;
  for (const EventId e : run) {
    chains.push_back(labels.modules(e));
    known += !chains.back().empty();
    deepest = std::max(deepest, chains.back().size());
  }
  if (2 * known < run.size() || known == 0) return {};
  std::string layer;
  size_t depth = 0, layers = 0;
  for (; depth < deepest && layers < 2; ++depth) {
    struct Class {
      std::map<StringId, size_t> instances;
      size_t events = 0;
    };
    std::map<std::string_view, Class> classes;
    for (const auto& chain : chains) {
      if (chain.size() <= depth) continue;
      Class& c = classes[WorkLabels::module_class(store.name(chain[depth]))];
      ++c.instances[store.name_id(chain[depth])];
      ++c.events;
    }
    for (const auto& [name, c] : classes) {
      if (c.instances.size() < 2 || 2 * c.events < known) continue;
      layer = name;
      layers = c.instances.size();
    }
    if (layers >= 2) break;
  }
  if (layers < 2) depth = 1;
  std::vector<WorkBlock> blocks;
  std::map<std::pair<std::string, bool>, size_t> places;
  for (size_t i = 0; i < run.size(); ++i) {
    const auto& chain = chains[i];
    const auto class_at = [&](size_t at) {
      return cut(WorkLabels::module_class(store.name(chain[at])));
    };
    const bool in_layer = layers >= 2 && chain.size() > depth &&
                          WorkLabels::module_class(store.name(chain[depth])) == layer;
    std::string label;
    if (chain.empty()) {
      label = labels.work_class(run[i]);
    } else {
      label = class_at(std::min(in_layer ? depth + 1 : depth, chain.size() - 1));
    }
    const auto [place, is_new] = places.try_emplace({label, in_layer}, blocks.size());
    if (is_new)
      blocks.push_back({label, in_layer ? cut(layer) : "", {}, in_layer ? layers : 1, {}, false});
    blocks[place->second].events.push_back(run[i]);
  }
  return blocks;
}

}  // namespace

namespace {

// By the sequence of kernels: layers are what repeats in it.
std::vector<WorkBlock> sequence_blocks(const WorkLabels& labels, const EventStore& store,
                                       const std::vector<EventId>& run) {
  std::vector<WorkBlock> blocks;
  std::vector<uint32_t> tokens;
  for (const EventId e : run) tokens.push_back(store.name_id(e).index);
  const RepeatedUnit unit = find_repeated_unit(tokens);
  const size_t unit_end = unit.begin + unit.length * unit.times;
  std::map<std::string, size_t> outside;  // blocks of one kind are told once
  std::vector<size_t> of_position(unit.length, SIZE_MAX);
  std::string last;
  for (size_t i = 0; i < run.size(); ++i) {
    const bool in_unit = i >= unit.begin && i < unit_end;
    const size_t position = in_unit ? (i - unit.begin) % unit.length : 0;
    size_t place = SIZE_MAX;
    if (in_unit && i >= unit.begin + unit.length) {
      place = of_position[position];
    } else {
      std::string label = labels.work_class(run[i]);
      if (in_unit) {
        if (position == 0 || label != last)
          blocks.push_back({label, {}, {}, unit.times, {}, false});
        place = blocks.size() - 1;
        of_position[position] = place;
      } else {
        const auto [known, is_new] = outside.try_emplace(label, blocks.size());
        if (is_new) blocks.push_back({label, {}, {}, 1, {}, false});
        place = known->second;
      }
      last = std::move(label);
    }
    blocks[place].events.push_back(run[i]);
  }
  return blocks;
}

}  // namespace

std::vector<WorkBlock> split_into_blocks(const WorkLabels& labels, const EventStore& store,
                                         const std::vector<EventId>& run) {
  std::vector<WorkBlock> blocks = module_blocks(labels, store, run);
  if (blocks.empty()) blocks = sequence_blocks(labels, store, run);
  for (WorkBlock& block : blocks) list_ops(labels, store, block);
  return blocks;
}

std::vector<WorkBlock> split_by_kernel(const EventStore& store, const std::vector<EventId>& work) {
  std::vector<WorkBlock> blocks;
  std::unordered_map<uint32_t, size_t> places;
  for (const EventId e : work) {
    const auto [place, is_new] = places.try_emplace(store.name_id(e).index, blocks.size());
    if (is_new) {
      const std::string name(normal_kernel_name(store.name(e).substr(0, kLabelledName)).base());
      blocks.push_back({cut(name), {}, {}, 1, {}, false});
    }
    blocks[place->second].events.push_back(e);
  }
  return blocks;
}

}  // namespace fathom
