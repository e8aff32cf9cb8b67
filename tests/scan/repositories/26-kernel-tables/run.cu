#include "kernels.h"

void run(const float* in, float* out, int n, int block, int unroll, bool empty) {
  prepare_table[empty]<<<1, 128>>>(out);
  reduce_table[block / 64 - 1][unroll - 1]<<<1, block>>>(in, out, n);
  host_table[0](out);
}

void convert(float* values, int* codes, int bits, bool back) {
  if (back)
    unpack_instances[bits / 2 - 1]<<<4, 32>>>(codes, values);
  else
    pack_instances[bits / 2 - 1]<<<8, 32>>>(values, codes);
}

// The same in the file that launches.
template <int BITS>
__global__ void shift(int* codes) {
  codes[threadIdx.x] >>= BITS;
}
#define __(i) shift<i>
constexpr auto shift_instances = std::array{__(2), __(4)};
#undef __
void shift_all(int* codes, int bits) { shift_instances[bits / 2 - 1]<<<2, 64>>>(codes); }
