#define SIMDJSON_EXCEPTIONS 0
#include "ingest/kineto/event_parser.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>

#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/event_kinds.h"
#include "ingest/kineto/json_text.h"

namespace fathom::kineto {
namespace {

namespace od = simdjson::ondemand;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                           text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// Turns one event's field texts into a row.
class RowMaker {
 public:
  explicit RowMaker(EventStoreBuilder& out) : out_(out) {}

  void add(const FieldTexts& fields, int64_t offset);

 private:
  using Common = EventStoreBuilder::Common;

  void add_complete(const FieldTexts& fields, Common event);
  void add_metadata(const FieldTexts& fields, const Common& event);
  GpuWork gpu_work(const FieldTexts& fields) const;
  void add_collective(const FieldTexts& fields, EventId event);
  void skip(Flaw flaw, std::string_view what, int64_t offset);

  StringId string(std::string_view json);
  StringId optional_string(std::string_view json) {
    return json.empty() ? StringId{} : string(json);
  }
  ArgsId args(const FieldTexts& fields);
  StringId canonical(std::string_view json);

  EventStoreBuilder& out_;
  // By the text as it stands in the chunk, which outlives this: white space is taken out once only.
  std::unordered_map<std::string_view, StringId> canonical_;
};

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
  const Args args{
      canonical(fields.get(Field::kInputDims)), canonical(fields.get(Field::kInputTypes)),
      canonical(fields.get(Field::kInputStrides)), canonical(fields.get(Field::kConcreteInputs))};
  return args == Args{} ? ArgsId{} : out_.intern_args(args);
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
  out_.add_collective(c);
}

void RowMaker::skip(Flaw flaw, std::string_view what, int64_t offset) {
  out_.diagnostics().add(flaw, fmt::format("{} at byte {}", what, offset));
  out_.add_skipped();
}

void RowMaker::add_complete(const FieldTexts& fields, Common event) {
  const std::string category = read_text(fields.get(Field::kCategory));
  const KindOfCategory kind = kind_of_category(category);
  if (!kind.known) {
    out_.diagnostics().add(Flaw::kUnknownCategory, category.empty() ? "no category" : category);
  }
  event.kind = kind.kind;
  event.duration = read_micros(fields.get(Field::kDuration)).value_or(Nanos{});
  if (event.duration < Nanos{}) {
    out_.diagnostics().add(Flaw::kNegativeDuration, read_text(fields.get(Field::kName)));
    event.duration = {};
  }
  event.args = args(fields);
  EventId id;
  if (is_gpu_work(event.kind)) {
    id = out_.add(event, gpu_work(fields));
  } else if (is_launch(event.kind)) {
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
  if (fields.has(Field::kCollectiveName)) add_collective(fields, id);
}

void RowMaker::add_metadata(const FieldTexts& fields, const Common& event) {
  out_.add(event);
  const std::string what = read_text(fields.get(Field::kName));
  if (what == "process_name") {
    out_.name_process(event.track, optional_string(fields.get(Field::kArgName)));
  } else if (what == "process_labels") {
    out_.label_process(event.track, optional_string(fields.get(Field::kArgLabels)));
  } else if (what == "thread_name") {
    out_.name_thread(event.track, optional_string(fields.get(Field::kArgName)));
  }
}

void RowMaker::add(const FieldTexts& fields, int64_t offset) {
  const std::string_view phase_json = fields.get(Field::kPhase);
  const char phase = phase_json.size() == 3 ? phase_json[1] : '\0';
  Common event{EventKind::kOther,
               {},
               {},
               string(fields.get(Field::kName)),
               out_.intern_track(string(fields.get(Field::kPid)), string(fields.get(Field::kTid))),
               ArgsId{}};
  if (phase == 'M') {
    event.kind = EventKind::kMetadata;
    return add_metadata(fields, event);
  }
  const std::optional<Nanos> start = read_micros(fields.get(Field::kTime));
  if (!start) return skip(Flaw::kMissingTime, read_text(fields.get(Field::kName)), offset);
  event.start = *start;
  switch (phase) {
    case 'X':
      return add_complete(fields, event);
    case 's':
    case 'f':
      event.kind = phase == 's' ? EventKind::kFlowStart : EventKind::kFlowEnd;
      // A flow is found by its category ("ac2g", "fwdbwd"), not by its name.
      event.name = string(fields.get(Field::kCategory));
      out_.add_flow(event, read_integer(fields.get(Field::kId)).value_or(-1));
      return;
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
}

// Keys have no escapes in practice; one that has is a key we do not know.
std::string_view key_text(od::field& field) {
  const char* const raw = field.key().raw();
  const char* const end = static_cast<const char*>(std::memchr(raw, '"', 256));
  return end == nullptr ? std::string_view{}
                        : std::string_view(raw, static_cast<size_t>(end - raw));
}

simdjson::error_code value_text(od::value value, std::string_view& text) {
  od::json_type type = {};
  if (auto error = value.type().get(type)) return error;
  if (type == od::json_type::array || type == od::json_type::object) {
    return simdjson::to_json_string(value).get(text);
  }
  text = trimmed(value.raw_json_token());
  return simdjson::SUCCESS;
}

using FindField = std::optional<Field> (*)(std::string_view);

simdjson::error_code read_fields(od::object object, FindField find, FieldTexts& fields) {
  for (auto maybe_field : object) {
    od::field field;
    if (auto error = std::move(maybe_field).get(field)) return error;
    const std::string_view key = key_text(field);
    if (const std::optional<Field> known = find(key)) {
      std::string_view text;
      if (auto error = value_text(field.value(), text)) return error;
      fields.set(*known, text);
    } else if (find == find_event_field && key == "args") {
      od::object args;
      // args that are null or a list hold nothing for us.
      if (field.value().get_object().get(args) != simdjson::SUCCESS) continue;
      if (auto error = read_fields(args, find_args_field, fields)) return error;
    }
  }
  return simdjson::SUCCESS;
}

int64_t offset_of(const EventChunk& chunk, const char* at) {
  return chunk.file_offset + (at - (chunk.buffer.get() + chunk.begin + 1));
}

// The whole list in one pass. False: something in it is malformed, and nothing may be kept.
bool parse_strictly(const EventChunk& chunk, od::parser& parser, EventStoreBuilder& out) {
  const std::string_view list = chunk.list();
  od::document document;
  const simdjson::padded_string_view padded(list.data(), list.size(),
                                            list.size() + simdjson::SIMDJSON_PADDING);
  if (parser.iterate(padded).get(document)) return false;
  od::array events;
  if (document.get_array().get(events)) return false;
  RowMaker rows(out);
  FieldTexts fields;
  for (auto maybe_value : events) {
    od::value value;
    if (std::move(maybe_value).get(value)) return false;
    const char* location = nullptr;
    if (document.current_location().get(location)) return false;
    od::json_type type = {};
    if (value.type().get(type)) return false;
    if (type != od::json_type::object) {
      out.diagnostics().add(Flaw::kNotAnObject,
                            fmt::format("at byte {}", offset_of(chunk, location)));
      out.add_skipped();
      continue;
    }
    od::object object;
    if (value.get_object().get(object)) return false;
    fields.clear();
    if (read_fields(object, find_event_field, fields)) return false;
    rows.add(fields, offset_of(chunk, location));
  }
  return true;
}

// One event at a time, for a chunk in which something is malformed: only that is lost.
EventStoreBuilder parse_one_by_one(const EventChunk& chunk, od::parser& parser) {
  EventStoreBuilder out;
  std::string_view rest = chunk.list().substr(1, chunk.list().size() - 2);
  while (!rest.empty()) {
    const size_t skip = rest.find_first_not_of(" \t\r\n,");
    if (skip == std::string_view::npos) break;
    rest.remove_prefix(skip);
    // The end of this value: the scan of a growing piece stops at its first close.
    size_t length = 0;
    BracketScanner scanner;
    for (size_t at = 0; at < rest.size() && length == 0; at += 1) {
      if (scanner.scan(rest.substr(at, 1)).last_value_end) length = at + 1;
    }
    if (length == 0) length = rest.size();
    EventChunk one;
    one.buffer = std::make_unique_for_overwrite<char[]>(length + 2 + simdjson::SIMDJSON_PADDING);
    one.buffer[0] = '[';
    std::memcpy(one.buffer.get() + 1, rest.data(), length);
    one.buffer[length + 1] = ']';
    std::memset(one.buffer.get() + length + 2, ' ', simdjson::SIMDJSON_PADDING);
    one.end = length + 2;
    one.file_offset = offset_of(chunk, &rest.front());
    EventStoreBuilder piece;
    if (!parse_strictly(one, parser, piece)) {
      piece = {};
      piece.diagnostics().add(Flaw::kMalformedEvent, fmt::format("at byte {}", one.file_offset));
      piece.add_skipped();
    }
    out.append(std::move(piece));
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace

EventStoreBuilder parse_chunk(const EventChunk& chunk) {
  // Its buffers are the size of a chunk: kept for the next one that this thread parses.
  thread_local od::parser parser;
  EventStoreBuilder out;
  if (parse_strictly(chunk, parser, out)) return out;
  return parse_one_by_one(chunk, parser);
}

}  // namespace fathom::kineto
