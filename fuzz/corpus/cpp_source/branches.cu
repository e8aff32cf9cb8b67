template <int N>
#if WIDE
__global__ void __launch_bounds__(256) k(int a) {
#elif NARROW
__global__ void k(short a) {
#else
__global__ void k(float a) {
#endif
#ifdef FAST
  if (a) {
#endif
#ifdef FAST
  }
#endif
}
#if 0
__global__ void never() {}
#endif
