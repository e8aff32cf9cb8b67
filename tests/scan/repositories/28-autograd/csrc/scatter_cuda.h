torch::Tensor scatter_cuda(torch::Tensor src);
torch::Tensor other_cuda(torch::Tensor src);
