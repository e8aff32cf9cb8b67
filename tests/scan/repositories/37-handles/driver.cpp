// Kernels that are asked for by name, and what holds them.
#include <cuda.h>

#include <map>
#include <string>

struct Kernels {
  CUfunction add, mul;
};
static Kernels kernels;
static std::map<std::string, CUfunction> table;
static CUfunction list[2];

void launch(CUfunction f, int block, void** args) {
  cuLaunchKernel(f, 1, 1, 1, block, 1, 1, 0, 0, args, nullptr);
}

// One variable for two kernels: each launch has its own.
void in_turn(CUmodule mod, int n, void** args) {
  CUfunction fn;
  cuModuleGetFunction(&fn, mod, "saxpy");
  cuLaunchKernel(fn, n / 256, 1, 1, 256, 1, 1, 0, 0, args, nullptr);
  cuModuleGetFunction(&fn, mod, "scale");
  cuLaunchKernel(fn, n / 128, 1, 1, 128, 1, 1, 0, 0, args, nullptr);
}

// Either of two.
void by_branch(CUmodule mod, bool is_wide, int n, void** args) {
  CUfunction fn;
  if (is_wide)
    cuModuleGetFunction(&fn, mod, "wide");
  else {
    cuModuleGetFunction(&fn, mod, "narrow");
  }
  cuLaunchKernel(fn, n, 1, 1, 64, 1, 1, 0, 0, args, nullptr);
}

// A condition that asks is no branch.
int by_check(CUmodule mod, void** args) {
  CUfunction fn;
  if (cuModuleGetFunction(&fn, mod, "checked") != CUDA_SUCCESS) return 1;
  cuLaunchKernel(fn, 1, 1, 1, 96, 1, 1, 0, 0, args, nullptr);
  return 0;
}

void load(CUmodule m) {
  static const char* const names[] = {"first_of_list", "second_of_list"};
  cuModuleGetFunction(&kernels.add, m, "add");
  cuModuleGetFunction(&kernels.mul, m, "mul");
  cuModuleGetFunction(&table["sub"], m, "sub");
  for (int i = 0; i < 2; ++i) cuModuleGetFunction(&list[i], m, names[i]);
}

CUfunction get(CUmodule m, const char* name) {
  CUfunction f;
  cuModuleGetFunction(&f, m, name);
  return f;
}

void use(CUmodule m, int which, void** args) {
  cuLaunchKernel(kernels.add, 1, 1, 1, 32, 1, 1, 0, 0, args, nullptr);
  cuLaunchKernel(kernels.mul, 1, 1, 1, 33, 1, 1, 0, 0, args, nullptr);
  cuLaunchKernel(table["sub"], 1, 1, 1, 34, 1, 1, 0, 0, args, nullptr);
  CUfunction div = get(m, "divide");
  cuLaunchKernel(div, 1, 1, 1, 35, 1, 1, 0, 0, args, nullptr);
  cuLaunchKernel(list[which], 1, 1, 1, 36, 1, 1, 0, 0, args, nullptr);
}

// The same helper, which writes through its first argument.
int put(CUfunction* f, CUmodule m, const char* name) { return cuModuleGetFunction(f, m, name); }

void use_put(CUmodule m, void** args) {
  CUfunction fn;
  int status = put(&fn, m, "put_there");
  cuLaunchKernel(fn, 1, 1, 1, 40, 1, 1, 0, 0, args, nullptr);
}
