#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "doctor/capabilities.h"
#include "plan/plan_draft.h"
#include "report/doctor_sentences.h"

namespace fathom {
namespace {

constexpr size_t kMostVersions = 10;

// Software whose version changes speed.
constexpr std::array<std::string_view, 22> kSpeedPackages = {"torch",       "pytorch",
                                                             "triton",      "flash-attn",
                                                             "flashinfer",  "flashinfer-python",
                                                             "xformers",    "vllm",
                                                             "sglang",      "sgl-kernel",
                                                             "sgl_kernel",  "transformers",
                                                             "jax",         "jaxlib",
                                                             "cupy",        "numpy",
                                                             "deepspeed",   "nvidia-cutlass-dsl",
                                                             "cuda-python", "nccl",
                                                             "apex",        "transformer-engine"};

std::string parts_text(const Environment& machine, const Capability& capability) {
  std::string text(verdict_name(capability.verdict));
  for (const Obstacle obstacle : capability.obstacles) {
    text +=
        (capability.obstacles.front() == obstacle ? ": " : "; ") + obstacle_text(machine, obstacle);
  }
  return text;
}

void add_platform(PlanDraft& draft) {
  PlanEnvironment& environment = draft.plan.environment;
  if (draft.platform == nullptr) {
    if (draft.gpu)
      environment.rows.push_back({"GPU", "unknown: give --platform, or plan on the machine", ""});
    return;
  }
  const Platform& platform = *draft.platform;
  environment.platform = platform.name;
  environment.rows.push_back({"GPU", platform.name, "platform"});
  const auto rate = [&](const char* what, const Rate& value, double scale, const char* unit) {
    if (!value.peak) return;
    std::string text = fmt::format("{:.4g} {} peak", *value.peak / scale, unit);
    if (value.achievable) text += fmt::format(", {:.4g} achievable", *value.achievable / scale);
    environment.rows.push_back(
        {what, text,
         std::string(source_kind_name(value.peak_source.kind)) + ": " + value.peak_source.where});
  };
  rate("Memory bandwidth", platform.memory_bandwidth, 1e12, "TB/s");
  if (const Rate* bf16 = platform.find("matrix_bf16"))
    rate("BF16 matrix rate", *bf16, 1e12, "TFLOP/s");
}

// What can be recorded here; one line where the same stands in the way of all.
void add_capabilities(PlanDraft& draft) {
  const Environment& machine = *draft.input.machine;
  std::vector<Capability> parts;
  for (const Capability& capability : capabilities(machine)) {
    if (capability.part == Part::kAnalyze || capability.part == Part::kScan) continue;
    if ((capability.part == Part::kRocprof) == draft.amd) parts.push_back(capability);
  }
  const bool same = parts.size() > 1 && std::ranges::all_of(parts, [&](const Capability& one) {
                      return one.verdict == CanDo::kNo && one.obstacles == parts[0].obstacles;
                    });
  auto& rows = draft.plan.environment.rows;
  if (same) {
    rows.push_back({"Recording on this machine",
                    parts_text(machine, parts[0]) + "; run the plan elsewhere", "doctor"});
    return;
  }
  for (const Capability& one : parts)
    rows.push_back({std::string(part_title(one.part)), parts_text(machine, one), "doctor"});
}

void add_software(PlanDraft& draft) {
  auto& rows = draft.plan.environment.rows;
  size_t count = 0;
  std::vector<std::string> seen;
  for (const DependencyFacts& one : draft.facts.dependencies) {
    if (std::ranges::find(kSpeedPackages, one.name) == kSpeedPackages.end() || one.at.line == 0)
      continue;
    if (std::ranges::find(seen, one.name) != seen.end() || count == kMostVersions) continue;
    seen.push_back(one.name);
    ++count;
    rows.push_back({one.name,
                    one.requirement.empty() ? "any version; note the one installed"
                                            : one.requirement + " declared; note the one installed",
                    draft.place(one.at)});
  }
}

// The model or workload that the command names.
void add_model(PlanDraft& draft) {
  auto& rows = draft.plan.environment.rows;
  const std::vector<std::string>& command = draft.program.command;
  for (size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] == "--model" || command[i] == "--model-path" || command[i] == "--model_path") {
      rows.push_back({"Model", command[i + 1], "command"});
      return;
    }
  }
  for (const uint32_t i : draft.program.options) {
    const OptionFacts& option = draft.facts.options[i];
    if (option.name != "--model" && option.name != "--model-path" && option.name != "--model_path")
      continue;
    rows.push_back({"Model",
                    option.default_value ? *option.default_value + " (default)"
                                         : "unknown: " + option.name + " has no default",
                    draft.place(option.at)});
    return;
  }
  const bool has_models = std::ranges::find(draft.facts.components, "models",
                                            &ComponentFacts::id) != draft.facts.components.end();
  if (has_models) rows.push_back({"Model", "unknown: the command names none", ""});
}

}  // namespace

void write_environment(PlanDraft& draft) {
  PlanEnvironment& environment = draft.plan.environment;
  add_platform(draft);
  const Environment& machine = *draft.input.machine;
  const bool elsewhere = draft.gpu && machine.nvidia_gpus.empty() && machine.amd_gpus.empty() &&
                         machine.pci_gpus.empty();
  if (elsewhere) {
    environment.rows.push_back(
        {"Machine, topology, driver, CUDA",
         "unknown: this machine has no GPU; fathom run notes them where it runs", "doctor"});
  } else {
    bool is_told = false;
    for (const EnvironmentLine& line : environment_lines(machine)) {
      if (!line.label.empty()) {
        is_told = !line.is_missing;
        if (is_told) environment.rows.push_back({line.label, line.value, "doctor"});
      } else if (is_told) {  // more of the line before
        environment.rows.back().value += " · " + line.value;
      }
    }
    if (draft.gpu) add_capabilities(draft);
  }
  add_software(draft);
  add_model(draft);
  environment.fixed = {
      {"Command", shell_line(draft.program.command), draft.program.why},
      {"Machine and software", "one machine, one version of everything, nothing else running", ""}};
  if (draft.gpu) {
    environment.fixed.push_back(
        {"Clocks", "locked where the driver allows it; recorded every 100 ms", "fathom record"});
  }
  for (const Experiment& experiment : draft.plan.experiments) {
    std::vector<std::pair<std::string, std::string>> values;
    for (const Configuration& configuration : experiment.configurations) {
      for (const auto& [name, value] : configuration.settings) {
        const auto found =
            std::ranges::find(values, name, [](const auto& one) { return one.first; });
        if (found == values.end())
          values.emplace_back(name, value);
        else
          found->second += ", " + value;
      }
    }
    for (const auto& [name, list] : values)
      environment.varied.push_back({name, list, experiment.id});
  }
}

}  // namespace fathom
