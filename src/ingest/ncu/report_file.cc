#include "ingest/ncu/report_file.h"

#include <fmt/format.h>

#include <cmath>

#include "base/protobuf_reader.h"
#include "ingest/ncu/launch_facts.h"
#include "ingest/ncu/metric_units.h"

namespace fathom::ncu {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMark = "NVR\0"sv;

// Field numbers, by message.
enum BlockField : uint32_t {
  kNumSources = 1,
  kNumResults = 2,
  kSession = 3,
  kStringTable = 4,
  kPayloadSize = 5,
  kProcess = 6
};
enum SessionField : uint32_t { kDeviceAttributes = 6, kVersionInfo = 8, kCommandLine = 11 };
enum ResultField : uint32_t {
  kMangledName = 5,
  kFunctionName = 6,
  kDemangledName = 7,
  kGrid = 10,
  kBlock = 11,
  kMetric = 13,
  kRule = 19,
  kContextId = 22,
  kStreamId = 23
};

// A length of 32 bits, little endian, and what it counts. False: not all of it is there.
bool take_sized(std::string_view& rest, std::string_view& piece) {
  if (rest.size() < 4) return false;
  uint32_t size = 0;
  for (size_t i = 4; i-- > 0;) size = size << 8 | static_cast<unsigned char>(rest[i]);
  if (size > rest.size() - 4) return false;
  piece = rest.substr(4, size);
  rest.remove_prefix(4 + static_cast<size_t>(size));
  return true;
}

std::string_view bytes_field(std::string_view message, uint32_t field) {
  std::string_view found;
  for (ProtobufReader reader(message); reader.next();) {
    if (reader.is_bytes(field)) found = reader.bytes();
  }
  return found;
}

std::optional<Dim3> read_dims(std::string_view message) {
  Dim3 dims;
  uint32_t* const parts[] = {&dims.x, &dims.y, &dims.z};
  for (ProtobufReader reader(message); reader.next();) {
    if (reader.wire() != ProtobufReader::Wire::kVarint || reader.field() > 3) continue;
    if (reader.number() > UINT32_MAX) return {};
    *parts[reader.field() - 1] = static_cast<uint32_t>(reader.number());
  }
  return dims;
}

struct MetricValueMessage {
  std::optional<double> number;
  std::string_view text;
};

MetricValueMessage read_value(std::string_view message) {
  MetricValueMessage value;
  for (ProtobufReader reader(message); reader.next();) {
    using Wire = ProtobufReader::Wire;
    if (reader.is_bytes(1)) value.text = reader.bytes();
    if (reader.is(2, Wire::kFixed32) || reader.is(3, Wire::kFixed64)) value.number = reader.real();
    if (reader.is_number(4) || reader.is_number(5))
      value.number = static_cast<double>(reader.number());
  }
  return value;
}

class ReportReader {
 public:
  explicit ReportReader(CounterSetBuilder& builder) : builder_(builder) {}

  void run(std::string_view bytes) {
    builder_.origin().tool = "Nsight Compute";
    builder_.origin().form = "report file";
    std::string_view rest = bytes.substr(std::min(kMark.size(), bytes.size()));
    std::string_view header;
    if (!take_sized(rest, header)) return truncated();
    while (!rest.empty()) {
      std::string_view block;
      if (!take_sized(rest, block)) return truncated();
      if (!read_block(block, rest)) return;
    }
  }

 private:
  struct BlockHeader {
    uint64_t sources = 0, results = 0, payload = 0;
    bool has_results = false;
    std::optional<int64_t> process;
  };

  void truncated() { builder_.diagnostics().add(Flaw::kTruncated); }

  bool read_block(std::string_view message, std::string_view& rest) {
    BlockHeader block;
    ProtobufReader reader(message);
    while (reader.next()) {
      if (reader.is_number(kNumSources)) block.sources = reader.number();
      if (reader.is_number(kNumResults)) block.results = reader.number();
      if (reader.is_number(kPayloadSize)) block.payload = reader.number();
      if (reader.is_bytes(kSession)) read_session(reader.bytes());
      if (reader.is_bytes(kStringTable)) read_strings(reader.bytes());
      if (reader.is_bytes(kProcess)) {
        for (ProtobufReader process(reader.bytes()); process.next();) {
          if (process.is_number(1)) block.process = static_cast<int64_t>(process.number());
        }
      }
    }
    if (reader.damaged()) damaged("the header of a block");
    std::string_view payload = rest.substr(0, std::min<uint64_t>(block.payload, rest.size()));
    const bool is_whole = payload.size() == block.payload;
    rest.remove_prefix(payload.size());
    read_payload(payload, block);
    if (!is_whole) truncated();
    return is_whole;
  }

  // First the code of kernels, then the results, then what newer versions add.
  void read_payload(std::string_view payload, const BlockHeader& block) {
    std::string_view entry;
    for (uint64_t i = 0; i < block.sources && take_sized(payload, entry); ++i) continue;
    for (uint64_t i = 0; i < block.results; ++i) {
      if (!take_sized(payload, entry)) return damaged("a result that is not all there");
      read_result(entry, block.process);
    }
  }

  // An empty table leaves the last one in use.
  void read_strings(std::string_view message) {
    std::vector<StringId> strings;
    for (ProtobufReader reader(message); reader.next();) {
      if (reader.is_bytes(1)) strings.push_back(builder_.intern(reader.bytes()));
    }
    if (strings.empty()) return;
    strings_ = std::move(strings);
    metrics_.assign(strings_.size(), MetricId());
  }

