#include "jit.h"

void scale(Tensor& x) {
  const JitFunction& f = JitFunction::get_instance("scale.py",
                                                   "scale_kernel");
  f(x);
}
// "forgotten_kernel"
