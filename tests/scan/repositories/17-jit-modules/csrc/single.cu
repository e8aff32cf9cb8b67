#include "single.cuh"

void single_decode(float* q, float* out) { single_dispatched<64>(q, out); }
