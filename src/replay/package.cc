#include "replay/package.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/content_hash.h"
#include "base/count_text.h"
#include "base/file_descriptor.h"
#include "base/json_writer.h"
#include "base/zip_writer.h"
#include "replay/python_text.h"

extern const std::string_view replay_script_py, replay_calls_py, replay_timing_py, replay_readme_md;

namespace fathom {
namespace {

constexpr std::string_view kBegin = "# BEGIN: generated from the trace\n";
constexpr std::string_view kEnd = "# END: generated from the trace\n";

std::string_view place_name(ReplayTensor::Place place) {
  switch (place) {
    case ReplayTensor::Place::kDevice:
      return "device";
    case ReplayTensor::Place::kPinned:
      return "pinned";
    case ReplayTensor::Place::kPageable:
      return "pageable";
  }
  CHECK(false);
}

// [2, 3], which is Python and JSON.
std::string integer_list(const std::vector<int64_t>& values) {
  std::string list = "[";
  for (size_t i = 0; i < values.size(); ++i)
    list += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return list + "]";
}

std::string python_tensor(const ReplayTensor& tensor) {
  std::string text = fmt::format(R"({{"kind": "tensor", "dims": {}, "strides": {}, "dtype": {})",
                                 integer_list(tensor.dims), integer_list(tensor.strides),
                                 python_quoted(tensor.dtype));
  if (tensor.place != ReplayTensor::Place::kDevice)
    text += fmt::format(R"(, "place": "{}")", place_name(tensor.place));
  if (tensor.parameter) text += R"(, "parameter": True)";
  return text + "}";
}

std::string python_argument(const ReplayArgument& argument) {
  switch (argument.kind) {
    case ReplayArgument::Kind::kValue:
      return fmt::format(R"({{"kind": "value", "value": {}}})", argument.value);
    case ReplayArgument::Kind::kTensor:
      return python_tensor(argument.tensors.front());
    case ReplayArgument::Kind::kTensors: {
      std::string items;
      for (const ReplayTensor& tensor : argument.tensors)
        items += fmt::format("\n                {},", python_tensor(tensor));
      return fmt::format(R"({{"kind": "tensors", "items": [{}]}})", items);
    }
  }
  CHECK(false);
}

std::string python_case(const ReplayCase& one) {
  const TimeStatistics& t = one.time;
  std::string text = fmt::format(
      "    {{\n"
      "        \"call\": {},\n"
      "        \"count\": {},\n"
      "        \"recorded_us\": {{\"mean\": {}, \"median\": {}, \"min\": {}, \"max\": {}, \"sum\": "
      "{}}},\n"
      "        \"kernels\": [\n",
      python_quoted(one.call), t.count, t.mean / 1e3, t.median / 1e3, t.min.micros(),
      t.max.micros(), t.sum.micros());
  for (const std::string& kernel : one.kernels)
    text += fmt::format("            {},\n", python_quoted(kernel));
  text += "        ],\n        \"args\": [\n";
  for (const ReplayArgument& argument : one.arguments)
    text += fmt::format("            {},\n", python_argument(argument));
  return text + "        ],\n    },\n";
}

// On one line: a shape is read as a whole.
void write_shape(JsonWriter& json, const std::vector<int64_t>& sizes) {
  json.raw(integer_list(sizes));
}

// One of a shape's parts for each argument, nested as the trace nests them.
template <typename Part>
void write_shapes(JsonWriter& json, std::string_view key, const OpArgs& recorded, Part part) {
  json.key(key).begin_array();
  for (const ArgValue& value : recorded.inputs) {
    if (value.list.empty()) {
      write_shape(json, part(value.shape));
      continue;
    }
    json.begin_array();
    for (const ArgValue::Shape& shape : value.list) write_shape(json, part(shape));
    json.end_array();
  }
  json.end_array();
}

void write_texts(JsonWriter& json, std::string_view key, const OpArgs& recorded,
                 std::string ArgValue::* text) {
  json.key(key).begin_array();
  for (const ArgValue& value : recorded.inputs) json.value(value.*text);
  json.end_array();
}

void write_case(JsonWriter& json, const ReplayCase& one) {
  json.begin_object();
  json.key("call").value(one.call);
  write_shapes(json, "input_dims", one.recorded,
               [](const ArgValue::Shape& s) -> const auto& { return s.dims; });
  write_texts(json, "input_types", one.recorded, &ArgValue::type);
  write_shapes(json, "input_strides", one.recorded,
               [](const ArgValue::Shape& s) -> const auto& { return s.strides; });
  write_texts(json, "concrete_inputs", one.recorded, &ArgValue::concrete);
  json.key("list_type_known").value(one.list_type_known);
  json.key("lists_found").value(one.lists_found);
  json.key("count").value(static_cast<int64_t>(one.time.count));
  json.key("kernel_time_us").begin_object();
  json.key("mean").value(one.time.mean / 1e3);
  json.key("median").value(one.time.median / 1e3);
  json.key("min").value(one.time.min.micros());
  json.key("max").value(one.time.max.micros());
  json.key("sum").value(one.time.sum.micros());
  json.end_object();
  json.key("kernels").begin_array();
  for (const std::string& kernel : one.kernels) json.value(kernel);
  json.end_array();
  json.end_object();
}

std::string metadata_json(const ReplayOp& op, const ReplaySource& source,
                          const ReplayPackage& package) {
  JsonWriter json(true);
  json.begin_object();
  json.key("op").value(op.name);
  json.key("trace").value(source.trace);
  json.key("gpu");
  source.gpu.empty() ? json.null() : json.value(source.gpu);
  json.key("calls").value(static_cast<int64_t>(op.calls));
  json.key("kernel_time_us").value(op.time.micros());
  json.key("cases").begin_array();
  for (size_t i = 0; i < package.cases; ++i) write_case(json, op.cases[i]);
  json.end_array();
  json.key("left_out").begin_object();
  json.key("cases").value(static_cast<int64_t>(package.left_out));
  json.key("kernel_time_us").value(package.left_out_time.micros());
  json.key("share").value(ratio(package.left_out_time, op.time));
  json.end_object();
  json.key("cannot_be_replayed").begin_array();
  for (const ReplayRefusal& refusal : op.refusals) {
    json.begin_object();
    json.key("reason").value(describe(refusal.reason));
    json.key("calls").value(static_cast<int64_t>(refusal.calls));
    json.key("kernel_time_us").value(refusal.time.micros());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

void replace(std::string& text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  CHECK(at != std::string::npos);
  text.replace(at, what.size(), with);
}

// What a package has from other events than the op's own, and what it assumes about it.
std::string_view describe_found_lists(const ReplayOp& op) {
  const auto found = std::ranges::find(op.cases, true, &ReplayCase::lists_found);
  if (found == op.cases.end()) return "";
  if (found->call == "aten::index") {
    return " The trace leaves out the indices. Their sizes follow from the view that the op made "
           "of "
           "its first argument; their values are assumed: uniformly random, inside what they "
           "index.";
  }
  return " The trace leaves out lists of more than 30 tensors. Their sizes are those of the "
         "gradients accumulated before the call, which agree with the grids of its kernels.";
}

std::string describe_cases(const ReplayOp& op, const ReplayPackage& package) {
  std::string text = counted(package.cases, "argument set");
  if (package.left_out > 0) {
    text += fmt::format(
        ", those with most GPU time; {} more with {:.1f} % of the op's time {} "
        "left out",
        package.left_out, ratio(package.left_out_time, op.time) * 100,
        noun(package.left_out, "is", "are"));
  }
  text += ".";
  for (const ReplayRefusal& refusal : op.refusals) {
    text += fmt::format(" {} of {} ({:.1f} % of the time) cannot be replayed: the op {}.",
                        refusal.calls, counted(op.calls, "call"),
                        ratio(refusal.time, op.time) * 100, describe(refusal.reason));
  }
  if (std::ranges::any_of(op.cases, [](const ReplayCase& c) { return !c.list_type_known; }))
    text += " The trace does not say what type the tensors of lists have; float32 is assumed.";
  text += describe_found_lists(op);
  return text;
}

std::string readme(const ReplayOp& op, const ReplaySource& source, const ReplayPackage& package) {
  std::string text(replay_readme_md);
  // From the last to the first, so that no text of the trace is taken for a place to fill in.
  replace(text, "{{CASES}}", describe_cases(op, package));
  replace(text, "{{GPU}}",
          source.gpu.empty() ? "a GPU that it does not name" : "GPU " + markdown_code(source.gpu));
  replace(text, "`{{TRACE}}`", markdown_code(source.trace));
  replace(text, "{{OP}}", markdown_code(op.name));
  return text;
}

std::string script(std::string_view literals) {
  const size_t begin = replay_script_py.find(kBegin), end = replay_script_py.find(kEnd);
  CHECK(begin != std::string_view::npos && end != std::string_view::npos);
  return fmt::format("{}{}{}", replay_script_py.substr(0, begin + kBegin.size()), literals,
                     replay_script_py.substr(end));
}

ReplayPackage choose_cases(const ReplayOp& op, size_t max_cases) {
  ReplayPackage package;
  package.cases = std::min(op.cases.size(), max_cases);
  package.left_out = op.cases.size() - package.cases;
  for (size_t i = package.cases; i < op.cases.size(); ++i)
    package.left_out_time += op.cases[i].time.sum;
  return package;
}

}  // namespace

std::string replay_literals(const ReplayOp& op, const ReplaySource& source, size_t max_cases) {
  const ReplayPackage package = choose_cases(op, max_cases);
  std::string text = fmt::format(
      "OP = {}\nTRACE = {}\nGPU = {}\nLEFT_OUT = {{\"cases\": {}, \"share\": {}}}\nCASES = [\n",
      python_quoted(op.name), python_quoted(source.trace), python_quoted(source.gpu),
      package.left_out, ratio(package.left_out_time, op.time));
  for (size_t i = 0; i < package.cases; ++i) text += python_case(op.cases[i]);
  return text + "]\n";
}

ReplayPackage make_replay_package(const ReplayOp& op, const ReplaySource& source,
                                  size_t max_cases) {
  ReplayPackage package = choose_cases(op, max_cases);
  package.files = {{"replay.py", script(replay_literals(op, source, max_cases))},
                   {"metadata.json", metadata_json(op, source, package)},
                   {"README.md", readme(op, source, package)},
                   {"replay_calls.py", std::string(replay_calls_py)},
                   {"replay_timing.py", std::string(replay_timing_py)}};
  return package;
}

namespace {

// The comment of the archive: whose trace it is of, and the hash of all that precedes the hash. So
// a package tells by itself that we made it and that nobody changed it.
constexpr std::string_view kOurs = "Fathom replay package ";
constexpr size_t kHashDigits = 16;

std::string hash_text_of(std::string_view bytes) {
  return fmt::format("{:016x}", hash_content(bytes));
}

Result<std::string> read_all(int fd) {
  std::string bytes;
  char buffer[1 << 16];
  for (ssize_t n = 0;
       (n = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(bytes.size()))) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    bytes.append(buffer, static_cast<size_t>(n));
  }
  return bytes;
}

}  // namespace

Result<std::string> zip_package(const ReplayPackage& package, const std::string& trace) {
  // In memory: a package is small, and where it goes is not always a file.
  const FileDescriptor memory(memfd_create("package", MFD_CLOEXEC));
  if (!memory.ok()) return Error{fmt::format("cannot make a package: {}", std::strerror(errno))};
  ZipWriter zip = TRY(ZipWriter::create(fmt::format("/proc/self/fd/{}", memory.get())));
  for (const PackageFile& part : package.files) TRY(zip.add(part.name, part.content));
  TRY(zip.close(fmt::format("{}{} {}", kOurs, hash_text_of(trace), std::string(kHashDigits, '0'))));
  std::string bytes = TRY(read_all(memory.get()));
  bytes.resize(bytes.size() - kHashDigits);
  bytes += hash_text_of(bytes);
  return bytes;
}

bool is_package_of(std::string_view bytes, const std::string& trace) {
  const std::string ours = fmt::format("{}{} ", kOurs, hash_text_of(trace));
  if (bytes.size() < ours.size() + kHashDigits) return false;
  const std::string_view hashed = bytes.substr(0, bytes.size() - kHashDigits);
  return hashed.ends_with(ours) && bytes.ends_with(hash_text_of(hashed));
}

}  // namespace fathom
