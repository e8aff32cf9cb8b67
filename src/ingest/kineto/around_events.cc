// What stands before, beside and after the events of a trace.
#include <fmt/format.h>

#include <algorithm>

#include "base/file_kind.h"
#include "ingest/kineto/chunk_splitter.h"
#include "ingest/kineto/trace_borders.h"

namespace fathom::kineto {
namespace {

constexpr size_t kMaxEnvelope = 256 << 20;
constexpr size_t kHeadSize = 512;
constexpr const char* kWhatIsRead =
    "Fathom reads traces of torch.profiler and JAX (JSON), Nsight Systems (SQLite) and rocprofv3 "
    "(JSON, CSV, rocpd, pftrace), plain, gzip or zstd";

}  // namespace

void ChunkSplitter::begin_events() {
  where_ = Where::kEvents;
  found_events_ = true;
  commas_ = first_chunk_ ? 0 : 1;
  open_ = "{";
  in_string_ = escaped_ = false;
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
      begin_events();
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
  put_back(std::string_view(envelope_).substr(event));
  envelope_.resize(event);
  begin_events();
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

}  // namespace fathom::kineto
