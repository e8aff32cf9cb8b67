#include "base/progress.h"

#include <fmt/format.h>

#include <cstdio>

namespace fathom {
namespace {

constexpr auto kSilentFor = std::chrono::seconds(1);
constexpr auto kEvery = std::chrono::milliseconds(100);
constexpr int kBarWidth = 30;

}  // namespace

ProgressLine::ProgressLine(std::string label, bool enabled)
    : label_(std::move(label)), enabled_(enabled) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::update(double fraction) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now - started_ < kSilentFor || now - last_ < kEvery) return;
  last_ = now;
  shown_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - started_).count();
  std::string line;
  if (fraction >= 0) {
    const int full = static_cast<int>(fraction * kBarWidth);
    for (int i = 0; i < kBarWidth; ++i) line += i < full ? "▇" : "·";
    line += fmt::format(" {:3.0f} %", fraction * 100);
  }
  std::fputs(fmt::format("\r\033[K{}  {}  {} s", label_, line, seconds).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace fathom
