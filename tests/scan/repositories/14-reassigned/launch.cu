// A variable that is given several values: the one that reaches the launch is its grid.
__global__ void first(float* x) { x[threadIdx.x] = 1; }
__global__ void second(float* x) { x[threadIdx.x] = 2; }
__global__ void third(float* x) { x[threadIdx.x] = 3; }
__global__ void fourth(float* x) { x[threadIdx.x] = 4; }
__global__ void fifth(float* x) { x[threadIdx.x] = 5; }
__global__ void sixth(float* x) { x[threadIdx.x] = 6; }

void in_order(float* x, int n, int m) {
  int blocks = n / 256;
  first<<<blocks, 256>>>(x);
  blocks = m / 128;
  second<<<blocks, 128>>>(x);
}

void by_branch(float* x, int n, int m, bool wide) {
  int blocks = n;
  blocks = n / 64;
  if (wide) {
    blocks = m / 256;
  }
  third<<<blocks, 256>>>(x);
  if (wide) blocks = 7;
  fourth<<<blocks, 256>>>(x);
}

void by_preprocessor(float* x, int n) {
  int blocks;
#ifdef WIDE
  blocks = n / 256;
#else
  blocks = n / 64;
#endif
  fifth<<<blocks, 256>>>(x);
}

void by_label(float* x, int n, int kind) {
  int blocks = n;
  switch (kind) {
    case 0:
      blocks = n / 2;
    case 1:
      sixth<<<blocks, 256>>>(x);
      break;
  }
}

__global__ void seventh(float* x) { x[threadIdx.x] = 7; }
__global__ void eighth(float* x) { x[threadIdx.x] = 8; }

// Made of what it was before, and where that is not one value, as written.
void by_itself(float* x, int n, bool wide) {
  int blocks = n / 256 + 1;
  blocks = min(blocks, 65535);
  int threads = 128;
  if (wide) threads = 256;
  threads = threads * 2;
  seventh<<<blocks, threads>>>(x);
  blocks = blocks * 2;
  eighth<<<blocks, 32>>>(x);
}

__global__ void ninth(float* x) { x[threadIdx.x] = 9; }
__global__ void tenth(float* x) { x[threadIdx.x] = 10; }
__global__ void eleventh(float* x) { x[threadIdx.x] = 11; }

// Members that are set behind the value count; those that a later value replaces do not.
void by_member(float* x, int n) {
  dim3 block(n * 32);
  if (block.x > 1024) block.x = 1024;
  ninth<<<1, block>>>(x);
  block.y = 2;
  block = dim3(64);
  tenth<<<1, block>>>(x);
  dim3 whole;
  whole.x = n;
  eleventh<<<1, whole>>>(x);
  dim3 set(1, 1, 1);
  set.x = n / 32;
  set.x = n / 64;
  eleventh<<<set, 32>>>(x);
  dim3 grid(n, 2);
  while (grid.x < 100) grid.x *= 2;
  eleventh<<<grid, 32>>>(x);
}
