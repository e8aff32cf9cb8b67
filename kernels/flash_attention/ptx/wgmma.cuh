// Hopper's warpgroup matrix product (wgmma): 64 rows of A times N columns of B, fp32 accumulators
// in registers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace fathom::attention {

// A matrix in shared memory as panels of 128-byte rows with the 128-byte swizzle; panels start at
// addresses that 1024 divides. Groups of 8 rows are 1024 bytes apart. `panel_bytes` matters only
// where the panels lie along the product's N (V, read transposed).
__device__ inline uint64_t matrix_descriptor(uint32_t address, uint32_t panel_bytes = 16) {
  constexpr uint64_t kSwizzle128 = 1ull << 62;
  constexpr uint64_t kRowGroup = uint64_t{1024 >> 4} << 32;
  return kSwizzle128 | kRowGroup | (uint64_t{panel_bytes >> 4} << 16) | ((address & 0x3ffff) >> 4);
}

// Product<T, N>::shared:    D(64×N) += A(64×16, shared) · B(N×16, shared, rows are K)ᵀ
// Product<T, N>::registers: D(64×N) += A(64×16, registers) · B(16×N, shared, rows are N)
// With accumulate = 0 what D held does not matter.
template <class T, int N>
struct Product;

#define FATHOM_R0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FATHOM_R1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define FATHOM_R2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define FATHOM_R3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define FATHOM_R4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define FATHOM_R5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define FATHOM_R6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define FATHOM_R7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define FATHOM_R8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define FATHOM_R9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define FATHOM_R10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define FATHOM_R11 "%88, %89, %90, %91, %92, %93, %94, %95"

#define FATHOM_D8(d, i)                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])

#define FATHOM_REGISTERS_64 FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3
#define FATHOM_OPERANDS_64(d) FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24)
#define FATHOM_REGISTERS_80 FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4
#define FATHOM_OPERANDS_80(d) \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32)
#define FATHOM_REGISTERS_96 \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5
#define FATHOM_OPERANDS_96(d)                                                             \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32), \
      FATHOM_D8(d, 40)
#define FATHOM_REGISTERS_112                                                           \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5 \
            ", " FATHOM_R6
#define FATHOM_OPERANDS_112(d)                                                            \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32), \
      FATHOM_D8(d, 40), FATHOM_D8(d, 48)
#define FATHOM_REGISTERS_128                                                           \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5 \
            ", " FATHOM_R6 ", " FATHOM_R7
#define FATHOM_OPERANDS_128(d)                                                            \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32), \
      FATHOM_D8(d, 40), FATHOM_D8(d, 48), FATHOM_D8(d, 56)
#define FATHOM_REGISTERS_144                                                           \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5 \
            ", " FATHOM_R6 ", " FATHOM_R7 ", " FATHOM_R8
#define FATHOM_OPERANDS_144(d)                                                            \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32), \
      FATHOM_D8(d, 40), FATHOM_D8(d, 48), FATHOM_D8(d, 56), FATHOM_D8(d, 64)
#define FATHOM_REGISTERS_160                                                           \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5 \
            ", " FATHOM_R6 ", " FATHOM_R7 ", " FATHOM_R8 ", " FATHOM_R9
#define FATHOM_OPERANDS_160(d)                                                            \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32), \
      FATHOM_D8(d, 40), FATHOM_D8(d, 48), FATHOM_D8(d, 56), FATHOM_D8(d, 64), FATHOM_D8(d, 72)
#define FATHOM_REGISTERS_176                                                           \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5 \
            ", " FATHOM_R6 ", " FATHOM_R7 ", " FATHOM_R8 ", " FATHOM_R9 ", " FATHOM_R10
#define FATHOM_OPERANDS_176(d)                                                                  \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32),       \
      FATHOM_D8(d, 40), FATHOM_D8(d, 48), FATHOM_D8(d, 56), FATHOM_D8(d, 64), FATHOM_D8(d, 72), \
      FATHOM_D8(d, 80)
