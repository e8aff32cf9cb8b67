// Cases of the second blind set: a kernel with one fault (suffix _a) and its repaired twin (suffix
// _b). Inputs are made on the host, so that a recording holds no kernels but those of the cases.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                         \
  do {                                                                                      \
    const cudaError_t status_ = (call);                                                     \
    if (status_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (0)

template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, count * sizeof(T)));
    clear();
  }
  explicit Buffer(const std::vector<T>& host) : count_(host.size()) {
    CHECK(cudaMalloc(&data_, count_ * sizeof(T)));
    CHECK(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  operator T*() const { return data_; }
  size_t size() const { return count_; }
  void clear() { CHECK(cudaMemsetAsync(data_, 0, count_ * sizeof(T))); }
  std::vector<T> download() const {
    std::vector<T> host(count_);
    CHECK(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  template <class V>
  std::vector<float> as_floats(V value) const {
    const std::vector<T> host = download();
    std::vector<float> floats(host.size());
    for (size_t i = 0; i < host.size(); ++i) floats[i] = value(host[i]);
    return floats;
  }
  std::vector<float> as_floats() const {
    if constexpr (std::is_same_v<T, float>)
      return download();
    else
      return as_floats([](T x) { return static_cast<float>(x); });
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint32_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((uint64_t{next()} * n) >> 32); }
};

// A random megabyte's worth of values, repeated: making all of a large input one by one costs
// seconds.
template <class T, class Make>
std::vector<T> tiled(size_t count, Make make) {
  std::vector<T> values(count);
  constexpr size_t kTile = 1000003;
  const size_t first = count < kTile ? count : kTile;
  for (size_t i = 0; i < first; ++i) values[i] = make();
  for (size_t at = first; at < count; at += kTile)
    std::memcpy(&values[at], &values[0], (count - at < kTile ? count - at : kTile) * sizeof(T));
  return values;
}
inline std::vector<float> random_floats(size_t count, float low, float high, uint64_t seed) {
  Random random(seed);
  return tiled<float>(count, [&] { return low + (high - low) * (random.next() * 0x1p-32f); });
}
inline std::vector<uint32_t> random_words(size_t count, uint64_t seed) {
  Random random(seed);
  return tiled<uint32_t>(count, [&] { return random.next(); });
}

class Case {
 public:
  virtual ~Case() = default;
  virtual void clear() {}            // outputs, before a compared run
  virtual void run(bool fixed) = 0;  // as often as asked, with the same result
  // Of a clean case: the device's values (fixed) and the host's (not fixed).
  virtual std::vector<float> result(bool fixed) = 0;
};

struct Entry {
  const char* name;
  bool clean;
  double tolerance;  // of the largest value
  std::unique_ptr<Case> (*make)();
};
std::vector<Entry>& entries();

struct Register {
  Register(const char* name, bool clean, double tolerance, std::unique_ptr<Case> (*make)()) {
    entries().push_back({name, clean, tolerance, make});
  }
};
#define PAIR(type, name, tolerance)                          \
  static const Register type##_entry(name, false, tolerance, \
                                     [] { return std::unique_ptr<Case>(new type); })
#define CLEAN(type, name, tolerance)                        \
  static const Register type##_entry(name, true, tolerance, \
                                     [] { return std::unique_ptr<Case>(new type); })
