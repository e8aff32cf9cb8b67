#include "app/serve/serve_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "app/option_rules.h"
#include "app/serve/answer_request.h"
#include "app/serve/http_server.h"
#include "app/serve/report_maker.h"
#include "base/screen_text.h"
#include "session/analyze.h"
#include "session/report_place.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServeExamples = R"(Examples:
  fathom serve trace.json.gz                       analyzes it, shows the progress, then the report
  fathom serve trace.fathom                        a report that is there
  fathom serve rank*.json.gz                       several; the list shows them side by side
  fathom serve reports                             all reports in this folder
  fathom serve run.fathom --port 8000              on a fixed port

The address that is printed has a secret token in it: whoever has the address can read the reports, so
pass it on with care. Only this machine can reach it (127.0.0.1). From your own machine, forward the
same port, then open the address there:
  ssh -L 8000:127.0.0.1:8000 HOST

A trace's report goes where fathom analyze puts it and stays there. Options of analyze, counters or
several files for one report: run fathom analyze first, then serve its report. Ctrl-C stops.)";

struct ServeArguments {
  std::vector<std::string> paths;
  uint16_t port = 0;
  bool quiet = false;
};

Result<ServedReport> report_of_trace(const std::string& trace, bool quiet) {
  std::error_code error;
  if (!fs::exists(trace, error))
    return Error{fmt::format("cannot open {}: no such file or folder", screen_safe(trace))};
  const DefaultPlace place = TRY(writable_place(default_report_directory(trace), trace));
  if (!place.why.empty() && !quiet)
    complain(fmt::format("{}; the report goes to {}", place.why, place.path.string()));
  ServedReport report;
  report.name = place.path.filename().string();
  report.directory = fs::absolute(place.path, error);
  report.trace = trace;
  report.state = ReportState::kWaiting;
  return report;
}

Status add_reports(const ServeArguments& a, ServedReports& reports) {
  for (const std::string& path : a.paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      reports.add(TRY(report_of_trace(path, a.quiet)));
      continue;
    }
    for (ServedReport& report : TRY(reports_below(path))) reports.add(std::move(report));
  }
  return Nothing{};
}

Status serve(const ServeArguments& a) {
  HttpServer server = TRY(HttpServer::bind(a.port));
  ServedReports reports;
  TRY(add_reports(a, reports));
  const std::optional<std::string> token = random_token();
  if (!token) return Error{"the system has no random numbers to make the address secret"};
  const ServerAccess access{*token, server.port()};
  // Alone on its line, for scripts.
  TRY(print_output(fmt::format("http://127.0.0.1:{}/{}/\n", access.port, access.token)));
  if (!a.quiet) complain("open this address in a browser; Ctrl-C stops");
  const ReportMaker maker(reports, "/proc/self/exe");
  return server.run(
      [&](const HttpRequest& request) { return answer_request(request, access, reports); });
}

}  // namespace

void add_serve_command(CLI::App& app, const Terminal& /*terminal*/, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kServeCommand.name, kServeCommand.text);
  command->footer(kServeExamples);
  auto a = std::make_shared<ServeArguments>();
  command
      ->add_option("PATH", a->paths,
                   "Report directories, folders of them, or traces to analyze first")
      ->required()
      ->option_text("DIR|TRACE ... REQUIRED");
  command->add_option("--port", a->port, "Port on 127.0.0.1 (default: 0, a free one)")
      ->transform(whole_number({0, UINT16_MAX, 8000}))
      ->option_text("N");
  command->add_flag("-q,--quiet", a->quiet, "Print only the address and errors");
  command->callback([a, &code] {
    const Status done = serve(*a);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
