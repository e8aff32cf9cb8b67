#include "session/code/plan.h"

#include <fmt/format.h>

#include "plan/make_plan.h"
#include "plan/plan_text.h"
#include "platform/platform.h"
#include "scan/scan_repository.h"
#include "session/code/scan.h"
#include "session/counter_plan.h"
#include "session/log_pattern.h"
#include "session/probe_words.h"

namespace fathom {
namespace {

// The GPU of this machine, where there is one that data/platforms knows.
std::string platform_of_machine(const Environment& machine) {
  for (const NvidiaGpu& gpu : machine.nvidia_gpus) {
    if (!gpu.platform.empty()) return gpu.platform;
  }
  for (const AmdGpu& gpu : machine.amd_gpus) {
    const Platform* found =
        Platforms::built_in().detect({gpu.name, gpu.memory_bytes, std::nullopt});
    if (found != nullptr) return found->name;
  }
  return "";
}

// "10s", "500ms", "200us", as of `fathom record --window`.
bool is_time(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = text.substr(digits);
  return digits > 0 &&
         (unit == "us" || unit == "ms" || unit == "s" || unit == "m" || unit == "min");
}

}  // namespace

Result<Plan> plan_experiments(const PlanRequest& request) {
  PlanInput input;
  std::optional<Platform> platform;
  std::string name = request.platform;
  if (name.empty()) name = platform_of_machine(request.machine);
  if (!name.empty()) platform = TRY(open_platform(name));
  const Repository repository = TRY(list_repository(request.repository, request.threads));
  ScanOptions options;
  options.threads = request.threads;
  options.progress = request.progress;
  const CodeFacts facts = scan_repository(repository, options);
  input.goal = request.goal;
  input.repository = request.named.empty() ? request.repository : request.named;
  input.root = repository.root;
  input.facts = &facts;
  input.machine = &request.machine;
  input.platform = platform ? &*platform : nullptr;
  input.command = request.command;
  input.parameters = request.parameters;
  input.budget = request.budget;
  return make_plan(input);
}

Result<std::filesystem::path> default_plan_directory(const std::string& repository) {
  std::filesystem::path path = TRY(default_scan_directory(repository));
  return path.replace_extension(".fathom-plan");
}

Result<std::vector<std::string>> write_plan(const Plan& plan, const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  TRY(out.write_file("plan.md", plan_markdown(plan)));
  TRY(out.write_file("plan.toml", plan_toml(plan)));
  return out.commit();
}

std::optional<std::string> record_value_mistake(std::string_view option, const std::string& value) {
  if (option == "--probe") return probe_mistake(value);
  if (option == "--log-pattern") {
    const Result<LogPattern> pattern = LogPattern::parse(value);
    if (pattern.ok()) return std::nullopt;
    return pattern.error().message;
  }
  if (option == "--counters" || option == "--ncu") {
    if (counter_metrics(value)) return std::nullopt;
    return "is not a counter set: basic, memory, stalls, roofline or full";
  }
  if ((option == "--window" || option == "--before" || option == "--pm-sampling") &&
      !is_time(value))
    return "expected a time such as 500ms, 10s or 2m";
  return std::nullopt;
}

}  // namespace fathom
