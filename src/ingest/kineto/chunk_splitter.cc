#include "ingest/kineto/chunk_splitter.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "ingest/kineto/bracket_scanner.h"
#include "ingest/kineto/lenient_parser.h"

namespace fathom::kineto {
namespace {

constexpr size_t kPadding = simdjson::SIMDJSON_PADDING + 64;
constexpr size_t kFront = 1;  // for the bracket that opens a chunk's list
constexpr size_t kMaxEnvelope = 256 << 20;
// Text without the end of an event is taken for damage when it is this long and another event
// seems to begin in it: a stray quote can turn strings inside out for the rest of the file.
constexpr size_t kSuspiciousLength = 16 << 20;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool separates(char c) { return is_space(c) || c == ','; }
bool only_separators(std::string_view text) { return std::ranges::all_of(text, separates); }

char next_character(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at < text.size() ? text[at] : '\0';
}

bool begins_trace(std::string_view text, size_t at) {
  const char next = next_character(text, at + 1);
  if (text[at] == '{') return next == '"' || next == '}' || next == '\0';
  return text[at] == '[' && (next == '{' || next == ']' || next == '\0');
}

// Logs get into traces that a program writes to its standard output.
size_t find_trace_begin(std::string_view text) {
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    const size_t first = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (first < text.size() && begins_trace(text, first)) return first;
  }
  return std::string_view::npos;
}

// `"traceEvents": ` at the end, with quotes that no backslash makes part of a string.
bool ends_with_events_key(std::string_view text) {
  static constexpr std::string_view kKey = "\"traceEvents\"";
  const auto drop_spaces = [&text] {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  };
  drop_spaces();
  if (!text.ends_with(':')) return false;
  text.remove_suffix(1);
  drop_spaces();
  if (!text.ends_with(kKey)) return false;
  return text.size() == kKey.size() || text[text.size() - kKey.size() - 1] != '\\';
}

}  // namespace

Result<bool> ChunkSplitter::read_more(size_t wanted) {
  if (source_ended_) return false;
  const int64_t allowed = limits_.max_size - bytes_read();
  if (allowed <= 0) {
    source_ended_ = true;
    diagnostics_.add(Flaw::kSizeLimit, fmt::format("at byte {}", bytes_read()));
    return false;
  }
  wanted = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(wanted), allowed));
  const size_t kept = size_ - begin_;
  if (buffer_ == nullptr || begin_ + kept + wanted + kPadding > capacity_) {
    capacity_ = kFront + kept + wanted + kPadding;
    auto grown = std::make_unique_for_overwrite<char[]>(capacity_);
    if (kept > 0) std::memcpy(grown.get() + kFront, buffer_.get() + begin_, kept);
    buffer_ = std::move(grown);
    begin_ = kFront;
    size_ = kFront + kept;
  }
  const size_t got = TRY(source_.read({buffer_.get() + size_, wanted}));
  size_ += got;
  if (got < wanted) source_ended_ = true;
  return got > 0;
}

Result<std::optional<EventChunk>> ChunkSplitter::next() {
  while (where_ != Where::kEnd || begin_ < size_ || !source_ended_) {
    if (where_ == Where::kEvents) {
      std::optional<EventChunk> chunk = TRY(cut_chunk());
      if (chunk) return chunk;
      continue;
    }
    if (begin_ == size_ && !TRY(read_more(limits_.chunk_size))) break;
    switch (where_) {
      case Where::kStart:
        TRY(read_start());
        break;
      case Where::kBeside:
        TRY(read_beside());
        break;
      case Where::kEnd:
        read_end();
        break;
      case Where::kEvents:
        break;
    }
  }
  const bool whole = where_ == Where::kEnd && !source_.truncated();
  if (!whole && !stopped_early()) diagnostics_.add(Flaw::kTruncated);
  where_ = Where::kEnd;
  return std::optional<EventChunk>();
}

Status ChunkSplitter::read_start() {
  static constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (offset_ == 0 && unused().starts_with(kByteOrderMark)) use(kByteOrderMark.size());
  const size_t first = std::min(unused().find_first_not_of(" \t\r\n"), unused().size());
  if (first == unused().size()) {
    use(first);
    return Nothing{};
  }
  const size_t begin = find_trace_begin(unused());
  if (begin == std::string_view::npos) {
    return Error{"it is no trace: one begins with { or [{"};
  }
  if (begin != first) diagnostics_.add(Flaw::kTextBeforeStart);
  use(begin);
  if (unused().front() == '{') {
    where_ = Where::kBeside;
  } else {
    where_ = Where::kEvents;
    found_events_ = true;
    use(1);
  }
  return Nothing{};
}

// Byte by byte: what stands beside the events is small.
Status ChunkSplitter::read_beside() {
  while (begin_ < size_ && where_ == Where::kBeside) {
    const char c = buffer_[begin_];
    use(1);
    if (envelope_.size() >= kMaxEnvelope) {
      if (!found_events_) return Error{"no traceEvents in its first 256 MB"};
      where_ = Where::kEnd;
      break;
    }
    // A key of the top level; or one where no key can be, in a string or a list: then stray quotes
    // or brackets came before it.
    if (c == '[' && (open_.size() == 1 || in_string_ || open_.ends_with('[')) &&
        ends_with_events_key(envelope_)) {
      where_ = Where::kEvents;
      found_events_ = true;
      open_ = "{";
      in_string_ = escaped_ = false;
    } else if (in_string_) {
      const bool closes = c == '"' && !escaped_;
      escaped_ = c == '\\' && !escaped_;
      in_string_ = !closes;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      open_ += c;
    } else if (c == '}' || c == ']') {
      if (!open_.empty()) open_.pop_back();
      if (open_.empty()) where_ = Where::kEnd;
    }
    envelope_ += c;
  }
  return Nothing{};
}

