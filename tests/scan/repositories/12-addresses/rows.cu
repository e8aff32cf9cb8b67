#include "jobs.cuh"

// The index comes through a cast and moves a pointer that is handed on.
__global__ void gather_argument(char* out, const char* table, const long* rows, int width) {
  const auto from = static_cast<long>(rows[blockIdx.x]);
  copy_row(out + blockIdx.x * width, table + from * width, width);
}

// The load stands in the pointer's definition; what is done with it decides.
__global__ void both_ways(float* out, const float* in, const int* idx, const int* slot, int width) {
  const float* row = in + static_cast<long>(idx[blockIdx.x]) * width;
  float* target = &out[slot[blockIdx.x] * width];
  target[threadIdx.x] = row[threadIdx.x];
}

__global__ void through_brackets(float* out, const float* in, const int* idx, int width) {
  *(out + idx[blockIdx.x] * width) = 1.0f;
  reinterpret_cast<float4*>(out + idx[blockIdx.x] * width)[threadIdx.x] = make_float4(0, 0, 0, 0);
}

__global__ void advanced(const float* in, float* out, const int* idx, int width) {
  in += idx[blockIdx.x] * width;
  out[threadIdx.x] = in[threadIdx.x];
}

// Two pointers of one name: the first is only read.
__global__ void twice(float* in, float* out, const int* idx, int width, bool plain) {
  if (!plain) {
    float* p = in + idx[blockIdx.x] * width;
    out[threadIdx.x] = p[threadIdx.x];
  } else {
    float* p = out + threadIdx.x;
    *p = 0;
  }
}

// The class is deduced; its name ends like the parameter's.
template <class Job>
__global__ void by_job(Job job) {
  const auto places = job.find(blockIdx.x);
  copy_row(places.to, places.from, job.width);
}

// Near-twins: a sum of numbers, a run's beginning, and an offset that no memory decides.
__global__ void no_addresses(float* out, const float* in, const int* idx, const int* indptr,
                             int count, int width) {
  const int total = count + idx[blockIdx.x];
  const float* row = in + indptr[blockIdx.x] * width;
  const bool found = idx[blockIdx.x] < total;
  copy_row(out + blockIdx.x * width, in + found * width, width);
  out[threadIdx.x] = row[threadIdx.x];
}

// A pointer that is only kept for another kernel is not written here.
__global__ void keep(float** starts, float* out_base, const int* sizes) {
  starts[threadIdx.x] = out_base + sizes[threadIdx.x] * 4;
}

void run(float* a, const float* b, const int* i, const int* j, const long* l, float** s) {
  gather_argument<<<8, 32>>>((char*)a, (const char*)b, l, 64);
  both_ways<<<8, 32>>>(a, b, i, j, 64);
  through_brackets<<<8, 32>>>(a, b, i, 64);
  advanced<<<8, 32>>>(b, a, i, 64);
  twice<<<8, 32>>>(a, a, i, 64, false);
  by_job<<<8, 32>>>(TakeJob{});
  no_addresses<<<8, 32>>>(a, b, i, j, 64, 64);
  keep<<<8, 32>>>(s, a, i);
}
