#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

enum class Severity : uint8_t { kInfo, kNotice, kDataLoss, kError };

std::string_view severity_name(Severity severity);

// One declared kind of flaw that an input may have. The list in diagnostics.cc is the only one.
enum class Flaw : uint8_t {
  kTruncated,
  kTextAfterEnd,
  kRepairedEvent,
  kOversizedEvent,
  kSizeLimit,
  kTextBeforeStart,
  kNotAnObject,
  kMalformedEvent,
  kUnknownPhase,
  kMissingTime,
  kMissingDuration,
  kNegativeDuration,
  kUnknownCategory,
  kUnlinkedGpuEvent,
  kPartialOverlap,
  kAmbiguousCorrelation,
  kBeforeItsLaunch,
  kMetadataDamaged,
  kZeroBytes,
  kChangedWhileRead,
  kDamagedPart,
  kLostRecords,
  kOpenRange,
  kCounterText,
  kCounterRowDamaged,
  kCounterValueUnreadable,
  kRepeatedColumn,
  kDamagedTable,
  kUnreadTable,
  kCount,
};

struct FlawText {
  Flaw flaw;
  Severity severity;
  std::string_view id;    // stable, for programs
  std::string_view text;  // for people, after a count: "3 events …"
};

const FlawText& describe(Flaw flaw);

struct Diagnostic {
  Flaw flaw;
  int64_t count = 0;
  std::string example;  // where the first one was seen
};

// What was wrong with an input that we went on with. Counted by kind; the first of each is shown.
class Diagnostics {
 public:
  void add(Flaw flaw, std::string_view example = {}, int64_t count = 1);
  void merge(const Diagnostics& other);

  // In the order of the enum, so the same input gives the same text.
  std::vector<Diagnostic> all() const;
  int64_t count(Flaw flaw) const;
  // Events that were in the file and are in no table of ours.
  int64_t skipped_events() const;

 private:
  Diagnostic slots_[static_cast<size_t>(Flaw::kCount)] = {};
};

}  // namespace fathom
