#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "targets.h"

namespace {

const fathom::fuzz::Target* chosen = nullptr;

}  // namespace

// FATHOM_FUZZ_TARGET names the target: libFuzzer keeps the arguments for itself.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* name = std::getenv("FATHOM_FUZZ_TARGET");
  for (const fathom::fuzz::Target& target : fathom::fuzz::kTargets)
    if (name != nullptr && std::strcmp(target.name, name) == 0) chosen = &target;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "FATHOM_FUZZ_TARGET must be the name of a folder in fuzz/corpus\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen->run(data, size);
  return 0;
}
