#include "sheets/stall_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/hash.h"
#include "base/repeat_budget.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kMaxStallRows = 1'000'000;

// Each kernel's runs in the whole trace, by the name that both sides give it.
std::unordered_map<std::string_view, Nanos, TableHash> kernel_times(const SheetInput& input) {
  std::unordered_map<StringId, Nanos> by_id;
  const EventStore& store = input.store;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) == EventKind::kKernel) by_id[store.name_id(e)] += store.duration(e);
  }
  std::unordered_map<std::string_view, Nanos, TableHash> times;
  for (const auto& [name, time] : by_id) times[store.text(name)] += time;
  return times;
}

std::string pc_text(uint64_t pc) { return fmt::format("0x{:x}", pc); }

// Rows of a function stand together; functions in the order in which the report shows them.
struct FunctionRows {
  std::string_view name;
  Nanos time;
  uint64_t samples = 0;
  std::vector<const StallSample*> rows;
};

std::vector<FunctionRows> rows_by_function(const SheetInput& input, const StallSamples& samples) {
  const auto times = kernel_times(input);
  std::vector<FunctionRows> functions;
  std::unordered_map<uint64_t, size_t, TableHash> index;  // by the name's number: it may be long
  for (const StallSample& row : samples.rows) {
    if (input.scope.device && static_cast<int64_t>(row.device) != *input.scope.device) continue;
    const std::string_view name = samples.text(row.function);
    const auto [found, is_new] = index.try_emplace(row.function, functions.size());
    if (is_new) {
      const auto time = times.find(name);
      functions.push_back({name, time != times.end() ? time->second : Nanos{}, 0, {}});
    }
    FunctionRows& function = functions[found->second];
    function.samples += row.samples;
    function.rows.push_back(&row);
  }
  std::ranges::sort(functions, [](const FunctionRows& a, const FunctionRows& b) {
    return std::tie(b.time, b.samples, a.name) < std::tie(a.time, a.samples, b.name);
  });
  return functions;
}

StalledKernel sum_places(const FunctionRows& function, const StallSamples& samples) {
  StalledKernel kernel{function.name, function.time, function.samples, 0, {}};
  // By file and line, or by cubin and PC.
  using PlaceKey = std::tuple<bool, uint64_t, uint64_t>;
  std::vector<std::pair<PlaceKey, const StallSample*>> sorted;
  for (const StallSample* row : function.rows) {
    sorted.emplace_back(
        row->file ? PlaceKey{true, *row->file, row->line} : PlaceKey{false, row->cubin, row->pc},
        row);
  }
  std::ranges::stable_sort(sorted, {}, [](const auto& entry) { return entry.first; });
  for (size_t i = 0; i < sorted.size();) {
    StalledPlace place;
    const StallSample& first = *sorted[i].second;
    if (first.file) place.file = samples.text(*first.file);
    place.line = first.line;
    place.pc = first.pc;
    std::vector<std::pair<std::string_view, uint64_t>> reasons;
    size_t end = i;
    for (; end < sorted.size() && sorted[end].first == sorted[i].first; ++end) {
      const StallSample& row = *sorted[end].second;
      place.samples += row.samples;
      const std::string_view reason = samples.text(row.reason);
      if (!is_stall(reason)) continue;
      place.stalled += row.samples;
      reasons.emplace_back(reason, row.samples);
    }
    std::ranges::sort(reasons);
    for (const auto& [name, count] : reasons) {
      if (place.reasons.empty() || place.reasons.back().name != name)
        place.reasons.push_back({name, 0});
      place.reasons.back().samples += count;
    }
    std::ranges::stable_sort(place.reasons, std::greater{}, &StalledPlace::Reason::samples);
    kernel.stalled += place.stalled;
    kernel.places.push_back(std::move(place));
    i = end;
  }
  std::ranges::stable_sort(kernel.places, std::greater{}, &StalledPlace::stalled);
  return kernel;
}

}  // namespace

std::string StalledPlace::text() const {
  return file ? fmt::format("{}:{}", *file, line) : "PC " + pc_text(pc);
}

std::vector<StalledKernel> stalled_kernels(const SheetInput& input, const StallSamples& samples) {
  std::vector<StalledKernel> kernels;
  for (const FunctionRows& function : rows_by_function(input, samples))
    kernels.push_back(sum_places(function, samples));
  return kernels;
}

Table stall_samples_sheet(const SheetInput& input, const StallSamples& samples) {
  Table table("stall_samples");
  Column& kernel = table.text_column("Kernel name");
  Column& source = table.text_column("Source");
  Column& pc = table.text_column("PC offset");
  Column& reason = table.text_column("Stall reason");
  Column& count = table.count_column("Samples");
  Column& share = table.real_column("% of the kernel's samples", Unit::kPercent);
  RepeatBudget repeats;
  const auto cell = [&](uint32_t text) {
    const std::string_view whole = samples.text(text);
    return repeats.allows(text, whole.size()) ? std::string(whole)
                                              : cut_to_bytes(whole, RepeatBudget::kShortenedBytes);
  };
  for (FunctionRows& function : rows_by_function(input, samples)) {
    std::ranges::stable_sort(function.rows, [](const StallSample* a, const StallSample* b) {
      return std::tie(b->samples, a->pc) < std::tie(a->samples, b->pc);
    });
    for (const StallSample* row : function.rows) {
      if (table.rows() >= kMaxStallRows) return table;
      kernel.add(cell(row->function));
      row->file ? source.add(fmt::format("{}:{}", cell(*row->file), row->line))
                : source.add_unknown();
      pc.add(pc_text(row->pc));
      reason.add(cell(row->reason));
      count.add(static_cast<int64_t>(row->samples));
      share.add(function.samples == 0 ? 0.0
                                      : 100 * static_cast<double>(row->samples) /
                                            static_cast<double>(function.samples));
    }
  }
  return table;
}

}  // namespace fathom
