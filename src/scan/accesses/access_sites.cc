// What AccessWalker notes of an access.
#include <algorithm>

#include "scan/accesses/access_walker.h"

namespace fathom {
namespace {

constexpr size_t kMaxIndexText = 90;

}  // namespace

void AccessWalker::access(const Pointer& pointer, AccessKind kind, uint32_t id) {
  if (quiet_ > 0 || pointer.space == Space::kLocal || out_.accesses.size() >= around_.max_sites)
    return;
  ArrayAccess out;
  out.array = pointer.array;
  out.kind = kind;
  out.shared = pointer.space == Space::kShared;
  fill_place(id, out);
  if (!seen_.insert({frame_->way, out.at.file, out.at.line, out.array, kind, out.index}).second)
    return;
  out.conditional = conditions_ > 0;
  out.certainty = pointer.sure ? Certainty::kLikely : Certainty::kUnsure;
  out.access_bytes = around_.bytes_of(pointer.type);
  AccessSite site;
  site.access = out_.accesses.size();
  site.alternative = alternatives_ > 0;
  fill_extent(pointer, out, site);
  sites_.push_back(std::move(site));
  out_.accesses.push_back(std::move(out));
}

// load128(x + i) says more than the cast inside it.
void AccessWalker::fill_place(uint32_t id, ArrayAccess& out) const {
  const Frame* frame = frame_;
  while (frame->only_loads && frame->caller != nullptr) {
    id = frame->call;
    frame = frame->caller;
  }
  out.at = {frame->file, (*frame->tree)[id].line};
  out.function = frame->function;
  out.index = frame->tree->source(id);
  if (out.index.size() > kMaxIndexText) out.index = out.index.substr(0, kMaxIndexText) + "…";
}

void AccessWalker::fill_extent(const Pointer& pointer, ArrayAccess& out, AccessSite& site) const {
  // Both offsets in one expression; they are in different units, which its number of values does
  // not depend on.
  site.where = pointer.offset + pointer.more;
  const bool cast = pointer.type != pointer.unit && pointer.more.is_zero();
  const Polynomial step = space_.lane_step(site.where);
  // A vector access through a cast: its step in elements says how many it takes.
  const bool wide = cast && !(step == Polynomial::constant(1));
  site.step = step;
  out.type = wide ? pointer.unit : pointer.type;
  out.element_bytes = around_.bytes_of(out.type);
  site.elements = space_.footprint(site.where);
  std::vector<Symbol> guarded;
  for (const IndexSpace::Saved& saved : guards_) guarded.push_back(saved.symbol);
  site.times = space_.times(loops_, guarded);
  if (wide && site.elements) site.elements = *site.elements * step;
  if (wide && site.times) site.times = *site.times * step;
  if (site.elements) out.elements = space_.text(*site.elements);
  if (site.times) out.times = space_.text(*site.times);
  out.lane_index = space_.lane_text(site.where);
  out.pattern = pattern_of(pointer, site.where);
  out.again_in_loop = out.pattern != AccessPattern::kThroughIndex &&
                      out.pattern != AccessPattern::kSameForAll && repeats(site.where);
}

AccessPattern AccessWalker::pattern_of(const Pointer& pointer, const Polynomial& where) const {
  if (space_.depends_on_load(where)) return AccessPattern::kThroughIndex;
  if (space_.is_uniform(where)) return AccessPattern::kSameForAll;
  const auto stride = space_.lane_stride(where);
  bool by_threads = false, by_rounds = false;
  for (const Symbol loop : loops_) {
    if (!space_.changes_with(where, loop)) continue;
    const auto in_loop = space_.lane_stride(Polynomial::symbol(loop));
    by_threads = by_threads || (in_loop && !in_loop->is_zero());
    by_rounds = by_rounds || !in_loop || in_loop->is_zero();
  }
  const bool wide = pointer.type != pointer.unit && pointer.more.is_zero();
  const Polynomial step = wide ? space_.lane_step(where) : Polynomial::constant(1);
  if (!stride) return AccessPattern::kUnknown;
  if (stride->is_zero()) return AccessPattern::kSameForWarp;
  if (*stride != step && *stride != Polynomial::constant(1)) return AccessPattern::kStrided;
  return by_threads  ? AccessPattern::kColumnsOfRow
         : by_rounds ? AccessPattern::kNeighboursByRound
                     : AccessPattern::kOnePerThread;
}

bool AccessWalker::repeats(const Polynomial& where) const {
  return std::any_of(loops_.begin(), loops_.end(),
                     [&](const Symbol loop) { return !space_.changes_with(where, loop); });
}

}  // namespace fathom
