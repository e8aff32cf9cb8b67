#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "targets.h"

namespace {

const fathom::fuzz::Target* chosen = nullptr;

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
  for (const fathom::fuzz::Target& target : fathom::fuzz::kTargets)
    if (name != nullptr && std::strcmp(target.name, name) == 0) chosen = &target;
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
