#include "session/code/earlier_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/byte_source.h"
#include "base/hash.h"
#include "base/read_all.h"
#include "trial/machine_state.h"
#include "trial/processes.h"

namespace fathom {

namespace fs = std::filesystem;
using namespace run_files;

std::string plan_stamp(std::string_view plan) { return fmt::format("{:016x}", hash_text(plan)); }

std::string text_of_file(const fs::path& path, size_t limit) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path.string());
  if (!source.ok()) return "";
  Result<WholeText> whole = read_all(*source.value(), limit);
  return whole.ok() ? whole.take().text : "";
}

std::string log_text(const fs::path& log) { return text_of_file(log, size_t{64} << 20); }

Result<std::map<std::string, FinishedRun>> read_finished(const fs::path& folder,
                                                         std::string& stamp) {
  std::error_code error;
  const fs::path path = folder / "journal";
  if (!fs::exists(path, error)) return std::map<std::string, FinishedRun>();
  const std::string text = text_of_file(path, size_t{256} << 20);
  size_t good = 0, damaged = 0;
  const std::vector<JournalRecord> records = parse_journal(text, good, damaged);
  for (const JournalRecord& record : records) {
    if (record.kind == "plan") stamp = record.get("stamp");
  }
  return finished_runs(records);
}

Status check_journal(const Journal& journal, const RunPlanRequest& request,
                     const std::string& plan_text) {
  const std::string stamp = plan_stamp(plan_text);
  for (const JournalRecord& record : journal.records()) {
    if (record.kind == "plan" && record.get("stamp") != stamp)
      return Error{
          fmt::format("{} holds a run of another plan, or of this one before it was edited; "
                      "choose another folder with --out",
                      request.out.string())};
  }
  std::error_code error;
  if (journal.records().empty() && fs::exists(request.out / "results.md", error))
    return Error{
        fmt::format("{} holds a results.md that is not of a run; choose another folder "
                    "with --out",
                    request.out.string())};
  if (!journal.records().empty() && !request.resume)
    return Error{
        fmt::format("{} holds a run already; --resume continues it, --out takes another "
                    "folder",
                    request.out.string())};
  // A run of the killed program that goes on would disturb the next one, and write its files.
  struct Started {
    int64_t group;
    uint64_t ticks;
  };
  std::map<std::string, Started> started;
  const std::string boot = boot_id();
  for (const JournalRecord& record : journal.records()) {
    const std::string run(record.get("run"));
    if (record.kind == "started") {
      const bool is_this_boot = record.get("boot").empty() || record.get("boot") == boot;
      started.erase(run);
      if (is_this_boot)
        started[run] = {record.integer("group").value_or(0),
                        static_cast<uint64_t>(record.integer("ticks").value_or(0))};
    }
    if (record.kind == "finished") started.erase(run);
  }
  for (const auto& [run, process] : started) {
    // The leader died with the program; what it had started may not.
    std::vector<int64_t> left = processes_of_group(process.group, process.ticks);
    constexpr int kTries = 40;  // two seconds: short ones end by themselves
    for (int tries = 0; tries < kTries && !left.empty(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      left = processes_of_group(process.group, process.ticks);
    }
    if (!left.empty())
      return Error{fmt::format(
          "{} of the earlier run still runs as {} {}; end it with kill -- -{}, "
          "then resume",
          run, left.size() == 1 ? "process" : "processes", fmt::join(left, ", "), process.group)};
  }
  return Nothing{};
}

std::vector<std::string> machine_changes(const Journal& journal, const MachineState& machine) {
  std::vector<std::string> changes;
  std::map<std::string, std::string> now;
  for (const auto& [name, value] : machine) now[name] = value;
  std::set<std::string> told;
  for (const JournalRecord& record : journal.records()) {
    if (record.kind != "machine") continue;
    for (const auto& [name, value] : record.fields) {
      if (name == "at" || is_momentary(name)) continue;
      const auto current = now.find(name);
      const std::string value_now = current == now.end() ? "none" : current->second;
      if (value_now == value || !told.insert(name).second) continue;
      changes.push_back(fmt::format("the machine changed between sessions: {} was {}, and is {}",
                                    name, value, value_now));
    }
  }
  return changes;
}

}  // namespace fathom
