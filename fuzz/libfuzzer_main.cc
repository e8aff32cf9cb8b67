#include "targets.h"

// FATHOM_FUZZ_TARGET is the function that this program fuzzes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fathom::fuzz::FATHOM_FUZZ_TARGET(data, size);
  return 0;
}
