// Runs inside calls of the program: see call_recorder.cc.
#include "probe/call_records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>

#include "probe/call_file.h"
#include "probe/call_recorder.h"
#include "probe/direct_system.h"

namespace fathom::probe {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kSegmentSize = kCallsInSegment * sizeof(CallRecord);

char directory[2048];
std::atomic<int> file = -1;
std::atomic<CallFileHead*> head = nullptr;
std::atomic<CallRecord*> segments[kMostCallRecords / kCallsInSegment];
void* targets[kMostCallSlots];
uint32_t numbers_of[kMostCallSlots];
uint32_t slot_count = 0;                 // used, or asked for where there are not enough
std::atomic<bool> has_own_file = false;  // else records are counted as lost in the parent's

// Zeros in a forked process, by whatever way it was forked: it needs a file of its own, and a lock
// that another thread held in its parent is free.
struct OwnState {
  std::atomic<uint32_t> process;
  std::atomic<bool> mapping;
};
std::atomic<OwnState*> own = nullptr;

// 0: not asked yet. A forked child asks again.
thread_local uint32_t own_thread = 0, own_process = 0;
thread_local bool is_mapping = false;

char* append_number(char* at, uint64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *at++ = digits[--count];
  return at;
}

char* append_text(char* at, const char* text) {
  while (*text != '\0') *at++ = *text++;
  return at;
}

// Room that is there on the disk too: a page that is only promised ends the program when it is
// written to. Beyond the limit on the size of files a write would end the program.
bool extend_file(int fd, uint64_t from, uint64_t bytes) {
  static const char zeros[kPage] = {};
  rlimit limit{};
  if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<long>(&limit)) != 0 ||
      from + bytes > limit.rlim_cur) {
    return false;
  }
  for (uint64_t done = 0; done < bytes; done += kPage) {
    if (system_call(SYS_pwrite64, fd, reinterpret_cast<long>(zeros), kPage,
                    static_cast<long>(from + done)) != static_cast<long>(kPage)) {
      return false;
    }
  }
  return true;
}

void* map_file(int fd, uint64_t at, uint64_t bytes) {
  const long place = system_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                 MAP_SHARED, fd, static_cast<long>(at));
  return place < 0 && place > -4096 ? nullptr : reinterpret_cast<void*>(place);
}

// Not by memcpy: it uses vector registers.
void copy_bytes(void* to, const void* from, uint64_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// Named by process and time: a program may become another (exec).
bool make_file() {
  if (directory[0] == '\0') return false;
  static char path[sizeof directory + 100];  // the stack may be small
  char* at = append_text(path, directory);
  at = append_text(at, "/");
  at = append_text(at, kCallFileStart);
  at = append_number(at, static_cast<uint64_t>(system_call(SYS_getpid, 0)));
  at = append_text(at, "-");
  at = append_number(at, now());
  at = append_text(at, kCallFileEnd);
  *at = '\0';
  const long fd = system_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                              O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  // Low numbers are the program's: some close all of those they expect to be free.
  const long high = system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 500);
  const int kept = static_cast<int>(high >= 0 ? high : fd);
  if (high >= 0) system_call(SYS_close, fd);
  auto* mapped = extend_file(kept, 0, kCallRecordsAt)
                     ? static_cast<CallFileHead*>(map_file(kept, 0, kCallRecordsAt))
                     : nullptr;
  if (mapped == nullptr) {
    system_call(SYS_close, kept);
    return false;
  }
  for (size_t i = 0; i < sizeof kCallFileMagic; ++i) mapped->magic[i] = kCallFileMagic[i];
  file = kept;
  head = mapped;
  has_own_file = true;
  return true;
}

