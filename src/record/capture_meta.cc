#include "record/capture_meta.h"

#include <dlfcn.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>

#include "record/record_writer.h"

namespace fathom::record {
namespace {

std::string command_line() {
  std::string text;
  if (std::FILE* file = std::fopen("/proc/self/cmdline", "r")) {
    char part[4096];
    const size_t size = std::fread(part, 1, sizeof part, file);
    std::fclose(file);
    text.assign(part, size);
  }
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0' || c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

}  // namespace

std::string process_meta(const cupti::Api& api) {
  utsname system{};
  uname(&system);
  uint64_t cupti_time = 0;
  if (api.GetTimestamp != nullptr) api.GetTimestamp(&cupti_time);
  std::string meta = "tool\tfathom record\t" FATHOM_VERSION "\n";
  meta += "process\t" + std::to_string(getpid()) + "\t" + std::to_string(getppid()) + "\t" +
          command_line() + "\n";
  meta += "start\t" + std::to_string(now_ns()) + "\n";
  meta += "cupti\t" + std::to_string(api.version) + "\t" + std::to_string(cupti_time) + "\n";
  meta += std::string("host\t") + system.nodename + "\n";
  return meta;
}

std::string gpu_meta() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return "";
  const auto count_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  const auto memory_of =
      reinterpret_cast<int (*)(size_t*, int)>(dlsym(driver, "cuDeviceTotalMem_v2"));
  const auto attribute =
      reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  const auto version_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int count = 0, version = 0;
  if (count_of == nullptr || name_of == nullptr || memory_of == nullptr || attribute == nullptr ||
      count_of(&count) != 0) {
    return "";
  }
  std::string meta;
  if (version_of != nullptr && version_of(&version) == 0)
    meta += "driver\t" + std::to_string(version) + "\n";
  constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76;
  for (int i = 0; i < count; ++i) {
    char name[256] = {};
    size_t memory = 0;
    int units = 0, major = 0, minor = 0;
    if (name_of(name, sizeof name - 1, i) != 0 || memory_of(&memory, i) != 0) continue;
    attribute(&units, kMultiprocessors, i);
    attribute(&major, kMajor, i);
    attribute(&minor, kMinor, i);
    meta += "gpu\t" + std::to_string(i) + "\t" + name + "\t" + std::to_string(units) + "\t" +
            std::to_string(memory) + "\t" + std::to_string(major) + "\t" + std::to_string(minor) +
            "\n";
  }
  return meta;
}

}  // namespace fathom::record
