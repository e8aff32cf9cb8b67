#version 450
#include "types.glsl"
layout(local_size_x = 256, local_size_y = 1) in;
layout(binding = 0) buffer X { float x[]; };

float twice(float a) { return 2 * a; }

void main() {
  x[gl_GlobalInvocationID.x] = twice(x[0]);
}
