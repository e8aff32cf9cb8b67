#pragma once
#include <vector>
struct Program {
  using Kernel = void (*)(float*, int);
  Program();
  static Kernel pick(bool wide);
  Kernel gather_;
  std::vector<void*> handles_;
};
