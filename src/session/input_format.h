#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "base/sqlite_database.h"
#include "events/event_store.h"
#include "session/trace.h"

namespace fathom {

enum class InputKind : uint8_t {
  kTrace,     // a timeline: an EventStore is read from it
  kCounters,  // values of kernels without a timeline
};

// What is known of an input before it is read.
struct InputHead {
  std::string_view name;  // of the file; decides only where content has no mark of its own
  std::string_view text;  // the first bytes, decompressed
  const SqliteDatabase* database = nullptr;
};

// An input that is open: its bytes from the first on, or a database.
struct Input {
  std::string path, shown;
  std::string head;  // the bytes that were looked at; `source` goes on behind them
  std::unique_ptr<ByteSource> source;
  std::optional<SqliteDatabase> database;
  std::shared_ptr<const std::string> kept = nullptr;  // see Trace::kept
};

struct InputFormat {
  InputKind kind;
  std::string_view name;
  std::string_view tool;  // that writes it, and how it is asked to
  bool (*matches)(const InputHead& head);
  // Null for what cannot be read yet.
  Result<EventStore> (*read)(Input& input, const OpenOptions& options);
};

// All formats, the most certain first: the first that matches is taken. Files of counters get their
// rows here as well; their readers are session/counters' to call.
std::span<const InputFormat> input_formats();

// Null where the content is of no kind that Fathom knows.
const InputFormat* find_format(const InputHead& head);

// Opens an input, compressed or not; "-" is standard input.
Result<Input> open_input(const std::string& path, const OpenOptions& options,
                         ReadingStamp* stamp = nullptr);

// Reads a timeline in whatever format it is, by its content.
Result<EventStore> read_input(Input& input, const OpenOptions& options);

}  // namespace fathom
