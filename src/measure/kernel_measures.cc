#include "measure/kernel_measures.h"

#include <algorithm>
#include <tuple>

#include "scan/facts/kernel_identity.h"

namespace fathom {
namespace {

// More places than this say no more than "several".
constexpr size_t kMaxPlaces = 3;

std::string source_text(const CodeFacts& facts, const std::vector<size_t>& definitions) {
  std::string out;
  for (size_t i = 0; i < definitions.size(); ++i) {
    if (i == kMaxPlaces) return out + " or " + std::to_string(definitions.size() - i) + " more";
    const KernelFacts& kernel = facts.kernels[definitions[i]];
    if (i > 0) out += " or ";
    out += facts.files[kernel.at.file].path + ":" + std::to_string(kernel.line_name);
  }
  return out;
}

// What the code is known to do, each thing once.
std::string facts_text(const KernelFacts& kernel) {
  std::vector<std::string> seen;
  for (const CodeEvidence& evidence : kernel.evidence) {
    std::string text = evidence.what;
    if (!evidence.detail.empty()) text += " " + evidence.detail;
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  std::string out;
  for (const std::string& text : seen) {
    if (!out.empty()) out += ", ";
    out += text;
  }
  return out;
}

KernelCode code_of(const CodeFacts& facts, std::vector<size_t> definitions) {
  KernelCode code{std::move(definitions), {}, {}};
  code.source = source_text(facts, code.definitions);
  // Of several candidates nothing is known that they do not share.
  if (code.quality() == JoinQuality::kByKey)
    code.facts = facts_text(facts.kernels[code.definitions.front()]);
  return code;
}

}  // namespace

KernelKey kernel_key(const EventStore& store, EventId kernel) { return {store.name_id(kernel)}; }

JoinQuality KernelCode::quality() const {
  if (definitions.empty()) return JoinQuality::kNone;
  return definitions.size() > 1 ? JoinQuality::kAmbiguous : JoinQuality::kByKey;
}

KernelMeasures::KernelMeasures(const EventStore& store, const CodeFacts& code)
    : store_(&store), repository_(code.repository) {
  const KernelIdentity identity(code);
  for (EventId event(0); event.index < store.size(); ++event.index) {
    if (store.kind(event) != EventKind::kKernel) continue;
    const auto [found, is_new] = code_.try_emplace(kernel_key(store, event));
    if (is_new) found->second = code_of(code, identity.find(store.name(event)));
  }
}

void KernelMeasures::add_counters(const EventStore& store, const std::vector<CounterFile>& files) {
  counters_ = std::make_shared<const CounterJoin>(store, files);
}

void KernelMeasures::add_counters(CounterJoin join) {
  counters_ = std::make_shared<const CounterJoin>(std::move(join));
}

const KernelCode& KernelMeasures::code(EventId kernel) const {
  static const KernelCode none;
  if (store_ == nullptr || store_->kind(kernel) != EventKind::kKernel) return none;
  const auto found = code_.find(kernel_key(*store_, kernel));
  return found == code_.end() ? none : found->second;
}

CodeCoverage code_coverage(const EventStore& store, std::span<const EventId> events,
                           const KernelMeasures& measures) {
  CodeCoverage coverage;
  coverage.repository = measures.repository();
  std::unordered_map<KernelKey, size_t, KernelKeyHash> index;
  for (EventId event : events) {
    if (store.kind(event) != EventKind::kKernel) continue;
    const auto [found, is_new] =
        index.try_emplace(kernel_key(store, event), coverage.kernels.size());
    if (is_new) coverage.kernels.push_back({store.name(event), {}, &measures.code(event)});
    coverage.kernels[found->second].time += store.duration(event);
  }
  for (const CodeCoverage::Kernel& kernel : coverage.kernels) {
    const JoinQuality quality = kernel.code->quality();
    coverage.total += kernel.time;
    if (quality != JoinQuality::kNone) coverage.found += kernel.time;
    if (quality == JoinQuality::kAmbiguous) coverage.ambiguous += kernel.time;
  }
  std::ranges::sort(coverage.kernels,
                    [](const CodeCoverage::Kernel& a, const CodeCoverage::Kernel& b) {
                      return std::tie(b.time, a.name) < std::tie(a.time, b.name);
                    });
  return coverage;
}

}  // namespace fathom
