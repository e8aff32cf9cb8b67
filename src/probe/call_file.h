#pragma once

#include <cstdint>

// The calls of C functions that the library in src/probe records: one file for a process, mapped
// and shared, so that it is whole whatever ends the program. A forked process has its own.
//
//     CallFileHead, CallSlot[kMostCallSlots], CallRecord, CallRecord, …
//
// A record with an end of 0 and no kind has not been filled. Times are nanoseconds of
// CLOCK_REALTIME.
namespace fathom::probe {

constexpr const char* kProbeDirectoryVariable = "FATHOM_PROBE_DIR";
constexpr const char* kProbesVariable = "FATHOM_PROBES";  // a probe on each line
constexpr const char* kCallFileStart = "native-";         // its name begins with this
constexpr const char* kCallFileEnd = ".calls";

constexpr char kCallFileMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'P', '2'};
constexpr uint32_t kMostCallSlots = 512;
constexpr uint64_t kMostCallRecords = uint64_t{1} << 26;  // 2 GiB of them
constexpr uint32_t kCallsInSegment = 1 << 13;             // the file grows by so many
constexpr uint32_t kLongestSlotName = 500;

struct CallFileHead {
  char magic[8];
  uint32_t slots;     // used, or asked for where there are not enough
  uint32_t reserved;  // 0
  uint64_t records;   // begun, or asked for where there is no room
  uint64_t lost;
  uint8_t rest[4064];
};

// A function that is recorded for a probe. Of several probes of one function, the first has the
// records.
struct CallSlot {
  uint32_t probe;               // its line in kProbesVariable
  uint32_t records_of;          // the slot that its records name
  uint32_t length;              // of the name
  char name[kLongestSlotName];  // "libfoo.so.1:ns::Class::method"
};

struct CallRecord {
  uint64_t start, end;
  uint32_t slot, process, thread;
  uint32_t kind;
};
// Kinds of records. Of a number, `start` is the time and `end` the value.
constexpr uint32_t kReturned = 0, kUnwound = 1;  // left by an exception
constexpr uint32_t kNumber = 16;                 // + 0: the result; + 1 to 6: that argument

static_assert(sizeof(CallFileHead) == 4096 && sizeof(CallSlot) == 512 && sizeof(CallRecord) == 32);
constexpr uint64_t kCallRecordsAt = sizeof(CallFileHead) + kMostCallSlots * sizeof(CallSlot);
static_assert(kCallRecordsAt % 4096 == 0 && kCallsInSegment * sizeof(CallRecord) % 4096 == 0);

}  // namespace fathom::probe
