template <int N>
__global__ void a(int* p) {}
template <int N>
__global__ void b(int* p) {}
struct Launcher {
  Launcher(dim3 grid, dim3 block) : c(grid) {}
  template <typename K>
  void operator()(K&& kernel) {
    cudaLaunchKernelEx(&c, kernel);
  }
  Launcher& pdl(bool on) {
    x.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    return *this;
  }
};
template <auto K>
void fixed() {
  K<<<1, 2>>>(p);
}
void run() {
  auto go = [&](auto kernel) { kernel<<<1, 2>>>(p); };
  go(a<1>);
  Launcher(1, 2).pdl(true)(b<1>);
  Launcher l(3, 4);
  l(a<2>);
  fixed<b<3>>();
}
