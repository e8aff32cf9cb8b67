#include "ingest/rocprof/trace_rows.h"

#include <fmt/format.h>

#include <charconv>

namespace fathom::rocprof {
namespace {

// Work-items → workgroups: the last one may be partial.
std::optional<int64_t> groups(std::optional<int64_t> items, std::optional<int64_t> in_group) {
  if (!items || !in_group || *items < 0 || *in_group <= 0) return {};
  return *items / *in_group + (*items % *in_group != 0);
}

}  // namespace

std::string copy_name(std::string_view direction) {
  struct Direction {
    std::string_view mark, text;
  };
  static constexpr Direction kDirections[] = {{"HOST_TO_HOST", "HtoH (Host -> Host)"},
                                              {"HOST_TO_DEVICE", "HtoD (Host -> Device)"},
                                              {"DEVICE_TO_HOST", "DtoH (Device -> Host)"},
                                              {"DEVICE_TO_DEVICE", "DtoD (Device -> Device)"}};
  for (const Direction& d : kDirections) {
    if (direction.ends_with(d.mark)) return fmt::format("Memcpy {}", d.text);
  }
  return "Memcpy";
}

std::string_view kernel_name(std::string_view symbol) {
  for (const std::string_view ending : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (symbol.size() > ending.size() && symbol.ends_with(ending)) {
      symbol.remove_suffix(ending.size());
    }
  }
  return symbol;
}

std::optional<int64_t> number_in(std::string_view text) {
  if (text.starts_with("Agent ")) text.remove_prefix(6);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return static_cast<int64_t>(value);
}

void TraceRows::add_kernel(StringId name, int64_t process, const Dispatch& d) {
  GpuWork work;
  if (d.correlation) work.key = rows_.key(process, *d.correlation);
  work.device = small_number(d.device);
  work.stream = d.stream ? d.stream : d.queue;
  work.registers = small_number(d.registers);
  work.shared_memory = small_number(d.lds);
  work.block = dimensions(d.workgroup[0], d.workgroup[1], d.workgroup[2]);
  work.grid = dimensions(groups(d.grid[0], d.workgroup[0]), groups(d.grid[1], d.workgroup[1]),
                         groups(d.grid[2], d.workgroup[2]));
  const TrackId track = rows_.stream(d.device, work.stream);
  if (const auto event = rows_.event(EventKind::kKernel, name, track, d.begin, d.end)) {
    rows_.out().add(*event, work);
  }
}

void TraceRows::add_copy(StringId name, int64_t process, const Copy& c) {
  GpuWork work;
  if (c.correlation) work.key = rows_.key(process, *c.correlation);
  work.device = small_number(c.device);
  work.stream = c.stream;
  work.bytes = c.bytes;
  const TrackId track = rows_.stream(c.device, c.stream);
  if (const auto event = rows_.event(EventKind::kMemcpy, name, track, c.begin, c.end)) {
    rows_.out().add(*event, work);
  }
}

void TraceRows::add_api(StringId name, bool is_hsa, int64_t process, const Call& call) {
  const TrackId track = rows_.thread(process, call.thread.value_or(0));
  const EventKind kind = is_hsa ? EventKind::kDriver : EventKind::kRuntime;
  if (const auto event = rows_.event(kind, name, track, call.begin, call.end)) {
    LaunchCall launch;
    if (call.correlation) launch.key = rows_.key(process, *call.correlation);
    rows_.out().add(*event, launch);
  }
}

void TraceRows::add_range(StringId name, int64_t process, const Call& call) {
  const TrackId track = rows_.thread(process, call.thread.value_or(0));
  if (call.begin && call.begin == call.end) {
    return rows_.add_instant(EventKind::kInstant, name, track, call.begin);
  }
  if (const auto event = rows_.event(EventKind::kAnnotation, name, track, call.begin, call.end)) {
    rows_.out().add(*event, LaunchCall{});
  }
}

}  // namespace fathom::rocprof
