// Runs inside calls of the program: it uses no vector registers (-mgeneral-regs-only), no memory
// but what it maps, and the system directly, so that registers and errno stay the program's.
#include "probe/call_recorder.h"

#include <dlfcn.h>
#include <unwind.h>

#include "probe/call_file.h"
#include "probe/call_records.h"
#include "probe/direct_system.h"

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

struct Frame {  // as the code above lays it out, upwards
  uint64_t target, start;
  uint64_t registers[8];  // the first argument last; then the result there
  uint64_t caller, slot, return_address;
};
Frame& frame_at(char* base) { return *reinterpret_cast<Frame*>(base - 80); }

}  // namespace

bool is_recorded_call(const void* address) {
  const auto* place = static_cast<const char*>(address);
  return place >= fathom_call_slots && place < fathom_call_slots + kMostCallSlots * kSlotSize;
}

void* recorded_call(void* target, uint32_t probe, std::string_view name, uint32_t numbers) {
  if (target == nullptr || is_recorded_call(target)) return nullptr;
  const uint32_t slot = call_slot(target, probe, name, numbers);
  return slot < kMostCallSlots ? fathom_call_slots + slot * kSlotSize : nullptr;
}

}  // namespace fathom::probe

extern "C" {

// How many bytes of arguments to copy, in sixteens.
__attribute__((visibility("hidden"))) uint64_t fathom_call_begins(char* base) {
  using namespace fathom::probe;
  Frame& frame = frame_at(base);
  frame.target = reinterpret_cast<uint64_t>(call_target(frame.slot));
  const auto arguments = reinterpret_cast<uint64_t>(base) + 24;
  const uint64_t page_end = (arguments + kPage - 1) / kPage * kPage;
  uint64_t bytes = kArgumentBytes;
  // At the top of a stack there may be nothing above the caller's frame.
  if (arguments + bytes > page_end && !is_readable(page_end)) bytes = page_end - arguments;
  frame.start = now();
  if (const uint32_t numbers = call_numbers(frame.slot); numbers > 1) {
    for (uint32_t argument = 1; argument <= 6; ++argument) {
      if ((numbers >> argument & 1) != 0)
        add_number(frame.slot, frame.start, argument, frame.registers[8 - argument]);
    }
  }
  return bytes;
}

__attribute__((visibility("hidden"))) void fathom_call_ended(char* base) {
  using namespace fathom::probe;
  const Frame& frame = frame_at(base);
  const uint64_t end = now();
  add_call(frame.slot, frame.start, end, kReturned);
  if ((call_numbers(frame.slot) & 1) != 0) add_number(frame.slot, end, 0, frame.registers[7]);
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
      frame.target == reinterpret_cast<uint64_t>(call_target(frame.slot)))
    add_call(frame.slot, frame.start, end, kUnwound);
  return _URC_CONTINUE_UNWIND;
}
}
