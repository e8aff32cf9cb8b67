#include <nvrtc.h>

static const char* const kSource = R"cuda(
extern "C" __global__ void saxpy(float a, float* x) {
  x[threadIdx.x] *= a;
}

__device__ float helper(float x) { return x; }
)cuda";

const char* kOpenCl =
    "__kernel void shift(__global float* x) {\n"
    "  x[0] = 1;\n"
    "}\n";

const char* kMessage = "no __global__ function of this name";

void build() {
  nvrtcCreateProgram(nullptr, kSource, "saxpy.cu", 0, nullptr, nullptr);
  cuModuleGetFunction(nullptr, nullptr, "saxpy");
}
