// Stands for NVML, the CUDA driver and CUPTI. What it does is said by FAKE_DRIVER:
// "nvml-crashes", "cuda-hangs", "cuda-hides", "mismatch"; else it has one H200.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

bool is(const char* mode) {
  const char* const set = std::getenv("FAKE_DRIVER");
  return set != nullptr && std::strcmp(set, mode) == 0;
}

int text(char* out, unsigned size, const char* value) {
  std::strncpy(out, value, size);
  return 0;
}

int number(unsigned* out, unsigned value) {
  *out = value;
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (is("nvml-crashes")) std::abort();
  return is("mismatch") ? 18 : 0;
}
const char* nvmlErrorString(int) { return "Driver/library version mismatch"; }
int nvmlSystemGetNVMLVersion(char* out, unsigned size) { return text(out, size, "13.580.65"); }
int nvmlSystemGetDriverVersion(char* out, unsigned size) { return text(out, size, "580.65.06"); }
int nvmlDeviceGetCount_v2(unsigned* out) { return number(out, 2); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  *out = reinterpret_cast<void*>(static_cast<uintptr_t>(index) + 1);
  return 0;
}
int nvmlDeviceGetName(void*, char* out, unsigned size) { return text(out, size, "NVIDIA H200"); }
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* out) {
  out[0] = 150754820096ULL;
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* out) { return number(out, 600000); }
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned* out) { return number(out, 700000); }
int nvmlDeviceGetClockInfo(void*, int, unsigned* out) { return number(out, 345); }
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* out) { return number(out, 1980); }
// The second GPU's clock is locked.
int nvmlDeviceGetApplicationsClock(void* device, int, unsigned* out) {
  return number(out, device == reinterpret_cast<void*>(uintptr_t{2}) ? 1200 : 1980);
}
int nvmlDeviceGetDefaultApplicationsClock(void*, int, unsigned* out) { return number(out, 1980); }
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* out) { return number(out, 5); }
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* out) { return number(out, 16); }
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* on) {
  if (link >= 18) return 2;
  return number(on, link < 17);
}
int nvmlDeviceGetTopologyCommonAncestor(void*, void*, unsigned* out) { return number(out, 40); }

int cuDriverGetVersion(int* out) {
  *out = 13000;
  return 0;
}
int cuInit(unsigned) {
  if (is("cuda-hangs")) pause();
  return is("cuda-hides") ? 100 : 0;
}
int cuGetErrorString(int, const char** out) {
  *out = "no CUDA-capable device is detected";
  return 0;
}
int cuDeviceGetCount(int* out) {
  *out = 2;
  return 0;
}
int cuDeviceGet(int* out, int index) {
  *out = index;
  return 0;
}
int cuDeviceGetName(char* out, int size, int) {
  return text(out, static_cast<unsigned>(size), "NVIDIA H200");
}

int cuptiGetVersion(uint32_t* out) {
  *out = 130001;
  return 0;
}
int cuptiRangeProfilerEnable(void*) { return 0; }
int cuptiPmSamplingEnable(void*) { return 0; }
int cuptiPCSamplingEnable(void*) { return 0; }

}  // extern "C"
