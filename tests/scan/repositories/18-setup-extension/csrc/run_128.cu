#include "launch.h"

template <>
void run_<128>(float* q, float* k) { launch<128>(q, k); }
