__global__ void batch_kernel(float* q) { q[threadIdx.x] = 0; }

int batch_plan(int n) { return n * 2; }
void batch_run(float* q, int plan) { batch_kernel<<<plan, 64>>>(q); }
