#include "../far/declared.cuh"

void run_declared(float* p) { made_elsewhere<<<1, 32>>>(p); }

// Which of two the program is linked with is not known.
void run_one_of_two(float* p) { made_twice<<<1, 32>>>(p); }
