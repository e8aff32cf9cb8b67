#include "scan/facts/type_bytes.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

struct TypeBytes {
  std::string_view type;
  uint32_t bytes;
};

constexpr TypeBytes kTypes[] = {
    {"char", 1},
    {"bool", 1},
    {"int8_t", 1},
    {"uint8_t", 1},
    {"unsigned char", 1},
    {"__nv_fp8_e4m3", 1},
    {"__nv_fp8_e5m2", 1},
    {"half", 2},
    {"__half", 2},
    {"nv_half", 2},
    {"__nv_bfloat16", 2},
    {"nv_bfloat16", 2},
    {"bfloat16", 2},
    {"short", 2},
    {"int16_t", 2},
    {"uint16_t", 2},
    {"float", 4},
    {"int", 4},
    {"unsigned", 4},
    {"unsigned int", 4},
    {"int32_t", 4},
    {"uint32_t", 4},
    {"half2", 4},
    {"__half2", 4},
    {"__nv_bfloat162", 4},
    {"nv_bfloat162", 4},
    {"double", 8},
    {"long", 8},
    {"long long", 8},
    {"int64_t", 8},
    {"uint64_t", 8},
    {"size_t", 8},
    {"float2", 8},
    {"int2", 8},
    {"uint2", 8},
    {"ptrdiff_t", 8},
    {"float4", 16},
    {"int4", 16},
    {"uint4", 16},
    {"double2", 16},
    {"longlong2", 16},
    {"ulonglong2", 16},
    {"uint3", 12},
    {"float3", 12},
    {"unsigned long long", 8},
    {"unsigned short", 2},
    {"uint", 4},
    {"unsigned long", 8},
    {"std::uint8_t", 1},
    {"std::int32_t", 4},
    {"std::uint32_t", 4},
    {"std::int64_t", 8},
    {"std::size_t", 8},
    {"cutlass::half_t", 2},
    {"cutlass::bfloat16_t", 2},
    {"at::BFloat16", 2},
    {"signed char", 1},
    {"long int", 8},
    {"unsigned long int", 8},
    {"long long int", 8},
    {"unsigned long long int", 8},
    {"short int", 2},
    {"short unsigned int", 2},
    {"long unsigned int", 8},
    {"long long unsigned int", 8},
    {"unsigned short int", 2},
    {"std::int8_t", 1},
    {"std::int16_t", 2},
    {"std::uint16_t", 2},
    {"std::uint64_t", 8},
    {"int16", 2},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"at::Half", 2},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2", 1},
    {"__nv_fp8_storage_t", 1},
    {"bf16", 2},
    {"fp16", 2},
    {"fp32", 4},
    {"fp8", 1},
    {"double4", 32},
    {"short2", 4},
    {"short4", 8},
    {"char2", 2},
    {"char4", 4},
    {"uchar4", 4},
    {"uchar2", 2},
    {"ushort2", 4},
    {"ushort4", 8},
    {"uint1", 4},
    {"int3", 12},
    {"cutlass::float_e4m3_t", 1},
    {"cutlass::tfloat32_t", 4},
    {"hip_bfloat16", 2},
    {"__hip_bfloat16", 2},
    {"char8", 8},
    {"long2", 16},
    {"ulong2", 16},
};

constexpr std::string_view kIntegers[] = {
    "char",           "signed char",   "unsigned char", "short",
    "unsigned short", "int",           "unsigned",      "unsigned int",
    "long",           "unsigned long", "long long",     "unsigned long long",
    "int8_t",         "uint8_t",       "int16_t",       "uint16_t",
    "int32_t",        "uint32_t",      "int64_t",       "uint64_t",
    "size_t",         "ptrdiff_t",     "uint",          "ssize_t",
    "long int",       "long long int", "std::size_t",   "std::int32_t",
    "std::uint32_t",  "std::int64_t",  "std::uint64_t", "std::ptrdiff_t"};

}  // namespace

std::optional<uint32_t> bytes_of_type_name(std::string_view type) {
  const auto* found = std::ranges::find(kTypes, type, &TypeBytes::type);
  if (found == std::end(kTypes)) return std::nullopt;
  return found->bytes;
}

bool is_integer_type_name(std::string_view type) {
  return std::ranges::find(kIntegers, type) != std::end(kIntegers);
}

}  // namespace fathom
