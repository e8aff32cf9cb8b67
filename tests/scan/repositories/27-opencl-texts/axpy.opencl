// The whole file is a literal that a program includes.
R"(
#if RELAXED == 1
  __kernel
#else
  __kernel __attribute__((reqd_work_group_size(64, 1, 1)))
#endif
void axpy(const int n, __global float* x, __global float* y) {
  y[get_global_id(0)] += x[get_global_id(0)];
}

float helper(float x) { return x; }
)"
