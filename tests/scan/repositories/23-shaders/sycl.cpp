#include <sycl/sycl.hpp>
#include <tbb/parallel_for.h>

template <typename T> void add_one(T* x, sycl::nd_item<1> item) { x[item.get_global_id(0)] += 1; }

void run(sycl::queue& queue, float* x, int n) {
  queue.parallel_for(sycl::nd_range<1>(n, 256),
                     [=](sycl::nd_item<1> item) { add_one<float>(x, item); });
  queue.submit([&](sycl::handler& handler) {
    handler.parallel_for<class Doubled>(sycl::range<1>(n), [=](sycl::id<1> i) {
      x[i] *= 2;
    });
  });
  queue.single_task([=]() {
    x[0] = 1;
    x[1] = 2;
  });
  // Near-twins: on the CPU.
  tbb::parallel_for(0, n, [=](int i) { x[i] = 0; });
  pool().parallel_for(n, [&](int i) { x[i] = 0; });
}

void migrated(sycl::queue& queue, float* x) {
  queue.parallel_for<dpct_kernel_name<class scale_rows_89d785>>(
      sycl::range<1>(64), [=](sycl::id<1> i) { x[i] = 2; });
}
