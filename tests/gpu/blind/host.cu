// Cases whose fault is on the host side or on the way to the GPU.
#include "blind.h"

namespace {

// ---- an elementwise recurrence: one launch for each of 200 steps, or one launch that loops ----
__device__ float relaxed(float v, float rate) { return v - rate * (v * v * v - v); }
__global__ void relax_step(float* v, float rate, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = relaxed(v[i], rate);
}
__global__ void relax_steps(float* v, float rate, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float mine = v[i];
  for (int s = 0; s < steps; ++s) mine = relaxed(mine, rate);
  v[i] = mine;
}
struct RelaxSteps : Case {
  static constexpr int n = 64 << 10, steps = 200;
  float* start = values(n, 30);
  RelaxSteps() { result(n); }
  void run(bool fixed) override {
    CHECK(cudaMemcpyAsync(out, start, n * sizeof(float), cudaMemcpyDeviceToDevice));
    if (fixed)
      relax_steps<<<n / 256, 256>>>(out, 0.01f, n, steps);
    else
      for (int s = 0; s < steps; ++s) relax_step<<<n / 256, 256>>>(out, 0.01f, n);
  }
};

// ---- an iteration that asks the host after each step whether to go on, or after all of them ----
__global__ void smooth(const float* in, float* out, float* change, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = in[i ? i - 1 : n - 1], right = in[i + 1 < n ? i + 1 : 0];
  float v = 0.25f * (left + right) + 0.5f * in[i];
  out[i] = v;
  if (i == 0) *change = fabsf(v - in[i]);
}
struct SmoothUntil : Case {
  static constexpr int n = 512 << 10, steps = 60;
  float *start = values(n, 31), *other = device<float>(n), *change = device<float>(1);
  SmoothUntil() { result(n); }
  void run(bool fixed) override {
    CHECK(cudaMemcpyAsync(out, start, n * sizeof(float), cudaMemcpyDeviceToDevice));
    for (int s = 0; s < steps; ++s) {
      smooth<<<n / 256, 256>>>(s % 2 ? other : out, s % 2 ? out : other, change, n);
      if (fixed && s + 1 < steps) continue;
      float left = 1;
      CHECK(cudaMemcpy(&left, change, sizeof left, cudaMemcpyDeviceToHost));
      if (left < 0) break;
    }
  }
};

// ---- weights that never change are uploaded from pageable memory before each use ----
__global__ void scale_rows(const float* weights, const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = weights[i] * x[i] + 0.5f;
}
struct Reupload : Case {
  static constexpr int n = 16 << 20;
  std::vector<float> host;
  float *weights = device<float>(n), *x = values(n, 33);
  Reupload() : host(n) {
    for (int i = 0; i < n; ++i) host[i] = (i % 1000) * 0.001f;
    result(n);
    upload();
  }
  void upload() {
    CHECK(cudaMemcpy(weights, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  }
  void run(bool fixed) override {
    if (!fixed) upload();
    scale_rows<<<n / 256, 256>>>(weights, x, out, n);
  }
};

// ---- a table in mapped host memory read by the kernel over PCIe, or its copy on the GPU ----
struct MappedTable : Case {
  static constexpr int n = 8 << 20;
  float *host = nullptr, *mapped = nullptr, *table = device<float>(n), *x = values(n, 34);
  MappedTable() {
    CHECK(cudaHostAlloc(&host, n * sizeof(float), cudaHostAllocMapped));
    for (int i = 0; i < n; ++i) host[i] = (i % 777) * 0.002f;
    CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    CHECK(cudaMemcpy(table, host, n * sizeof(float), cudaMemcpyHostToDevice));
    result(n);
  }
  ~MappedTable() override { cudaFreeHost(host); }
  void run(bool fixed) override { scale_rows<<<n / 256, 256>>>(fixed ? table : mapped, x, out, n); }
};

}  // namespace

std::vector<Entry> host_cases() {
  return {{"relax_steps", false, make_case<RelaxSteps>},
          {"smooth_until", false, make_case<SmoothUntil>},
          {"reupload", false, make_case<Reupload>},
          {"mapped_table", false, make_case<MappedTable>}};
}
