#pragma once
void attention(const float* q, const float* k, float* out, int rows, int width);
