#include "ingest/kineto/row_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_unescape.h"
#include "ingest/kineto/json_text.h"
#include "ingest/kineto/track_kinds.h"

namespace fathom::kineto {
namespace {

// The text from the first of the argument fields to the end of the last, if they stand next to each
// other as Kineto writes them; else empty.
std::string_view args_text(const FieldTexts& fields) {
  constexpr ptrdiff_t kKeyAtMost = 32;  // between two values: a comma and the next key
  std::array<std::string_view, 4> texts = {
      fields.get(Field::kInputDims), fields.get(Field::kInputTypes),
      fields.get(Field::kInputStrides), fields.get(Field::kConcreteInputs)};
  std::ranges::sort(texts, {}, [](std::string_view t) { return t.data(); });
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return {};
    if (i > 0 && texts[i].data() - (texts[i - 1].data() + texts[i - 1].size()) > kKeyAtMost)
      return {};
  }
  const char* const begin = texts.front().data();
  return {begin, static_cast<size_t>(texts.back().data() + texts.back().size() - begin)};
}

std::optional<LaunchKey> launch_key(const FieldTexts& fields) {
  if (auto id = read_integer(fields.get(Field::kCorrelation))) return LaunchKey{*id, false};
  if (auto id = read_integer(fields.get(Field::kExternalId))) return LaunchKey{*id, true};
  return {};
}

std::optional<int32_t> read_small(std::string_view json) {
  const std::optional<int64_t> value = read_integer(json);
  if (!value || *value < INT32_MIN || *value > INT32_MAX) return {};
  return static_cast<int32_t>(*value);
}

}  // namespace

KindOfCategory RowMaker::kind_of(std::string_view category_json) {
  if (category_json != last_category_ || category_json.empty()) {
    last_category_ = category_json;
    last_kind_ = kind_of_category(read_text(category_json));
  }
  return last_kind_;
}

TrackId RowMaker::track(std::string_view pid_json, std::string_view tid_json) {
  if (pid_json != last_pid_ || tid_json != last_tid_ || !last_track_.valid()) {
    last_pid_ = pid_json;
    last_tid_ = tid_json;
    last_track_ = out_.intern_track(string(pid_json), string(tid_json));
  }
  return last_track_;
}

StringId RowMaker::string(std::string_view json) {
  if (is_plain_string(json)) return out_.intern(json.substr(1, json.size() - 2));
  return out_.intern(read_text(json));
}

StringId RowMaker::canonical(std::string_view json) {
  if (json.empty() || json == "null") return {};
  auto [found, is_new] = canonical_.try_emplace(json);
  if (is_new) found->second = out_.intern(without_spaces(json));
  return found->second;
}

ArgsId RowMaker::args(const FieldTexts& fields) {
  const std::string_view whole = args_text(fields);
  if (!whole.empty()) {
    if (const auto known = args_.find(whole); known != args_.end()) return known->second;
  }
  const Args args{
      canonical(fields.get(Field::kInputDims)), canonical(fields.get(Field::kInputTypes)),
      canonical(fields.get(Field::kInputStrides)), canonical(fields.get(Field::kConcreteInputs))};
  const ArgsId id = args == Args{} ? ArgsId{} : out_.intern_args(args);
  if (!whole.empty()) args_.emplace(whole, id);
  return id;
}

GpuWork RowMaker::gpu_work(const FieldTexts& fields) const {
  GpuWork work;
  work.key = launch_key(fields);
  work.device = read_small(fields.get(Field::kDevice));
  // A GPU event's process is its device and its thread its stream where args do not say.
  if (!work.device) work.device = read_small(fields.get(Field::kPid));
  work.stream = read_integer(fields.get(Field::kStream));
  if (!work.stream) work.stream = read_integer(fields.get(Field::kTid));
  work.context = read_small(fields.get(Field::kContext));
  work.registers = read_small(fields.get(Field::kRegisters));
  work.shared_memory = read_small(fields.get(Field::kSharedMemory));
  work.bytes = read_integer(fields.get(Field::kBytes));
  if (fields.has(Field::kGrid)) work.grid = read_dim3(fields.get(Field::kGrid));
  if (fields.has(Field::kBlock)) work.block = read_dim3(fields.get(Field::kBlock));
  return work;
}

void RowMaker::add_collective(const FieldTexts& fields, EventId event) {
  Collective c;
  c.event = event;
  c.name = optional_string(fields.get(Field::kCollectiveName));
  c.dtype = optional_string(fields.get(Field::kDtype));
  c.group_name = optional_string(fields.get(Field::kGroupName));
  c.group_description = optional_string(fields.get(Field::kGroupDescription));
  c.group_ranks = optional_string(fields.get(Field::kGroupRanks));
  c.in_split = optional_string(fields.get(Field::kInSplit));
  c.out_split = optional_string(fields.get(Field::kOutSplit));
  c.group_size = read_integer(fields.get(Field::kGroupSize));
  c.in_elements = read_integer(fields.get(Field::kInElements));
  c.out_elements = read_integer(fields.get(Field::kOutElements));
  c.rank = read_integer(fields.get(Field::kRank));
  c.sequence = read_integer(fields.get(Field::kCollectiveSequence));
  c.from_rank = read_integer(fields.get(Field::kFromRank));
  c.to_rank = read_integer(fields.get(Field::kToRank));
  out_.add_collective(c);
}

