// make_trace IN OUT COPIES: a large trace from a small real one. Each copy comes after the one
// before in time and has ids of its own; one event in twenty gets another name and other shapes, so
// that interning and grouping work as hard as they do on a real trace of that size.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "ingest/kineto/json_text.h"

namespace fathom::bench {
namespace {

enum class Change { kNone, kTime, kId, kName, kShape };

// A piece of an event's text, followed by a value that changes from copy to copy.
struct Piece {
  std::string before;
  Change change = Change::kNone;
  std::string value;
};

struct Field {
  std::string_view key;
  Change change;
};

constexpr Field kFields[] = {
    {"\"ts\": ", Change::kTime},        {"\"correlation\": ", Change::kId},
    {"\"External id\": ", Change::kId}, {"\"id\": ", Change::kId},
    {"\"Python id\": ", Change::kId},   {"\"Python parent id\": ", Change::kId},
    {"\"Ev Idx\": ", Change::kId},      {"\"Sequence number\": ", Change::kId},
    {"\"name\": \"", Change::kName},    {"\"Input Dims\": [[", Change::kShape},
};

Result<std::string> read_whole(const char* path) {
  auto source = TRY(open_source(path));
  std::string text;
  while (true) {
    const size_t at = text.size();
    text.resize(at + (8 << 20));
    const size_t got = TRY(source->read({text.data() + at, text.size() - at}));
    text.resize(at + got);
    if (got < (8 << 20)) return text;
  }
}

std::vector<Piece> cut_event(std::string_view event) {
  std::vector<Piece> pieces;
  size_t from = 0;
  while (true) {
    const Field* next = nullptr;
    size_t at = std::string_view::npos;
    for (const Field& field : kFields) {
      const size_t found = event.find(field.key, from);
      if (found < at) {
        at = found;
        next = &field;
      }
    }
    if (next == nullptr) break;
    const size_t begin = at + next->key.size();
    const size_t end = event.find_first_of(next->change == Change::kName ? "\"" : ",]}\n ", begin);
    pieces.push_back({std::string(event.substr(from, begin - from)), next->change,
                      std::string(event.substr(begin, end - begin))});
    from = end;
  }
  pieces.push_back({std::string(event.substr(from)), Change::kNone, {}});
  return pieces;
}

// Kineto writes each event's braces at the same depth, on lines of their own.
std::vector<std::vector<Piece>> cut_events(std::string_view list) {
  std::vector<std::vector<Piece>> events;
  for (size_t at = list.find("  {\n"); at != std::string_view::npos;) {
    const size_t end = list.find("\n  }", at);
    if (end == std::string_view::npos) break;
    events.push_back(cut_event(list.substr(at, end + 4 - at)));
    at = list.find("  {\n", end);
  }
  return events;
}

constexpr int64_t kIdStep = 10'000'000;

void write_copy(const std::vector<std::vector<Piece>>& events, int64_t copy, Nanos shift,
                std::string& out) {
  for (size_t i = 0; i < events.size(); ++i) {
    if (i > 0 || copy > 0) out += ",\n";
    const bool varied = (i * 7919 + static_cast<size_t>(copy) * 104729) % 20 == 0 && copy > 0;
    for (const Piece& piece : events[i]) {
      out += piece.before;
      switch (piece.change) {
        case Change::kTime: {
          const Nanos time = kineto::read_micros(piece.value).value_or(Nanos{}) + shift;
          out += exact_decimal(time.count, 3);
          break;
        }
        case Change::kId: {
          const auto id = kineto::read_integer(piece.value);
          out += id && *id > 0 ? std::to_string(*id + copy * kIdStep) : piece.value;
          break;
        }
        case Change::kName:
          out += piece.value;
          if (varied) out += fmt::format("_v{}", copy);
          break;
        case Change::kShape: {
          const auto size = kineto::read_integer(piece.value);
          out += size && varied ? std::to_string(*size + copy) : piece.value;
          break;
        }
        case Change::kNone:
          break;
      }
    }
  }
}

int run(const char* in, const char* out_path, int64_t copies) {
  const Result<std::string> text = read_whole(in);
  if (!text.ok()) {
    fmt::print(stderr, "make_trace: {}\n", text.error().message);
    return 1;
  }
  static constexpr std::string_view kKey = "\"traceEvents\": [";
  const std::string_view whole = text.value();
  const size_t begin = whole.find(kKey) + kKey.size();
  const size_t end = whole.rfind(']');
  const auto events = cut_events(whole.substr(begin, end - begin));
  std::FILE* file = std::fopen(out_path, "wb");
  if (file == nullptr || events.empty()) {
    fmt::print(stderr, "make_trace: cannot write {} or no events in {}\n", out_path, in);
    return 1;
  }
  const auto put = [file](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), file);
  };
  put(whole.substr(0, begin));
  put("\n");
  std::string copy_text;
  for (int64_t copy = 0; copy < copies; ++copy) {
    copy_text.clear();
    write_copy(events, copy, Nanos{copy * 1'000'000'000}, copy_text);
    put(copy_text);
  }
  put("\n  ");
  put(whole.substr(end));
  const bool ok = std::fclose(file) == 0;
  fmt::print("{}: {} events\n", out_path, static_cast<int64_t>(events.size()) * copies);
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace fathom::bench

int main(int argc, char** argv) {
  int64_t copies = 0;
  if (argc == 4) std::from_chars(argv[3], argv[3] + std::string_view(argv[3]).size(), copies);
  if (copies < 1) {
    std::fputs("usage: make_trace IN OUT.json COPIES\n", stderr);
    return 2;
  }
  return fathom::bench::run(argv[1], argv[2], copies);
}
