#include <cuda.h>

void start(CUmodule module, void** arguments) {
  CUfunction function;
  cuModuleGetFunction(&function, module, "taken_by_driver");
  puts("only_in_a_message could not be loaded");
}