#define FATHOM_REGISTERS_192                                                            \
  FATHOM_R0 ", " FATHOM_R1 ", " FATHOM_R2 ", " FATHOM_R3 ", " FATHOM_R4 ", " FATHOM_R5  \
            ", " FATHOM_R6 ", " FATHOM_R7 ", " FATHOM_R8 ", " FATHOM_R9 ", " FATHOM_R10 \
            ", " FATHOM_R11
#define FATHOM_OPERANDS_192(d)                                                                  \
  FATHOM_D8(d, 0), FATHOM_D8(d, 8), FATHOM_D8(d, 16), FATHOM_D8(d, 24), FATHOM_D8(d, 32),       \
      FATHOM_D8(d, 40), FATHOM_D8(d, 48), FATHOM_D8(d, 56), FATHOM_D8(d, 64), FATHOM_D8(d, 72), \
      FATHOM_D8(d, 80), FATHOM_D8(d, 88)

#define FATHOM_SHARED_PRODUCT(N, TYPE, A, B, P)                                                    \
  static __device__ inline void shared(float(&d)[N / 2], uint64_t a, uint64_t b, int accumulate) { \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                                             \
                 ", 0;\n"                                                                          \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                   \
                 " {" FATHOM_REGISTERS_##N "}, " A ", " B ", p, 1, 1, 0, 0;\n}\n"                  \
                 : FATHOM_OPERANDS_##N(d)                                                          \
                 : "l"(a), "l"(b), "r"(accumulate));                                               \
  }
#define FATHOM_REGISTER_PRODUCT(N, TYPE, A0, A1, A2, A3, B, P)                             \
  static __device__ inline void registers(float(&d)[N / 2], const uint32_t* a, uint64_t b, \
                                          int accumulate) {                                \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P                                     \
                 ", 0;\n"                                                                  \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE           \
                 " {" FATHOM_REGISTERS_##N "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B       \
                                           ", p, 1, 1, 1;\n}\n"                            \
                 : FATHOM_OPERANDS_##N(d)                                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));   \
  }
#define FATHOM_SHARED_ONLY(N, A, B, P)        \
  template <>                                 \
  struct Product<__half, N> {                 \
    FATHOM_SHARED_PRODUCT(N, "f16", A, B, P)  \
  };                                          \
  template <>                                 \
  struct Product<__nv_bfloat16, N> {          \
    FATHOM_SHARED_PRODUCT(N, "bf16", A, B, P) \
  };
#define FATHOM_BOTH(N, A, B, P, P0, P1, P2, P3, Q, R)        \
  template <>                                                \
  struct Product<__half, N> {                                \
    FATHOM_SHARED_PRODUCT(N, "f16", A, B, P)                 \
    FATHOM_REGISTER_PRODUCT(N, "f16", P0, P1, P2, P3, Q, R)  \
  };                                                         \
  template <>                                                \
  struct Product<__nv_bfloat16, N> {                         \
    FATHOM_SHARED_PRODUCT(N, "bf16", A, B, P)                \
    FATHOM_REGISTER_PRODUCT(N, "bf16", P0, P1, P2, P3, Q, R) \
  };

FATHOM_BOTH(64, "%32", "%33", "%34", "%32", "%33", "%34", "%35", "%36", "%37")
FATHOM_SHARED_ONLY(80, "%40", "%41", "%42")
FATHOM_SHARED_ONLY(96, "%48", "%49", "%50")
FATHOM_SHARED_ONLY(112, "%56", "%57", "%58")
FATHOM_BOTH(128, "%64", "%65", "%66", "%64", "%65", "%66", "%67", "%68", "%69")
FATHOM_SHARED_ONLY(144, "%72", "%73", "%74")
FATHOM_SHARED_ONLY(160, "%80", "%81", "%82")
FATHOM_SHARED_ONLY(176, "%88", "%89", "%90")
FATHOM_SHARED_ONLY(192, "%96", "%97", "%98")

#undef FATHOM_BOTH
#undef FATHOM_SHARED_ONLY
#undef FATHOM_REGISTER_PRODUCT
#undef FATHOM_SHARED_PRODUCT

}  // namespace fathom::attention
