#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/byte_source.h"
#include "base/closest_names.h"
#include "base/sort_runs.h"
#include "platform/platform.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMaxFileSize = 1'000'000;
constexpr size_t kMaxText = 200, kMaxSpecs = 100;
// Whoever is outside has mistaken the unit: 1 GB/s to 10^15 byte/s, 1 GFLOPS to 10^19 FLOP/s.
constexpr double kLeastRate = 1e9, kMostBandwidth = 1e15, kMostCompute = 1e19;
constexpr double kMostMemoryGb = 1e6;

// Of a key given twice, the last, as everywhere. Absent and null are both "not said".
std::optional<dom::element> value_of(dom::object object, std::string_view key) {
  std::optional<dom::element> found;
  for (const dom::key_value_pair field : object) {
    if (field.key == key) found = field.value;
  }
  if (found && found->is_null()) return {};
  return found;
}

Result<std::string> read_text(dom::object object, std::string_view key) {
  const auto value = value_of(object, key);
  if (!value) return std::string();
  std::string_view text;
  if (value->get(text)) return Error{fmt::format("{} is no text", key)};
  if (text.size() > kMaxText) {
    return Error{fmt::format("{} is longer than {} characters", key, kMaxText)};
  }
  return std::string(text);
}

// A number of the given unit in the range, both ends included; or nothing where it is not said.
Result<std::optional<double>> read_number(dom::object object, std::string_view key, double unit,
                                          double least, double most) {
  const auto value = value_of(object, key);
  if (!value) return std::optional<double>();
  double number = 0;
  if (value->get(number)) return Error{fmt::format("{} is no number", key)};
  if (!(number * unit >= least && number * unit <= most)) {
    return Error{fmt::format("{} is {}, which no GPU has: expected {} to {}", key, number,
                             least / unit, most / unit)};
  }
  return std::optional<double>(number * unit);
}

Result<std::optional<int64_t>> read_integer(dom::object object, std::string_view key, double unit,
                                            double most) {
  const auto number = TRY(read_number(object, key, unit, 1, most));
  if (!number) return std::optional<int64_t>();
  return std::optional<int64_t>(std::llround(*number));
}

