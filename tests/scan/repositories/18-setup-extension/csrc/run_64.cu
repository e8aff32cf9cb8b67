#include "launch.h"

template <>
void run_<64>(float* q, float* k) { launch<64>(q, k); }
