#pragma once

struct TakeJob {
  const char *table, *other;
  const int* rows;
  char* out;
  int width;

  __device__ Places find(int row) const {
    const bool known = rows[row] >= 0;
    const int from = known ? rows[row] : 0;
    return {table + from * width, out + row * width};
  }
};

struct PutJob {
  const char* values;
  const int* slots;
  char* cache;
  int width;

  __device__ Places find(int row) const {
    return {values + row * width, cache + static_cast<long>(slots[row]) * width};
  }
};

// Has the method too, but is no job.
struct Finder {
  const float* weights;
  const int* order;
  __device__ float find(int row) const { return weights[order[row]]; }
};
