#include "ingest/kineto/chunk_splitter.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/kineto/event_start.h"
#include "ingest/kineto/trace_borders.h"

namespace fathom::kineto {
namespace {

constexpr size_t kPadding = simdjson::SIMDJSON_PADDING + 64;
constexpr size_t kFront = 1;  // for the bracket that opens a chunk's list
// An event that breaks off inside a list seems to hold those after it. Looking at them again must
// not cost more than reading them did: see BracketScanner's patience.
constexpr int64_t kPatience = 64 << 10, kMaxPatience = 16 << 20;
constexpr size_t kManySeparators = 16 << 20;  // more are not held

bool separates(char c) { return is_space(c) || c == ','; }
bool only_separators(std::string_view text) { return std::ranges::all_of(text, separates); }

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

// Before what is not yet used.
void ChunkSplitter::put_back(std::string_view back) {
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
