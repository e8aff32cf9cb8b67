#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace fathom {

// What happened, in order: "run", then names and values. Values may hold any bytes.
struct JournalRecord {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> fields;

  JournalRecord() = default;
  explicit JournalRecord(std::string of_kind) : kind(std::move(of_kind)) {}
  JournalRecord& put(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  // Empty where there is none of this name.
  std::string_view get(std::string_view name) const;
  // Nothing where it is absent or no number.
  std::optional<double> number(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
};

// What JournalRecord::number() makes of a value.
std::optional<double> journal_number(std::string_view text);

// A file that records are appended to, each on the disk before append() returns. Whatever kills the
// program, what was appended is found again: a line has a hash, so that one written in part is told
// and cut off. One process at a time may have it open.
//
//     fathom journal 1
//     0123456789abcdef<tab>run<tab>id=E1/0/3<tab>wall_ns=123
class Journal {
 public:
  // Makes it where it is not there. `path` is a plain file: no link is followed.
  static Result<Journal> open(const std::filesystem::path& path);

  // What was there when it was opened.
  const std::vector<JournalRecord>& records() const { return records_; }
  size_t damaged_lines() const { return damaged_; }
  Status append(const JournalRecord& record);

 private:
  FileDescriptor file_;
  std::string shown_;
  std::vector<JournalRecord> records_;
  size_t damaged_ = 0;
};

// The text of a journal → its records. `good`: how many bytes from the beginning are whole lines.
std::vector<JournalRecord> parse_journal(std::string_view text, size_t& good, size_t& damaged);

}  // namespace fathom
