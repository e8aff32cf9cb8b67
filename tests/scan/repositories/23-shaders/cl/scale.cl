// __kernel void in_a_comment(global float* x) {}
#define TILE 16
float helper(float x) { return x * 2; }

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void scale(__global float* x,
                    const float by) {
  x[get_global_id(0)] = helper(x[get_global_id(0)]) * by;
}

#ifdef SUB_GROUPS
REQD_SUB_GROUP_SIZE_16
#endif
kernel void add(global float* x) {
  int kernel_size = 3;
  x[0] += kernel_size;
}

kernel void declared_only(global float* x);

#ifdef WIDE
kernel void wide(
#else
kernel void narrow(
#endif
    global float* x) {
  x[0] = 1;
}