void ChunkSplitter::read_end() {
  if (next_character(unused(), 0) != '\0' && diagnostics_.count(Flaw::kTextAfterEnd) == 0) {
    diagnostics_.add(Flaw::kTextAfterEnd);
  }
  use(unused().size());
}

Result<std::optional<EventChunk>> ChunkSplitter::cut_chunk() {
  BracketScanner scanner;
  size_t scanned = 0, cut = 0;
  bool damaged = false;
  while (true) {
    const BracketScanner::Found found = scanner.scan(unused().substr(scanned));
    if (found.last_value_end) cut = scanned + *found.last_value_end;
    bool broken = found.broken_string.has_value();
    if (found.list_end) {
      const size_t end = scanned + *found.list_end;
      if (TRY(is_list_end(end))) return end_list(end, damaged);
      broken = true;
    }
    scanned = unused().size();
    if (!broken && cut > 0 && scanned >= limits_.chunk_size) return take(cut, damaged);
    if (broken || source_ended_ || scanned - cut > kSuspiciousLength) {
      // From the next event on the text can be trusted again.
      const size_t this_event = std::min(unused().find('{', cut), unused().size());
      const size_t next_event = find_event_start(unused(), this_event + 1);
      if (next_event != std::string_view::npos) {
        damaged = true;
        scanner = BracketScanner();
        scanned = cut = next_event;
        continue;
      }
      if (broken && source_ended_) return stop_inside_list(unused().size(), true, Flaw::kTruncated);
      if (broken) {  // look again, from the event's beginning, with more text
        scanner = BracketScanner();
        scanned = cut;
      }
    }
    if (unused().size() > kSuspiciousLength && only_separators(unused())) {
      // White space without end is not held.
      commas_ += static_cast<int>(std::ranges::count(unused(), ','));
      use(unused().size());
      scanned = cut = 0;
    }
    if (unused().size() - cut >= limits_.max_event) {
      return stop_inside_list(cut, damaged, Flaw::kOversizedEvent);
    }
    // A large event: look further, doubling, so that the cost stays linear.
    if (!TRY(read_more(std::max(limits_.chunk_size, unused().size())))) {
      return stop_inside_list(cut, damaged, Flaw::kTruncated);
    }
  }
}

// Brackets in strings that a stray quote turned inside out can look like the end of the list.
Result<bool> ChunkSplitter::is_list_end(size_t at) {
  if (envelope_.empty()) return true;
  char next = next_character(unused(), at + 1);
  while (next == '\0' && TRY(read_more(limits_.chunk_size)))
    next = next_character(unused(), at + 1);
  return next == '\0' || next == '}' || next == ',';
}

std::optional<EventChunk> ChunkSplitter::end_list(size_t at, bool damaged) {
  where_ = envelope_.empty() ? Where::kEnd : Where::kBeside;
  if (!envelope_.empty()) envelope_ += ']';
  std::optional<EventChunk> chunk = take(at, damaged);
  if (unused().starts_with(']')) use(1);
  return chunk;
}

std::optional<EventChunk> ChunkSplitter::stop_inside_list(size_t length, bool damaged, Flaw why) {
  if (diagnostics_.count(Flaw::kSizeLimit) == 0) {
    diagnostics_.add(why, fmt::format("after byte {}", offset_ + static_cast<int64_t>(length)));
  }
  std::optional<EventChunk> chunk = take(length, damaged);
  where_ = Where::kEnd;
  source_ended_ = true;
  use(unused().size());  // half an event
  return chunk;
}

// Hands on the first `length` bytes as a list, or just steps over them when they hold no event.
std::optional<EventChunk> ChunkSplitter::take(size_t length, bool damaged) {
  const size_t end = begin_ + length;
  size_t first = begin_, last = end;
  // One comma stands between two chunks; one too many or too few is damage, and stays in sight.
  for (; first < end && separates(buffer_[first]); ++first) commas_ += buffer_[first] == ',';
  int commas_after = 0;
  for (; last > first && separates(buffer_[last - 1]); --last)
    commas_after += buffer_[last - 1] == ',';
  if (first == last) {
    use(length);
    return std::nullopt;
  }
  // What follows the cut moves to a buffer of its own; this one goes with the chunk.
  const size_t rest = size_ - end;
  const size_t capacity = kFront + rest + limits_.chunk_size + kPadding;
  auto following = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(following.get() + kFront, buffer_.get() + end, rest);

  EventChunk chunk;
  chunk.begin = first - 1;
  chunk.end = last + 1;
  chunk.file_offset = offset_ + static_cast<int64_t>(first - begin_);
  chunk.damaged = damaged;
  if (commas_ != (first_chunk_ ? 0 : 1)) {
    diagnostics_.add(Flaw::kRepairedEvent, fmt::format("at byte {}", offset_));
  }
  first_chunk_ = false;
  commas_ = commas_after;
  buffer_[chunk.begin] = '[';
  buffer_[last] = ']';
  std::memset(buffer_.get() + chunk.end, ' ', simdjson::SIMDJSON_PADDING);
  chunk.buffer = std::move(buffer_);

  offset_ += static_cast<int64_t>(length);
  buffer_ = std::move(following);
  capacity_ = capacity;
  begin_ = kFront;
  size_ = kFront + rest;
  return chunk;
}

}  // namespace fathom::kineto
