#include "probe/patched_calls.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "probe/call_recorder.h"
#include "probe/loader_hooks.h"

namespace fathom::probe {
namespace {

std::vector<NativeProbe>* wanted_probes = nullptr;  // never deleted: calls come until the end

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
  if (is_program(base)) found.path = program_path();
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

void patch_reference(const LoadedObject& object, const LinkTables& t, const ElfW(Rela) & r,
                     bool is_call, void* handle) {
  const size_t index = ELF64_R_SYM(r.r_info);
  if (index == 0) return;
  const ElfW(Sym)& symbol = t.symbols[index];
  const char* name = t.texts + symbol.st_name;
  const bool is_loader = is_loader_function(name);
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

}  // namespace

void set_wanted(std::vector<NativeProbe> probes) {
  wanted_probes = new std::vector<NativeProbe>(std::move(probes));
}

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

}  // namespace fathom::probe
