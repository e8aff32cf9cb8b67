#pragma once

#include <span>
#include <string>

#include "platform/platform.h"

namespace fathom {

// The platforms as one table: a line each, unknown values as –, assumed ones marked.
std::string platforms_text(std::span<const Platform> platforms, bool color);

// One platform in full: every value with its unit and its source.
std::string platform_text(const Platform& platform, bool color);

}  // namespace fathom
