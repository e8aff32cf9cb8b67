#include "sheets/kernel_details.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json_writer.h"
#include "sheets/op_columns.h"

namespace fathom {
namespace {

constexpr size_t kShownCharacters = 64;

// The first characters, whole ones, with an ellipsis where something was cut.
std::string shortened(std::string_view text) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins_character && characters++ == kShownCharacters)
      return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

void write_stream(JsonWriter& json, const KernelDetail& detail) {
  json.key("stream");
  detail.stream ? json.value(*detail.stream) : json.null();
}

}  // namespace

std::vector<KernelDetail> summarize_kernels(const EventStore& store,
                                            const std::vector<std::span<const EventId>>& calls) {
  struct Place {
    size_t kernels, place;  // of so many kernels, the one at this place
    StringId name;

    auto operator<=>(const Place&) const = default;
  };
  struct Kernel {
    EventId first;
    std::vector<Nanos> durations;
  };
  std::map<Place, Kernel> places;
  for (const std::span<const EventId> call : calls) {
    for (size_t k = 0; k < call.size(); ++k) {
      Kernel& kernel =
          places.try_emplace({call.size(), k, store.name_id(call[k])}, Kernel{call[k], {}})
              .first->second;
      kernel.durations.push_back(store.duration(call[k]));
    }
  }
  std::vector<KernelDetail> details;
  for (auto& [place, kernel] : places) {
    details.push_back({store.name(kernel.first), store.gpu_work(kernel.first).stream,
                       summarize(std::move(kernel.durations)), place.place});
  }
  std::ranges::sort(details, [](const KernelDetail& a, const KernelDetail& b) {
    return std::tie(a.duration.sum, a.name, a.stream, a.place) <
           std::tie(b.duration.sum, b.name, b.stream, b.place);
  });
  return details;
}

std::string kernel_details_json(const std::vector<KernelDetail>& details) {
  JsonWriter json(false);
  json.begin_array();
  for (const KernelDetail& d : details) {
    json.begin_object().key("name").value(d.name);
    write_stream(json, d);
    json.key("count").value(static_cast<int64_t>(d.duration.count));
    json.key("total_duration_us").raw(exact_decimal(d.duration.sum.count, 3));
    json.key("mean_duration_us").value(nanos_to_micros(d.duration.mean));
    json.key("median_duration_us").value(nanos_to_micros(d.duration.median));
    json.key("std_dev_duration_us").value(nanos_to_micros(d.duration.population_deviation));
    json.key("min_duration_us").raw(exact_decimal(d.duration.min.count, 3));
    json.key("max_duration_us").raw(exact_decimal(d.duration.max.count, 3));
    json.end_object();
  }
  return json.end_array().take();
}

std::string truncated_kernel_details_json(const std::vector<KernelDetail>& details) {
  JsonWriter json(false);
  json.begin_array();
  for (const KernelDetail& d : details) {
    json.begin_object().key("name").value(shortened(d.name));
    write_stream(json, d);
    json.key("mean_duration_us").value(std::round(nanos_to_micros(d.duration.mean) * 100) / 100);
    json.end_object();
  }
  return json.end_array().take();
}

}  // namespace fathom
