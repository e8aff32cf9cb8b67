#include "ingest/kineto/track_kinds.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_map>

#include "ingest/kineto/json_text.h"

namespace fathom::kineto {
namespace {

constexpr std::string_view kDevicePrefix = "/device:", kHostPrefix = "/host:";

// The text after "key:", up to a blank.
std::string_view detail_text(std::string_view details, std::string_view key) {
  for (size_t at = details.find(key); at != std::string_view::npos;
       at = details.find(key, at + 1)) {
    const size_t after = at + key.size();
    const bool whole = at == 0 || details[at - 1] == ' ' || details[at - 1] == '\n';
    if (!whole || after >= details.size() || details[after] != ':') continue;
    const std::string_view value = details.substr(after + 1);
    return value.substr(0, value.find_first_of(" \n"));
  }
  return {};
}

// The number right after a prefix: "Stream #13(Compute)" → 13
std::optional<int64_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return {};
  text.remove_prefix(prefix.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// Of a device's threads, those that hold its work once: lines of ops, modules and steps tell of the
// same time again.
class XlaTracks {
 public:
  explicit XlaTracks(EventStoreBuilder& builder) : builder_(builder) {
    for (const Track& track : builder.named_tracks()) {
      const std::string_view process = builder.text(track.process_name);
      found_ = found_ || process.starts_with(kDevicePrefix) || process.starts_with(kHostPrefix);
      if (is_stream(track)) has_streams_[track.pid] = true;
    }
  }

  bool found() const { return found_; }

  EventKind kind_of(const Track& track, const EventStoreBuilder::Common& event,
                    GpuWork& work) const {
    const std::string_view process = builder_.text(track.process_name);
    if (process.starts_with(kDevicePrefix)) return device_kind(track, event, work);
    if (process.starts_with(kHostPrefix)) return host_kind(event, work);
    return EventKind::kOther;
  }

 private:
  bool is_stream(const Track& track) const {
    return builder_.text(track.thread_name).starts_with("Stream #");
  }

  EventKind device_kind(const Track& track, const EventStoreBuilder::Common& event,
                        GpuWork& work) const {
    const std::string_view process = builder_.text(track.process_name);
    const std::string_view thread = builder_.text(track.thread_name);
    // A TPU has no streams: its ops are its work.
    const bool is_work = has_streams_.contains(track.pid) ? is_stream(track) : thread == "XLA Ops";
    if (!is_work) return EventKind::kGpuAnnotation;
    const size_t colon = process.rfind(':');
    work.device = {};
    const auto device = number_after(process.substr(colon), ":");
    if (device && *device >= 0 && *device <= INT32_MAX) {
      work.device = static_cast<int32_t>(*device);
    }
    work.stream = number_after(thread, "Stream #");
    return event.kind;
  }

  // Calls of CUDA and HIP have the correlation of what they launch; Python's frames begin with "$".
  EventKind host_kind(const EventStoreBuilder::Common& event, const GpuWork& work) const {
    const std::string_view name = builder_.text(event.name);
    if (work.key) {
      const bool driver = name.starts_with("cu") && !name.starts_with("cuda");
      return driver ? EventKind::kDriver : EventKind::kRuntime;
    }
    return name.starts_with('$') ? EventKind::kPython : EventKind::kAnnotation;
  }

  EventStoreBuilder& builder_;
  std::unordered_map<StringId, bool> has_streams_;  // by process
  bool found_ = false;
};

}  // namespace

std::optional<int64_t> detail_number(std::string_view details, std::string_view key) {
  return read_integer(detail_text(details, key));
}

void read_kernel_details(std::string_view details, GpuWork& work) {
  const auto small = [&](std::string_view key) -> std::optional<int32_t> {
    const auto value = detail_number(details, key);
    if (!value || *value < 0 || *value > INT32_MAX / 2) return {};
    return static_cast<int32_t>(*value);
  };
  work.registers = small("regs");
  const auto fixed = small("static_shared"), chosen = small("dynamic_shared");
  if (fixed || chosen) work.shared_memory = fixed.value_or(0) + chosen.value_or(0);
  work.grid = read_dim3(fmt::format("[{}]", detail_text(details, "grid")));
  work.block = read_dim3(fmt::format("[{}]", detail_text(details, "block")));
}

bool decide_kinds_by_track(EventStoreBuilder& builder) {
  if (!builder.has_undecided()) return false;
  const XlaTracks tracks(builder);
  builder.decide_kinds(
      [&](const Track& track, const EventStoreBuilder::Common& event, GpuWork& work) {
        const EventKind kind = tracks.kind_of(track, event, work);
        if (kind == EventKind::kOther) {
          builder.diagnostics().add(Flaw::kUnknownCategory, "no category");
        }
        return kind;
      });
  return tracks.found();
}

}  // namespace fathom::kineto
