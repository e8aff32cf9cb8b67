__global__ void k(int a, ( { [ < R"x(never
#if
#else
#endif
#define
#define X(
'unfinished "string
}}}))>>>