  void read_session(std::string_view message) {
    CounterOrigin& origin = builder_.origin();
    for (ProtobufReader reader(message); reader.next();) {
      if (reader.is_bytes(kDeviceAttributes) && origin.gpu.empty())
        origin.gpu = bytes_field(reader.bytes(), 2);
      if (reader.is_bytes(kVersionInfo) &&
          bytes_field(reader.bytes(), 1).starts_with("Nsight Compute")) {
        const std::string_view version = bytes_field(reader.bytes(), 2);
        origin.version = version.substr(0, version.find(' '));
      }
      if (reader.is_bytes(kCommandLine)) origin.replay = replay_mode(reader.bytes());
    }
  }

  static std::string replay_mode(std::string_view command) {
    constexpr std::string_view kOption = "--replay-mode";
    const size_t at = command.find(kOption);
    if (at == std::string_view::npos) return "kernel";
    std::string_view mode = command.substr(at + kOption.size());
    mode.remove_prefix(std::min(mode.find_first_not_of("= "), mode.size()));
    return std::string(mode.substr(0, mode.find(' ')));
  }

  void read_result(std::string_view message, std::optional<int64_t> process) {
    CounterRow row;
    row.process = process;
    row.launch = static_cast<int64_t>(builder_.size());
    std::string_view mangled, function, demangled_name;
    std::string notes;
    const CounterRowId id = builder_.add_row({});
    ProtobufReader reader(message);
    while (reader.next()) {
      if (reader.is_bytes(kMangledName)) mangled = reader.bytes();
      if (reader.is_bytes(kFunctionName)) function = reader.bytes();
      if (reader.is_bytes(kDemangledName)) demangled_name = reader.bytes();
      if (reader.is_bytes(kGrid)) row.grid = read_dims(reader.bytes());
      if (reader.is_bytes(kBlock)) row.block = read_dims(reader.bytes());
      if (reader.is_number(kContextId)) row.context = static_cast<int64_t>(reader.number());
      if (reader.is_number(kStreamId)) row.stream = static_cast<int64_t>(reader.number());
      if (reader.is_bytes(kMetric)) read_metric(reader.bytes(), id, row);
      if (reader.is_bytes(kRule)) add_note(reader.bytes(), notes);
    }
    if (reader.damaged()) damaged("a result");
    const std::string_view shown = !demangled_name.empty() ? demangled_name
                                   : !function.empty()     ? function
                                                           : mangled;
    row.kernel = builder_.intern(shown);
    if (!mangled.empty()) row.mangled = builder_.intern(mangled);
    if (!function.empty()) row.function = builder_.intern(function);
    if (!notes.empty()) row.notes = builder_.intern(notes);
    finish_launch(row);
    builder_.row(id) = row;
  }

  void read_metric(std::string_view message, CounterRowId id, CounterRow& row) {
    std::optional<uint64_t> name_id;
    std::string_view value_message;
    for (ProtobufReader reader(message); reader.next();) {
      if (reader.is_number(1)) name_id = reader.number();
      if (reader.is_bytes(2)) value_message = reader.bytes();
    }
    if (!name_id || *name_id >= strings_.size()) return damaged("a metric without a name");
    const MetricValueMessage value = read_value(value_message);
    const std::string_view name = builder_.text(strings_[*name_id]);
    if (name == "device__attribute_display_name" && builder_.origin().gpu.empty())
      builder_.origin().gpu = value.text;
    if (!value.number || !std::isfinite(*value.number)) return;  // a text, or instances only
    note_capability(name, *value.number);
    MetricId& metric = metrics_[*name_id];
    if (!metric.valid()) metric = builder_.metric(name, unit_by_name(name));
    builder_.add_value(id, metric, *value.number);
    add_launch_fact(name, *value.number, row);
  }

  void note_capability(std::string_view name, double value) {
    if (name == "device__attribute_compute_capability_major") major_ = value;
    if (name == "device__attribute_compute_capability_minor") minor_ = value;
    if (major_ && minor_) builder_.origin().capability = fmt::format("{}.{}", *major_, *minor_);
  }

  static void add_note(std::string_view rule, std::string& notes) {
    constexpr size_t kLongestNotes = 1 << 16;
    const std::string_view name = bytes_field(rule, 1);
    for (ProtobufReader body(bytes_field(rule, 3)); body.next();) {
      if (!body.is_bytes(1) || notes.size() > kLongestNotes) continue;
      std::string_view text;
      uint64_t kind = 0;
      for (ProtobufReader message(bytes_field(body.bytes(), 1)); message.next();) {
        if (message.is_bytes(1)) text = message.bytes();
        if (message.is_number(2)) kind = message.number();
      }
      if (text.empty()) continue;
      if (!notes.empty()) notes += '\n';
      notes += fmt::format("{} {}: {}", kind == 4 ? "OPT" : kind == 1 ? "INF" : "WRN", name, text);
    }
  }

  void damaged(std::string_view what) {
    builder_.diagnostics().add(Flaw::kCounterRowDamaged, what);
  }

  CounterSetBuilder& builder_;
  std::vector<StringId> strings_;
  std::vector<MetricId> metrics_;  // by string
  std::optional<double> major_, minor_;
};

}  // namespace

bool is_report(std::string_view head) { return head.starts_with(kMark); }

void read_report(std::string_view bytes, CounterSetBuilder& builder) {
  ReportReader(builder).run(bytes);
}

}  // namespace fathom::ncu
