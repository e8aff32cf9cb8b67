// Image kernels: vertical blur, bilinear resize, linear luma, material shading.
#include "blind2.h"

namespace {

constexpr int kWidth = 8192, kHeight = 4096;
constexpr int kRows = 4;  // output rows of a thread

__device__ void blur_column(const float* in, float* out, int x, int y0) {
  const float weight[4] = {0.225586f, 0.193359f, 0.120850f, 0.072998f};
  float v[kRows + 6];
#pragma unroll
  for (int k = 0; k < kRows + 6; ++k)
    v[k] = in[static_cast<size_t>(min(max(y0 + k - 3, 0), kHeight - 1)) * kWidth + x];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    float sum = v[r + 3] * weight[0];
#pragma unroll
    for (int k = 1; k <= 3; ++k) sum += (v[r + 3 - k] + v[r + 3 + k]) * weight[k];
    out[static_cast<size_t>(y0 + r) * kWidth + x] = sum;
  }
}
__global__ void blur_columns_a(const float* __restrict__ in, float* __restrict__ out) {
  const int y = (blockIdx.y * blockDim.x + threadIdx.x) * kRows;
  const int x = blockIdx.x * blockDim.y + threadIdx.y;
  blur_column(in, out, x, y);
}
__global__ void blur_columns_b(const float* __restrict__ in, float* __restrict__ out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  blur_column(in, out, x, y);
}
struct BlurColumns : Case {
  Buffer<float> in{random_floats(size_t{kWidth} * kHeight, 0, 1, 1)}, out{size_t{kWidth} * kHeight};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      blur_columns_b<<<dim3(kWidth / 32, kHeight / (8 * kRows)), dim3(32, 8)>>>(in, out);
    else
      blur_columns_a<<<dim3(kWidth / 8, kHeight / (32 * kRows)), dim3(32, 8)>>>(in, out);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(BlurColumns, "blur_columns", 1e-5);

constexpr int kSourceWidth = 4096, kSourceHeight = 2048;

__device__ void resize_pixels(const float* in, float* out, int x, int y0) {
  const float sx = fmaxf((x + 0.5f) * 0.5f - 0.5f, 0.0f);
  const int x0 = static_cast<int>(sx), x1 = min(x0 + 1, kSourceWidth - 1);
  const float fx = sx - x0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sy = fmaxf((y0 + r + 0.5f) * 0.5f - 0.5f, 0.0f);
    const int top = static_cast<int>(sy), bottom = min(top + 1, kSourceHeight - 1);
    const float fy = sy - top;
    const float* a = in + top * kSourceWidth;
    const float* b = in + bottom * kSourceWidth;
    const float upper = a[x0] + fx * (a[x1] - a[x0]), lower = b[x0] + fx * (b[x1] - b[x0]);
    out[static_cast<size_t>(y0 + r) * kWidth + x] = upper + fy * (lower - upper);
  }
}
__global__ void resize_bilinear_a(const float* __restrict__ in, float* __restrict__ out) {
  resize_pixels(in, out, blockIdx.x * blockDim.x + threadIdx.x,
                (blockIdx.y * blockDim.y + threadIdx.y) * kRows);
}
__global__ void resize_bilinear_b(const float* __restrict__ in, float* __restrict__ out) {
  resize_pixels(in, out, blockIdx.x * blockDim.x + threadIdx.x,
                (blockIdx.y * blockDim.y + threadIdx.y) * kRows);
}
struct ResizeBilinear : Case {
  Buffer<float> in{random_floats(size_t{kSourceWidth} * kSourceHeight, 0, 1, 2)};
  Buffer<float> out{size_t{kWidth} * kHeight};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      resize_bilinear_b<<<dim3(kWidth / 64, kHeight / (4 * kRows)), dim3(64, 4)>>>(in, out);
    else
      resize_bilinear_a<<<dim3(kWidth / 16, kHeight / kRows), dim3(16, 1)>>>(in, out);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(ResizeBilinear, "resize_bilinear", 1e-5);

// sRGB to linear light by the usual cubic, then luma.
__device__ float luma_in_double(uint32_t rgba) {
  double light[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const double c = ((rgba >> (8 * k)) & 255) / 255.0;
    light[k] = c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878);
  }
  return static_cast<float>(0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]);
}
__device__ float luma_in_float(uint32_t rgba) {
  float light[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const float c = static_cast<float>((rgba >> (8 * k)) & 255) * (1.0f / 255.0f);
    light[k] = c * (c * (c * 0.305306011f + 0.682171111f) + 0.012522878f);
  }
  return 0.2126f * light[0] + 0.7152f * light[1] + 0.0722f * light[2];
}
__global__ void linear_luma_a(const uint4* __restrict__ in, float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 p = in[i];
  out[i] = make_float4(luma_in_double(p.x), luma_in_double(p.y), luma_in_double(p.z),
                       luma_in_double(p.w));
}
__global__ void linear_luma_b(const uint4* __restrict__ in, float4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 p = in[i];
  out[i] =
      make_float4(luma_in_float(p.x), luma_in_float(p.y), luma_in_float(p.z), luma_in_float(p.w));
}
struct LinearLuma : Case {
  static constexpr size_t kPixels = size_t{kWidth} * kHeight;
  Buffer<uint32_t> in{random_words(kPixels, 3)};
  Buffer<float> out{kPixels};
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    const uint4* from = reinterpret_cast<const uint4*>(static_cast<uint32_t*>(in));
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(out));
    if (fixed)
      linear_luma_b<<<kPixels / 1024, 256>>>(from, to);
    else
      linear_luma_a<<<kPixels / 1024, 256>>>(from, to);
  }
  std::vector<float> result(bool) override { return out.as_floats(); }
};
PAIR(LinearLuma, "linear_luma", 1e-5);

