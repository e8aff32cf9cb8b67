#include "scan/facts/type_bytes.h"

#include "base/text_parts.h"

namespace fathom {
namespace {

struct TypeBytes {
  uint32_t bytes;
  std::string_view names;  // each between bars
};

constexpr TypeBytes kTypes[] = {
    {1,
     "|char|bool|int8_t|uint8_t|unsigned char|__nv_fp8_e4m3|__nv_fp8_e5m2|std::uint8_t|"
     "signed char|std::int8_t|c10::Float8_e4m3fn|c10::Float8_e5m2|__nv_fp8_storage_t|fp8|"
     "cutlass::float_e4m3_t|"},
    {2,
     "|half|__half|nv_half|__nv_bfloat16|nv_bfloat16|bfloat16|short|int16_t|uint16_t|"
     "unsigned short|cutlass::half_t|cutlass::bfloat16_t|at::BFloat16|short int|"
     "short unsigned int|unsigned short int|std::int16_t|std::uint16_t|int16|c10::Half|"
     "c10::BFloat16|at::Half|bf16|fp16|char2|uchar2|hip_bfloat16|__hip_bfloat16|"},
    {4,
     "|float|int|unsigned|unsigned int|int32_t|uint32_t|half2|__half2|__nv_bfloat162|"
     "nv_bfloat162|uint|std::int32_t|std::uint32_t|fp32|short2|char4|uchar4|ushort2|uint1|"
     "cutlass::tfloat32_t|"},
    {8,
     "|double|long|long long|int64_t|uint64_t|size_t|float2|int2|uint2|ptrdiff_t|"
     "unsigned long long|unsigned long|std::int64_t|std::size_t|long int|"
     "unsigned long int|long long int|unsigned long long int|long unsigned int|"
     "long long unsigned int|std::uint64_t|short4|ushort4|char8|"},
    {12, "|uint3|float3|int3|"},
    {16, "|float4|int4|uint4|double2|longlong2|ulonglong2|long2|ulong2|"},
    {32, "|double4|"},
};

constexpr std::string_view kIntegers =
    "|char|signed char|unsigned char|short|unsigned short|int|unsigned|unsigned int|long|"
    "unsigned long|long long|unsigned long long|int8_t|uint8_t|int16_t|uint16_t|int32_t|"
    "uint32_t|int64_t|uint64_t|size_t|ptrdiff_t|uint|ssize_t|long int|long long int|"
    "std::size_t|std::int32_t|std::uint32_t|std::int64_t|std::uint64_t|std::ptrdiff_t|";

bool is_listed(std::string_view names, std::string_view name) {
  if (name.empty() || holds(name, '|')) return false;
  for (size_t at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
    if (names[at - 1] == '|' && names[at + name.size()] == '|') return true;
  }
  return false;
}

}  // namespace

std::optional<uint32_t> bytes_of_type_name(std::string_view type) {
  for (const TypeBytes& row : kTypes) {
    if (is_listed(row.names, type)) return row.bytes;
  }
  return std::nullopt;
}

bool is_integer_type_name(std::string_view type) { return is_listed(kIntegers, type); }

}  // namespace fathom
