#include "compile.h"
void start() { compile_file("kernels/blur.cu"); }
