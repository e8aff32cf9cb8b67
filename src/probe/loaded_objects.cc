// Finds the calls that go from one object of the program to another, and sends those of the wanted
// functions through recorded_call. Loaded into the program by LD_PRELOAD.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "probe/call_file.h"
#include "probe/call_recorder.h"
#include "probe/direct_calls.h"
#include "probe/native_probe.h"

namespace fathom::probe {
namespace {

struct LoadedObject {
  std::string name;  // empty: the program
  uintptr_t base = 0, begin = 0, end = 0;
  uintptr_t sealed = 0, sealed_end = 0;  // read-only after it has been linked
  const ElfW(Dyn) * dynamic = nullptr;
  std::vector<CodeRange> code;
};

struct LinkTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* texts = nullptr;
  const ElfW(Rela) * calls = nullptr, *data = nullptr;
  size_t call_count = 0, data_count = 0;
  const ElfW(Half) * versions = nullptr;
  const ElfW(Verneed) * needed = nullptr;
  size_t needed_count = 0;
  bool own_first = false;  // DT_SYMBOLIC
};

std::vector<NativeProbe>* wanted_probes = nullptr;  // never deleted: calls come until the end
std::vector<LoadedObject>* known = nullptr;
std::recursive_mutex* patching = nullptr;
unsigned long long last_added = 0, last_removed = 0;
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

uintptr_t address_in(const LoadedObject& object, ElfW(Addr) value) {
  return value < object.base ? object.base + value : value;  // musl leaves it as in the file
}

LinkTables tables_of(const LoadedObject& object) {
  LinkTables t;
  size_t call_bytes = 0, data_bytes = 0;
  for (const ElfW(Dyn)* d = object.dynamic; d->d_tag != DT_NULL; ++d) {
    const uintptr_t place = address_in(object, d->d_un.d_ptr);
    switch (d->d_tag) {
      case DT_SYMTAB:
        t.symbols = reinterpret_cast<const ElfW(Sym)*>(place);
        break;
      case DT_STRTAB:
        t.texts = reinterpret_cast<const char*>(place);
        break;
      case DT_JMPREL:
        t.calls = reinterpret_cast<const ElfW(Rela)*>(place);
        break;
      case DT_RELA:
        t.data = reinterpret_cast<const ElfW(Rela)*>(place);
        break;
      case DT_PLTRELSZ:
        call_bytes = d->d_un.d_val;
        break;
      case DT_RELASZ:
        data_bytes = d->d_un.d_val;
        break;
      case DT_VERSYM:
        t.versions = reinterpret_cast<const ElfW(Half)*>(place);
        break;
      case DT_VERNEED:
        t.needed = reinterpret_cast<const ElfW(Verneed)*>(place);
        break;
      case DT_VERNEEDNUM:
        t.needed_count = d->d_un.d_val;
        break;
      case DT_SYMBOLIC:
        t.own_first = true;
        break;
      case DT_FLAGS:
        t.own_first = t.own_first || (d->d_un.d_val & DF_SYMBOLIC) != 0;
        break;
      default:
        break;
    }
  }
  if (t.symbols == nullptr || t.texts == nullptr) return {};
  if (t.calls != nullptr) t.call_count = call_bytes / sizeof(ElfW(Rela));
  if (t.data != nullptr) t.data_count = data_bytes / sizeof(ElfW(Rela));
  return t;
}

// The version that a reference asks for; null: none.
const char* version_of(const LinkTables& t, size_t symbol) {
  if (t.versions == nullptr || t.needed == nullptr) return nullptr;
  const unsigned version = t.versions[symbol] & 0x7fff;
  const auto* need = t.needed;
  for (size_t i = 0; i < t.needed_count; ++i) {
    const auto* aux =
        reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(need) + need->vn_aux);
    for (int j = 0; j < need->vn_cnt; ++j) {
      if ((aux->vna_other & 0x7fff) == version) return t.texts + aux->vna_name;
      aux = reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(aux) +
                                                   aux->vna_next);
    }
    need =
        reinterpret_cast<const ElfW(Verneed)*>(reinterpret_cast<const char*>(need) + need->vn_next);
  }
  return nullptr;
}

// What the linker will bind at the first call: the global scope, then the object's own.
void* bound_later(const LinkTables& t, size_t symbol, const char* name, void* handle) {
  const char* version = version_of(t, symbol);
  void* places[2] = {RTLD_DEFAULT, handle};
  if (t.own_first) std::swap(places[0], places[1]);
  for (void* place : places) {
    if (void* found = version != nullptr ? dlvsym(place, name, version) : dlsym(place, name))
      return found;
  }
  return nullptr;
}

