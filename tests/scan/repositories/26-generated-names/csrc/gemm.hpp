#include <string>

namespace deep {
struct GemmRuntime {
  static std::string generate(int n) {
    return fmt::format(R"(
#include <gemm.cuh>
static void instantiate() {{
    auto ptr = reinterpret_cast<void*>(&gemm_impl<
        {}
    >);
}};
)", n);
  }
  static void check(bool built) { CHECK(built, "the unnamed_impl was not built"); }
};
}  // namespace deep
