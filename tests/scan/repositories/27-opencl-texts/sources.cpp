#include <string>
#define TEXT(...) std::string(" " #__VA_ARGS__ " ")

std::string source() {
  return TEXT(
      float twice(float x) { return 2.0f * x; }
      __kernel void scale(__global float* x) {
        x[get_global_id(0)] = twice(x[get_global_id(0)]);
      }
      __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sized(__global float* x) {
        x[0] = 0;
      }
  ) + TEXT(kernel void shift(global float* x) {
    x[get_global_id(0)] += 1.0f;
  }
  ) + TEXT(kernel void split) + "(" + TEXT(global float* x) + ") {}";
}

void enqueue(const char* name);
void run() { enqueue("scale"); }

// Twins: a variable that is called so, and a function that takes one.
struct Kernel { int id; };
void start(Kernel kernel, void (*then)(int));
void twins(Kernel kernel) { start(kernel, nullptr); }
