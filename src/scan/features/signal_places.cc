#include "scan/features/signal_places.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/glob.h"
#include "scan/features/file_weight.h"
#include "scan/files/language.h"

namespace fathom {

namespace {

// A path without the folders that are called like the repository: what all of it is called after
// says nothing of one file.
std::string own_path(std::string_view path, std::string_view folded_name) {
  std::string out;
  for (size_t begin = 0; begin < path.size();) {
    const size_t slash = path.find('/', begin);
    const size_t end = slash == std::string_view::npos ? path.size() : slash + 1;
    const std::string part = fold_name(path.substr(begin, end - begin));
    constexpr size_t kShortestName = 4;
    const bool own = slash != std::string_view::npos && folded_name.size() >= kShortestName &&
                     part.starts_with(folded_name);
    if (!own) out += part;
    begin = end;
  }
  return out;
}

}  // namespace

bool any_glob_matches(std::span<const std::string> globs, std::string_view folded) {
  return std::ranges::any_of(
      globs, [folded](const std::string& glob) { return glob_matches(glob, folded); });
}

bool word_glob_matches(std::span<const std::string> globs, std::string_view folded) {
  const auto matches_at = [&](size_t at) {
    return std::ranges::any_of(globs, [&](std::string_view glob) {
      const bool anywhere = glob.starts_with('*');
      if (anywhere) glob.remove_prefix(1);
      return (anywhere || at == 0) && glob_matches(glob, folded.substr(at));
    });
  };
  for (size_t at = 0; at < folded.size(); ++at) {
    if ((at == 0 || folded[at - 1] == '_') && matches_at(at)) return true;
  }
  return false;
}

SignalPlaces::SignalPlaces(const CodeFacts& facts, std::span<const FileSignals> signals,
                           const FeatureRules& rules)
    : facts_(facts),
      rules_(rules),
      places_(rules.signals().size()),
      kernels_(rules.signals().size()) {
  for (const SourceFile& file : facts.files) weights_.push_back(file_weight(file));
  const std::string name = fold_name(facts.repository);
  for (const SourceFile& file : facts.files) folded_paths_.push_back(own_path(file.path, name));
  for (const KernelFacts& kernel : facts.kernels) folded_kernels_.push_back(fold_name(kernel.name));
  for (const OptionFacts& option : facts.options) folded_options_.push_back(fold_name(option.name));
  from_files(signals);
  for (uint32_t i = 0; i < rules.signals().size(); ++i) {
    const SignalKind kind = rules.signals()[i].kind;
    if (kind == SignalKind::kKernel || kind == SignalKind::kPattern) {
      for (uint32_t kernel = 0; kernel < facts.kernels.size(); ++kernel) from_kernel(kernel, i);
    }
    if (kind == SignalKind::kPattern) {
      for (const HostFacts& host : facts.host_functions) from_host(host, i);
    } else if (kind == SignalKind::kOption) {
      for (uint32_t option = 0; option < facts.options.size(); ++option) from_option(option, i);
    } else if (kind == SignalKind::kPath) {
      for (uint32_t file = 0; file < facts.files.size(); ++file) from_path(file, i);
    }
    std::ranges::stable_sort(places_[i], {}, &SignalPlace::at);
  }
}

void SignalPlaces::from_files(std::span<const FileSignals> signals) {
  for (uint32_t file = 0; file < std::min(signals.size(), facts_.files.size()); ++file) {
    if (!weighs(file)) continue;
    for (const SignalHit& hit : signals[file]) {
      places_[hit.signal].push_back({{file, hit.line}, hit.name, hit.count});
    }
  }
}

void SignalPlaces::from_kernel(uint32_t index, uint32_t signal) {
  const KernelFacts& kernel = facts_.kernels[index];
  if (kernel.dead || !weighs(kernel.at.file)) return;
  if (is_stand_in(folded_kernels_[index])) return;
  const Signal& wanted = rules_.signals()[signal];
  const uint32_t lines = std::max(kernel.line_last, kernel.line_name) - kernel.line_name + 1;
  if (wanted.kind == SignalKind::kKernel) {
    if (!any_glob_matches(wanted.alternatives, folded_kernels_[index])) return;
    places_[signal].push_back({{kernel.at.file, kernel.line_name}, kernel.name, lines});
    kernels_[signal].insert(index);
    return;
  }
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.certainty != Certainty::kCertain) continue;
    if (!any_glob_matches(wanted.alternatives, evidence.what)) continue;
    places_[signal].push_back({evidence.at, evidence.what + " in " + kernel.name, lines});
    kernels_[signal].insert(index);
    return;
  }
}

