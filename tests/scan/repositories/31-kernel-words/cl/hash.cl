#include "vendor.h"
#define ENTRY __kernel __attribute__((reqd_work_group_size(64, 1, 1)))

DEVICE_FQ void mix(PRIVATE_AS uint* x) { x[0] ^= x[1]; }

KERNEL_FQ KERNEL_FA void hash_init(GLOBAL_AS uint* x, KERN_ATTR()) {
  mix(x);
}

ENTRY void hash_loop(global uint* x) { x[get_global_id(0)] += 1; }

CURRENT void no_kernel(global uint* x) { x[0] = 1; }
