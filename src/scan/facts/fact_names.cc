#include "scan/facts/fact_names.h"

#include <fmt/format.h>

namespace fathom {

std::string_view kernel_kind_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::kCuda:
      return "cuda";
    case KernelKind::kTriton:
      return "triton";
    case KernelKind::kCute:
      return "cute";
    case KernelKind::kMacro:
      return "macro";
    case KernelKind::kDeviceKernel:
      return "device_kernel";
    case KernelKind::kJinja:
      return "jinja";
    case KernelKind::kString:
      return "string";
  }
  return "";
}

std::string_view access_kind_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "read";
    case AccessKind::kWrite:
      return "written";
    case AccessKind::kAtomic:
      return "atomically changed";
  }
  return "";
}

std::string_view option_kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::kCli:
      return "cli";
    case OptionKind::kEnvironment:
      return "env";
    case OptionKind::kConfig:
      return "config";
  }
  return "";
}

std::string_view certainty_name(Certainty certainty) {
  switch (certainty) {
    case Certainty::kCertain:
      return "certain";
    case Certainty::kLikely:
      return "likely";
    case Certainty::kUnsure:
      return "unsure";
  }
  return "";
}

std::string place_text(const CodeFacts& facts, const CodePlace& place) {
  const std::string& path = facts.files[place.file].path;
  return place.line == 0 ? path : fmt::format("{}:{}", path, place.line);
}

std::string full_name(const KernelFacts& kernel) {
  if (kernel.scope.empty()) return kernel.name;
  const bool is_python = kernel.kind == KernelKind::kTriton || kernel.kind == KernelKind::kCute;
  return kernel.scope + (is_python ? "." : "::") + kernel.name;
}

}  // namespace fathom
