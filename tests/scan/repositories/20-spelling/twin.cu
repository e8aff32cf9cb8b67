// Text that only looks like it: <% in strings and comments, a continued line between two names.
__global__ void prints(int n) { printf("<%d:>\n", n); }  // <% %>

#define LAUNCH(n) \
  prints<<<1, 1>>>(n)

void launch_twin() { LAUNCH(3); }
