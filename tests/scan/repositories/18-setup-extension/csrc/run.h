template <int D>
void run_(float* q, float* k);
