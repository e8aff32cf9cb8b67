#include "kernels.h"

void run(const float* in, float* out, int n, int block, int unroll, bool empty) {
  prepare_table[empty]<<<1, 128>>>(out);
  reduce_table[block / 64 - 1][unroll - 1]<<<1, block>>>(in, out, n);
  host_table[0](out);
}
