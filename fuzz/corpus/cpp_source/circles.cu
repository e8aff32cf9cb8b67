#define A B
#define B C
#define C A
#define KERNEL(name) __global__ void name##_kernel(float* x, int n)
#define LAUNCH(k, ...) k<<<grid, block>>>(__VA_ARGS__)
#define TWICE(x) TWICE(x) TWICE(x)
template <class T, int N>
struct Deep : Deep<T, N - 1> {
  using Self = Deep<T, N>;
  using type = typename Self::type;
};
template <typename... Ts>
struct Pack {
  template <template <typename> class F>
  using map = Pack<F<Ts>...>;
};
using X = Y;
using Y = X;
using Z = Z;
auto f = g;
auto g = f;
constexpr int kOne = kTwo + 1, kTwo = kOne * 2, kThree = kThree;
KERNEL(add) {
  int i = i + 1;
  int j = k, k = j;
  for (int n = n; n < A; n += n) x[i * j + k] = x[n];
}
template <int D>
__global__ void deep(Pack<Pack<Pack<float, Pack<int>>>, Deep<Deep<int, 3>, D>>* p) {
  p[p[p[threadIdx.x]]] = deep<D - 1>;
}
void run(float* x) {
  auto k = cond ? &add_kernel : k;
  k<<<A, kOne>>>(x, kTwo);
  LAUNCH(add_kernel, x, A);
  LAUNCH(LAUNCH, LAUNCH);
  run(x);
}
void one() { two(); }
void two() { one(); }
#include "circles.cu"
#if A
#elif B
#endif