// Gloo runs its collectives on the CPU and describes them by the tensor they are called with.
void RowMaker::add_gloo_collective(const FieldTexts& fields, EventId event) {
  struct ScalarType {
    std::string_view cpp, name;  // as record_function and as c10d call it
  };
  static constexpr ScalarType kTypes[] = {
      {"float", "Float"},        {"double", "Double"}, {"c10::BFloat16", "BFloat16"},
      {"c10::Half", "Half"},     {"long int", "Long"}, {"int", "Int"},
      {"unsigned char", "Byte"}, {"bool", "Bool"}};
  Collective c;
  c.event = event;
  c.name =
      out_.intern(read_text(fields.get(Field::kName)).substr(std::string_view("gloo:").size()));
  const std::string types = without_spaces(fields.get(Field::kInputTypes));
  for (const ScalarType& type : kTypes) {
    if (types.starts_with(fmt::format("[\"{}\"", type.cpp))) c.dtype = out_.intern(type.name);
  }
  // [[1049600]] or [[2,3],[4]]: the first tensor.
  const std::string dims = without_spaces(fields.get(Field::kInputDims));
  if (dims.starts_with("[[") && dims.find(']') != std::string::npos) {
    int64_t elements = 1;
    std::string_view sizes = std::string_view(dims).substr(2, dims.find(']') - 2);
    while (!sizes.empty()) {
      const size_t comma = std::min(sizes.find(','), sizes.size());
      const int64_t size = read_integer(sizes.substr(0, comma)).value_or(0);
      if (size <= 0 || elements > INT64_MAX / size) return out_.add_collective(c);
      elements *= size;
      sizes.remove_prefix(std::min(comma + 1, sizes.size()));
    }
    c.in_elements = elements;
    // Of the others the size of the group decides, which gloo does not tell.
    const std::string_view name = fields.get(Field::kName);
    const bool same = name.find("all_reduce") != std::string_view::npos ||
                      name.find("broadcast") != std::string_view::npos;
    if (same) c.out_elements = elements;
  }
  out_.add_collective(c);
}

void RowMaker::skip(Flaw flaw, std::string_view what, int64_t offset) {
  out_.diagnostics().add(flaw, fmt::format("{} at byte {}", what, offset));
  out_.skip_position();
}

// XLA's profiler gives no categories: processes and threads tell what an event is, and its args
// what work it was.
void RowMaker::add_undecided(const FieldTexts& fields, Common event) {
  GpuWork work = gpu_work(fields);
  event.kind = EventKind::kKernel;
  if (fields.has(Field::kCopyDetails)) {
    event.kind = EventKind::kMemcpy;
    work.bytes = detail_number(read_text(fields.get(Field::kCopyDetails)), "size");
  } else if (fields.has(Field::kMemsetDetails)) {
    event.kind = EventKind::kMemset;
    work.bytes = detail_number(read_text(fields.get(Field::kMemsetDetails)), "num_bytes");
  } else if (fields.has(Field::kKernelDetails)) {
    read_kernel_details(read_text(fields.get(Field::kKernelDetails)), work);
  }
  out_.add_undecided(event, work);
}

void RowMaker::add_counters(const FieldTexts& fields) {
  read_numbers(fields.get(Field::kArgs), [this](std::string_view key, double value) {
    out_.add_counter(out_.intern(json_unescaped(key)), value);
  });
}

// profile_memory=True: what PyTorch's allocator of a device holds after each change, as an instant.
void RowMaker::add_memory(const FieldTexts& fields) {
  std::optional<double> allocated, reserved;
  double type = -1, device = -1;
  read_numbers(fields.get(Field::kArgs), [&](std::string_view key, double value) {
    if (key == "Total Allocated") allocated = value;
    if (key == "Total Reserved") reserved = value;
    if (key == "Device Type") type = value;
    if (key == "Device Id") device = value;
  });
  // c10::DeviceType: 0 is the CPU, whose allocator keeps no totals.
  if (type < 1 || type >= 100 || device < 0 || device >= 1e6) return;
  const std::string owner = fmt::format("GPU {} memory ", device);
  if (allocated) out_.add_counter(out_.intern(owner + "allocated (bytes)"), *allocated);
  if (reserved) out_.add_counter(out_.intern(owner + "reserved (bytes)"), *reserved);
}

