// The sign of a launch, parted by a formatter; a program inside a namespace.
#include <iostream>
#include <string>

namespace course {

__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i];
}

template <int kN>
__global__ void fill(float* x) {
  x[threadIdx.x] = kN;
}

void run(float* x, int n, int shift) {
  scale << <(n + 255) / 256, 256 >> > (x, n);
  fill<4> <<  < dim3(1), 64, 0, 0 >> >(x);
  std::cout << n << (shift < 2) << "<< <" << (n >> shift);
}

extern "C" int main(int count, char** words) {
  int n = 1;
  for (int i = 1; i < count; i++) {
    if (!std::string("--size").compare(words[i])) n = atoi(words[++i]);
    if (!std::string("--unread").compare(name_of(n))) n = 2;
  }
  run(nullptr, n, 1);
}

struct Other {
  int main(int a) { return a; }
};

}  // namespace course
