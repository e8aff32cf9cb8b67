#define SIMDJSON_EXCEPTIONS 0
#include "floor.h"

#include <simdjson.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "base/byte_source.h"

namespace fathom::bench {
namespace {

namespace od = simdjson::ondemand;

constexpr size_t kWindow = 16 << 20;

// Walks every key of one event, args included; values are skipped.
bool walk(od::object event) {
  for (auto field : event) {
    od::raw_json_string key;
    if (field.key().get(key)) return false;
    if (key == "args") {
      od::object args;
      if (field.value().get_object().get(args)) continue;
      for (auto arg : args) {
        if (arg.error()) return false;
      }
    }
  }
  return true;
}

// The end of the last whole event in the text. Every event of Kineto's ends on a line of its own.
size_t last_event_end(const char* text, size_t size) {
  for (size_t i = size; i-- > 2;) {
    if (text[i] == '{' || text[i] != ',' || text[i - 1] != '}') continue;
    size_t next = i + 1;
    while (next < size && (text[next] == '\n' || text[next] == ' ')) ++next;
    if (text[i - 2] == ' ' && next < size && text[next] == '{') return i;
  }
  return 0;
}

}  // namespace

Result<FloorResult> measure_floor(const std::string& path) {
  const auto started = std::chrono::steady_clock::now();
  auto source = TRY(open_source(path));
  FloorResult result;
  std::vector<char> buffer(2 * kWindow + simdjson::SIMDJSON_PADDING);
  od::parser parser;
  size_t held = 0;
  bool in_events = false, ended = false;
  while (!ended) {
    const size_t got = TRY(source->read({buffer.data() + held, kWindow}));
    result.json_bytes += static_cast<int64_t>(got);
    held += got;
    ended = got < kWindow;
    size_t begin = 0;
    if (!in_events) {
      static constexpr std::string_view kKey = "\"traceEvents\": [";
      begin = std::string_view(buffer.data(), held).find(kKey);
      if (begin == std::string_view::npos) return Error{"no traceEvents in the first window"};
      begin += kKey.size();
      in_events = true;
    }
    // The last window ends with the list's own bracket and what follows it.
    size_t end = ended ? std::string_view(buffer.data(), held).rfind(']')
                       : last_event_end(buffer.data(), held);
    if (end == 0 || end == std::string_view::npos || end < begin)
      return Error{"no whole event in a window"};
    const size_t next = ended ? held : end + 1;
    if (ended) {
      while (end > begin && buffer[end] != '}') --end;
      ++end;
    }
    // Walked as a stream of documents would be slower: as one list.
    const char saved_before = buffer[begin > 0 ? begin - 1 : 0], saved_after = buffer[end];
    std::vector<char> first;
    if (begin == 0) {
      // The comma of the previous cut is gone: make room for the bracket.
      std::memmove(buffer.data() + 1, buffer.data(), held);
      ++end;
    }
    const size_t open = begin == 0 ? 0 : begin - 1;
    buffer[open] = '[';
    buffer[end] = ']';
    od::document document;
    const simdjson::padded_string_view view(buffer.data() + open, end + 1 - open,
                                            buffer.size() - open);
    if (parser.iterate(view).get(document)) return Error{"the floor cannot parse this trace"};
    od::array events;
    if (document.get_array().get(events)) return Error{"the floor cannot parse this trace"};
    for (auto event : events) {
      od::object object;
      if (event.get_object().get(object) || !walk(object))
        return Error{"the floor cannot parse this trace"};
      ++result.events;
    }
    buffer[open] = saved_before;
    buffer[end] = saved_after;
    const size_t shift = begin == 0 ? 1 : 0;
    held -= next;
    std::memmove(buffer.data(), buffer.data() + next + shift, held);
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace fathom::bench
