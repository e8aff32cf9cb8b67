// What AccessWalker notes of an access.
#include <algorithm>

#include "scan/accesses/access_walker.h"

namespace fathom {
namespace {

constexpr size_t kMaxIndexText = 90;

bool is_less(const Polynomial& a, const Polynomial& b) {
  const auto one = a.as_constant(), other = b.as_constant();
  return one && other && *one < *other;
}

}  // namespace

void AccessWalker::access(const Pointer& pointer, AccessKind kind, uint32_t id) {
  if (quiet_ > 0 || pointer.space == Space::kLocal || out_.accesses.size() >= around_.max_sites)
    return;
  ArrayAccess out;
  out.array = pointer.array;
  out.kind = kind;
  out.shared = pointer.space == Space::kShared;
  fill_place(id, out);
  const auto [seen, added] = seen_.emplace(
      std::tuple(frame_->way, out.at.file, out.at.line, out.array, kind, out.index), sites_.size());
  if (!added) return made_again(seen->second);
  out.certainty = pointer.sure ? Certainty::kLikely : Certainty::kUnsure;
  out.access_bytes = bytes_of(pointer.type);
  AccessSite site;
  site.access = out_.accesses.size();
  site.alternative = alternatives_ > 0;
  site.conditions = conditions_;
  fill_extent(pointer, out, site);
  sites_.push_back(std::move(site));
  out_.accesses.push_back(std::move(out));
}

void AccessWalker::unresolved(uint32_t id) {
  constexpr size_t kMostUnresolved = 32;
  if (quiet_ > 0 || out_.unresolved.size() >= kMostUnresolved) return;
  ArrayAccess place;
  fill_place(id, place);
  const auto same = [&](const UnresolvedAccess& one) {
    return one.at == place.at && one.what == place.index;
  };
  if (std::none_of(out_.unresolved.begin(), out_.unresolved.end(), same))
    out_.unresolved.push_back({place.index, place.at});
}

void AccessWalker::unresolved(uint32_t id, const Pointer& pointer) {
  if (pointer.space == Space::kGlobal) unresolved(id);
}

// The same access in the other branch of an if on one line is under its test no more.
void AccessWalker::made_again(size_t site) {
  for (const Branches& one : branches_) {
    if (site < one.first || site >= one.middle) continue;
    auto& conditions = sites_[site].conditions;
    if (one.depth < conditions.size())
      conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(one.depth));
    return;
  }
}

// load128(x + i) says more than the cast inside it.
void AccessWalker::fill_place(uint32_t id, ArrayAccess& out) const {
  const Frame* frame = frame_;
  while (frame->only_loads && frame->caller != nullptr) {
    id = frame->call;
    frame = frame->caller;
  }
  out.at = {frame->of->file, (*frame->tree)[id].line};
  out.function = frame->of->name;
  out.index = frame->tree->source(id);
  if (out.index.size() > kMaxIndexText) out.index = out.index.substr(0, kMaxIndexText) + "…";
}

void AccessWalker::fill_extent(const Pointer& pointer, ArrayAccess& out, AccessSite& site) {
  // Both offsets in one expression; they are in different units, which its number of values does
  // not depend on.
  site.where = pointer.offset + pointer.more;
  const bool cast = pointer.type != pointer.unit && pointer.more.is_zero();
  const Polynomial own_step = space_.lane_step(site.where);
  // A vector access through a cast whose index counts elements: how many it takes. Vectors are
  // aligned, so where the index is only known to go on by less, its values are shared among them.
  const std::optional<Polynomial> width = cast ? width_of(pointer) : std::nullopt;
  const bool shared = width && is_less(own_step, *width) && space_.is_located(site.where);
  const bool wide = cast && (shared || !(own_step == Polynomial::constant(1)));
  const Polynomial step = shared ? own_step : width.value_or(own_step);
  site.step = own_step;
  site.at_most = space_.is_at_most(site.where);
  out.type = wide ? pointer.unit : pointer.type;
  out.element_bytes = bytes_of(out.type);
  site.elements = space_.footprint(site.where);
  std::vector<Symbol> guarded;
  for (const IndexSpace::Saved& saved : guards_) guarded.push_back(saved.symbol);
  site.times = space_.times(loops_, guarded);
  // A loaded index and what it was loaded by are no two dimensions: no more than each access one.
  if (site.elements && site.times && space_.depends_on_load(site.where) &&
      !site.times->covers(*site.elements))
    site.elements = site.times;
  if (wide && site.elements) site.elements = *site.elements * step;
  if (wide && site.times) site.times = *site.times * step;
  if (site.elements) out.elements = space_.text(*site.elements);
  if (site.times) out.times = space_.text(*site.times);
  const auto rounds = space_.rounds_of(loops_);
  if (rounds) out.rounds = space_.text(*rounds);
  out.loop = loop_lines_.empty() ? 0 : loop_lines_.back();
  out.lane_index = space_.lane_text(site.where);
  out.pattern = pattern_of(pointer, site.where);
  out.again_in_loop = out.pattern != AccessPattern::kThroughIndex &&
                      out.pattern != AccessPattern::kSameForAll && repeats(site.where);
}

// A float4 is four floats, an int4 16 / sizeof(T) of a type that is not known here.
std::optional<Polynomial> AccessWalker::width_of(const Pointer& pointer) {
  const auto whole = bytes_of(pointer.type);
  const auto one = bytes_of(pointer.unit);
  if (!whole) return std::nullopt;
  const Polynomial bytes = Polynomial::constant(*whole);
  if (one) return *whole % *one == 0 ? bytes.divided_by(Polynomial::constant(*one)) : std::nullopt;
  if (pointer.unit.empty()) return std::nullopt;
  return bytes.divided_by(Polynomial::symbol(space_.uniform("sizeof(" + pointer.unit + ")")));
}

AccessPattern AccessWalker::pattern_of(const Pointer& pointer, const Polynomial& where) const {
  if (space_.depends_on_varying_load(where)) return AccessPattern::kThroughIndex;
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
