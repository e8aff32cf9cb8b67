#include "ingest/kineto/chunk_splitter.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/file_kind.h"
#include "ingest/kineto/event_start.h"

namespace fathom::kineto {
namespace {

constexpr size_t kPadding = simdjson::SIMDJSON_PADDING + 64;
constexpr size_t kFront = 1;  // for the bracket that opens a chunk's list
constexpr size_t kMaxEnvelope = 256 << 20;
// Text before a trace, and text after one, is looked through in windows of this size.
constexpr size_t kWindow = 1 << 20;
// An event that breaks off inside a list seems to hold those after it. Looking at them again must
// not cost more than reading them did: see BracketScanner's patience.
constexpr int64_t kPatience = 64 << 10, kMaxPatience = 16 << 20;
constexpr std::string_view kEventsKey = "\"traceEvents\"";
constexpr size_t kHeadSize = 512;
constexpr const char* kWhatIsRead =
    "Fathom reads traces of torch.profiler and JAX (JSON), Nsight Systems (SQLite) and rocprofv3 "
    "(JSON, CSV, rocpd, pftrace), plain, gzip or zstd";
constexpr size_t kManySeparators = 16 << 20;  // more are not held

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
  for (size_t at = 0; at < text.size();) {
    const size_t first = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (first < text.size() && begins_trace(text, first)) return first;
    at = std::min(text.find('\n', first), text.size() - 1) + 1;
  }
  return std::string_view::npos;
}

// The first event of a text that may hold other lists as well. Its phase must be one letter, as
// documents of other kinds have keys "ph" too.
size_t find_first_event(std::string_view text, bool is_all) {
  for (size_t from = 0; from < text.size();) {
    const Landmark next = find_landmark(text, from, false, is_all);
    if (!next.found()) break;
    if (next.event != std::string_view::npos && has_phase_letter(text.substr(next.event))) {
      return next.event;
    }
    from = std::min(next.event, next.list_end) + 1;
  }
  return std::string_view::npos;
}

// Of a trace whose last event is damaged: the last bracket after `from` that may close the list, if
// the text ends as a trace does. npos: none.
size_t find_last_list_end(std::string_view text, size_t from, bool bare_list) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos || text[last] != (bare_list ? ']' : '}')) {
    return std::string_view::npos;
  }
  const size_t near = std::max(from, text.size() - std::min(text.size(), kWindow));
  for (size_t at = text.rfind(']'); at != std::string_view::npos && at > near;
       at = text.rfind(']', at - 1)) {
    // Of a bare list nothing follows that would tell it from a bracket in a text that was cut off.
    const size_t before = text.find_last_not_of(" \t\r\n", at - 1);
    if (bare_list && (before == std::string_view::npos || text[before] != '}')) continue;
    if (judge_list_end(text, at, bare_list, true) == ListEnd::kYes) return at;
  }
  return std::string_view::npos;
}

// `{"ph"` at the end, the brace neither a value nor the first of a list: its place.
size_t find_phase_object(std::string_view text) {
  const auto drop_spaces = [&text] {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  };
  static constexpr std::string_view kKey = "\"ph\"";
  drop_spaces();
  if (!text.ends_with(kKey)) return std::string_view::npos;
  text.remove_suffix(kKey.size());
  drop_spaces();
  if (!text.ends_with('{')) return std::string_view::npos;
  text.remove_suffix(1);
  const size_t at = text.size();
  drop_spaces();
  return text.ends_with(':') || text.ends_with('[') ? std::string_view::npos : at;
}

