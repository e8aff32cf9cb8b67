__global__ void alive(float* x) { x[0] = 1; }
__global__ void dead_by_comment(float* x) { x[0] = 1; }
__global__ void handed_on(float* x) { x[0] = 1; }
__global__ void declared_only(float* x);
/* __global__ void in_comment(float* x) { x[0] = 1; } */
const char* text = "__global__ void in_string(float* x) { }";

void run(float* x) {
  alive<<<1, 1>>>(x);
  // dead_by_comment<<<1, 1>>>(x);
  /* dead_by_comment<<<1, 1>>>(x); */
  submit((void*)handed_on, x);
}
