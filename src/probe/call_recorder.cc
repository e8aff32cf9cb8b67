// Runs inside calls of the program: it uses no vector registers (-mgeneral-regs-only), no memory
// but what it maps, and the system directly, so that registers and errno stay the program's.
#include "probe/call_recorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>

#include "probe/call_file.h"

// A slot pushes its number; the rest is common. Arguments on the stack are copied, as many bytes as
// may be some: a caller does not tell how many there are. The frame has unwind tables like any
// other, so exceptions, backtraces and longjmp pass. All registers come out as the function left
// them: inside one file a compiler knows which of them a function does not touch, and relies on it.
//
// In the frame, from %rbp: +24 arguments on the stack, +16 return address, +8 slot, 0 caller's
// %rbp, -8 to -64 registers, -72 start, -80 target, -88 %r11.
asm(R"(
  .pushsection .text
  .hidden fathom_call_slots, fathom_call_through
  .p2align 4
fathom_call_slots:
  .set fathom_slot, 0
  .rept 512
  .p2align 4
  .cfi_startproc
  pushq $fathom_slot
  .cfi_def_cfa_offset 16
  jmp fathom_call_through
  .cfi_endproc
  .set fathom_slot, fathom_slot + 1
  .endr
  .p2align 4
  .type fathom_call_through, @function
fathom_call_through:
  .cfi_startproc
  .cfi_personality 0x1b, fathom_call_unwound
  .cfi_def_cfa_offset 16
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset %rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $104, %rsp
  movq %rdi, -8(%rbp)
  movq %rsi, -16(%rbp)
  movq %rdx, -24(%rbp)
  movq %rcx, -32(%rbp)
  movq %r8, -40(%rbp)
  movq %r9, -48(%rbp)
  movq %rax, -56(%rbp)
  movq %r10, -64(%rbp)
  movq %r11, -88(%rbp)
  movq %rbp, %rdi
  call fathom_call_begins
  movq %rax, %rcx
  subq %rax, %rsp
  leaq 24(%rbp), %rsi
  movq %rsp, %rdi
  shrq $3, %rcx
  rep movsq
  movq -8(%rbp), %rdi
  movq -16(%rbp), %rsi
  movq -24(%rbp), %rdx
  movq -32(%rbp), %rcx
  movq -40(%rbp), %r8
  movq -48(%rbp), %r9
  movq -56(%rbp), %rax
  movq -64(%rbp), %r10
  movq -88(%rbp), %r11
  call *-80(%rbp)
  leaq -104(%rbp), %rsp
  movq %rax, -8(%rbp)
  movq %rdx, -16(%rbp)
  movq %rcx, -24(%rbp)
  movq %rsi, -32(%rbp)
  movq %rdi, -40(%rbp)
  movq %r8, -48(%rbp)
  movq %r9, -56(%rbp)
  movq %r10, -64(%rbp)
  movq %r11, -88(%rbp)
  movq %rbp, %rdi
  call fathom_call_ended
  movq -8(%rbp), %rax
  movq -16(%rbp), %rdx
  movq -24(%rbp), %rcx
  movq -32(%rbp), %rsi
  movq -40(%rbp), %rdi
  movq -48(%rbp), %r8
  movq -56(%rbp), %r9
  movq -64(%rbp), %r10
  movq -88(%rbp), %r11
  leave
  .cfi_def_cfa %rsp, 16
  addq $8, %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size fathom_call_through, . - fathom_call_through
  .popsection
)");

extern "C" char fathom_call_slots[] __attribute__((visibility("hidden")));

