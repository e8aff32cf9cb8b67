#include <CL/opencl.hpp>

const char* source = R"(
__kernel void vadd(__global const float* a, __global float* c) { c[get_global_id(0)] = a[get_global_id(0)]; }
__kernel void vmul(__global const float* a, __global float* c) { c[get_global_id(0)] *= a[get_global_id(0)]; }
__kernel void unused(__global const float* a, __global float* c) { c[get_global_id(0)] -= a[get_global_id(0)]; }
)";

void run(cl::Context context, cl::CommandQueue queue, cl::Buffer a, cl::Buffer c) {
  cl::Program program(context, source, true);
  cl::Kernel kernel(program, "vadd");
  kernel.setArg(0, a);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1024), cl::NDRange(64));
  auto mul = cl::Kernel(program, "vmul");
  queue.enqueueNDRangeKernel(mul, cl::NullRange, cl::NDRange(1024), cl::NDRange(32));
}
