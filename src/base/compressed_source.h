#pragma once

#include <memory>

#include "base/byte_source.h"

namespace fathom {

bool looks_like_gzip(std::span<const char> first_bytes);
bool looks_like_zstd(std::span<const char> first_bytes);

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> compressed);
std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> compressed);

}  // namespace fathom