// `"traceEvents": ` at the end, with quotes that no backslash makes part of a string.
bool ends_with_events_key(std::string_view text) {
  const auto drop_spaces = [&text] {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  };
  drop_spaces();
  if (!text.ends_with(':')) return false;
  text.remove_suffix(1);
  drop_spaces();
  if (!text.ends_with(kEventsKey)) return false;
  return text.size() == kEventsKey.size() || text[text.size() - kEventsKey.size() - 1] != '\\';
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

// Doubling, so that looking again at what is there costs no more than a constant factor.
Result<bool> ChunkSplitter::read_twice_as_much() {
  return read_more(std::max(limits_.chunk_size, unused().size()));
}

Result<std::optional<EventChunk>> ChunkSplitter::next() {
  while (true) {
    if (where_ == Where::kEvents) {
      std::optional<EventChunk> chunk = TRY(cut_chunk());
      if (chunk) return chunk;
      continue;
    }
    if (begin_ == size_ && !TRY(read_more(limits_.chunk_size)) && !find_events_beside()) break;
    switch (where_) {
      case Where::kStart:
        TRY(read_start());
        break;
      case Where::kBeside:
        TRY(read_beside());
        break;
      case Where::kEnd:
        TRY(read_end());
        break;
      case Where::kAnotherTrace:
        count_events_after_end();
        break;
      case Where::kEvents:
        break;
    }
  }
  const bool whole =
      (where_ == Where::kEnd || where_ == Where::kAnotherTrace) && !source_.truncated();
  if (!whole && !stopped_early()) diagnostics_.add(Flaw::kTruncated);
  where_ = Where::kEnd;
  return std::optional<EventChunk>();
}

// A disk that lost the beginning of a file has zeros there. Fewer than four begin UTF-16 and much
// else.
Result<int64_t> ChunkSplitter::skip_zeros() {
  constexpr int64_t kMostZeros = 64 << 20;
  static constexpr std::string_view kFew("\0\0\0\0", 4);
  while (unused().size() < kFew.size() && TRY(read_more(kHeadSize))) {
  }
  if (!unused().starts_with(kFew.substr(0, std::max<size_t>(unused().size(), 1))))
    return int64_t{0};
  do {
    use(std::min(unused().find_first_not_of('\0'), unused().size()));
  } while (unused().empty() && offset_ < kMostZeros && TRY(read_more(limits_.chunk_size)));
  return offset_;
}

Status ChunkSplitter::read_start() {
  static constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (offset_ == 0) {
    const int64_t zeros = TRY(skip_zeros());
    while ((zeros == 0 || !unused().empty()) && unused().size() < kHeadSize &&
           TRY(read_twice_as_much())) {
    }
    if (zeros > 0 && unused().empty())
      return Error{fmt::format(
          "it {}: the file was never written, or its disk lost it. {}",
          source_ended_ ? "is zero bytes only" : "begins with 64 MB of zero bytes", kWhatIsRead)};
    if (zeros > 0) diagnostics_.add(Flaw::kZeroBytes, {}, zeros);
    const std::string kind = describe_binary(unused().substr(0, kHeadSize), name_);
    if (!kind.empty() && zeros > 0)
      return Error{fmt::format("it begins with {} zero bytes, and what follows is binary. {}",
                               zeros, kWhatIsRead)};
    if (!kind.empty()) return Error{fmt::format("it is {}. {}", kind, kWhatIsRead)};
    if (unused().starts_with(kByteOrderMark)) use(kByteOrderMark.size());
  }
  const size_t first = std::min(unused().find_first_not_of(" \t\r\n"), unused().size());
  if (first == unused().size()) {
    use(first);
    return Nothing{};
  }
  // Whether a trace begins here may hang on what comes later.
  if (!begins_trace(unused(), first) || next_character(unused(), first + 1) == '\0') {
    while (unused().size() < kWindow && TRY(read_twice_as_much())) {
    }
  }
  size_t begin = find_trace_begin(unused());
  if (begin == std::string_view::npos) {
    const std::string_view text = unused().substr(0, kWindow);
    if (text.find(kEventsKey) == std::string_view::npos &&
        find_first_event(text, source_ended_) == std::string_view::npos) {
      return Error{fmt::format("it is {}, which is no trace. {}",
                               unused()[first] == '<' ? "a web page or XML" : "text", kWhatIsRead)};
    }
    begin = first;  // its bracket is damaged
  }
  if (begin != first) diagnostics_.add(Flaw::kTextBeforeStart);
  use(begin);
  // A list may hold the trace itself, or a stray bracket stand before it.
  const size_t object = std::min(unused().find('{'), unused().size());
  const bool holds_trace = object < unused().size() && !is_event_start(unused(), object) &&
                           unused().substr(0, kWindow).find(kEventsKey) != std::string_view::npos;
  if (unused().front() == '[' && !holds_trace) {
    where_ = Where::kEvents;
    found_events_ = true;
    use(1);
  } else {
    if (unused().front() == '[') use(object);
    where_ = Where::kBeside;
    if (unused().front() != '{') open_ = "{";
  }
  return Nothing{};
}

// Byte by byte: what stands beside the events is small.
Status ChunkSplitter::read_beside() {
  while (begin_ < size_ && where_ == Where::kBeside) {
    const char c = buffer_[begin_];
    if (envelope_.size() >= kMaxEnvelope) {
      if (find_events_beside()) break;
      if (!found_events_) return Error{"no traceEvents in its first 256 MB"};
      where_ = Where::kEnd;
      break;
    }
    if (c == ':' && found_events_ && (open_.size() <= 2 || in_string_)) {
      const size_t event = find_phase_object(envelope_);
      if (event != std::string::npos) {  // the list had not ended
        unread_envelope(event);
        return Nothing{};
      }
    }
    use(1);
    // A key of the top level; or one where no key can be, in a string or a list: then stray quotes
    // or brackets came before it.
    if (c == '[' && !no_more_events_ && (open_.size() == 1 || in_string_ || open_.ends_with('[')) &&
        ends_with_events_key(envelope_)) {
      where_ = Where::kEvents;
      found_events_ = true;
      commas_ = first_chunk_ ? 0 : 1;
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
      close_beside(c);
    }
    envelope_ += c;
  }
  return Nothing{};
}

// A bracket that fits none is passed over; one that fits an outer one closes those inside too.
void ChunkSplitter::close_beside(char c) {
  const size_t opened = open_.rfind(c == '}' ? '{' : '[');
  if (opened == std::string::npos) return;
  open_.resize(opened);
  if (open_.empty()) where_ = Where::kEnd;
}

// For a trace in which no key traceEvents was found where one belongs: that key or a bracket before
// it may be damaged, and the events still there.
bool ChunkSplitter::find_events_beside() {
  if (found_events_) return false;
  const size_t event = find_first_event(envelope_, true);
  if (event == std::string_view::npos) return false;
  unread_envelope(event);
  return true;
}

// Goes back to an event that was taken for something beside the events.
void ChunkSplitter::unread_envelope(size_t event) {
  const std::string_view back = std::string_view(envelope_).substr(event);
  if (begin_ >= kFront + back.size()) {  // it is still there
    begin_ -= back.size();
  } else {
    const size_t kept = size_ - begin_;
    capacity_ = kFront + back.size() + kept + limits_.chunk_size + kPadding;
    auto grown = std::make_unique_for_overwrite<char[]>(capacity_);
    std::memcpy(grown.get() + kFront, back.data(), back.size());
    if (kept > 0) std::memcpy(grown.get() + kFront + back.size(), buffer_.get() + begin_, kept);
    buffer_ = std::move(grown);
    begin_ = kFront;
    size_ = kFront + back.size() + kept;
  }
  offset_ -= static_cast<int64_t>(back.size());
  envelope_.resize(event);
  where_ = Where::kEvents;
  found_events_ = true;
  commas_ = first_chunk_ ? 0 : 1;
  open_ = "{";
  in_string_ = escaped_ = false;
}

// Text after the end of the trace. Events in it are events of this trace, whose end was damage,
// unless another trace begins before them.
Status ChunkSplitter::read_end() {
  const size_t first = std::min(unused().find_first_not_of(" \t\r\n"), unused().size());
  if (!found_events_) envelope_ += unused().substr(0, first);
  use(first);
  if (unused().empty()) return Nothing{};
  if (!found_events_) {  // not its end, then
    where_ = Where::kBeside;
    open_ = unused().front() == '{' ? "" : "{";
    return Nothing{};
  }
  while (unused().size() < kWindow && TRY(read_twice_as_much())) {
  }
  if (diagnostics_.count(Flaw::kTextAfterEnd) == 0) diagnostics_.add(Flaw::kTextAfterEnd);
  const size_t event = find_first_event(unused(), source_ended_);
  const std::string_view before = unused().substr(0, event);
  if (before.find(kEventsKey) != std::string_view::npos) {
    where_ = Where::kAnotherTrace;
  } else if (event != std::string_view::npos) {
    use(event);
    where_ = Where::kEvents;
    resumed_ = true;
    commas_ = 1;
  } else {
    use(unused().size());
  }
  return Nothing{};
}

void ChunkSplitter::count_events_after_end() {
  // No key lies across a brace.
  const size_t last = unused().rfind('{');
  const size_t length =
      source_ended_ || last == 0 || last == std::string_view::npos ? unused().size() : last;
  const size_t events = count_phase_keys(unused().substr(0, length));
  if (events > 0) {
    diagnostics_.add(Flaw::kMalformedEvent,
                     fmt::format("those of another trace that begins at byte {}", offset_),
                     static_cast<int64_t>(events));
  }
  use(length);
}

Result<std::optional<EventChunk>> ChunkSplitter::cut_chunk() {
  BracketScanner scanner(0, patience_);
  while (true) {
    const bool is_all = source_ended_;
    const BracketScanner::Found found = scanner.scan(unused(), is_all);
    if (found.list_end && TRY(is_list_end(*found.list_end))) {
      if (!only_separators(unused().substr(0, *found.list_end).substr(scanner.event_end()))) {
        add_damaged(scanner.suspect(), *found.list_end);
      }
      return end_list(*found.list_end);
    }
    if (found.broken || found.list_end || (is_all && scanner.holds_event())) {
      const size_t stopped = found.broken.value_or(found.list_end.value_or(unused().size()));
      const Landmark next = TRY(find_next(scanner.suspect()));
      if (next.event == std::string_view::npos) return end_damaged_list(scanner, next.list_end);
      // From the next event on the text can be trusted again.
      add_damaged(scanner.suspect(), next.event);
      if (stopped > next.event) looked_again_ += static_cast<int64_t>(stopped - next.event);
      const int64_t place = offset_ + static_cast<int64_t>(next.event);
      patience_ = static_cast<size_t>(
          std::clamp(kPatience + place / 4 - looked_again_, int64_t{0}, kMaxPatience));
      scanner = BracketScanner(next.event, patience_);
      continue;
    }
    if (scanner.cut() > 0 && unused().size() >= limits_.chunk_size) return take(scanner.cut());
    if (unused().size() > kManySeparators && !scanner.in_event() &&
        only_separators(unused().substr(scanner.event_end()))) {
      if (scanner.event_end() > 0) return take(scanner.event_end());
      commas_ += std::ranges::count(unused(), ',');
      use(unused().size());
      scanner = BracketScanner(0, patience_);
    }
    if (unused().size() - scanner.cut() >= limits_.max_event) {
      return stop_inside_list(scanner.event_end(), Flaw::kOversizedEvent);
    }
    if (TRY(read_twice_as_much()) || !is_all) continue;
    const size_t list_end = find_last_list_end(unused(), scanner.suspect(), has_bare_list());
    if (scanner.in_string() && list_end != std::string_view::npos) {
      return end_damaged_list(scanner, list_end);
    }
    const std::string_view last_object = unused().substr(scanner.suspect());
    if (!scanner.in_event() && !has_bare_list() && scanner.cut() > 0 &&
        count_phase_keys(last_object) == 0) {
      return end_list_unclosed(scanner.cut());  // a brace in place of the bracket
    }
    return stop_inside_list(scanner.event_end(), Flaw::kTruncated);
  }
}

// Brackets in strings that a stray quote turned inside out can look like the end of the list.
Result<bool> ChunkSplitter::is_list_end(size_t at) {
  while (true) {
    const ListEnd judged = judge_list_end(unused(), at, has_bare_list(), source_ended_);
    if (judged != ListEnd::kUnknown) return judged == ListEnd::kYes;
    TRY(read_twice_as_much());
  }
}

// The next event after the beginning of one that is damaged, or the end of the list.
Result<Landmark> ChunkSplitter::find_next(size_t suspect) {
  while (true) {
    const size_t from = suspect + (unused().substr(suspect).starts_with('{') ? 1 : 0);
    const Landmark next = find_landmark(unused(), from, has_bare_list(), source_ended_);
    if (next.found() || source_ended_ || unused().size() - suspect >= limits_.max_event)
      return next;
    TRY(read_twice_as_much());
  }
}

void ChunkSplitter::add_damaged(size_t begin, size_t end) {
  size_t last = end;
  while (last > begin && separates(unused()[last - 1])) --last;
  const bool comma_after = unused().substr(last, end - last).find(',') != std::string_view::npos;
  damaged_.push_back({begin, end, comma_after});
}

std::optional<EventChunk> ChunkSplitter::end_list(size_t at) {
  where_ = has_bare_list() ? Where::kEnd : Where::kBeside;
  if (where_ == Where::kBeside) envelope_ += ']';
  if (!damaged_.empty() && damaged_.back().end == at) damaged_.back().comma_after = true;
  std::optional<EventChunk> chunk = take(at);
  if (unused().starts_with(']')) use(1);
  return chunk;
}

// The bracket that closes the list is damaged: the rest stands beside the events.
std::optional<EventChunk> ChunkSplitter::end_list_unclosed(size_t at) {
  diagnostics_.add(Flaw::kRepairedEvent,
                   fmt::format("at byte {}", offset_ + static_cast<int64_t>(at)));
  no_more_events_ = true;
  return end_list(at);
}

// The last event is damaged, or what follows it.
std::optional<EventChunk> ChunkSplitter::end_damaged_list(const BracketScanner& scanner,
                                                          size_t list_end) {
  if (!source_ended_ && list_end == std::string_view::npos) {
    return stop_inside_list(scanner.event_end(), Flaw::kOversizedEvent);
  }
  if (list_end == std::string_view::npos) {
    list_end = find_last_list_end(unused(), scanner.suspect(), has_bare_list());
  }
  const std::string_view after = unused().substr(scanner.event_end());
  if (list_end == std::string_view::npos && !scanner.in_event() && !has_bare_list() &&
      count_phase_keys(after) == 0) {
    return end_list_unclosed(scanner.event_end());
  }
  if (list_end != std::string_view::npos) {
    add_damaged(scanner.suspect(), list_end);
    return end_list(list_end);
  }
  add_damaged(scanner.suspect(), unused().size());
  return stop_inside_list(unused().size(), Flaw::kTruncated);
}

std::optional<EventChunk> ChunkSplitter::stop_inside_list(size_t length, Flaw why) {
  if (diagnostics_.count(Flaw::kSizeLimit) == 0) {
    diagnostics_.add(why, fmt::format("after byte {}", offset_ + static_cast<int64_t>(length)));
  }
  std::optional<EventChunk> chunk = take(length);
  where_ = Where::kEnd;
  source_ended_ = true;
  use(unused().size());  // half an event
  return chunk;
}

// A chunk that is small beside what follows it is copied instead: moving the rest each time would
// cost more than reading it.
void ChunkSplitter::copy_out(EventChunk& chunk, size_t first, size_t last) const {
  chunk.begin = 0;
  chunk.end = last - first + 2;
  chunk.buffer = std::make_unique_for_overwrite<char[]>(chunk.end + kPadding);
  chunk.buffer[0] = '[';
  std::memcpy(chunk.buffer.get() + 1, buffer_.get() + first, last - first);
  chunk.buffer[chunk.end - 1] = ']';
  std::memset(chunk.buffer.get() + chunk.end, ' ', simdjson::SIMDJSON_PADDING);
}

// Hands on the first `length` bytes as a list, or just steps over them when they hold no event.
std::optional<EventChunk> ChunkSplitter::take(size_t length) {
  const size_t end = begin_ + length;
  size_t first = begin_, last = end;
  // One comma stands between two chunks; one too many or too few is damage, and stays in sight.
  for (; first < end && separates(buffer_[first]); ++first) commas_ += buffer_[first] == ',';
  int64_t commas_after = 0;
  for (; last > first && separates(buffer_[last - 1]); --last)
    commas_after += buffer_[last - 1] == ',';
  EventChunk chunk;
  chunk.damaged = std::exchange(damaged_, {});
  if (first == last) {
    use(length);
    return std::nullopt;
  }
  chunk.file_offset = offset_ + static_cast<int64_t>(first - begin_);
  if (commas_ != (first_chunk_ ? 0 : 1)) {
    diagnostics_.add(Flaw::kRepairedEvent, fmt::format("at byte {}", offset_));
  }
  first_chunk_ = false;
  // After a damaged part commas tell nothing.
  commas_ = !chunk.damaged.empty() && chunk.damaged.back().end == length ? 1 : commas_after;
  const size_t skipped = first - begin_;
  for (DamagedPart& part : chunk.damaged) {
    part.begin = std::max(part.begin, skipped) - skipped;
    part.end = std::min(part.end, last - begin_) - skipped;
  }
  if (size_ - end > length) {
    copy_out(chunk, first, last);
    use(length);
    return chunk;
  }
  // What follows the cut moves to a buffer of its own; this one goes with the chunk.
  const size_t rest = size_ - end;
  const size_t capacity = kFront + rest + limits_.chunk_size + kPadding;
  auto following = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(following.get() + kFront, buffer_.get() + end, rest);

  chunk.begin = first - 1;
  chunk.end = last + 1;
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
