template <typename K>
struct wrap : K {
  __device__ void operator()(int p) {}
};
template <typename T>
struct Old {
  __device__ void operator()(int p) {}
};
template <typename T>
void run() {
  typedef wrap<Old<T>> Inner;
  using Chosen = std::conditional_t<(T::x >= 90), Inner, Old<T>>;
  cutlass::kernel_launch<Chosen>(1, 2, 3, s, p, true);
}
template <typename Kernel>
struct Device {
  void run() { device_kernel<Kernel><<<3, 4>>>(p); }
};
Device<Old<int>> device;
