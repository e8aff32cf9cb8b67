#pragma once

#include <optional>
#include <string>

#include "app/commands.h"
#include "base/file_descriptor.h"
#include "base/result.h"
#include "report/record_text.h"
#include "session/record.h"

namespace fathom {

// `record --json[=FILE]`: where the summary goes. The program's output is its own, so the default
// is standard error, where the summary for people goes too.
class SummaryPlace {
 public:
  // Opens the file before the program runs: a place that cannot be written is a usage error then.
  static Result<SummaryPlace> open(const std::optional<std::string>& json);

  bool is_json() const { return kind_ != Kind::kText; }
  // Whether standard error has room for notes and the summary for people.
  bool leaves_errors_free() const { return kind_ != Kind::kErrors; }
  // Whether the summary for people is shown beside.
  bool shows_text() const { return kind_ == Kind::kText || kind_ == Kind::kFile; }
  // What has a stream of its own, such as the answer of --calibrate, goes to standard output.
  void use_free_output();
  Status write(const std::string& json) const;

 private:
  enum class Kind { kText, kErrors, kOutput, kFile };
  Kind kind_ = Kind::kText;
  std::string name_;
  FileDescriptor file_;
};

// What stands in the way of the counters asked for, as far as it is known before the program runs.
std::vector<std::string> notes_before(const RecordRequest& request);

}  // namespace fathom