void RowMaker::add_complete(const FieldTexts& fields, Common event) {
  const KindOfCategory kind = kind_of(fields.get(Field::kCategory));
  const bool undecided = !fields.has(Field::kCategory);
  if (!kind.known && !undecided) {
    const std::string category = read_text(fields.get(Field::kCategory));
    out_.diagnostics().add(Flaw::kUnknownCategory, category.empty() ? "no category" : category);
  }
  event.kind = kind.kind;
  const std::optional<Nanos> duration = read_micros(fields.get(Field::kDuration));
  if (!duration) {
    out_.diagnostics().add(Flaw::kMissingDuration, read_text(fields.get(Field::kName)));
  }
  event.duration = duration.value_or(Nanos{});
  if (event.duration < Nanos{}) {
    out_.diagnostics().add(Flaw::kNegativeDuration, read_text(fields.get(Field::kName)));
    event.duration = {};
  }
  event.args = args(fields);
  if (undecided) return add_undecided(fields, event);
  EventId id;
  if (is_gpu_work(event.kind)) {
    id = out_.add(event, gpu_work(fields));
  } else if (is_launch(event.kind) || is_annotation(event.kind)) {
    id = out_.add(event, LaunchCall{launch_key(fields)});
  } else if (event.kind == EventKind::kPython) {
    id = out_.add(event, PythonFrame{read_integer(fields.get(Field::kPythonId)),
                                     read_integer(fields.get(Field::kPythonParent)),
                                     read_integer(fields.get(Field::kPythonModule))});
  } else if (auto sequence = read_integer(fields.get(Field::kSequenceNumber));
             event.kind == EventKind::kCpuOp && sequence) {
    const auto thread = read_integer(fields.get(Field::kForwardThread)).value_or(0);
    id = out_.add(event, AutogradFacts{*sequence, thread});
  } else {
    id = out_.add(event);
  }
  if (fields.has(Field::kCollectiveName)) {
    add_collective(fields, id);
  } else if (event.kind == EventKind::kAnnotation &&
             fields.get(Field::kName).starts_with("\"gloo:")) {
    add_gloo_collective(fields, id);
  }
  if (event.kind == EventKind::kProfilerRange) add_counters(fields);
  if (event.kind == EventKind::kOther && fields.has(Field::kCorrelation)) add_wait(fields, id);
}

// Kineto writes -1 for what it does not know.
void RowMaker::add_wait(const FieldTexts& fields, EventId event) {
  const auto known = [&](Field field) {
    const std::optional<int64_t> id = read_integer(fields.get(field));
    return id && *id >= 0 ? id : std::nullopt;
  };
  out_.add_wait(
      {event, known(Field::kCorrelation), known(Field::kWaitRecord), known(Field::kWaitStream)});
}

void RowMaker::add_metadata(const FieldTexts& fields) {
  out_.skip_position();
  const std::string what = read_text(fields.get(Field::kName));
  const TrackId where = track(fields.get(Field::kPid), fields.get(Field::kTid));
  if (what == "process_name") {
    out_.name_process(where, optional_string(fields.get(Field::kArgName)));
  } else if (what == "process_labels") {
    out_.label_process(where, optional_string(fields.get(Field::kArgLabels)));
  } else if (what == "thread_name") {
    out_.name_thread(where, optional_string(fields.get(Field::kArgName)));
  }
}

void RowMaker::add(const FieldTexts& fields, int64_t offset) {
  const std::string_view phase_json = fields.get(Field::kPhase);
  const char phase = phase_json.size() == 3 ? phase_json[1] : '\0';
  if (phase == 'M') return add_metadata(fields);
  // Launches are linked by correlation and gradients by sequence number: the arrows that viewers
  // draw say the same again.
  if (phase == 's' || phase == 't' || phase == 'f') return out_.skip_position();
  if (fields.empty()) return out_.skip_position();  // XLA ends its list with {}
  const std::optional<Nanos> start = read_micros(fields.get(Field::kTime));
  if (!start) return skip(Flaw::kMissingTime, read_text(fields.get(Field::kName)), offset);
  Common event;
  event.start = *start;
  event.name = string(fields.get(Field::kName));
  event.track = track(fields.get(Field::kPid), fields.get(Field::kTid));
  switch (phase) {
    case 'X':
      return add_complete(fields, event);
    case 'i':
    case 'I':
      event.kind = EventKind::kInstant;
      break;
    case 'C':
      event.kind = EventKind::kCounter;
      break;
    default:
      return skip(Flaw::kUnknownPhase,
                  fmt::format("ph {}", phase_json.empty() ? "missing" : phase_json), offset);
  }
  out_.add(event);
  if (phase == 'C') add_counters(fields);
  if (event.kind == EventKind::kInstant && fields.get(Field::kName) == "\"[memory]\"")
    add_memory(fields);
}

}  // namespace fathom::kineto
