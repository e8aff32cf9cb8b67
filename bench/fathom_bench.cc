// fathom_bench --stages TRACE: where the time goes. fathom_bench TRACE...: how far `fathom analyze`
// is from the least that reading the trace can cost. Both run in turns on the same machine, the
// best of several; ratios, since machines are noisy.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "events/store_file.h"
#include "floor.h"
#include "ingest/kineto/reader.h"
#include "report/csv.h"
#include "session/analyze.h"
#include "stages.h"

namespace fathom::bench {
namespace {

constexpr int kRounds = 3;

struct ProgramResult {
  double seconds = 0;
  int64_t peak_bytes = 0;
  bool ok = false;
};

// The whole program, from start to the written report.
ProgramResult run_fathom(const std::string& trace, const std::string& out) {
  const auto started = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execl(FATHOM_BINARY, "fathom", "analyze", trace.c_str(), "--out", out.c_str(), "--quiet",
          nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  if (wait4(child, &status, 0, &usage) != child) return {};
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return {seconds, int64_t{usage.ru_maxrss} * 1024, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

// Only the opening of the columns that the last run kept, checks included; nothing if there are
// none.
double open_seconds(const std::string& trace, const std::string& report) {
  const auto started = std::chrono::steady_clock::now();
  const std::optional<ContentStamp> program = stamp_of(FATHOM_BINARY);
  if (!program || !StoreFile::load(cache_beside(report), trace, program->content))
    return std::nan("");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

// Load, link, all sheets, written as CSV: what the target speaks of. Nothing else of the report.
double sheets_seconds(const std::string& trace, const std::string& place) {
  const auto started = std::chrono::steady_clock::now();
  const Result<EventStore> store = kineto::read_trace(trace);
  if (!store.ok()) return std::nan("");
  const CallTree tree = build_call_tree(store.value());
  const Scope scope;
  const SheetInput input(store.value(), tree, scope);
  const std::vector<Launcher> launchers = find_launchers(input);
  const MeasuredOpsLater ops =
      std::async(std::launch::async, [&]() -> std::shared_ptr<const MeasuredOps> {
        return std::make_shared<MeasuredOps>(input, launchers);
      }).share();
  std::filesystem::create_directories(place);
  for (const Table& sheet : all_sheets(input, launchers, ops)) {
    std::ofstream(place + "/" + sheet.name() + ".csv", std::ios::binary) << to_csv(sheet);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

bool bench_trace(const std::string& trace, const std::string& scratch) {
  double floor_seconds = 1e300, csv_seconds = 1e300, fathom_seconds = 1e300;
  FloorResult floor;
  int64_t peak = 0;
  std::string report;
  for (int round = 0; round < kRounds; ++round) {
    const Result<FloorResult> f = measure_floor(trace);
    if (!f.ok()) {
      fmt::print(stderr, "{}: {}\n", trace, f.error().message);
      return false;
    }
    floor = f.value();
    floor_seconds = std::min(floor_seconds, floor.seconds);
    // A new place each time: the columns that the last run kept must not be found.
    report = fmt::format("{}/report-{}", scratch, round);
    const ProgramResult p = run_fathom(trace, report);
    if (!p.ok) {
      fmt::print(stderr, "{}: fathom analyze failed\n", trace);
      return false;
    }
    fathom_seconds = std::min(fathom_seconds, p.seconds);
    peak = std::max(peak, p.peak_bytes);
  }
  const ProgramResult again = run_fathom(trace, report);
  // After the programs: a child begins with this process's memory, and its peak would count it.
  for (int round = 0; round < kRounds; ++round) {
    csv_seconds = std::min(csv_seconds, sheets_seconds(trace, scratch + "/csv"));
  }
  const double open = open_seconds(trace, report);
  const double megabytes = static_cast<double>(floor.json_bytes) / 1e6;
  fmt::print(
      "| {} | {:.0f} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {:.2f} | {:.2f} "
      "| "
      "{:.2f} |\n",
      std::filesystem::path(trace).filename().string(), megabytes, floor.events, floor_seconds,
      csv_seconds, csv_seconds / floor_seconds, fathom_seconds, fathom_seconds / floor_seconds,
      static_cast<double>(peak) / 1e6,
      static_cast<double>(peak) / static_cast<double>(floor.json_bytes), again.seconds, open);
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace fathom::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: fathom_bench TRACE...\n       fathom_bench --stages TRACE\n", stderr);
    return 2;
  }
  if (argc == 3 && std::string_view(argv[1]) == "--stages") {
    return fathom::bench::print_stages(argv[2]) ? 0 : 1;
  }
  char scratch[] = "/tmp/fathom-bench-XXXXXX";
  if (mkdtemp(scratch) == nullptr) return 1;
  fmt::print(
      "| trace | JSON MB | events | floor s | sheets s | ratio | analyze s | ratio | peak MB | "
      "peak / JSON | "
      "again s | open s |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  bool ok = true;
  for (int i = 1; i < argc; ++i) ok = fathom::bench::bench_trace(argv[i], scratch) && ok;
  std::filesystem::remove_all(scratch);
  return ok ? 0 : 1;
}
