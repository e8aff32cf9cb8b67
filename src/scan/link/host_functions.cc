#include "scan/link/host_functions.h"

#include <algorithm>
#include <string_view>

#include "base/text_parts.h"
#include "scan/files/code_purpose.h"
#include "scan/link/evidence.h"

namespace fathom {
namespace {

// What makes a host function worth a section of its own.
bool is_hot(std::string_view pattern) {
  return is_one_of(pattern, {"prefix_compare", "nccl_collective", "nccl_symmetric_buffer",
                             "nvshmem", "library_gemm"});
}

}  // namespace

std::vector<HostFacts> link_host_functions(const Readings& readings, const CallerPaths& paths) {
  std::vector<HostFacts> out;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].origin != Origin::kOwn || is_test_path(readings.files[file].path))
      continue;
    const FileReading& reading = readings.readings[file];
    for (size_t i = 0; i < reading.units.units.size(); ++i) {
      const std::vector<cpp::PatternHit>& hits = reading.units.host_hits[i];
      const auto hot = [](const cpp::PatternHit& hit) { return is_hot(hit.id); };
      if (std::none_of(hits.begin(), hits.end(), hot)) continue;
      const cpp::Function& function = reading.cpp.functions[reading.units.units[i].index];
      HostFacts facts;
      facts.name = function.name;
      facts.scope = function.scope;
      facts.at = {file, function.line_first};
      facts.line_last = function.line_last;
      for (const cpp::PatternHit& hit : hits)
        facts.evidence.push_back(evidence_of(hit, file, function.name));
      facts.path = paths.path_to({file, function.line_name});
      if (!facts.path.empty()) facts.callers = paths.callers_of(facts.path.front());
      if (facts.callers.size() == 1) facts.way_up = paths.way_up_from(facts.callers.front());
      out.push_back(std::move(facts));
    }
  }
  return out;
}

}  // namespace fathom
