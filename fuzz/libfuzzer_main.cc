#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "targets.h"

namespace {

using fathom::fuzz::Target;

const Target* chosen = nullptr;

void choose(std::span<const Target> targets, const char* name) {
  for (const Target& target : targets)
    if (name != nullptr && std::strcmp(target.name, name) == 0) chosen = &target;
}

// CPU time, so that a busy machine makes no findings: libFuzzer's own limit is one of the clock.
void limit_cpu(long seconds) {
  const itimerval limit = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

void end_slow_input(int /*signal*/) {
  constexpr char kWhy[] = "fathom_fuzz: over 10 CPU-seconds for one input\n";
  (void)!write(STDERR_FILENO, kWhy, sizeof kWhy - 1);
  abort();  // libFuzzer keeps the input
}

}  // namespace

// FATHOM_FUZZ_TARGET names the target: libFuzzer keeps the arguments for itself.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* name = std::getenv("FATHOM_FUZZ_TARGET");
  choose(fathom::fuzz::kScanTargets, name);
#ifndef FATHOM_FUZZ_SCAN_ONLY
  choose(fathom::fuzz::kOtherTargets, name);
#endif
  if (chosen != nullptr) {
    fathom::fuzz::whole_one_in = fathom::fuzz::kFuzzedWholeOneIn;
    std::signal(SIGPROF, end_slow_input);
    return 0;
  }
  std::fprintf(stderr, "FATHOM_FUZZ_TARGET must be the name of a folder in fuzz/corpus\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  limit_cpu(10);
  chosen->run(data, size);
  limit_cpu(0);
  return 0;
}
