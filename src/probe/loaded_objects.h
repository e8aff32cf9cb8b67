#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probe/direct_calls.h"

// The program and the libraries that are loaded, and how the linker ties them together.
namespace fathom::probe {

struct LoadedObject {
  std::string name;  // empty: the program
  uintptr_t base = 0, begin = 0, end = 0;
  uintptr_t sealed = 0, sealed_end = 0;  // read-only after it has been linked
  const ElfW(Dyn) * dynamic = nullptr;
  std::vector<CodeRange> code;
};

// All but the loader, the system's own and this library, the program first. `own_base`: this
// library's.
std::vector<LoadedObject> loaded_objects(uintptr_t own_base);

// How often objects were loaded and unloaded so far.
struct LoaderChanges {
  unsigned long long added = 0, removed = 0;

  bool operator==(const LoaderChanges&) const = default;
};
LoaderChanges loader_changes();

// Whether the program begins there; after loaded_objects().
bool is_program(uintptr_t begin);
std::string program_path();

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

// Without symbols: the object has no such tables.
LinkTables tables_of(const LoadedObject& object);
// What the linker will bind at the first call: the global scope, then the object's own.
void* bound_later(const LinkTables& tables, size_t symbol, const char* name, void* handle);

}  // namespace fathom::probe
