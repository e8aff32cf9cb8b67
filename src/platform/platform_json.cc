#include "base/json_writer.h"
#include "platform/platform.h"

namespace fathom {
namespace {

template <typename T>
void write_number(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  json.key(key);
  value ? json.value(*value) : json.null();
}

void write_source(JsonWriter& json, std::string_view key, const Source& source) {
  json.key(key).begin_object();
  json.key("kind").value(source_kind_name(source.kind));
  json.key("where").value(source.where);
  json.end_object();
}

void write_rate(JsonWriter& json, std::string_view key, const Rate& rate, std::string_view unit) {
  json.key(key).begin_object();
  json.key("unit").value(unit);
  write_number(json, "peak", rate.peak);
  if (rate.peak) write_source(json, "peak_source", rate.peak_source);
  write_number(json, "achievable", rate.achievable);
  if (rate.achievable) write_source(json, "achievable_source", rate.achievable_source);
  if (unit != "byte/s") {
    json.key("density").value("dense");
    json.key("peak_is_half_of_a_sparse_rate").value(rate.halved);
    write_number(json, "operations_per_clock_and_unit", rate.per_clock);
    write_number(json, "clock_hz", rate.clock);
  }
  json.end_object();
}

void write_platform(JsonWriter& json, const Platform& platform) {
  json.begin_object();
  json.key("name").value(platform.name);
  json.key("vendor").value(platform.vendor);
  json.key("architecture").value(platform.architecture);
  write_number(json, "compute_units", platform.compute_units);
  json.key("compute_unit").value(platform.unit_name);
  write_number(json, "boost_clock_hz", platform.boost_clock);
  write_number(json, "memory_bytes", platform.memory_bytes);
  json.key("memory_type").value(platform.memory_type);
  write_source(json, "source", platform.source);
  write_rate(json, "memory_bandwidth", platform.memory_bandwidth, "byte/s");
  json.key("compute").begin_object();
  for (const ComputeSpec& spec : platform.specs) {
    write_rate(json, spec.name, spec.rate, compute_unit_of(spec.name));
  }
  json.end_object();
  json.key("links").begin_array();
  for (const Link& link : platform.links) {
    json.begin_object().key("name").value(link.name);
    json.key("bytes_per_second").value(link.bytes_per_second);
    json.key("where").value(link.where).end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string platform_json(const Platform& platform) {
  JsonWriter json(true);
  write_platform(json, platform);
  return json.take() + "\n";
}

std::string platforms_json(std::span<const Platform> platforms) {
  JsonWriter json(true);
  json.begin_array();
  for (const Platform& platform : platforms) write_platform(json, platform);
  json.end_array();
  return json.take() + "\n";
}

}  // namespace fathom
