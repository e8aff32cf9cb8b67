#include "analyze/diff/path_groups.h"

#include "analyze/diff/stable_name.h"
#include "base/hash.h"
#include "sheets/unified_ops.h"
#include "sheets/work_category.h"

namespace fathom {
namespace {

constexpr std::string_view kCommunication = "communication", kNoLaunch = "no launch";

struct PathGroupHash {
  size_t operator()(const PathGroupKey& key) const {
    return TableHash{}(key.path.annotations.index, key.path.modules.index, key.path.ops.index,
                       key.name.index, key.dims.index, key.types.index);
  }
};

constexpr size_t kOperands = 2;

// Of "[[8,8],[8,8],[8,8]]" the first two: "[[8,8],[8,8]"; all of a shorter list, but its end.
std::string first_elements(std::string_view list, size_t count) {
  size_t depth = 0, seen = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') ++depth;
    if (list[i] == ']' && --depth == 0) return std::string(list.substr(0, i));
    if (list[i] == ',' && depth == 1 && ++seen == count) return std::string(list.substr(0, i));
  }
  return std::string(list);
}

// Work that no unified op has: collectives, and what has no launch.
std::vector<UnifiedOp> remaining_work(const SheetInput& input, const std::vector<UnifiedOp>& ops) {
  const EventStore& store = input.store;
  const CallTree& tree = input.tree;
  std::vector<bool> seen(store.size());
  for (const UnifiedOp& op : ops) {
    for (EventId kernel : op.kernels) seen[kernel.index] = true;
  }
  std::vector<UnifiedOp> rest;
  std::unordered_map<EventId, size_t> by_op;
  for (EventId kernel : timeline_events(input)) {
    if (seen[kernel.index]) continue;
    const CallId launch = tree.launch(kernel);
    if (!launch.valid()) {
      rest.push_back({kernel, 0, std::string(store.name(kernel)), kNoLaunch, {kernel}, false, {}});
      continue;
    }
    const CallId op = tree.enclosing_op(launch);
    const EventId event = tree.event(op.valid() ? op : launch);
    const auto [found, is_new] = by_op.try_emplace(event, rest.size());
    if (is_new)
      rest.push_back({event, 0, std::string(store.name(event)), kCommunication, {}, false, {}});
    rest[found->second].kernels.push_back(kernel);
  }
  return rest;
}

}  // namespace

GroupedOps group_ops(const SheetInput& input, NameTable& names) {
  const EventStore& store = input.store;
  std::vector<UnifiedOp> ops = find_unified_ops(input, find_launchers(input));
  const size_t unified = ops.size();
  for (UnifiedOp& op : remaining_work(input, ops)) ops.push_back(std::move(op));
  std::vector<EventId> events;
  events.reserve(ops.size());
  for (const UnifiedOp& op : ops) events.push_back(op.event);
  CallPaths call_paths(input, names);
  const std::vector<CallPath> paths = call_paths.find(events);

  GroupedOps grouped;
  WorkCategories categories(input);
  std::unordered_map<PathGroupKey, size_t, PathGroupHash> index;
  for (size_t i = 0; i < ops.size(); ++i) {
    const UnifiedOp& op = ops[i];
    const ArgsId id = store.args_id(op.event);
    const Args args = id.valid() ? store.args(id) : Args{};
    const PathGroupKey key{paths[i], names.intern(stable_op_name(op.name)),
                           names.intern(store.text(args.dims)),
                           names.intern(store.text(args.types))};
    const auto [found, is_new] = index.try_emplace(key, grouped.groups.size());
    if (is_new) {
      const std::string operands = first_elements(store.text(args.dims), kOperands) +
                                   first_elements(store.text(args.types), kOperands);
      const std::string_view category = i < unified ? categories.of(op) : op.category;
      grouped.groups.push_back({key, names.intern(operands), category, {}, {}});
    }
    PathGroup& group = grouped.groups[found->second];
    ++group.calls.count;
    ++grouped.categories[group.category].count;
    for (EventId kernel : op.kernels) {
      const Nanos time = store.duration(kernel);
      // A compiled region or a graph is one op with kernels of all kinds.
      CountedTime& category =
          grouped.categories[i < unified ? categories.of(op, kernel) : op.category];
      CountedTime& same = group.kernels[call_paths.op_name(store.name_id(kernel))];
      ++same.count;
      for (Nanos* sum : {&same.time, &group.calls.time, &category.time, &grouped.work})
        *sum += time;
    }
  }
  return grouped;
}

}  // namespace fathom
