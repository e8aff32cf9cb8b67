#include "attention.h"

__global__ void attention_scores(const float* q, const float* k, float* out, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) sum += q[row * width + i] * k[i];
  out[row] = sum;
}

__global__ void zero_rows(float* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) out[row] = 0;
}

void attention(const float* q, const float* k, float* out, int rows, int width) {
  zero_rows<<<(rows + 255) / 256, 256>>>(out, rows);
  attention_scores<<<(rows + 255) / 256, 256>>>(q, k, out, rows, width);
}