void SignalPlaces::from_host(const HostFacts& host, uint32_t signal) {
  if (!weighs(host.at.file)) return;
  for (const CodeEvidence& evidence : host.evidence) {
    if (evidence.certainty != Certainty::kCertain) continue;
    if (!any_glob_matches(rules_.signals()[signal].alternatives, evidence.what)) continue;
    const uint32_t lines = std::max(host.line_last, host.at.line) - host.at.line + 1;
    places_[signal].push_back({evidence.at, evidence.what + " in " + host.name, lines});
    return;
  }
}

void SignalPlaces::from_option(uint32_t index, uint32_t signal) {
  const OptionFacts& option = facts_.options[index];
  if (!weighs(option.at.file)) return;
  if (!any_glob_matches(rules_.signals()[signal].alternatives, folded_options_[index])) return;
  places_[signal].push_back({option.at, option.name});
}

void SignalPlaces::from_path(uint32_t file, uint32_t signal) {
  // Settings and recorded numbers are no part of a program.
  if (!weighs(file) || !is_program_code(facts_.files[file].language)) return;
  if (!any_glob_matches(rules_.signals()[signal].alternatives, folded_paths_[file])) return;
  places_[signal].push_back({{file, 1}, facts_.files[file].path});
}

namespace {

// What the kind of a signal is worth as the first thing to read: what runs, what is defined, what
// is used; a path is no line of code.
int reading_order(SignalKind kind) {
  switch (kind) {
    case SignalKind::kKernel:
      return 0;
    case SignalKind::kPattern:
    case SignalKind::kClass:
    case SignalKind::kDef:
    case SignalKind::kCall:
      return 1;
    case SignalKind::kImport:
    case SignalKind::kInclude:
      return 2;
    case SignalKind::kName:
    case SignalKind::kOption:
      return 3;
    case SignalKind::kPath:
      return 4;
  }
  return 4;
}

}  // namespace

std::vector<RuleEvidence> make_evidence(const SignalPlaces& places, const FeatureRules& rules,
                                        std::span<const uint32_t> signals) {
  struct Shown {
    uint32_t signals = 0, count = 0;
    auto operator<=>(const Shown&) const = default;
  };
  std::map<uint32_t, Shown> by_file;
  for (const uint32_t signal : signals) {
    std::set<uint32_t> files;
    for (const SignalPlace& place : places.of(signal)) {
      files.insert(place.at.file);
      by_file[place.at.file].count += place.count;
    }
    for (const uint32_t file : files) ++by_file[file].signals;
  }
  struct Candidate {
    bool aside;
    int order;
    uint32_t beside;  // signals that its file shows
    RuleEvidence evidence;
  };
  std::vector<Candidate> candidates;
  for (const uint32_t signal : signals) {
    const std::vector<SignalPlace>& found = places.of(signal);
    if (found.empty()) continue;
    const auto best = std::ranges::max_element(found, {}, [&](const SignalPlace& place) {
      return std::tuple(places.is_product(place.at.file), by_file[place.at.file], place.count);
    });
    std::set<uint32_t> files;
    for (const SignalPlace& place : found) files.insert(place.at.file);
    const SignalKind kind = rules.signals()[signal].kind;
    candidates.push_back({!places.is_product(best->at.file),
                          reading_order(kind),
                          by_file[best->at.file].signals,
                          {std::string(signal_kind_name(kind)) + " " + best->name, best->at,
                           static_cast<uint32_t>(files.size())}});
  }
  std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.aside, candidate.order, ~candidate.beside);
  });
  std::vector<RuleEvidence> evidence;
  for (Candidate& candidate : candidates) evidence.push_back(std::move(candidate.evidence));
  return evidence;
}

}  // namespace fathom
