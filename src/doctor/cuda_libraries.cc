#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "doctor/libraries.h"
#include "doctor/loaded_library.h"
#include "doctor/nvidia_libraries.h"

namespace fathom {
namespace {

constexpr int kMostCudaGpus = 64;
constexpr int kMajorAttribute = 75,
              kMinorAttribute = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…

void read_cuda_gpu(void* library, int index, const AnswerWriter& answer) {
  const auto open = function_of<int(int*, int)>(library, "cuDeviceGet");
  int device = 0;
  if (open == nullptr || open(&device, index) != 0) return;
  answer.put("gpu", fmt::format("{}", index));
  char name[128] = {};
  const auto get_name = function_of<int(char*, int, int)>(library, "cuDeviceGetName");
  if (get_name != nullptr && get_name(name, sizeof(name) - 1, device) == 0)
    answer.put("name", name);
  size_t bytes = 0;
  const auto get_memory = function_of<int(size_t*, int)>(library, "cuDeviceTotalMem_v2");
  if (get_memory != nullptr && get_memory(&bytes, device) == 0)
    answer.put("memory", fmt::format("{}", bytes));
  const auto get_attribute = function_of<int(int*, int, int)>(library, "cuDeviceGetAttribute");
  for (const auto& [key, attribute] :
       {std::pair("major", kMajorAttribute), std::pair("minor", kMinorAttribute)}) {
    int value = 0;
    if (get_attribute != nullptr && get_attribute(&value, attribute, device) == 0)
      answer.put(key, fmt::format("{}", value));
  }
}

void read_cuda(void* library, const AnswerWriter& answer) {
  int version = 0, count = 0;
  const auto get_version = function_of<int(int*)>(library, "cuDriverGetVersion");
  if (get_version != nullptr && get_version(&version) == 0) {
    // 13000: CUDA 13.0.
    answer.put("cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10));
  }
  const auto start = function_of<int(unsigned)>(library, "cuInit");
  if (const int error = start(0); error != 0) {
    const char* text = nullptr;
    const auto words = function_of<int(int, const char**)>(library, "cuGetErrorString");
    if (words == nullptr || words(error, &text) != 0) text = nullptr;
    answer.put("problem", fmt::format("cuInit: error {}{}{}", error, text == nullptr ? "" : ": ",
                                      text == nullptr ? "" : text));
    return;
  }
  const auto get_count = function_of<int(int*)>(library, "cuDeviceGetCount");
  if (get_count == nullptr || get_count(&count) != 0) return;
  answer.put("devices", fmt::format("{}", count));
  for (int i = 0; i < std::min(count, kMostCudaGpus); ++i) read_cuda_gpu(library, i, answer);
}

// 130001 is 13.0.1. Before 13.0 the version was a count: that of the CUDA toolkit says more.
std::string cupti_version_text(uint32_t version) {
  if (version >= 100000)
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  constexpr std::pair<uint32_t, const char*> kToolkits[] = {
      {18, "11.8"}, {19, "12.0"}, {20, "12.2"}, {21, "12.3"}, {22, "12.4"},
      {23, "12.5"}, {24, "12.6"}, {26, "12.8"}, {27, "12.9"}, {28, "12.9.1"}};
  for (const auto& [api, toolkit] : kToolkits) {
    if (api == version) return toolkit;
  }
  return fmt::format("API {}", version);
}

void read_cupti(void* library, const AnswerWriter& answer) {
  const auto get_version = function_of<int(uint32_t*)>(library, "cuptiGetVersion");
  uint32_t version = 0;
  if (get_version(&version) == 0) answer.put("version", cupti_version_text(version));
  if (dlsym(library, "cuptiRangeProfilerEnable") != nullptr) answer.put("range_profiler", "1");
  if (dlsym(library, "cuptiPmSamplingEnable") != nullptr) answer.put("pm_sampling", "1");
  if (dlsym(library, "cuptiPCSamplingEnable") != nullptr) answer.put("pc_sampling", "1");
}

}  // namespace

void ask_cuda(const Machine& machine, Environment& out) {
  const AnswerLines lines = ask_library(machine, driver_library_candidates(machine, "libcuda.so.1"),
                                        "cuInit", read_cuda, out.cuda);
  for (const auto& [key, value] : lines) {
    if (key == "cuda") out.cuda_driver_version = value;
    if (key == "devices") out.cuda_device_count = std::atoi(value.c_str());
  }
  // NVML tells more of a GPU, but a container may lack it.
  if (out.nvidia_gpus.empty()) out.nvidia_gpus = gpus_of_answer(lines);
  out.cuda.version = out.cuda_driver_version;
}

void ask_cupti(const Machine& machine, Environment& out) {
  for (const auto& [key, value] :
       ask_library(machine, cupti_candidates(machine), "cuptiGetVersion", read_cupti, out.cupti)) {
    if (key == "range_profiler") out.cupti.range_profiler = true;
    if (key == "pm_sampling") out.cupti.pm_sampling = true;
    if (key == "pc_sampling") out.cupti.pc_sampling = true;
  }
}

}  // namespace fathom
