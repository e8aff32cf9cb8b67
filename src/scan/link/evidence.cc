#include "scan/link/evidence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "scan/index/reach.h"
#include "scan/link/accesses.h"
#include "scan/link/persistence.h"

namespace fathom {
namespace {

class EvidenceLinker {
 public:
  EvidenceLinker(const Readings& readings, const SymbolIndex& index, const FunctionPlaces& places)
      : readings_(readings),
        index_(index),
        places_(places),
        accesses_(readings),
        graph_(index),
        hits_(index.size()),
        told_(index.size()) {
    for (uint32_t file = 0; file < readings.files.size(); ++file) {
      const cpp::FileUnits& units = readings.readings[file].units;
      for (size_t i = 0; i < units.units.size(); ++i)
        hits_[graph_.add(file, units.units[i]).value] = &units.hits[i];
      const std::vector<cpp::Function>& functions = readings.readings[file].cpp.functions;
      for (size_t i = 0; i < functions.size(); ++i) {
        if (functions[i].defined)
          bodies_.emplace(Body{file, functions[i].line_name, functions[i].name}, i);
      }
    }
    graph_.seal();
  }

  void add_to(KernelFacts& kernel) {
    const auto body = body_of(kernel);
    if (!body) return;
    const SymbolId symbol = index_.function(kernel.at.file, static_cast<uint32_t>(*body));
    if (hits_[symbol.value] != nullptr) {
      const cpp::Reach reach = graph_.reach(symbol);
      add(cpp::collect_evidence(index_, reach, hits_), kernel);
      note_calls(reach.calls);
      accesses_.add_to(kernel, functions_of(reach));
    } else if (*body < readings_.readings[kernel.at.file].literal_patterns.size()) {
      for (const cpp::PatternHit& hit :
           readings_.readings[kernel.at.file].literal_patterns[*body]) {
        kernel.evidence.push_back(evidence_of(hit, kernel.at.file, kernel.name));
      }
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
  using Body = std::tuple<uint32_t, uint32_t, std::string>;  // file, line of the name, name

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
  std::optional<size_t> body_of(const KernelFacts& kernel) const {
    const uint32_t file = kernel.at.file;
    if (kernel.kind != KernelKind::kDeviceKernel) {
      const auto found = bodies_.find(Body{file, kernel.line_name, kernel.name});
      return found == bodies_.end() ? std::nullopt : std::optional(found->second);
    }
    const auto& functions = readings_.readings[file].cpp.functions;
    constexpr size_t kMaxTries = 4096;  // functions of the class
    auto first = bodies_.lower_bound(Body{file, kernel.at.line, ""});
    for (size_t tries = 0; first != bodies_.end() && tries < kMaxTries; ++first, ++tries) {
      const auto& [of_file, line, name] = first->first;
      if (of_file != file || line > kernel.line_last) break;
      const cpp::Function& function = functions[first->second];
      if (name == "operator()" && function.line_first >= kernel.at.line &&
          function.line_last <= kernel.line_last)
        return first->second;
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
  std::map<Body, size_t> bodies_;                          // of defined functions
  std::vector<bool> told_;                                 // symbols whose calls are noted
  std::vector<FunctionCall> calls_;
};

}  // namespace

void link_evidence(const Readings& readings, const SymbolIndex& index, const FunctionPlaces& places,
                   std::vector<KernelFacts>& kernels, std::vector<FunctionCall>& calls) {
  EvidenceLinker linker(readings, index, places);
  for (KernelFacts& kernel : kernels) {
    if (is_python_kernel(kernel.kind) || !kernel.body_read) continue;
    linker.add_to(kernel);
    linker.add_launchers_of(kernel);
  }
  linker.add_host_functions();
  calls = std::move(linker).calls();
  recognise_persistence(kernels);
}

}  // namespace fathom
