#include <memory>

#include "app/commands.h"
#include "platform/platform.h"
#include "report/platform_text.h"

namespace fathom {
namespace {

constexpr const char* kPlatformsExamples = R"(Examples:
  fathom platforms                         every GPU that Fathom knows, as a table
  fathom platforms h200                    one in full: each value with its unit and source
  fathom platforms "a100 80gb sxm"         spaces, dashes and capitals do not matter
  fathom platforms mine.json               a platform file of your own, checked and shown
  fathom platforms mi300x --json >mine.json

A platform file is JSON: what --json prints for one platform, or TraceLens's form,
{"name": "MI300X", "mem_bw_gbps": 5300, "memory_gb": 192,
 "max_achievable_tflops": {"matrix_bf16": 708, "vector_fp32": 81.7}}.
Unknown keys are refused; a key that begins with _ is a remark.)";

struct PlatformsArguments {
  std::string name;
  bool json = false;
};

Status show_platforms(const PlatformsArguments& arguments, bool color) {
  if (arguments.name.empty()) {
    const std::vector<Platform>& all = Platforms::built_in().all();
    return print_output(arguments.json ? platforms_json(all) : platforms_text(all, color));
  }
  const Platform platform = TRY(open_platform(arguments.name));
  return print_output(arguments.json ? platform_json(platform) : platform_text(platform, color));
}

}  // namespace

void add_platforms_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("platforms", "List GPUs and their limits: bandwidth, FLOP/s, sources");
  command->footer(kPlatformsExamples);
  auto a = std::make_shared<PlatformsArguments>();
  command->add_option("NAME", a->name, "Show this GPU in full; a name or a platform file (.json)");
  command->add_flag("--json", a->json, "Print JSON: a list, or one object with NAME");
  command->callback([a, &terminal, &code] {
    const Status shown = show_platforms(*a, terminal.color);
    if (shown.ok()) return;
    complain(shown.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