std::string program_path() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

// The function that an address is the start of, and the file that it is in.
struct Definition {
  bool is_function = false;
  std::string path;
};
Definition definition_at(void* address) {
  Definition found;
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) == 0) {
    return found;
  }
  if (info.dli_fname != nullptr) found.path = info.dli_fname;
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  if (!known->empty() && known->front().name.empty() && base == known->front().begin)
    found.path = program_path();
  if (symbol == nullptr || info.dli_saddr != address || symbol->st_shndx == SHN_UNDEF) return found;
  const int type = ELF64_ST_TYPE(symbol->st_info);
  found.is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  return found;
}

std::string shown_name(const char* symbol, const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::string function = function_name(demangled_symbol(symbol), true);
  if (function.empty()) function = symbol;
  return name + ":" + function;
}

uint32_t numbers_in(const NativeProbe& probe) {
  uint32_t bits = 0;
  for (const NativeNumber& number : probe.numbers) bits |= 1u << number.argument;
  return bits;
}

// What a call of `target` goes to instead; null: to itself. Each probe of it gets its numbers.
void* instead_of(void* target, const char* name, bool must_be_function) {
  void* instead = nullptr;
  for (size_t i = 0; i < wanted_probes->size(); ++i) {
    const NativeProbe& probe = (*wanted_probes)[i];
    if (!matches_symbol(probe, name)) continue;
    const Definition definition = definition_at(target);
    if (must_be_function && !definition.is_function) return nullptr;
    if (!matches_object(probe, definition.path)) continue;
    void* place = recorded_call(target, static_cast<uint32_t>(i), shown_name(name, definition.path),
                                numbers_in(probe));
    if (instead == nullptr) instead = place;
  }
  return instead;
}

bool is_wanted(const char* name) {
  for (const NativeProbe& probe : *wanted_probes) {
    if (matches_symbol(probe, name)) return true;
  }
  return false;
}

void write_place(const LoadedObject& object, uintptr_t place, void* value) {
  const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t page = place / page_size * page_size;
  const bool is_sealed = place >= object.sealed && place < object.sealed_end;
  auto* slot = reinterpret_cast<void**>(place);
  if (is_sealed && mprotect(reinterpret_cast<void*>(page), page_size, PROT_READ | PROT_WRITE) != 0)
    return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (is_sealed) mprotect(reinterpret_cast<void*>(page), page_size, PROT_READ);
}

// The loader's own functions, through which libraries come later.
void* loader_entry(const char* name, void* target) {
  const bool opens = std::strcmp(name, "dlopen") == 0, finds = std::strcmp(name, "dlsym") == 0;
  if (!opens && !finds) return nullptr;
  void*& real = opens ? fathom_real_open : fathom_real_find;
  if (real == nullptr) real = target;
  if (real != target) return nullptr;  // another one: left alone
  return reinterpret_cast<void*>(opens ? fathom_open : fathom_find);
}

void patch_reference(const LoadedObject& object, const LinkTables& t, const ElfW(Rela) & r,
                     bool is_call, void* handle) {
  const size_t index = ELF64_R_SYM(r.r_info);
  if (index == 0) return;
  const ElfW(Sym)& symbol = t.symbols[index];
  const char* name = t.texts + symbol.st_name;
  const bool is_loader = name[0] == 'd' && name[1] == 'l' &&
                         (std::strcmp(name, "dlopen") == 0 || std::strcmp(name, "dlsym") == 0);
  if (!is_loader && !is_wanted(name)) return;
  const uintptr_t place = object.base + r.r_offset;
  if (place < object.begin || place >= object.end) return;
  void* target = __atomic_load_n(reinterpret_cast<void**>(place), __ATOMIC_ACQUIRE);
  if (target == nullptr || is_recorded_call(target)) return;
  const auto value = reinterpret_cast<uintptr_t>(target);
  const bool is_inside = value >= object.begin && value < object.end;
  const bool is_own = symbol.st_shndx != SHN_UNDEF && value == object.base + symbol.st_value;
  if (is_call && is_inside && !is_own) target = bound_later(t, index, name, handle);
  if (target == nullptr) return;
  void* other = is_loader ? loader_entry(name, target) : instead_of(target, name, !is_call);
  if (other != nullptr) write_place(object, place, other);
}

