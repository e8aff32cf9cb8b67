#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::kineto {

// The fields of an event that we read, those of its args among them.
enum class Field : uint8_t {
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTime,
  kDuration,
  kId,
  // in args
  kInputDims,
  kInputTypes,
  kInputStrides,
  kConcreteInputs,
  kCorrelation,
  kExternalId,
  kSequenceNumber,
  kForwardThread,
  kPythonId,
  kPythonParent,
  kPythonModule,
  kDevice,
  kStream,
  kContext,
  kRegisters,
  kSharedMemory,
  kBytes,
  kGrid,
  kBlock,
  kCollectiveName,
  kInElements,
  kOutElements,
  kDtype,
  kGroupSize,
  kInSplit,
  kOutSplit,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kRank,
  kCollectiveSequence,
  kWaitRecord,
  kWaitStream,
  kFromRank,
  kToRank,
  kArgName,        // of metadata events
  kArgLabels,      // likewise
  kKernelDetails,  // of XLA's profiler
  kCopyDetails,    // likewise
  kMemsetDetails,  // likewise
  kArgs,           // all of them as one text, where any key is a counter's name
  kCount,
};

// Nothing: a field that no column holds.
std::optional<Field> find_event_field(std::string_view key);
std::optional<Field> find_args_field(std::string_view key);

class FieldTexts;
// Whether an event's args are counters, by what stands before them.
bool has_counters(const FieldTexts& fields);

// The JSON text of one event's fields. Reused from event to event: only the set of present fields
// is cleared.
class FieldTexts {
 public:
  static_assert(static_cast<size_t>(Field::kCount) <= 64);

  void clear() { present_ = 0; }
  void set(Field field, std::string_view json) {
    texts_[static_cast<size_t>(field)] = json;
    present_ |= uint64_t{1} << static_cast<int>(field);
  }
  bool empty() const { return present_ == 0; }
  bool has(Field field) const { return present_ >> static_cast<int>(field) & 1; }
  // Empty when absent; no JSON value is empty.
  std::string_view get(Field field) const {
    return has(field) ? texts_[static_cast<size_t>(field)] : std::string_view{};
  }

 private:
  std::array<std::string_view, static_cast<size_t>(Field::kCount)> texts_;
  uint64_t present_ = 0;
};

}  // namespace fathom::kineto