bool open_file() {
  if (head.load() != nullptr) return true;
  if (own.load() == nullptr) {
    const long page = system_call(SYS_mmap, 0, static_cast<long>(kPage), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (page < 0 && page > -4096) return false;
    system_call(SYS_madvise, page, static_cast<long>(kPage), MADV_WIPEONFORK);
    own = reinterpret_cast<OwnState*>(page);
  }
  if (!make_file()) {
    directory[0] = '\0';
    return false;
  }
  own.load()->process = static_cast<uint32_t>(system_call(SYS_getpid, 0));
  return true;
}

// Whether the file that was opened still is behind its number: programs close what they do not
// know, and the next file they open gets the number.
bool is_ours(int fd) {
  char magic[sizeof kCallFileMagic] = {};
  if (system_call(SYS_pread64, fd, reinterpret_cast<long>(magic), sizeof magic, 0) !=
      static_cast<long>(sizeof magic)) {
    return false;
  }
  for (size_t i = 0; i < sizeof magic; ++i) {
    if (magic[i] != kCallFileMagic[i]) return false;
  }
  return true;
}

// One thread at a time. A signal may come meanwhile, and its handler call what is recorded: it is
// not to wait for what it interrupted.
bool begin_mapping(OwnState& state) {
  if (is_mapping) return false;
  is_mapping = true;
  while (state.mapping.exchange(true, std::memory_order_acquire)) system_call(SYS_sched_yield, 0);
  return true;
}

void end_mapping(OwnState& state) {
  state.mapping.store(false, std::memory_order_release);
  is_mapping = false;
}

// The functions are those of its parent; of what the parent has recorded nothing stays.
void give_child_its_file(OwnState& state) {
  if (!begin_mapping(state)) return;
  if (state.process.load() == 0) {
    CallFileHead* of_parent = head.load();
    const int parent_file = file.load();
    for (std::atomic<CallRecord*>& segment : segments) {
      if (CallRecord* old = segment.exchange(nullptr))
        system_call(SYS_munmap, reinterpret_cast<long>(old), kSegmentSize);
    }
    const bool was_own = has_own_file.exchange(false);
    if (make_file()) {
      CallFileHead* made = head.load();
      copy_bytes(made + 1, of_parent + 1, kMostCallSlots * sizeof(CallSlot));
      made->slots = slot_count;
      system_call(SYS_munmap, reinterpret_cast<long>(of_parent), kCallRecordsAt);
      if (was_own && is_ours(parent_file)) system_call(SYS_close, parent_file);
    }
    own_thread = 0;
    state.process.store(static_cast<uint32_t>(system_call(SYS_getpid, 0)),
                        std::memory_order_release);
  }
  end_mapping(state);
}

CallRecord* segment_at(uint64_t number, OwnState& state) {
  CallRecord* segment = segments[number].load(std::memory_order_acquire);
  if (segment != nullptr) return segment;
  if (!begin_mapping(state)) return nullptr;
  segment = segments[number].load();
  const uint64_t at = kCallRecordsAt + number * kSegmentSize;
  if (segment == nullptr && is_ours(file.load())) {
    if (extend_file(file.load(), at, kSegmentSize))
      segment = static_cast<CallRecord*>(map_file(file.load(), at, kSegmentSize));
    segments[number].store(segment, std::memory_order_release);
  }
  end_mapping(state);
  return segment;
}

// A place for a record, with all but its times and kind; null: it is lost.
CallRecord* new_record(uint64_t slot) {
  OwnState* state = own.load(std::memory_order_acquire);
  if (state == nullptr) return nullptr;
  if (state->process.load(std::memory_order_acquire) == 0) give_child_its_file(*state);
  const uint32_t process = state->process.load(std::memory_order_acquire);
  CallFileHead* shared = head.load(std::memory_order_acquire);
  if (own_thread == 0 || own_process != process) {
    own_process = process;
    own_thread = static_cast<uint32_t>(system_call(SYS_gettid, 0));
  }
  CallRecord* segment = nullptr;
  uint64_t index = 0;
  if (process != 0 && has_own_file.load(std::memory_order_acquire)) {
    index = __atomic_fetch_add(&shared->records, 1, __ATOMIC_RELAXED);
    if (index < kMostCallRecords) segment = segment_at(index / kCallsInSegment, *state);
  }
  if (segment == nullptr) {
    __atomic_fetch_add(&shared->lost, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  CallRecord& record = segment[index % kCallsInSegment];
  record.slot = static_cast<uint32_t>(slot);
  record.process = own_process;
  record.thread = own_thread;
  return &record;
}

}  // namespace

void add_call(uint64_t slot, uint64_t start, uint64_t end, uint32_t kind) {
  CallRecord* record = start == 0 ? nullptr : new_record(slot);
  if (record == nullptr) return;
  record->start = start;
  record->kind = kind;
  __atomic_store_n(&record->end, end, __ATOMIC_RELEASE);
}

void add_number(uint64_t slot, uint64_t time, uint32_t number, uint64_t value) {
  CallRecord* record = new_record(slot);
  if (record == nullptr) return;
  record->start = time;
  record->end = value;
  __atomic_store_n(&record->kind, kNumber + number, __ATOMIC_RELEASE);
}

void forked() {
  own_thread = 0;
  is_mapping = false;
  OwnState* state = own.load();
  if (state == nullptr) return;
  state->process = 0;  // kernels before 4.14 do not
  state->mapping = false;
}

void set_call_directory(std::string_view text) {
  if (text.size() + 1 > sizeof directory) return;
  for (size_t i = 0; i < text.size(); ++i) directory[i] = text[i];
  directory[text.size()] = '\0';
}

uint32_t call_slot(void* target, uint32_t probe, std::string_view name, uint32_t numbers) {
  if (!open_file()) return kMostCallSlots;
  OwnState& state = *own.load();
  if (state.process.load() == 0) give_child_its_file(state);
  if (!has_own_file.load()) return kMostCallSlots;
  CallFileHead* shared = head.load();
  auto* shown_slots = reinterpret_cast<CallSlot*>(shared + 1);
  uint32_t first = kMostCallSlots;  // that of another probe, or of this one
  const uint32_t used = slot_count < kMostCallSlots ? slot_count : kMostCallSlots;
  for (uint32_t i = 0; i < used && first == kMostCallSlots; ++i) {
    if (targets[i] == target) first = i;
  }
  for (uint32_t i = first; i < used; ++i) {
    if (shown_slots[i].records_of == first && shown_slots[i].probe == probe) return first;
  }
  const uint32_t slot = slot_count++;
  __atomic_store_n(&shared->slots, slot_count, __ATOMIC_RELAXED);
  const bool is_known = first < kMostCallSlots;
  if (slot >= kMostCallSlots) return first;
  if (!is_known) first = slot;
  CallSlot& shown = shown_slots[slot];
  shown.probe = probe;
  shown.records_of = first;
  uint32_t length = 0;
  for (; length < name.size() && length < kLongestSlotName; ++length)
    shown.name[length] = name[length];
  __atomic_store_n(&shown.length, length, __ATOMIC_RELEASE);
  __atomic_fetch_or(&numbers_of[first], numbers, __ATOMIC_RELAXED);
  if (!is_known) targets[slot] = target;
  return first;
}

void* call_target(uint64_t slot) { return targets[slot]; }
uint32_t call_numbers(uint64_t slot) { return numbers_of[slot]; }

}  // namespace fathom::probe
