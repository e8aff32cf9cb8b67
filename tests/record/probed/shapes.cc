// A library whose functions are probed.
#include "record/probed/shapes.h"

#include <fcntl.h>

#include <cstdarg>

extern "C" {

long probed_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

Wide probed_wide(Wide wide, double factor) {
  for (long& part : wide.parts) part = static_cast<long>(static_cast<double>(part) * factor);
  return wide;
}

double probed_sum(int count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(list, double);
  va_end(list);
  return sum;
}

long double probed_long(long double value) { return value / 3; }

int probed_fails(const char* path) { return open(path, O_RDONLY); }

long probed_depth(long depth) { return depth == 0 ? 0 : 1 + probed_depth(depth - 1); }

void probed_calls(void (*function)(long), long argument) { function(argument); }
}

namespace shapes {

template <typename T>
T twice(T value) {
  return value + value;
}
template int twice<int>(int);
template double twice<double>(double);

double Shape::area(double scale) const { return size * size * scale; }
double Shape::grow(int by) { return size += by; }
double Shape::grow(double by) { return size *= by; }
void Shape::refuse(int code) {
  if (code != 0) throw std::runtime_error("refused");
}

}  // namespace shapes
