#pragma once
namespace shop {
void add_one(at::Tensor& x);
}