// A key that nobody reads is a slip of the pen, and its value would be missing without a word. What
// begins with _ is a remark, as TraceLens has it.
Status check_keys(dom::object object, std::span<const std::string_view> known,
                  std::string_view place) {
  for (const dom::key_value_pair field : object) {
    if (field.key.starts_with('_') || std::ranges::find(known, field.key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string nearest = did_you_mean(field.key, names);
    return Error{fmt::format(
        "{} has no key '{}'{}", place, field.key.substr(0, kMaxText),
        nearest.empty()
            ? fmt::format("; known are {}, and remarks that begin with _", fmt::join(names, ", "))
            : nearest)};
  }
  return Nothing{};
}

constexpr std::string_view kOwnKeys[] = {
    "name",         "vendor",           "architecture", "compute_units",
    "compute_unit", "boost_clock_hz",   "memory_bytes", "memory_type",
    "source",       "memory_bandwidth", "compute",      "links"};
constexpr std::string_view kLinkKeys[] = {"name", "bytes_per_second", "where"};
constexpr std::string_view kRateKeys[] = {"unit",
                                          "peak",
                                          "peak_source",
                                          "achievable",
                                          "achievable_source",
                                          "density",
                                          "peak_is_half_of_a_sparse_rate",
                                          "operations_per_clock_and_unit",
                                          "clock_hz"};
constexpr std::string_view kSourceKeys[] = {"kind", "where"};
// The last four stand in public files and are of no use here.
constexpr std::string_view kTraceLensKeys[] = {
    "name", "mem_bw_gbps", "memory_gb", "max_achievable_tflops",
    "arch", "gfx_arch",    "sclk_mhz",  "tdp_w"};

Result<Source> read_source(dom::object object, std::string_view key, const Source& otherwise) {
  const auto value = value_of(object, key);
  if (!value) return otherwise;
  dom::object fields;
  if (value->get(fields)) return Error{fmt::format("{} is no object", key)};
  TRY(check_keys(fields, kSourceKeys, key));
  const std::string kind = TRY(read_text(fields, "kind"));
  for (const auto known : {Source::Kind::kDatasheet, Source::Kind::kMeasured,
                           Source::Kind::kDerived, Source::Kind::kAssumed, Source::Kind::kFile}) {
    if (kind == source_kind_name(known)) return Source{known, TRY(read_text(fields, "where"))};
  }
  return Error{fmt::format(
      "{} has the kind '{}'; known are datasheet, measured, derived, assumed and file", key, kind)};
}

// matrix_bf16, vector_fp32, matrix_mxfp4: a unit and a number format, known here or not.
bool is_spec_name(std::string_view name) {
  if (!name.starts_with("matrix_") && !name.starts_with("vector_")) return false;
  name.remove_prefix(std::string_view("matrix_").size());
  for (const std::string_view block : {"mx", "nv"}) {
    if (name.starts_with(block)) name.remove_prefix(block.size());
  }
  static constexpr std::string_view kFormats[] = {
      "fp64", "fp32", "tf32", "xf32",  "fp16",  "bf16",  "fp8",   "bf8",  "fp6",
      "fp4",  "int4", "int8", "int16", "int32", "int64", "uint4", "uint8"};
  return std::ranges::find(kFormats, name) != std::end(kFormats);
}

// An object of specs, or nothing where it is not given.
Result<std::optional<dom::object>> read_specs(dom::object top, std::string_view key) {
  const auto value = value_of(top, key);
  if (!value) return std::optional<dom::object>();
  dom::object specs;
  if (value->get(specs)) return Error{fmt::format("{} is no object", key)};
  if (specs.size() > kMaxSpecs) {
    return Error{fmt::format("{} has more than {} entries", key, kMaxSpecs)};
  }
  return std::optional<dom::object>(specs);
}

Error with_key(std::string_view key, const Error& error) {
  return Error{fmt::format("{}: {}", key, error.message)};
}

// One object of our own form.
Result<Rate> read_rate(dom::element value, double most, const Source& file) {
  dom::object fields;
  if (value.get(fields)) return Error{"it is no object"};
  TRY(check_keys(fields, kRateKeys, "it"));
  Rate rate;
  rate.peak = TRY(read_number(fields, "peak", 1, kLeastRate, most));
  if (rate.peak) rate.peak_source = TRY(read_source(fields, "peak_source", file));
  rate.achievable = TRY(read_number(fields, "achievable", 1, kLeastRate, most));
  if (rate.achievable) rate.achievable_source = TRY(read_source(fields, "achievable_source", file));
  if (!rate.known()) return Error{"neither peak nor achievable is given"};
  if (const auto halved = value_of(fields, "peak_is_half_of_a_sparse_rate")) {
    if (halved->get(rate.halved)) {
      return Error{"peak_is_half_of_a_sparse_rate is neither true nor false"};
    }
  }
  rate.per_clock = TRY(read_number(fields, "operations_per_clock_and_unit", 1, 1, 1e9));
  rate.clock = TRY(read_number(fields, "clock_hz", 1, 1e6, 1e11));
  return rate;
}

Status read_links(dom::object top, Platform& platform) {
  const auto value = value_of(top, "links");
  if (!value) return Nothing{};
  dom::array links;
  if (value->get(links)) return Error{"links is no array"};
  if (links.size() > kMaxSpecs) {
    return Error{fmt::format("links has more than {} entries", kMaxSpecs)};
  }
  for (const dom::element entry : links) {
    dom::object fields;
    if (entry.get(fields)) return Error{"an entry of links is no object"};
    TRY(check_keys(fields, kLinkKeys, "an entry of links"));
    const auto rate = TRY(read_number(fields, "bytes_per_second", 1, kLeastRate, kMostBandwidth));
    if (!rate) return Error{"an entry of links has no bytes_per_second"};
    platform.links.push_back(
        {TRY(read_text(fields, "name")), *rate, TRY(read_text(fields, "where"))});
  }
  return Nothing{};
}

Status read_own_form(dom::object top, const Source& file, Platform& platform) {
  TRY(check_keys(top, kOwnKeys, "Fathom's form"));
  platform.vendor = TRY(read_text(top, "vendor"));
  platform.architecture = TRY(read_text(top, "architecture"));
  platform.unit_name = TRY(read_text(top, "compute_unit"));
  platform.compute_units = TRY(read_integer(top, "compute_units", 1, 1e6));
  platform.boost_clock = TRY(read_number(top, "boost_clock_hz", 1, 1e6, 1e11));
  platform.memory_bytes = TRY(read_integer(top, "memory_bytes", 1, kMostMemoryGb * 0x1p30));
  platform.memory_type = TRY(read_text(top, "memory_type"));
  TRY(read_links(top, platform));
  platform.source = TRY(read_source(top, "source", file));
  Result<Rate> bandwidth = read_rate(*value_of(top, "memory_bandwidth"), kMostBandwidth, file);
  if (!bandwidth.ok()) return with_key("memory_bandwidth", bandwidth.error());
  platform.memory_bandwidth = bandwidth.take();
  const auto specs = TRY(read_specs(top, "compute"));
  if (!specs) return Nothing{};
  for (const dom::key_value_pair field : *specs) {
    Result<Rate> rate = read_rate(field.value, kMostCompute, file);
    if (!rate.ok()) return with_key(field.key, rate.error());
    platform.specs.push_back({std::string(field.key), rate.take()});
  }
  return Nothing{};
}

Status read_tracelens_form(dom::object top, const Source& file, Platform& platform) {
  TRY(check_keys(top, kTraceLensKeys, "TraceLens's form"));
  platform.source = file;
  const auto memory = TRY(read_number(top, "memory_gb", 1, 0.001, kMostMemoryGb));
  if (memory) platform.memory_bytes = std::llround(*memory * 0x1p30);
  platform.memory_bandwidth.achievable =
      TRY(read_number(top, "mem_bw_gbps", 1e9, kLeastRate, kMostBandwidth));
  platform.memory_bandwidth.achievable_source = file;
  const auto specs = TRY(read_specs(top, "max_achievable_tflops"));
  if (!specs) return Nothing{};
  for (const dom::key_value_pair field : *specs) {
    double zero = 1;
    // TraceLens writes 0 where nothing was measured: that is unknown.
    if (!field.value.get(zero) && zero == 0) continue;
    ComputeSpec spec{std::string(field.key), {}};
    spec.rate.achievable = TRY(read_number(*specs, field.key, 1e12, kLeastRate, kMostCompute));
    spec.rate.achievable_source = file;
    if (spec.rate.known()) platform.specs.push_back(std::move(spec));
  }
  return Nothing{};
}

Error no_such_spec(const std::string& name) {
  const std::vector<std::string> known(compute_spec_names().begin(), compute_spec_names().end());
  return Error{
      fmt::format("'{}' is no compute spec: they are named like matrix_bf16 and vector_fp32{}",
                  name.substr(0, kMaxText), did_you_mean(name, known))};
}

// In the usual order, each name once (the last given), other names behind.
Status settle_specs(std::vector<ComputeSpec>& specs) {
  std::vector<ComputeSpec> settled;
  for (ComputeSpec& spec : specs) {
    if (!is_spec_name(spec.name)) return no_such_spec(spec.name);
    const auto earlier = std::ranges::find(settled, spec.name, &ComputeSpec::name);
    if (earlier != settled.end()) {
      *earlier = std::move(spec);
    } else {
      settled.push_back(std::move(spec));
    }
  }
  const auto names = compute_spec_names();
  const auto place = [&names](const ComputeSpec& spec) {
    return std::ranges::find(names, spec.name) - names.begin();
  };
  sort_runs(settled,
            [&place](const ComputeSpec& a, const ComputeSpec& b) { return place(a) < place(b); });
  specs = std::move(settled);
  return Nothing{};
}

// The key that was meant to give it may be there, misspelt.
Error no_bandwidth(dom::object top) {
  std::string meant;
  for (const dom::key_value_pair field : top) {
    const std::string key(field.key.substr(0, kMaxText));
    if (!meant.empty() || std::ranges::find(kOwnKeys, key) != std::end(kOwnKeys) ||
        std::ranges::find(kTraceLensKeys, key) != std::end(kTraceLensKeys))
      continue;
    const std::vector<std::string> names = {"mem_bw_gbps", "memory_bandwidth"};
    if (const std::string nearest = did_you_mean(key, names); !nearest.empty())
      meant = fmt::format(". It has '{}'{}", key, nearest);
  }
  return Error{fmt::format(
      "it gives no memory bandwidth: expected mem_bw_gbps or memory_bandwidth{}", meant)};
}

Result<std::string> read_small_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{fmt::format("{} is a directory; name the platform file in it", path)};
  }
  const std::unique_ptr<ByteSource> source = TRY(open_source(path));
  std::string text(kMaxFileSize + 1, '\0');
  const Result<size_t> size = source->read(text);
  if (!size.ok()) return Error{fmt::format("cannot read {}: {}", path, size.error().message)};
  if (size.value() > kMaxFileSize) {
    return Error{fmt::format("{} is no platform file: it is larger than 1 MB", path)};
  }
  text.resize(size.value());
  return text;
}

}  // namespace

