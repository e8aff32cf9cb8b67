#include "plan/chosen_probes.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view plan_probes_tsv;

namespace fathom {
namespace {

// Where the files of a feature or component are: a probe elsewhere is a namesake.
std::set<uint32_t> files_of(const PlanDraft& draft, std::string_view id) {
  std::set<uint32_t> files;
  for (const FeatureFacts& feature : draft.facts.features) {
    if (feature.id != id) continue;
    for (const RuleEvidence& evidence : feature.evidence) files.insert(evidence.at.file);
  }
  return files;
}

}  // namespace

std::vector<ChosenProbe> probes_for(const PlanDraft& draft, std::string_view id) {
  std::vector<ChosenProbe> out;
  const std::set<uint32_t> files = files_of(draft, id);
  for (const auto& row : read_tsv(plan_probes_tsv, 4)) {
    if (row[0] != id) continue;
    const ProbePlace* best = nullptr;
    bool best_is_near = false;
    for (const std::string_view function : split(row[2], '|')) {
      for (const std::string_view scope : split(row[1], '|')) {
        for (const ProbePlace& place : draft.sources.functions) {
          if (place.function.empty() || !glob_matches(function, place.function)) continue;
          const bool of_scope =
              place.scope.empty() ? scope == "-" : scope != "-" && glob_matches(scope, place.scope);
          const bool stands_in =
              place.scope.starts_with("base") || place.scope.starts_with("abstract") ||
              place.scope.find("no_") != std::string::npos || place.scope.starts_with("mock") ||
              place.scope.starts_with("dummy");
          if (!of_scope || stands_in) continue;
          const bool near = files.contains(place.at.file);
          // Of several the shortest name: MambaRadixCache is a special RadixCache.
          const bool is_general =
              best != nullptr && near == best_is_near && place.scope.size() < best->scope.size();
          if (best != nullptr && !is_general && (best_is_near || !near)) continue;
          best = &place;
          best_is_near = near;
        }
        if (best != nullptr) break;
      }
      if (best != nullptr) break;
    }
    if (best == nullptr || std::ranges::find(out, best, &ChosenProbe::place) != out.end()) continue;
    out.push_back({best, row[3]});
  }
  return out;
}

std::vector<ChosenProbe> probes_on_path(const PlanDraft& draft) {
  const RequestPath* best = nullptr;
  for (const RequestPath& path : draft.facts.request_paths) {
    if (best == nullptr || path.kernels_reached > best->kernels_reached) best = &path;
  }
  std::vector<ChosenProbe> out;
  if (best == nullptr) return out;
  for (size_t i = best->hops.size(); i-- > 0;) {
    for (const ProbePlace& place : draft.sources.functions) {
      if (place.at.file == best->hops[i].at.file && place.at.line == best->hops[i].at.line &&
          std::ranges::find(out, &place, &ChosenProbe::place) == out.end())
        out.push_back({&place, "on the request path to the kernels: time of each call"});
    }
  }
  return out;
}

std::string native_probe_of(const HostFacts& host) {
  const std::string name = host.scope.empty() ? host.name : host.scope + "::" + host.name;
  const bool plain =
      std::ranges::all_of(name, [](char c) { return is_word_character(c) || c == ':'; });
  return plain && name.size() < 120 ? "c:" + name : "";
}

}  // namespace fathom
