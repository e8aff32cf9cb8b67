#include "scan/link/evidence.h"

#include <algorithm>
#include <map>
#include <utility>

#include "scan/cpp/reach.h"
#include "scan/link/persistence.h"

namespace fathom {
namespace {

class EvidenceLinker {
 public:
  explicit EvidenceLinker(const Readings& readings)
      : readings_(readings), graph_(files_of(readings)) {
    for (uint32_t file = 0; file < readings.files.size(); ++file) {
      const cpp::FileUnits& units = readings.readings[file].units;
      for (size_t i = 0; i < units.units.size(); ++i) {
        const cpp::CodeUnit& unit = units.units[i];
        const uint32_t number = graph_.add(unit);
        if (is_function(unit.kind)) by_function_[{file, unit.index}] = number;
        hits_.push_back(units.hits[i]);
      }
    }
    graph_.seal();
    told_.resize(graph_.size());
  }

  void add_to(KernelFacts& kernel) {
    const std::vector<cpp::Function>& functions = readings_.readings[kernel.at.file].cpp.functions;
    for (size_t i = 0; i < functions.size(); ++i) {
      if (!is_kernel_body(kernel, functions[i])) continue;
      if (const auto unit = by_function_.find({kernel.at.file, i}); unit != by_function_.end()) {
        const cpp::Reach reach = graph_.reach(unit->second);
        add(cpp::collect_evidence(graph_, reach, hits_), kernel);
        note_calls(reach.calls);
      } else if (i < readings_.readings[kernel.at.file].literal_patterns.size()) {
        for (const cpp::PatternHit& hit : readings_.readings[kernel.at.file].literal_patterns[i]) {
          kernel.evidence.push_back(evidence_of(hit, kernel.at.file, kernel.name));
        }
      }
      return;
    }
  }

  // The calls of the host code around a kernel's launches.
  void add_launchers_of(const KernelFacts& kernel) {
    for (const KernelLauncher& launcher : kernel.launchers) {
      const auto& functions = readings_.readings[launcher.at.file].cpp.functions;
      for (size_t i = 0; i < functions.size(); ++i) {
        const bool around = functions[i].line_first <= launcher.at.line &&
                            launcher.at.line <= functions[i].line_last;
        if (around && functions[i].defined) note_calls_of(launcher.at.file, i);
      }
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
  void note_calls_of(uint32_t file, size_t function) {
    const auto unit = by_function_.find({file, function});
    if (unit != by_function_.end() && !told_[unit->second]) note_calls(graph_.calls(unit->second));
  }

  // The calls of a function are the same whoever reaches it, so they are noted once.
  void note_calls(const std::vector<cpp::CalledUnit>& calls) {
    for (const cpp::CalledUnit& call : calls) {
      if (told_[call.from]) continue;
      const uint32_t to = graph_.file(call.unit);
      const cpp::Function& callee = readings_.readings[to].cpp.functions[graph_.index(call.unit)];
      calls_.push_back(
          {{graph_.file(call.from), call.line}, {to, callee.line_name}, call.certainty});
    }
    for (const cpp::CalledUnit& call : calls) told_[call.from] = true;
  }

  static std::vector<cpp::IncludeGraph::File> files_of(const Readings& readings) {
    std::vector<cpp::IncludeGraph::File> files;
    for (size_t i = 0; i < readings.files.size(); ++i) {
      files.push_back({readings.files[i].path, readings.readings[i].cpp.includes});
    }
    return files;
  }

  static bool is_function(cpp::UnitKind kind) {
    return kind != cpp::UnitKind::kAlias && kind != cpp::UnitKind::kClass;
  }

  // The function itself, or the operator() of a class that cutlass::device_kernel runs.
  static bool is_kernel_body(const KernelFacts& kernel, const cpp::Function& function) {
    if (!function.defined) return false;
    if (kernel.kind != KernelKind::kDeviceKernel) {
      return function.line_name == kernel.line_name && function.name == kernel.name;
    }
    return function.name == "operator()" && function.line_first >= kernel.at.line &&
           function.line_last <= kernel.line_last;
  }

  static void add(std::vector<CodeEvidence> found, KernelFacts& kernel) {
    for (CodeEvidence& evidence : found) kernel.evidence.push_back(std::move(evidence));
  }

  const Readings& readings_;
  cpp::CallGraph graph_;
  std::map<std::pair<uint32_t, size_t>, uint32_t> by_function_;
  std::vector<std::vector<cpp::PatternHit>> hits_;
  std::vector<bool> told_;  // units whose calls are noted
  std::vector<FunctionCall> calls_;
};

}  // namespace

void link_evidence(const Readings& readings, std::vector<KernelFacts>& kernels,
                   std::vector<FunctionCall>& calls) {
  EvidenceLinker linker(readings);
  for (KernelFacts& kernel : kernels) {
    const bool python = kernel.kind == KernelKind::kTriton || kernel.kind == KernelKind::kCute;
    if (python) continue;
    linker.add_to(kernel);
    linker.add_launchers_of(kernel);
  }
  linker.add_host_functions();
  calls = std::move(linker).calls();
  recognise_persistence(kernels);
}

}  // namespace fathom
