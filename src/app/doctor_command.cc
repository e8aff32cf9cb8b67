#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "app/this_machine.h"
#include "doctor/examine.h"
#include "report/doctor_text.h"

namespace fathom {
namespace {

constexpr const char* kDoctorExamples = R"(Examples:
  fathom doctor                            GPUs, drivers, libraries, permissions, what works and what does not
  fathom doctor --json                     the same for programs
  fathom doctor --markdown >environment.md for a report
  fathom doctor --root /mnt/image          files of another system; none of its programs or libraries run

Exit code 0 also without a GPU: the result is a report.)";

struct DoctorArguments {
  std::string root;
  bool json = false, markdown = false;
};

Status run_doctor(const DoctorArguments& arguments, bool color) {
  Machine machine = this_machine(environ);
  if (!arguments.root.empty()) {
    std::error_code error;
    machine.root = std::filesystem::canonical(arguments.root, error);
    if (error) return Error{"no folder " + arguments.root + ": " + error.message()};
    // Our own variables say nothing of another system.
    if (!machine.is_this_one()) {
      machine.variables = {{"PATH", "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin"}};
      machine.may_run = false;
    }
  }
  const Environment environment = examine(machine);
  if (arguments.json) return print_output(doctor_json(environment));
  if (arguments.markdown) return print_output(environment_markdown(environment));
  return print_output(doctor_text(environment, color));
}

}  // namespace

void add_doctor_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Check GPUs, drivers and permissions: what can be measured here");
  command->footer(kDoctorExamples);
  auto a = std::make_shared<DoctorArguments>();
  CLI::Option* json = command->add_flag("--json", a->json, "Print JSON");
  command->add_flag("--markdown", a->markdown, "Print Markdown, for a report")->excludes(json);
  command
      ->add_option("--root", a->root,
                   "Examine the files of the system in this folder (default: this machine)")
      ->type_name("DIR");
  command->callback([a, &terminal, &code] {
    const Status shown = run_doctor(*a, terminal.color);
    if (shown.ok()) return;
    complain(shown.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
