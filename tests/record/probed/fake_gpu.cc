// Launches a kernel of fake_cupti.cc every MS milliseconds, COUNT times: fake_gpu COUNT MS. Without
// a tool in the environment it does the same with no GPU at all.
#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** words) {
  if (count < 3) return 2;
  void (*launch)(const char*) = nullptr;
  if (const char* tool = std::getenv("CUDA_INJECTION64_PATH")) {
    void* library = dlopen(tool, RTLD_NOW);
    const auto start = reinterpret_cast<int (*)()>(
        library != nullptr ? dlsym(library, "InitializeInjection") : nullptr);
    if (start != nullptr) start();
    if (void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD))
      launch = reinterpret_cast<void (*)(const char*)>(dlsym(cupti, "fakeLaunch"));
  }
  const long pause = std::atol(words[2]);
  for (int i = 0; i < std::atoi(words[1]); ++i) {
    if (launch != nullptr) launch(i % 3 == 0 ? "_Z6attendPf" : "gemm_64x64");
    const timespec time{pause / 1000, pause % 1000 * 1'000'000};
    nanosleep(&time, nullptr);
  }
  std::puts("done");
  return 0;
}
