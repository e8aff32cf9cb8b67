#include "analyze/diff/call_paths.h"

#include <algorithm>
#include <utility>

#include "analyze/diff/stable_name.h"
#include "base/glob.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kShownNames = 24, kShownBytes = 160;

}  // namespace

PathId NameTable::extend(PathId around, StringId name) {
  const uint64_t link = static_cast<uint64_t>(around.index) << 32 | name.index;
  const auto [found, is_new] = by_link_.try_emplace(link, PathId(links_.size()));
  if (is_new) {
    const PathId made(links_.size());
    const uint32_t depth = around.valid() ? links_[around.index].depth + 1 : 1;
    links_.push_back(
        {around, name, depth, depth <= kShownOuterNames ? made : links_[around.index].outer});
  }
  return found->second;
}

// A program may recurse as deep as it likes: of a chain only what is shown is walked.
std::string NameTable::path_text(const CallPath& path) const {
  constexpr size_t kShownInnerNames = kShownNames - kShownOuterNames;
  size_t depth = 0;
  std::vector<StringId> outer, inner;  // the outermost first; the innermost first
  for (PathId chain : {path.annotations, path.modules, path.ops}) {
    if (!chain.valid()) continue;
    depth += links_[chain.index].depth;
    const size_t before = outer.size();
    for (PathId at = links_[chain.index].outer; at.valid(); at = links_[at.index].around)
      outer.push_back(links_[at.index].name);
    std::reverse(outer.begin() + static_cast<std::ptrdiff_t>(before), outer.end());
  }
  for (PathId chain : {path.ops, path.modules, path.annotations}) {
    for (; chain.valid() && inner.size() < kShownNames; chain = links_[chain.index].around)
      inner.push_back(links_[chain.index].name);
  }
  std::string out;
  bool first = true;
  const auto add = [&](StringId name) {
    if (!std::exchange(first, false)) out += " > ";
    out += cut_to_bytes(text(name), kShownBytes);
  };
  if (depth <= kShownNames) {
    for (size_t i = depth; i-- > 0;) add(inner[i]);
    return out;
  }
  for (size_t i = 0; i < kShownOuterNames; ++i) add(outer[i]);
  out += " > …";
  for (size_t i = kShownInnerNames; i-- > 0;) add(inner[i]);
  return out;
}

CallPaths::CallPaths(const SheetInput& input, NameTable& names)
    : input_(input), names_(names), op_names_(input.store.text_count()) {
  follow_ops();
}

StringId CallPaths::op_name(StringId store_name) {
  StringId& known = op_names_[store_name.index];
  if (!known.valid()) known = names_.intern(stable_op_name(input_.store.text(store_name)));
  return known;
}

// Calls come in preorder, so the chain around a call is known before its own.
void CallPaths::follow_ops() {
  const CallTree& tree = input_.tree;
  op_chains_.reserve(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallId call(i), parent = tree.parent(call);
    PathId chain = parent.valid() ? op_chains_[parent.index] : PathId{};
    const EventId event = tree.event(call);
    if (input_.store.kind(event) == EventKind::kCpuOp)
      chain = names_.extend(chain, op_name(input_.store.name_id(event)));
    op_chains_.push_back(chain);
  }
}

PathId CallPaths::modules_at(EventId frame) {
  std::vector<EventId> unknown;
  for (; frame.valid() && !module_chains_.contains(frame); frame = input_.tree.parent_frame(frame))
    unknown.push_back(frame);
  PathId chain = frame.valid() ? module_chains_[frame] : PathId{};
  for (size_t i = unknown.size(); i-- > 0;) {
    const std::string module = stable_module_name(input_.store.name(unknown[i]));
    if (!module.empty()) chain = names_.extend(chain, names_.intern(module));
    module_chains_[unknown[i]] = chain;
  }
  return chain;
}

// Ops and annotations in the order of time, thread by thread: what is open is around the op.
std::vector<PathId> CallPaths::annotations_at(const std::vector<EventId>& ops) {
  const EventStore& store = input_.store;
  struct Entry {
    EventId event;
    size_t op;  // SIZE_MAX for an annotation
  };
  std::vector<Entry> entries;
  for (size_t i = 0; i < store.size(); ++i) {
    if (store.kind(EventId(i)) == EventKind::kAnnotation) entries.push_back({EventId(i), SIZE_MAX});
  }
  for (size_t i = 0; i < ops.size(); ++i) entries.push_back({ops[i], i});
  std::ranges::sort(entries, [&store](const Entry& a, const Entry& b) {
    const auto order = [&store](const Entry& e) {
      return std::tuple(store.track_id(e.event), store.start(e.event), e.op != SIZE_MAX,
                        Nanos{} - store.duration(e.event), e.event, e.op);
    };
    return order(a) < order(b);
  });
  struct Open {
    Nanos end;
    PathId chain;
  };
  std::vector<Open> open;
  TrackId track;
  std::vector<PathId> chains(ops.size());
  for (const Entry& entry : entries) {
    if (store.track_id(entry.event) != track) open.clear();
    track = store.track_id(entry.event);
    while (!open.empty() && open.back().end <= store.start(entry.event)) open.pop_back();
    const PathId around = open.empty() ? PathId{} : open.back().chain;
    if (entry.op != SIZE_MAX) {
      chains[entry.op] = around;
      continue;
    }
    const std::string_view name = store.name(entry.event);
    const bool is_step = glob_matches(input_.scope.step_pattern, name);
    const StringId stable =
        names_.intern(is_step ? input_.scope.step_pattern : stable_annotation_name(name));
    open.push_back({store.end(entry.event), names_.extend(around, stable)});
  }
  return chains;
}

std::vector<CallPath> CallPaths::find(const std::vector<EventId>& ops) {
  const std::vector<PathId> annotations = annotations_at(ops);
  std::vector<CallPath> paths;
  paths.reserve(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    CallPath path{annotations[i], {}, {}};
    if (const CallId call = input_.tree.call(ops[i]); call.valid()) {
      path.modules = modules_at(input_.tree.frame(call));
      if (const CallId parent = input_.tree.parent(call); parent.valid())
        path.ops = op_chains_[parent.index];
    }
    paths.push_back(path);
  }
  return paths;
}

}  // namespace fathom
