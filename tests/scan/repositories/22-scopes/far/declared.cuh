#pragma once
__global__ void made_elsewhere(float* p);
__global__ void made_twice(float* p);
