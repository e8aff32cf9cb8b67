// A function calls what the macros that it uses call.
#include <torch/extension.h>

template <typename T>
__global__ void convert_kernel(const T* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void spare_kernel(float* out) { out[threadIdx.x] = 0; }

template <typename T>
void apply_convert(torch::Tensor in, torch::Tensor out) {
  convert_kernel<T><<<1, 128>>>((const T*)in.data_ptr(), out.data_ptr<float>());
}

void apply_spare(torch::Tensor out) { spare_kernel<<<1, 128>>>(out.data_ptr<float>()); }

void convert(torch::Tensor in, torch::Tensor out) {
#define _(T) apply_convert<T>(in, out)
  if (in.scalar_type() == at::kHalf) {
    _(at::Half);
  } else {
    _(float);
  }
#undef _
}

// Its macro calls whatever it is given, and nobody uses the other one.
#define RUN(apply_spare) apply_spare(out)
#define UNUSED() apply_spare(out)
void other(torch::Tensor out) { RUN(clear); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("convert", &convert, "");
  m.def("other", &other, "");
}
