#include "ingest/kineto/envelope.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/utf8.h"
#include "ingest/kineto/lenient_parser.h"

namespace fathom::kineto {
namespace {

namespace dom = simdjson::dom;

// Of a key given twice, the last: what every reader that builds a dictionary keeps.
simdjson::simdjson_result<dom::element> value_of(dom::object object, std::string_view key) {
  simdjson::simdjson_result<dom::element> found = simdjson::NO_SUCH_FIELD;
  for (const dom::key_value_pair field : object) {
    if (field.key == key) found = dom::element(field.value);
  }
  return found;
}

std::optional<int64_t> integer(dom::object object, std::string_view key) {
  int64_t value = 0;
  if (value_of(object, key).get(value)) return {};
  return value;
}

std::string text(dom::object object, std::string_view key) {
  std::string_view value;
  if (value_of(object, key).get(value)) return {};
  return std::string(value);
}

// No GPU has more units that run blocks; a damaged number is none.
std::optional<int64_t> units_in(dom::object gpu) {
  constexpr int64_t kMostUnits = 4096;
  const std::optional<int64_t> units = integer(gpu, "numSms");
  return units && *units > 0 && *units <= kMostUnits ? units : std::nullopt;
}

std::vector<GpuProperties> gpus(dom::object top) {
  std::vector<GpuProperties> all;
  dom::array list;
  if (value_of(top, "deviceProperties").get(list)) return all;
  for (dom::element element : list) {
    dom::object gpu;
    if (element.get(gpu)) continue;
    all.push_back({integer(gpu, "id").value_or(static_cast<int64_t>(all.size())), text(gpu, "name"),
                   units_in(gpu), integer(gpu, "totalGlobalMem"), integer(gpu, "computeMajor"),
                   integer(gpu, "computeMinor")});
  }
  return all;
}

TraceMetadata read_metadata(dom::object top) {
  TraceMetadata metadata;
  metadata.gpus = gpus(top);
  metadata.cuda_runtime_version = integer(top, "cuda_runtime_version");
  metadata.hip_runtime_version = integer(top, "hip_runtime_version");
  if (auto base = integer(top, "baseTimeNanoseconds")) metadata.base_time = Nanos{*base};
  metadata.trace_name = text(top, "traceName");
  dom::object distributed;
  if (!value_of(top, "distributedInfo").get(distributed)) {
    metadata.rank = integer(distributed, "rank");
    metadata.world_size = integer(distributed, "world_size");
    metadata.distributed_backend = text(distributed, "backend");
  }
  return metadata;
}

// The fields we read, each taken from wherever its key stands, as an object that is whole again.
std::string salvage(const std::string& damaged) {
  const std::string json = with_valid_utf8(damaged);
  dom::parser parser;
  std::string whole = "{";
  for (const char* key : {"deviceProperties", "distributedInfo", "cuda_runtime_version",
                          "hip_runtime_version", "baseTimeNanoseconds", "traceName"}) {
    const std::string quoted = fmt::format("\"{}\"", key);
    const size_t at = json.find(quoted);
    if (at == std::string::npos) continue;
    const std::string_view value = find_value(json, at + quoted.size());
    if (value.empty() || parser.parse(value.data(), value.size()).error()) continue;
    whole += fmt::format("{}{}:{}", whole.size() > 1 ? "," : "", quoted, value);
  }
  return whole + "}";
}

}  // namespace

Envelope parse_envelope(const std::string& json) {
  if (json.empty()) return {};  // a bare list
  dom::parser parser;
  dom::object top;
  if (!parser.parse(json).get(top)) return {read_metadata(top), false};
  if (!parser.parse(salvage(json)).get(top)) return {read_metadata(top), true};
  return {{}, true};
}

}  // namespace fathom::kineto
