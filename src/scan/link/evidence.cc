#include "scan/link/evidence.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scan/index/reach.h"
#include "scan/link/accesses.h"
#include "scan/link/persistence.h"

namespace fathom {
namespace {

class EvidenceLinker {
 public:
  EvidenceLinker(const Readings& readings, const SymbolIndex& index, const ClassTree& classes,
                 const FunctionPlaces& places)
      : readings_(readings),
        index_(index),
        places_(places),
        accesses_(readings, index.includes(), places),
        graph_(index, classes),
        hits_(index.size()),
        told_(index.size()) {
    for (uint32_t file = 0; file < readings.files.size(); ++file) {
      const cpp::FileUnits& units = readings.readings[file].units;
      for (size_t i = 0; i < units.units.size(); ++i)
        hits_[graph_.add(file, units.units[i]).value] = &units.hits[i];
    }
    graph_.seal();
  }

  void add_to(KernelFacts& kernel, SymbolId symbol) {
    const std::optional<SymbolId> body = body_of(symbol);
    if (!body) return;
    const std::vector<std::vector<cpp::PatternHit>>& of_literals =
        readings_.readings[kernel.at.file].literal_patterns;
    if (hits_[body->value] != nullptr) {
      const cpp::Reach reach = graph_.reach(*body);
      add(cpp::collect_evidence(index_, reach, hits_), kernel);
      note_calls(reach.calls);
      accesses_.add_to(kernel, functions_of(reach));
    } else if (const uint32_t i = index_.symbol(*body).index; i < of_literals.size()) {
      for (const cpp::PatternHit& hit : of_literals[i])
        kernel.evidence.push_back(evidence_of(hit, kernel.at.file, kernel.name));
    }
  }

  // The calls of the host code around a kernel's launches.
  void add_launchers_of(const KernelFacts& kernel) {
    for (const KernelLauncher& launcher : kernel.launchers) {
      const std::optional<FunctionNode> around = places_.at(launcher.at);
      if (around && around->cpp) note_calls_of(around->file, around->index);
    }
  }

  void add_host_functions() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const cpp::FileUnits& units = readings_.readings[file].units;
      for (size_t i = 0; i < units.units.size(); ++i) {
        if (!units.host_hits[i].empty()) note_calls_of(file, units.units[i].index);
      }
    }
  }

  std::vector<FunctionCall> calls() && {
    std::sort(calls_.begin(), calls_.end());
    calls_.erase(std::unique(calls_.begin(), calls_.end()), calls_.end());
    return std::move(calls_);
  }

 private:
  void note_calls_of(uint32_t file, uint32_t function) {
    const SymbolId symbol = index_.function(file, function);
    if (hits_[symbol.value] != nullptr && !told_[symbol.value]) note_calls(graph_.calls(symbol));
  }

  // The calls of a function are the same whoever reaches it, so they are noted once.
  void note_calls(const std::vector<cpp::CalledUnit>& calls) {
    for (const cpp::CalledUnit& call : calls) {
      if (told_[call.from.value]) continue;
      const Symbol& to = index_.symbol(call.unit);
      const cpp::Function& callee = readings_.readings[to.file].cpp.functions[to.index];
      calls_.push_back({{index_.symbol(call.from).file, call.line},
                        {to.file, callee.line_name},
                        call.certainty});
    }
    for (const cpp::CalledUnit& call : calls) told_[call.from.value] = true;
  }

  // The function itself, or the operator() of a class that cutlass::device_kernel runs.
  std::optional<SymbolId> body_of(SymbolId kernel) const {
    const Symbol& type = index_.symbol(kernel);
    if (type.kind != SymbolKind::kClass) return kernel;
    const cpp::Definitions& home = readings_.readings[type.file].cpp;
    for (const SymbolId one : index_.methods(index_.qualified_name(kernel), "operator()")) {
      const Symbol& method = index_.symbol(one);
      // Specialisations have one name.
      if (method.file == type.file &&
          home.functions[method.index].line_first >= home.classes[type.index].line_first &&
          home.functions[method.index].line_last <= home.classes[type.index].line_last)
        return one;
    }
    return std::nullopt;
  }

  std::vector<AccessLinker::FunctionAt> functions_of(const cpp::Reach& reach) const {
    std::vector<AccessLinker::FunctionAt> out;
    for (const cpp::ReachedUnit& reached : reach.units) {
      const Symbol& symbol = index_.symbol(reached.unit);
      if (symbol.kind < SymbolKind::kClass) out.emplace_back(symbol.file, symbol.index);
    }
    return out;
  }

  static void add(std::vector<CodeEvidence> found, KernelFacts& kernel) {
    for (CodeEvidence& evidence : found) kernel.evidence.push_back(std::move(evidence));
  }

  const Readings& readings_;
  const SymbolIndex& index_;
  const FunctionPlaces& places_;
  AccessLinker accesses_;
  cpp::CallGraph graph_;
  std::vector<const std::vector<cpp::PatternHit>*> hits_;  // by symbol; null: no code of its own
  std::vector<bool> told_;                                 // symbols whose calls are noted
  std::vector<FunctionCall> calls_;
};

}  // namespace

void link_evidence(const Readings& readings, const SymbolIndex& index, const ClassTree& classes,
                   const FunctionPlaces& places, Kernels& kernels,
                   std::vector<FunctionCall>& calls) {
  EvidenceLinker linker(readings, index, classes, places);
  for (size_t i = 0; i < kernels.facts.size(); ++i) {
    if (!kernels.symbols[i]) continue;
    linker.add_to(kernels.facts[i], *kernels.symbols[i]);
    linker.add_launchers_of(kernels.facts[i]);
  }
  linker.add_host_functions();
  calls = std::move(linker).calls();
  recognise_persistence(kernels.facts);
}

}  // namespace fathom
