#pragma once
struct Launcher {
  Launcher(dim3 grid, dim3 block, cudaStream_t stream) : grid_(grid), block_(block), stream_(stream) {}
  template <typename... Params, typename... Args>
  void operator()(void (*kernel)(Params...), Args... args) {
    kernel<<<grid_, block_, 0, stream_>>>(args...);
  }
  dim3 grid_, block_;
  cudaStream_t stream_;
};

#define LAUNCH(kernel, grid, ...) kernel<<<grid, 64>>>(__VA_ARGS__)
