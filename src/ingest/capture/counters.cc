#include "ingest/capture/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/hash.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/launch_shape.h"

namespace fathom::capture {
namespace {

struct Counted {
  std::map<uint32_t, std::vector<double>> values;  // by metric
  uint32_t passes = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::ranges::max_element(values.begin(), middle)) / 2;
}

}  // namespace

std::string_view unit_of_metric(std::string_view metric) {
  if (metric.ends_with(".pct") || metric.find(".pct_of") != std::string_view::npos) return "%";
  if (metric.find("time_duration") != std::string_view::npos) return "ns";
  if (metric.find("__bytes") != std::string_view::npos && metric.ends_with(".sum")) return "byte";
  if (metric.find("cycles") != std::string_view::npos) return "cycle";
  return "";
}

Result<std::optional<CounterSet>> read_counters(ByteSource& source, const std::string& shown) {
  ChunkReader chunks(source, int64_t{64} << 30);
  if (!chunks.begins_well()) return Error{fmt::format("{} is no capture of fathom record", shown)};
  std::unordered_map<uint32_t, std::string, TableHash> texts;
  std::map<LaunchShape, Counted> kernels;
  std::string gpu, capability;
  std::string tool = "fathom record", version = FATHOM_VERSION;
  std::optional<int64_t> multiprocessors;
  while (true) {
    Result<std::optional<Chunk>> read = chunks.next();
    if (!read.ok()) return Error{fmt::format("cannot read {}: {}", shown, read.error().message)};
    const std::optional<Chunk> chunk = read.take();
    if (!chunk) break;
    if (chunk->kind == ChunkKind::kStrings) {
      for_each_text(chunk->payload, [&texts](uint32_t id, std::string_view text) {
        texts.insert_or_assign(id, std::string(text));
      });
    } else if (chunk->kind == ChunkKind::kMeta) {
      for_each_fact(chunk->payload, [&](const std::vector<std::string_view>& fields) {
        if (fields[0] != "counters" || fields.size() < 3) return;
        tool = fields[1];
        version = fields[2];
      });
      for_each_gpu(chunk->payload, [&](const GpuProperties& properties) {
        if (!gpu.empty()) return;
        gpu = properties.name;
        multiprocessors = properties.multiprocessors;
        capability = fmt::format("{}.{}", properties.compute_major.value_or(0),
                                 properties.compute_minor.value_or(0));
      });
    } else if (chunk->kind == ChunkKind::kCounters && chunk->record_size >= sizeof(Counter)) {
      for (size_t at = 0; at + chunk->record_size <= chunk->payload.size();
           at += chunk->record_size) {
        Counter c;
        std::memcpy(&c, chunk->payload.data() + at, sizeof c);
        Counted& counted = kernels[shape_of(c)];
        counted.values[c.metric].push_back(c.value);
        counted.passes = std::max(counted.passes, c.passes);
      }
    }
  }
  if (kernels.empty()) return std::optional<CounterSet>();
  CounterSetBuilder builder;
  builder.origin().tool = tool;
  builder.origin().form = "capture";
  builder.origin().version = version;
  builder.origin().gpu = gpu;
  builder.origin().capability = capability;
  builder.origin().multiprocessors = multiprocessors;
  builder.origin().input_bytes = chunks.bytes_read();
  builder.diagnostics().merge(chunks.diagnostics());
  for (const auto& [shape, counted] : kernels) {
    CounterRow row;
    row.kernel = builder.intern(texts[shape.name]);
    // Without one the name is compared: an empty text would be no kernel's.
    if (!texts[shape.mangled].empty()) row.mangled = builder.intern(texts[shape.mangled]);
    set_shape(row, shape);
    row.passes = counted.passes;
    const CounterRowId id = builder.add_row(row);
    for (const auto& [metric, values] : counted.values) {
      const std::string& name = texts[metric];
      const double value = median(values);
      builder.add_value(id, builder.metric(name, unit_of_metric(name)), value);
      if (name == "gpu__time_duration.sum" && value >= 0 && value < 1e18)
        builder.row(id).duration = Nanos{static_cast<int64_t>(value)};
    }
  }
  return std::optional(std::move(builder).seal());
}

}  // namespace fathom::capture
