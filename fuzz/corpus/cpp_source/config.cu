template <int N>
__global__ void a(int* p) {}
template <int N>
__global__ void b(int* p) {}
void run(bool pdl) {
  cudaLaunchConfig_t config{1, 2};
  config.gridDim = dim3(8, 2);
  cudaLaunchAttribute attrs[2];
  if (pdl) {
    attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  }
  attrs[1].id = cudaLaunchAttributeClusterDimension;
  attrs[1].val.clusterDim.x = 2;
  config.attrs = attrs;
  config.numAttrs = pdl ? 1 : 0;
  void (*kernel)(int*) = pdl ? a<1> : b<2>;
  cudaLaunchKernelEx(&config, kernel, p);
}
