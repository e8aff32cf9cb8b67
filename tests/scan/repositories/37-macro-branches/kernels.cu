// Macros that stand for other kernels in other branches, lists of macros' uses, entries of tables.
__global__ void fast_kernel(float* x) { x[threadIdx.x] *= 2; }
__global__ void slow_kernel(float* x) { x[threadIdx.x] *= 3; }
__global__ void first(float* x) { x[threadIdx.x] *= 3; }
__global__ void second(float* x) { x[threadIdx.x] *= 3; }
__global__ void inside_a(float* x) { x[threadIdx.x] *= 3; }
__global__ void inside_b(float* x) { x[threadIdx.x] *= 3; }

#ifdef USE_FAST
#define KERNEL fast_kernel
#else
#define KERNEL slow_kernel
#endif
void either(float* x) { KERNEL<<<1, 32>>>(x); }

// Defined anew, which is no choice.
#define STAGE first
void one(float* x) { STAGE<<<1, 33>>>(x); }
#undef STAGE
#define STAGE second
void two(float* x) { STAGE<<<1, 34>>>(x); }

// Used within the branch.
#ifdef A
#define INSIDE inside_a
void in_branch(float* x) { INSIDE<<<1, 35>>>(x); }
#else
#define INSIDE inside_b
void in_branch(float* x) { INSIDE<<<1, 36>>>(x); }
#endif

#define OPS(X) X(add, +) X(mul, *)
#define DEFINE(name, op) __global__ void name##_kernel(float* x) { x[threadIdx.x] = x[threadIdx.x] op 2; }
OPS(DEFINE)
#undef DEFINE
#define LAUNCH(name, op) void name(float* x) { name##_kernel<<<1, 37>>>(x); }
OPS(LAUNCH)
#define NAME(name, op) #name,
const char* names[] = {OPS(NAME)};

using Kernel = void (*)(float*);
void by_number(float* x) {
  Kernel table[] = {first, second, fast_kernel};
  table[1]<<<1, 38>>>(x);
}
void by_variable(float* x, int which) {
  static const Kernel table[2] = {first, second};
  table[which]<<<1, 39>>>(x);
}
