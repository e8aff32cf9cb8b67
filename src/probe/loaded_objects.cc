#include "probe/loaded_objects.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace fathom::probe {
namespace {

uintptr_t address_in(const LoadedObject& object, ElfW(Addr) value) {
  return value < object.base ? object.base + value : value;  // musl leaves it as in the file
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

uintptr_t program_begin = 0;

struct Collected {
  uintptr_t own_base;
  std::vector<LoadedObject> objects;
};

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
  auto& collected = *static_cast<Collected*>(out);
  if (object.dynamic != nullptr && !is_system && info->dlpi_addr != collected.own_base)
    collected.objects.push_back(std::move(object));
  return 0;
}

int count_changes(dl_phdr_info* info, size_t, void* out) {
  *static_cast<LoaderChanges*>(out) = {info->dlpi_adds, info->dlpi_subs};
  return 1;
}

}  // namespace

std::vector<LoadedObject> loaded_objects(uintptr_t own_base) {
  Collected collected{own_base, {}};
  dl_iterate_phdr(collect_object, &collected);
  if (!collected.objects.empty() && collected.objects.front().name.empty())
    program_begin = collected.objects.front().begin;
  return std::move(collected.objects);
}

bool is_program(uintptr_t begin) { return begin != 0 && begin == program_begin; }

LoaderChanges loader_changes() {
  LoaderChanges changes;
  dl_iterate_phdr(count_changes, &changes);
  return changes;
}

std::string program_path() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
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

}  // namespace fathom::probe
