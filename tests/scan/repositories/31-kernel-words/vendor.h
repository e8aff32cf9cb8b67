// One header for all languages that the kernels are compiled as.
#if defined IS_NATIVE
#define KERNEL_FQ
#define DEVICE_FQ static inline
#elif defined IS_CUDA
#define KERNEL_FQ extern "C" __global__
#define DEVICE_FQ __device__
#elif defined IS_METAL
#define KERNEL_FQ kernel
#define DEVICE_FQ
#else
#define KERNEL_FQ __kernel
#define DEVICE_FQ
#endif
// No marks: a macro with parameters, and one that stands for a statement.
#define RUN(kernel) launch(kernel)
#define CURRENT state.kernel