Result<Platform> parse_platform(std::string_view json, const std::string& path) {
  dom::parser parser;
  dom::element document;
  if (const auto error = parser.parse(json.data(), json.size()).get(document)) {
    return Error{fmt::format("it is no JSON ({})", simdjson::error_message(error))};
  }
  dom::object top;
  if (document.get(top)) return Error{"it is no JSON object"};
  const bool own = value_of(top, "memory_bandwidth").has_value();
  if (!own && !value_of(top, "mem_bw_gbps")) return no_bandwidth(top);
  const std::filesystem::path from(path);
  const Source file{Source::Kind::kFile, from.filename().string()};
  Platform platform;
  platform.name = TRY(read_text(top, "name"));
  if (platform.name.empty()) platform.name = from.stem().string();
  TRY(own ? read_own_form(top, file, platform) : read_tracelens_form(top, file, platform));
  TRY(settle_specs(platform.specs));
  return platform;
}

Result<Platform> load_platform_file(const std::string& path) {
  const std::string text = TRY(read_small_file(path));
  Result<Platform> platform = parse_platform(text, path);
  if (!platform.ok()) {
    return Error{fmt::format("{} is no platform file: {}", path, platform.error().message)};
  }
  return platform;
}

Result<Platform> open_platform(const std::string& name_or_path) {
  if (name_or_path.ends_with(".json") || name_or_path.find('/') != std::string::npos) {
    return load_platform_file(name_or_path);
  }
  return *TRY(Platforms::built_in().find(name_or_path));
}

}  // namespace fathom