constexpr int kBounces = 48;

__device__ float shade(int material, float u, float v) {
  float s = 0;
  switch (material) {
    case 0:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        u = fmaf(u, -0.71f, v * 0.29f);
        v = fmaf(v, 0.63f, u);
        s += u;
      }
      return s;
    case 1:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        u = fmaxf(fmaf(u, 0.81f, -v), -1.0f);
        v = fminf(v + u * 0.11f, 1.0f);
        s = fmaf(s, 0.5f, v);
      }
      return s + u;
    case 2:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        const float t = u * u;
        u = fmaf(t, -0.4f, 0.5f);
        v = fmaf(v, t, 0.01f);
        s += v;
      }
      return s - u;
    case 3:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        v = fabsf(v - u) * 0.9f;
        u = fmaf(u, v, 0.1f) * 0.7f;
        s = s * 0.9f + v;
      }
      return s * u;
    case 4:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        const float t = fmaf(u, v, -0.3f);
        u = 0.5f - t * 0.45f;
        v = fmaf(t, t, 0.2f);
        s += t * 0.3f;
      }
      return s + v;
    case 5:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        u = fminf(u * 1.3f, 0.9f) - v * 0.2f;
        v = v * 0.77f + u * 0.05f;
        s = fmaxf(s, u) * 0.99f;
      }
      return s + u + v;
    case 6:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        s = fmaf(s, u, v);
        u = fmaf(u, 0.35f, 0.2f);
        v = v * v * 0.8f;
      }
      return s;
    default:
#pragma unroll 4
      for (int k = 0; k < kBounces; ++k) {
        const float t = u - v;
        v = fmaf(t, 0.25f, v);
        u = u - 0.25f * t + 0.001f;
        s += t * t;
      }
      return s + v;
  }
}
__global__ void shade_hits_a(const float2* __restrict__ uv, const uint8_t* __restrict__ material,
                             float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 p = uv[i];
  out[i] = shade(material[i], p.x, p.y);
}
__global__ void shade_hits_b(const float2* __restrict__ uv, const uint8_t* __restrict__ material,
                             float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 p = uv[i];
  out[i] = shade(material[i], p.x, p.y);
}
// The repaired renderer sorts its hits by material before it shades them.
struct ShadeHits : Case {
  static constexpr size_t kHits = 1 << 23;
  std::vector<uint32_t> sorted_place;
  std::unique_ptr<Buffer<float2>> uv, sorted_uv;
  std::unique_ptr<Buffer<uint8_t>> material, sorted_material;
  Buffer<float> out{kHits};
  ShadeHits() : sorted_place(kHits) {
    Random random(4);
    std::vector<float2> host_uv(kHits), by_material(kHits);
    std::vector<uint8_t> host_material(kHits), materials(kHits);
    size_t start[9] = {};
    for (size_t i = 0; i < kHits; ++i) {
      const uint32_t r = random.next();
      host_uv[i] = make_float2((r & 4095) / 4096.0f, ((r >> 12) & 4095) / 4096.0f);
      host_material[i] = r >> 29;
      ++start[host_material[i] + 1];
    }
    for (int m = 0; m < 8; ++m) start[m + 1] += start[m];
    for (size_t i = 0; i < kHits; ++i) {
      const size_t to = start[host_material[i]]++;
      sorted_place[i] = static_cast<uint32_t>(to);
      by_material[to] = host_uv[i];
      materials[to] = host_material[i];
    }
    uv = std::make_unique<Buffer<float2>>(host_uv);
    sorted_uv = std::make_unique<Buffer<float2>>(by_material);
    material = std::make_unique<Buffer<uint8_t>>(host_material);
    sorted_material = std::make_unique<Buffer<uint8_t>>(materials);
  }
  void clear() override { out.clear(); }
  void run(bool fixed) override {
    if (fixed)
      shade_hits_b<<<kHits / 256, 256>>>(*sorted_uv, *sorted_material, out);
    else
      shade_hits_a<<<kHits / 256, 256>>>(*uv, *material, out);
  }
  std::vector<float> result(bool fixed) override {
    std::vector<float> values = out.as_floats();
    if (!fixed) return values;
    std::vector<float> in_order(values.size());
    for (size_t i = 0; i < values.size(); ++i) in_order[i] = values[sorted_place[i]];
    return in_order;
  }
};
PAIR(ShadeHits, "shade_hits", 1e-5);

}  // namespace