void patch_object(const LoadedObject& object) {
  const LinkTables t = tables_of(object);
  if (t.symbols == nullptr) return;
  void* handle = dlopen(object.name.empty() ? nullptr : object.name.c_str(),
                        RTLD_LAZY | RTLD_NOLOAD);  // stays while it is looked at
  if (handle == nullptr) return;
  for (size_t i = 0; i < t.call_count; ++i) {
    if (ELF64_R_TYPE(t.calls[i].r_info) == R_X86_64_JUMP_SLOT)
      patch_reference(object, t, t.calls[i], true, handle);
  }
  for (size_t i = 0; i < t.data_count; ++i) {
    const ElfW(Rela)& r = t.data[i];
    const auto type = ELF64_R_TYPE(r.r_info);
    const uintptr_t place = object.base + r.r_offset;
    // Of data, only tables of virtual functions: they are sealed.
    const bool is_table = type == R_X86_64_64 && r.r_addend == 0 && place >= object.sealed &&
                          place < object.sealed_end;
    if (type == R_X86_64_GLOB_DAT || is_table) patch_reference(object, t, r, false, handle);
  }
  dlclose(handle);
}

// Calls inside an object. Only of objects that a probe names, and of the program: scanning all code
// would take long, and what the C library does inside is its own.
void patch_direct_calls(const LoadedObject& object, bool is_early) {
  const bool is_program = object.name.empty();
  const std::string path = is_program ? program_path() : object.name;
  std::vector<const NativeProbe*> meant;
  for (const NativeProbe& probe : *wanted_probes) {
    const bool is_named = !probe.object.empty() && matches_object(probe, path);
    if (is_named || (is_program && probe.object.empty())) meant.push_back(&probe);
  }
  if (meant.empty() || path.find("/libc.so") != std::string::npos) return;
  const std::vector<DefinedFunction> functions =
      defined_functions(is_program ? "/proc/self/exe" : path.c_str(), [&](const char* name) {
        return std::ranges::any_of(
            meant, [name](const NativeProbe* probe) { return matches_symbol(*probe, name); });
      });
  std::vector<Redirection> redirections;
  for (const DefinedFunction& function : functions) {
    const uintptr_t from = object.base + function.offset;
    void* to = nullptr;
    for (const NativeProbe* probe : meant) {
      if (!matches_symbol(*probe, function.name.c_str())) continue;
      const auto index = static_cast<uint32_t>(probe - wanted_probes->data());
      void* place = recorded_call(reinterpret_cast<void*>(from), index,
                                  shown_name(function.name.c_str(), path), numbers_in(*probe));
      if (to == nullptr) to = place;
    }
    if (to != nullptr) redirections.push_back({from, to});
  }
  for (const CodeRange& code : object.code) redirect_calls(code, redirections, is_early);
}

int collect_object(dl_phdr_info* info, size_t, void* out) {
  LoadedObject object;
  object.name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  object.base = info->dlpi_addr;
  object.begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      if ((part.p_flags & PF_X) != 0) object.code.push_back({start, start + part.p_filesz});
      object.begin = std::min(object.begin, start);
      object.end = std::max(object.end, start + part.p_memsz);
    } else if (part.p_type == PT_DYNAMIC) {
      object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(start);
    } else if (part.p_type == PT_GNU_RELRO) {
      object.sealed = start;
      object.sealed_end = start + part.p_memsz;
    }
  }
  const bool is_system = object.name.find("linux-vdso") != std::string::npos ||
                         object.name.find("ld-linux") != std::string::npos;
  if (object.dynamic != nullptr && !is_system && info->dlpi_addr != own_base)
    static_cast<std::vector<LoadedObject>*>(out)->push_back(std::move(object));
  return 0;
}

int count_changes(dl_phdr_info* info, size_t, void* out) {
  auto* changes = static_cast<unsigned long long*>(out);
  changes[0] = info->dlpi_adds;
  changes[1] = info->dlpi_subs;
  return 1;
}

void look_at_objects() {
  const std::lock_guard lock(*patching);
  unsigned long long changes[2] = {};
  dl_iterate_phdr(count_changes, changes);
  if (changes[0] == last_added && changes[1] == last_removed) return;
  const bool again = changes[1] != last_removed;  // what is new may lie where another was
  last_added = changes[0];
  last_removed = changes[1];
  std::vector<LoadedObject> old, objects;
  dl_iterate_phdr(collect_object, &objects);
  old.swap(*known);
  *known = objects;
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
  } catch (...) {
    // Out of memory: the program must not notice.
  }
  is_looking = false;
}

__attribute__((constructor)) void start() {
  const char* directory = std::getenv(kProbeDirectoryVariable);
  const char* probes = std::getenv(kProbesVariable);
  if (directory == nullptr || probes == nullptr) return;
  try {
    wanted_probes = new std::vector<NativeProbe>;
    known = new std::vector<LoadedObject>;
    patching = new std::recursive_mutex;
    std::string_view rest = probes;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      wanted_probes->push_back(native_probe(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
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
