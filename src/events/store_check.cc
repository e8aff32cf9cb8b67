#include "events/store_check.h"

#include <algorithm>
#include <cstring>

namespace fathom {
namespace {

// A bool must not be read as one before its byte is known to be 0 or 1.
bool is_bool(const void* byte) {
  uint8_t value;
  std::memcpy(&value, byte, 1);
  return value <= 1;
}

// The flag lies right behind the value.
template <typename... T>
bool flags_are_sound(const std::optional<T>&... fields) {
  return (is_bool(reinterpret_cast<const char*>(&fields) + sizeof(T)) && ...);
}

bool key_is_sound(const std::optional<LaunchKey>& key) {
  // Without a value its bytes are what the memory held before.
  return flags_are_sound(key) &&
         (!key || is_bool(reinterpret_cast<const char*>(&key) + offsetof(LaunchKey, external)));
}

struct RowOrNone {
  size_t rows;
  template <typename Tag>
  bool operator()(StrongId<Tag> id) const {
    return !id.valid() || id.index < rows;
  }
};

bool equally_long(const EventViews& c) {
  for (size_t size : {c.position.size(), c.start.size(), c.duration.size(), c.name.size(),
                      c.track.size(), c.args.size(), c.detail.size()}) {
    if (size != c.kind.size()) return false;
  }
  return true;
}

bool detail_is_sound(const EventViews& c, EventKind kind, uint32_t detail) {
  if (kind > EventKind::kProfilerRange) return false;
  if (is_gpu_work(kind)) return detail < c.gpu_work.size();
  if (is_launch(kind) || is_annotation(kind)) return detail < c.launches.size();
  if (kind == EventKind::kPython) return detail < c.frames.size();
  return kind != EventKind::kCpuOp || detail == kNoDetail || detail < c.autograd.size();
}

}  // namespace

bool are_sound(const EventViews& c, size_t text_count) {
  const RowOrNone text{text_count};
  const auto is_text = [text_count](StringId id) { return id.index < text_count; };
  if (!equally_long(c) || !std::ranges::all_of(c.name, is_text) ||
      !std::ranges::all_of(c.args, RowOrNone{c.unique_args.size()})) {
    return false;
  }
  for (size_t i = 0; i < c.kind.size(); ++i) {
    if (c.track[i].index >= c.tracks.size() || !detail_is_sound(c, c.kind[i], c.detail[i])) {
      return false;
    }
  }
  return std::ranges::all_of(c.gpu_work,
                             [](const GpuWork& w) {
                               return key_is_sound(w.key) &&
                                      flags_are_sound(w.device, w.stream, w.context, w.registers,
                                                      w.shared_memory, w.bytes, w.grid, w.block,
                                                      w.cluster);
                             }) &&
         std::ranges::all_of(c.launches,
                             [](const LaunchCall& call) { return key_is_sound(call.key); }) &&
         std::ranges::all_of(
             c.frames,
             [](const PythonFrame& f) { return flags_are_sound(f.id, f.parent, f.module); }) &&
         std::ranges::all_of(c.collectives,
                             [&](const Collective& o) {
                               return o.event.index < c.kind.size() && text(o.name) &&
                                      text(o.dtype) && text(o.group_name) &&
                                      text(o.group_description) && text(o.group_ranks) &&
                                      text(o.in_split) && text(o.out_split) &&
                                      flags_are_sound(o.group_size, o.in_elements, o.out_elements,
                                                      o.rank, o.sequence);
                             }) &&
         std::ranges::all_of(c.waits,
                             [&](const RecordedWait& w) {
                               return w.event.index < c.kind.size() &&
                                      flags_are_sound(w.call, w.record, w.stream);
                             }) &&
         std::ranges::is_sorted(c.counters, {}, &CounterValue::event) &&
         std::ranges::all_of(c.counters,
                             [&](const CounterValue& v) {
                               return v.event.index < c.kind.size() && v.name.index < text_count;
                             }) &&
         std::ranges::all_of(c.tracks,
                             [&](const Track& t) {
                               return text(t.pid) && text(t.tid) && text(t.process_name) &&
                                      text(t.process_label) && text(t.thread_name);
                             }) &&
         std::ranges::all_of(c.unique_args, [&](const Args& a) {
           return text(a.dims) && text(a.types) && text(a.strides) && text(a.concrete);
         });
}

}  // namespace fathom
