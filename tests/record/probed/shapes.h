#pragma once

#include <stdexcept>

// Functions of many kinds, called from another object: what a probe must not change.
struct Wide {
  long parts[20];
};

extern "C" {
long probed_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j);
Wide probed_wide(Wide wide, double factor);
double probed_sum(int count, ...);
long double probed_long(long double value);
int probed_fails(const char* path);  // sets errno
long probed_depth(long depth);       // calls itself
void probed_calls(void (*function)(long), long argument);
}

namespace shapes {
template <typename T>
T twice(T value);

class Shape {
 public:
  virtual ~Shape() = default;
  virtual double area(double scale) const;
  double grow(int by);
  double grow(double by);
  void refuse(int code);  // throws
  double size = 3;
};
}  // namespace shapes
