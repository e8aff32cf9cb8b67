#include "ingest/kineto/event_fields.h"

#include <span>

namespace fathom::kineto {
namespace {

struct Key {
  std::string_view text;
  Field field;
};

constexpr Key kEventKeys[] = {
    {"ph", Field::kPhase},     {"cat", Field::kCategory}, {"name", Field::kName},
    {"pid", Field::kPid},      {"tid", Field::kTid},      {"ts", Field::kTime},
    {"dur", Field::kDuration}, {"id", Field::kId},
};

constexpr Key kArgsKeys[] = {
    {"Input Dims", Field::kInputDims},
    {"Input type", Field::kInputTypes},
    {"Input Strides", Field::kInputStrides},
    {"Concrete Inputs", Field::kConcreteInputs},
    {"correlation", Field::kCorrelation},
    {"External id", Field::kExternalId},
    {"external id", Field::kExternalId},
    {"Sequence number", Field::kSequenceNumber},
    {"Fwd thread id", Field::kForwardThread},
    {"Python id", Field::kPythonId},
    {"Python parent id", Field::kPythonParent},
    {"Python module id", Field::kPythonModule},
    {"device", Field::kDevice},
    {"stream", Field::kStream},
    {"context", Field::kContext},
    {"registers per thread", Field::kRegisters},
    {"shared memory", Field::kSharedMemory},
    {"bytes", Field::kBytes},
    {"grid", Field::kGrid},
    {"block", Field::kBlock},
    {"Collective name", Field::kCollectiveName},
    {"In msg nelems", Field::kInElements},
    {"Out msg nelems", Field::kOutElements},
    {"dtype", Field::kDtype},
    {"Group size", Field::kGroupSize},
    {"In split size", Field::kInSplit},
    {"Out split size", Field::kOutSplit},
    {"Process Group Name", Field::kGroupName},
    {"Process Group Description", Field::kGroupDescription},
    {"Process Group Ranks", Field::kGroupRanks},
    {"Rank", Field::kRank},
    {"Seq", Field::kCollectiveSequence},
    {"wait_on_cuda_event_record_corr_id", Field::kWaitRecord},
    {"wait_on_stream", Field::kWaitStream},
    {"Src Rank", Field::kFromRank},
    {"Dst Rank", Field::kToRank},
    {"name", Field::kArgName},
    {"labels", Field::kArgLabels},
    // XLA's profiler.
    {"correlation_id", Field::kCorrelation},
    {"kernel_details", Field::kKernelDetails},
    {"memcpy_details", Field::kCopyDetails},
    {"memset_details", Field::kMemsetDetails},
    {"Memset_details", Field::kMemsetDetails},
};

// A hash table made at compile time: looking a key up is the hottest step of reading a trace.
template <size_t kSlots>
class KeyTable {
 public:
  constexpr explicit KeyTable(std::span<const Key> keys) {
    for (const Key& key : keys) {
      size_t slot = slot_of(key.text);
      while (!slots_[slot].text.empty()) slot = (slot + 1) % kSlots;
      slots_[slot] = key;
    }
  }

  std::optional<Field> find(std::string_view text) const {
    if (text.empty()) return {};
    for (size_t slot = slot_of(text); !slots_[slot].text.empty(); slot = (slot + 1) % kSlots) {
      if (slots_[slot].text == text) return slots_[slot].field;
    }
    return {};
  }

 private:
  static constexpr size_t slot_of(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const auto last = static_cast<unsigned char>(text.back());
    return (text.size() * 37 + first * 11 + last * 5) % kSlots;
  }

  std::array<Key, kSlots> slots_ = {};
};

constexpr KeyTable<32> kEventTable{kEventKeys};
constexpr KeyTable<256> kArgsTable{kArgsKeys};

}  // namespace

bool has_counters(const FieldTexts& fields) {
  return fields.get(Field::kPhase) == "\"C\"" ||
         fields.get(Field::kCategory) == "\"cuda_profiler_range\"" ||
         fields.get(Field::kName) == "\"[memory]\"";
}

std::optional<Field> find_event_field(std::string_view key) { return kEventTable.find(key); }
std::optional<Field> find_args_field(std::string_view key) { return kArgsTable.find(key); }

}  // namespace fathom::kineto
