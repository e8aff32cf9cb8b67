// A matrix transposition in three ways, for `fathom ablate` on a machine without a GPU.
//   TILE=N     walks tiles of N × N, so that lines of the cache are used whole
//   FORGET     leaves out the last rows and columns: a wrong variant
//   transpose            prints the time of a transposition, by two clocks
//   transpose --check    prints sums of the result
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

#ifndef SIZE
#define SIZE 2048
#endif

static float from[SIZE * SIZE], to[SIZE * SIZE];

static void transpose() {
#ifdef FORGET
  const int rows = SIZE / TILE * TILE;
#else
  const int rows = SIZE;
#endif
#ifdef TILE
  for (int y0 = 0; y0 < rows; y0 += TILE)
    for (int x0 = 0; x0 < rows; x0 += TILE)
      for (int y = y0; y < y0 + TILE && y < rows; ++y)
        for (int x = x0; x < x0 + TILE && x < rows; ++x) to[x * SIZE + y] = from[y * SIZE + x];
#else
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < rows; ++x) to[x * SIZE + y] = from[y * SIZE + x];
#endif
}

int main(int count, char** arguments) {
  for (int i = 0; i < SIZE * SIZE; ++i) from[i] = static_cast<float>(i % 1009) * 0.25f;
  transpose();
  if (count > 1 && std::strcmp(arguments[1], "--check") == 0) {
    for (int y = 0; y < SIZE; y += 37) {
      double sum = 0;
      for (int x = 0; x < SIZE; ++x) sum += to[y * SIZE + x] * (x % 7 + 1);
      std::printf("%.6g\n", sum);
    }
    return 0;
  }
  double best = 1e300, best_cpu = 1e300;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    transpose();
    const double cpu_us = static_cast<double>(std::clock() - cpu) * 1e6 / CLOCKS_PER_SEC;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    if (time.count() < best) best = time.count(), best_cpu = cpu_us;
  }
  std::printf("time_us = %.3f\ncpu_us = %.3f\n", best, best_cpu);
}
