// The twin: the same, and the constant is a number.
struct single {
  static constexpr int size = 1;
};

template <typename T>
__device__ void step(float* y) {
  if constexpr (T::size == 1) y[threadIdx.x] = 2.f;
}

__global__ void of_number(float* y) { step<single>(y); }
