#include "ingest/capture/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/hash.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/counter_rows.h"

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

void take_gpu(std::string_view facts, CounterOrigin& origin) {
  for_each_gpu(facts, [&origin](const GpuProperties& gpu) {
    if (!origin.gpu.empty()) return;
    origin.gpu = gpu.name;
    origin.multiprocessors = gpu.multiprocessors;
    origin.capability =
        fmt::format("{}.{}", gpu.compute_major.value_or(0), gpu.compute_minor.value_or(0));
  });
}

std::string_view unit_of_metric(std::string_view metric) {
  if (metric.ends_with(".pct") || metric.find(".pct_of") != std::string_view::npos) return "%";
  if (metric.find("time_duration") != std::string_view::npos) return "ns";
  if (metric.find("__bytes") != std::string_view::npos && metric.ends_with(".sum")) return "byte";
  if (metric.find("cycles") != std::string_view::npos) return "cycle";
  return "";
}

Result<std::optional<CounterSet>> read_counters(ByteSource& source, const std::string& shown) {
  ChunkReader chunks(source, int64_t{64} << 30);
  std::unordered_map<uint32_t, std::string, TableHash> texts;
  std::map<LaunchShape, Counted> kernels;
  CounterSetBuilder builder;
  CounterOrigin origin;
  origin.tool = "fathom record";
  origin.form = "capture";
  origin.version = FATHOM_VERSION;
  TRY(chunks.for_each(shown, [&](const Chunk& chunk) {
    if (chunk.kind == ChunkKind::kStrings) {
      for_each_text(chunk.payload, [&texts](uint32_t id, std::string_view text) {
        texts.insert_or_assign(id, std::string(text));
      });
    } else if (chunk.kind == ChunkKind::kMeta) {
      for_each_fact(chunk.payload, [&origin](const std::vector<std::string_view>& fields) {
        if (fields[0] != "counters" || fields.size() < 3) return;
        origin.tool = fields[1];
        origin.version = fields[2];
      });
      take_gpu(chunk.payload, origin);
    } else if (chunk.kind == ChunkKind::kCounters) {
      for_each_record<Counter>(chunk, [&](const Counter& counter) {
        if (!std::isfinite(counter.value)) {
          builder.diagnostics().add(Flaw::kCounterValueUnreadable, texts[counter.metric]);
          return;
        }
        Counted& counted = kernels[shape_of(counter)];
        counted.values[counter.metric].push_back(counter.value);
        counted.passes = std::max(counted.passes, counter.passes);
      });
    }
  }));
  if (kernels.empty()) return std::optional<CounterSet>();
  origin.input_bytes = chunks.bytes_read();
  builder.origin() = std::move(origin);
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
