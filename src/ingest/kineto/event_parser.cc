#include "ingest/kineto/event_parser.h"

#include <fmt/format.h>
#include <simdjson.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstring>

#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/lenient_parser.h"
#include "ingest/kineto/row_maker.h"

namespace fathom::kineto {
namespace {

namespace od = simdjson::ondemand;

constexpr size_t kBytesPerEvent = 250;  // rather too few: a guess for the size of the columns

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                           text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// As written: escapes in a key are rare, and are looked at where the key is not known.
std::string_view key_text(od::field& field) {
  const char* const raw = field.key().raw();
#if defined(__SSE2__)
  // The text is padded, so 16 bytes can be read anywhere in it; most keys are shorter.
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(raw));
  const int quotes = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
  if (quotes != 0)
    return {raw, static_cast<size_t>(std::countr_zero(static_cast<unsigned>(quotes)))};
#endif
  const auto* const end = static_cast<const char*>(std::memchr(raw, '"', 256));
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
    std::string_view key = key_text(field);
    std::optional<Field> known = find(key);
    if (!known && key.find('\\') != std::string_view::npos) {
      if (auto error = field.unescaped_key().get(key)) return error;
      known = find(key);
    }
    if (known) {
      std::string_view text;
      if (auto error = value_text(field.value(), text)) return error;
      fields.set(*known, text);
    } else if (find == find_event_field && key == "args" && has_counters(fields)) {
      std::string_view text;
      if (auto error = value_text(field.value(), text)) return error;
      fields.set(Field::kArgs, text);
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
      out.skip_position();
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

bool is_whole_event(std::string_view event, od::parser& parser) {
  const simdjson::padded_string padded(event);
  od::document document;
  od::object object;
  FieldTexts fields;
  return !parser.iterate(padded).get(document) && !document.get_object().get(object) &&
         !read_fields(object, find_event_field, fields);
}

}  // namespace

struct ChunkParsers::Parser {
  od::parser json;
};

ChunkParsers::ChunkParsers() = default;
ChunkParsers::~ChunkParsers() = default;

std::unique_ptr<ChunkParsers::Parser> ChunkParsers::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<Parser>();
  std::unique_ptr<Parser> parser = std::move(free_.back());
  free_.pop_back();
  return parser;
}

void ChunkParsers::give_back(std::unique_ptr<Parser> parser) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(parser));
}

namespace {

EventStoreBuilder parse_with(const EventChunk& chunk, od::parser& parser) {
  if (chunk.damaged.empty()) {
    EventStoreBuilder out;
    out.reserve(chunk.list().size() / kBytesPerEvent);
    if (parse_strictly(chunk, parser, out)) return out;
  }
  const std::string_view list = chunk.list();
  return parse_leniently(
      list.substr(1, list.size() - 2), chunk.damaged, chunk.file_offset,
      [&parser](std::string_view event) { return is_whole_event(event, parser); });
}

}  // namespace

EventStoreBuilder parse_chunk(const EventChunk& chunk, ChunkParsers& parsers) {
  std::unique_ptr<ChunkParsers::Parser> parser = parsers.take();
  EventStoreBuilder out = parse_with(chunk, parser->json);
  parsers.give_back(std::move(parser));
  return out;
}

}  // namespace fathom::kineto
