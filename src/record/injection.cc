// What CUDA's driver and NVTX look for in the library that their environment variables name.
#include <cstdlib>

#include "record/exit_guard.h"
#include "record/recorder.h"

#define FATHOM_EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using fathom::record::Recorder;

void finish_recording() {
  if (Recorder* recorder = Recorder::current()) recorder->finish();
}

Recorder* started() {
  Recorder* recorder = Recorder::instance();
  static bool once = (std::atexit(finish_recording), fathom::record::remember_exit_status(), true);
  (void)once;
  return recorder;
}

}  // namespace

// CUDA_INJECTION64_PATH: when the driver is initialized.
FATHOM_EXPORTED int InitializeInjection() {  // NOLINT(readability-identifier-naming)
  try {
    started();
  } catch (...) {
    // The program must not notice.
  }
  return 1;
}

// NVTX_INJECTION64_PATH: at the program's first use of NVTX.
// NOLINTNEXTLINE(readability-identifier-naming)
FATHOM_EXPORTED int InitializeInjectionNvtx2(void* get_export_table) {
  try {
    Recorder* recorder = started();
    if (recorder == nullptr || !recorder->works()) return 0;
    const fathom::cupti::Api& cupti = recorder->cupti();
    if (cupti.NvtxInitialize2 == nullptr || cupti.version == 130000) return 0;
    return cupti.NvtxInitialize2(get_export_table) == fathom::cupti::kSuccess ? 1 : 0;
  } catch (...) {
    return 0;
  }
}
