#include <CL/cl.h>
cl_kernel make(cl_program program) {
  int error = 0;
  return clCreateKernel(program, "scale", &error);
}