namespace fathom::probe {
namespace {

constexpr size_t kSlotSize = 16;
constexpr uint64_t kArgumentBytes = 512, kPage = 4096;
constexpr uint64_t kSegmentSize = kCallsInSegment * sizeof(CallRecord);

struct Frame {  // as the code above lays it out, upwards
  uint64_t target, start;
  uint64_t registers[8];  // the first argument last; then the result there
  uint64_t caller, slot, return_address;
};
Frame& frame_at(char* base) { return *reinterpret_cast<Frame*>(base - 80); }

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

// Not by libc, which would change errno.
long system_call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// The kernel reads the set before it refuses what to do with it.
bool is_readable(uint64_t address) {
  return system_call(SYS_rt_sigprocmask, -1, static_cast<long>(address), 0, 8) != -EFAULT;
}

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
CallRecord* new_record(const Frame& frame) {
  OwnState* state = own.load(std::memory_order_acquire);
  if (state == nullptr || frame.start == 0) return nullptr;
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
  record.slot = static_cast<uint32_t>(frame.slot);
  record.process = own_process;
  record.thread = own_thread;
  return &record;
}

void add_call(const Frame& frame, uint64_t end, uint32_t kind) {
  CallRecord* record = new_record(frame);
  if (record == nullptr) return;
  record->start = frame.start;
  record->kind = kind;
  __atomic_store_n(&record->end, end, __ATOMIC_RELEASE);
}

void add_number(const Frame& frame, uint64_t time, uint32_t number, uint64_t value) {
  CallRecord* record = new_record(frame);
  if (record == nullptr) return;
  record->start = time;
  record->end = value;
  __atomic_store_n(&record->kind, kNumber + number, __ATOMIC_RELEASE);
}

}  // namespace

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

bool is_recorded_call(const void* address) {
  const auto* place = static_cast<const char*>(address);
  return place >= fathom_call_slots && place < fathom_call_slots + kMostCallSlots * kSlotSize;
}

void* recorded_call(void* target, uint32_t probe, std::string_view name, uint32_t numbers) {
  if (target == nullptr || is_recorded_call(target) || !open_file()) return nullptr;
  OwnState& state = *own.load();
  if (state.process.load() == 0) give_child_its_file(state);
  if (!has_own_file.load()) return nullptr;
  CallFileHead* shared = head.load();
  auto* shown_slots = reinterpret_cast<CallSlot*>(shared + 1);
  uint32_t first = kMostCallSlots;  // that of another probe, or of this one
  const uint32_t used = slot_count < kMostCallSlots ? slot_count : kMostCallSlots;
  for (uint32_t i = 0; i < used && first == kMostCallSlots; ++i) {
    if (targets[i] == target) first = i;
  }
  for (uint32_t i = first; i < used; ++i) {
    if (shown_slots[i].records_of == first && shown_slots[i].probe == probe)
      return fathom_call_slots + first * kSlotSize;
  }
  const uint32_t slot = slot_count++;
  __atomic_store_n(&shared->slots, slot_count, __ATOMIC_RELAXED);
  const bool is_known = first < kMostCallSlots;
  if (slot >= kMostCallSlots) return is_known ? fathom_call_slots + first * kSlotSize : nullptr;
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
  return fathom_call_slots + first * kSlotSize;
}

}  // namespace fathom::probe

extern "C" {

// How many bytes of arguments to copy, in sixteens.
__attribute__((visibility("hidden"))) uint64_t fathom_call_begins(char* base) {
  using namespace fathom::probe;
  Frame& frame = frame_at(base);
  frame.target = reinterpret_cast<uint64_t>(targets[frame.slot]);
  const auto arguments = reinterpret_cast<uint64_t>(base) + 24;
  const uint64_t page_end = (arguments + kPage - 1) / kPage * kPage;
  uint64_t bytes = kArgumentBytes;
  // At the top of a stack there may be nothing above the caller's frame.
  if (arguments + bytes > page_end && !is_readable(page_end)) bytes = page_end - arguments;
  frame.start = now();
  if (const uint32_t numbers = numbers_of[frame.slot]; numbers > 1) {
    for (uint32_t argument = 1; argument <= 6; ++argument) {
      if ((numbers >> argument & 1) != 0)
        add_number(frame, frame.start, argument, frame.registers[8 - argument]);
    }
  }
  return bytes;
}

__attribute__((visibility("hidden"))) void fathom_call_ended(char* base) {
  using namespace fathom::probe;
  const Frame& frame = frame_at(base);
  const uint64_t end = now();
  add_call(frame, end, kReturned);
  if ((numbers_of[frame.slot] & 1) != 0) add_number(frame, end, 0, frame.registers[7]);
}

// An exception leaves the function.
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code
fathom_call_unwound(int, _Unwind_Action actions, _Unwind_Exception_Class, struct _Unwind_Exception*,
                    struct _Unwind_Context* context) {
  using namespace fathom::probe;
  if ((actions & _UA_CLEANUP_PHASE) == 0) return _URC_CONTINUE_UNWIND;
  const uint64_t end = now();
  // That of the library which unwinds: what a context holds is its own affair.
  static auto* const register_of = [] {
    void* library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return reinterpret_cast<_Unwind_Word (*)(struct _Unwind_Context*, int)>(
        library != nullptr ? dlsym(library, "_Unwind_GetGR") : nullptr);
  }();
  if (register_of == nullptr) return _URC_CONTINUE_UNWIND;
  constexpr int kFramePointer = 6;
  auto* base = reinterpret_cast<char*>(register_of(context, kFramePointer));
  if (reinterpret_cast<uint64_t>(base) % 8 != 0 ||
      !is_readable(reinterpret_cast<uint64_t>(base) - 80)) {
    return _URC_CONTINUE_UNWIND;
  }
  const Frame& frame = frame_at(base);
  if (frame.slot < kMostCallSlots &&
      frame.target == reinterpret_cast<uint64_t>(targets[frame.slot]))
    add_call(frame, end, kUnwound);
  return _URC_CONTINUE_UNWIND;
}
}
