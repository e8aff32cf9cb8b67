#include "session/trace.h"

#include <fmt/format.h>

#include "base/content_stamp.h"
#include "base/count_text.h"
#include "base/text_source.h"
#include "base/threads.h"
#include "events/store_file.h"
#include "ingest/capture/chunk_reader.h"
#include "session/input_format.h"

namespace fathom {
namespace {

// A smaller trace is read as fast as its columns could be opened.
constexpr int64_t kWorthCaching = 16 << 20;

// All of a machine's GPUs may be listed. The one with the first work is the one that was used.
const GpuProperties& used_gpu(const EventStore& store, const std::vector<GpuProperties>& gpus,
                              std::optional<int32_t> asked) {
  for (const GpuProperties& gpu : gpus)
    if (asked && gpu.id == *asked) return gpu;
  for (size_t i = 0; i < store.size(); ++i) {
    if (!is_gpu_work(store.kind(EventId(i)))) continue;
    const auto device = store.gpu_work(EventId(i)).device;
    for (const GpuProperties& gpu : gpus) {
      if (device && gpu.id == *device) return gpu;
    }
    break;
  }
  return gpus.front();
}

// The stamp is known once the input is closed.
Result<EventStore> read_closed(const std::string& path, const OpenOptions& options,
                               ReadingStamp* stamp, std::shared_ptr<const std::string>& kept) {
  Input input = TRY(open_input(path, options, stamp));
  EventStore store = TRY(read_input(input, options));
  kept = std::move(input.kept);
  return store;
}

}  // namespace

Result<Trace> open_trace(const std::string& path, const OpenOptions& options) {
  // A program that was changed may read the same trace in another way.
  const bool asked = !options.cache.empty() && path != "-";
  const uint64_t program = asked ? stamp_of("/proc/self/exe").value_or(ContentStamp{}).content : 0;
  const bool may_cache = program != 0;
  if (may_cache) {
    if (std::optional<EventStore> store = StoreFile::load(options.cache, path, program)) {
      CallTree tree = build_call_tree(*store);
      return Trace{path, std::move(*store), std::move(tree), true, {}, nullptr};
    }
  }
  ReadingStamp stamp;
  std::shared_ptr<const std::string> kept;
  EventStore store =
      TRY(read_closed(path, options, may_cache && options.keep ? &stamp : nullptr, kept));
  Trace trace{path, std::move(store), {}, false, {}, std::move(kept)};
  const bool whole = trace.store.diagnostics().count(Flaw::kSizeLimit) == 0;
  if (stamp.value() && whole && trace.store.input_bytes() >= kWorthCaching) {
    const StoreFile::Origin origin{*stamp.value(), program};
    // A copy of the store shares its columns.
    trace.saving = start_beside([store = trace.store, origin, file = options.cache] {
      return StoreFile::save(store, origin, file);
    });
  }
  trace.tree = build_call_tree(trace.store);
  return trace;
}

Result<std::unique_ptr<ByteSource>> open_again(const Trace& trace) {
  if (!trace.kept) return open_source(trace.path);
  return std::unique_ptr<ByteSource>(std::make_unique<TextSource>(*trace.kept));
}

bool is_readable_capture(const Trace& trace) {
  if (trace.kept) return capture::is_capture(*trace.kept);
  std::error_code error;
  return trace.path != "-" && std::filesystem::is_regular_file(trace.path, error) &&
         capture::is_capture_file(trace.path);
}

std::vector<const Platform*> fitting_platforms(const Trace& trace, std::optional<int32_t> device) {
  const std::vector<GpuProperties>& gpus = trace.store.metadata().gpus;
  if (gpus.empty()) return {};
  const GpuProperties& gpu = used_gpu(trace.store, gpus, device);
  const std::string capability = gpu.compute_major && gpu.compute_minor
                                     ? fmt::format("{}.{}", *gpu.compute_major, *gpu.compute_minor)
                                     : std::string();
  return Platforms::built_in().candidates(
      {gpu.name, gpu.memory_bytes, gpu.multiprocessors, capability});
}

const Platform* detect_platform(const Trace& trace, std::optional<int32_t> device) {
  const std::vector<const Platform*> fitting = fitting_platforms(trace, device);
  return fitting.size() == 1 ? fitting.front() : nullptr;
}

Status check_has_events(const Trace& trace) {
  const EventStore& store = trace.store;
  if (store.size() > 0) return Nothing{};
  for (const auto& [flaw, why] :
       {std::pair(Flaw::kTruncated, "the file ends in the middle"),
        {Flaw::kOversizedEvent, "the first one is too large, or brackets or quotes are damaged"},
        {Flaw::kSizeLimit, "the first one does not end within --max-size"}}) {
    if (store.diagnostics().count(flaw) > 0)
      return Error{fmt::format("{} has no events that can be read: {}", trace.path, why)};
  }
  const std::string found =
      store.entries() == 0
          ? "its list of events is empty"
          : fmt::format("none of its {} is a timed event that can be read",
                        counted(static_cast<uint64_t>(store.entries()), "entry", "entries"));
  return Error{fmt::format("{} has no events: {}; was the profiler stopped before any step ran?",
                           trace.path, found)};
}

}  // namespace fathom
