#include "kernels.cuh"
#include "program.h"

// The launches are behind a driver's function: only who takes an address is seen.
Program::Program() {
  gather_ = gather<4>;
  handles_.push_back(handle_of((const void*)&signal));
}

Program::Kernel Program::pick(bool wide) { return wide ? forget : nullptr; }

// A near-twin: a variable of a kernel's name.
float times(float scale, const float* in) {
  float forget = in[0];
  keep(scale, forget);
  return scale;
}
