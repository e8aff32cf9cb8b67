// Blocks that step by the size of the grid: what the grid is made of tells which are persistent.
__global__ void stays(float* x, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) x[tile] = 1;
}

__global__ void ordinary(float* x, int rows) {
  for (int row = blockIdx.y; row < rows; row += gridDim.y) x[row] = 1;
}

__global__ void claims(float* x, int* next, int tiles) {
  __shared__ int tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    if (tile >= tiles) return;
    x[tile] = 1;
  }
}

void run(float* x, int* next, int tiles) {
  int device_sms = 0;
  cudaDeviceGetAttribute(&device_sms, cudaDevAttrMultiProcessorCount, 0);
  const int num_sms = device_sms;
  const int blocks = 2 * num_sms;
  stays<<<min(blocks, tiles), 128>>>(x, tiles);
  ordinary<<<dim3(1, (tiles + 7) / 8), 128>>>(x, tiles);
  claims<<<64, 128>>>(x, next, tiles);
}
