#include "ingest/nsys/export_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/ascii.h"

namespace fathom::nsys {
namespace {

// ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND and ENUM_CUPTI_SYNC_TYPE of the exports that have them.
constexpr std::string_view kCopies[] = {
    "",     "HtoD", "DtoH", "HtoA", "AtoH",         "AtoA",         "AtoD",
    "DtoA", "DtoD", "HtoH", "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD"};
constexpr std::string_view kMemories[] = {"Pageable", "Pinned",        "Device",         "Array",
                                          "Managed",  "Device Static", "Managed Static", ""};
constexpr std::string_view kSyncs[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync",
                                       "Context Sync"};

std::string_view name_in(std::span<const std::string_view> names, std::optional<int64_t> number) {
  if (!number || *number < 0 || *number >= static_cast<int64_t>(names.size())) return {};
  return names[static_cast<size_t>(*number)];
}

}  // namespace

std::string_view without_version(std::string_view api) {
  const size_t at = api.rfind("_v");
  if (at == std::string_view::npos || at == 0 || at + 2 == api.size()) return api;
  return std::ranges::all_of(api.substr(at + 2), is_digit) ? api.substr(0, at) : api;
}

std::string copy_name(std::optional<int64_t> kind, std::optional<int64_t> from,
                      std::optional<int64_t> to) {
  std::string name = "Memcpy";
  if (const std::string_view copy = name_in(kCopies, kind); !copy.empty()) {
    name += fmt::format(" {}", copy);
  }
  const std::string_view source = name_in(kMemories, from), target = name_in(kMemories, to);
  if (!source.empty() && !target.empty()) name += fmt::format(" ({} -> {})", source, target);
  return name;
}

std::string memset_name(std::optional<int64_t> memory) {
  const std::string_view kind = name_in(kMemories, memory);
  return kind.empty() ? "Memset" : fmt::format("Memset ({})", kind);
}

std::string sync_name(std::optional<int64_t> type) {
  const std::string_view name = name_in(kSyncs, type);
  return name.empty() ? "Synchronization" : std::string(name);
}

std::string_view release_of(std::string_view version) {
  size_t dots = 0;
  for (size_t i = 0; i < version.size(); ++i) {
    if (version[i] == '.' && ++dots == 3) return version.substr(0, i);
  }
  return version;
}

}  // namespace fathom::nsys
