#define GLOBAL __global__ static
#define CONVERT(From, To, ...) \
  GLOBAL void convert##From##To(int n, ##__VA_ARGS__) { work<From>(n); }
CONVERT(A, B)
CONVERT(B, A, int m);
GLOBAL void plain() {}
#define LAUNCH(K, N)    \
  do {                  \
    K<N><<<N, 32>>>(p); \
  } while (0)
#define TWICE(x) \
  LAUNCH(x, 1);  \
  LAUNCH(x, 2)
void run() {
  TWICE(plain);
  DISPATCH(LAUNCH);
}
