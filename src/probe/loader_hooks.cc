// Finds the calls that go from one object of the program to another, in those that are there at the
// start and in those that are loaded later. Loaded into the program by LD_PRELOAD.
#include "probe/loader_hooks.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/call_file.h"
#include "probe/call_recorder.h"
#include "probe/patched_calls.h"

namespace fathom::probe {
namespace {

std::vector<LoadedObject>* known = nullptr;  // never deleted: calls come until the end
std::recursive_mutex* patching = nullptr;
LoaderChanges last_changes;
uintptr_t own_base = 0;

using OpenFunction = void* (*)(const char*, int);
using FindFunction = void* (*)(void*, const char*);

}  // namespace
}  // namespace fathom::probe

extern "C" {
// Both are told by their return address who calls, so they are entered by a jump.
__attribute__((visibility("hidden"))) void* fathom_real_open = nullptr;
__attribute__((visibility("hidden"))) void* fathom_real_find = nullptr;
__attribute__((visibility("hidden"))) void fathom_open();
__attribute__((visibility("hidden"))) void fathom_find();
}

asm(R"(
  .pushsection .text
  .hidden fathom_open, fathom_find
  .macro fathom_enter name, before, real
  .p2align 4
  .type \name, @function
\name:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $24, %rsp
  .cfi_adjust_cfa_offset 24
  movq %rsp, %rdx
  call \before
  movq (%rsp), %rdx
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testl %eax, %eax
  jne 1f
  jmp *\real(%rip)
1:
  movq %rdx, %rax
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm
  fathom_enter fathom_open, fathom_before_open, fathom_real_open
  fathom_enter fathom_find, fathom_before_find, fathom_real_find
  .popsection
)");

namespace fathom::probe {
namespace {

void look_at_objects() {
  const std::lock_guard lock(*patching);
  const LoaderChanges changes = loader_changes();
  if (changes == last_changes) return;
  // What is new may lie where another was.
  const bool again = changes.removed != last_changes.removed;
  last_changes = changes;
  const std::vector<LoadedObject> objects = loaded_objects(own_base);
  const std::vector<LoadedObject> old = std::exchange(*known, objects);
  for (const LoadedObject& object : objects) {
    const bool is_new = std::ranges::none_of(old, [&](const LoadedObject& before) {
      return before.base == object.base && before.name == object.name;
    });
    if (is_new || again) patch_object(object);
    if (is_new) patch_direct_calls(object, old.empty());
  }
}

thread_local bool is_looking = false;  // our own calls of the loader are nobody's business

void look_once() {
  if (is_looking) return;
  is_looking = true;
  try {
    look_at_objects();
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory, which the program must not notice
  }
  is_looking = false;
}

__attribute__((constructor)) void start() {
  const char* directory = std::getenv(kProbeDirectoryVariable);
  const char* probes = std::getenv(kProbesVariable);
  if (directory == nullptr || probes == nullptr) return;
  try {
    known = new std::vector<LoadedObject>;
    patching = new std::recursive_mutex;
    std::vector<NativeProbe> wanted;
    std::string_view rest = probes;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      wanted.push_back(native_probe(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    set_wanted(std::move(wanted));
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&start), &info) != 0)
      own_base = reinterpret_cast<uintptr_t>(info.dli_fbase);
    set_call_directory(directory);
    pthread_atfork(nullptr, nullptr, forked);
  } catch (...) {
    return;
  }
  look_once();
}

}  // namespace

bool is_loader_function(const char* name) {
  return std::strcmp(name, "dlopen") == 0 || std::strcmp(name, "dlsym") == 0;
}

void* loader_entry(const char* name, void* target) {
  const bool opens = std::strcmp(name, "dlopen") == 0, finds = std::strcmp(name, "dlsym") == 0;
  if (!opens && !finds) return nullptr;
  void*& real = opens ? fathom_real_open : fathom_real_find;
  if (real == nullptr) real = target;
  if (real != target) return nullptr;  // another one: left alone
  return reinterpret_cast<void*>(opens ? fathom_open : fathom_find);
}

}  // namespace fathom::probe

extern "C" {

// Not 0: *result is what the caller gets. With a slash in the name it does not matter to the loader
// who calls; else it searches where the caller says.
__attribute__((visibility("hidden"))) int fathom_before_open(const char* path, int flags,
                                                             void** result) {
  using namespace fathom::probe;
  const bool is_found_by_path =
      path != nullptr && std::strchr(path, '/') != nullptr && std::strchr(path, '$') == nullptr;
  if (!is_found_by_path) {
    look_once();
    return 0;
  }
  *result = reinterpret_cast<OpenFunction>(fathom_real_open)(path, flags);
  if (*result == nullptr) return 1;  // its error stays for dlerror
  look_once();
  dlerror();
  return 1;
}

__attribute__((visibility("hidden"))) int fathom_before_find(void* handle, const char* name,
                                                             void** result) {
  using namespace fathom::probe;
  look_once();
  if (name == nullptr || handle == RTLD_DEFAULT || handle == RTLD_NEXT || is_looking) return 0;
  try {
    if (!is_wanted(name)) return 0;
    *result = reinterpret_cast<FindFunction>(fathom_real_find)(handle, name);
    if (*result == nullptr) return 1;
    const std::lock_guard lock(*patching);
    if (void* other = instead_of(*result, name, true)) *result = other;
    return 1;
  } catch (...) {
    return 0;
  }
}
}
