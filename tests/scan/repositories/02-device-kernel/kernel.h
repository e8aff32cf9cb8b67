#pragma once
template <class Tile_, bool kCausal>
struct Forward {
  using Tile = Tile_;
  CUTLASS_DEVICE void operator()(Params const& params, char* smem) {
    params.out[threadIdx.x] = 1;
  }
};

// Called on the host, and run by nothing on the device.
struct Reference {
  void operator()(Params const& params) { params.out[0] = 1; }
};
