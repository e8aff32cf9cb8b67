#include "session/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/closest_names.h"
#include "base/glob.h"
#include "replay/package.h"
#include "replay/python_text.h"
#include "session/analyze.h"
#include "sheets/launchers.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

struct Asked {
  const ReplayOp* op;
  bool by_name;
};

bool is_pattern(std::string_view name) {
  return name.find_first_of("*?") != std::string_view::npos;
}

Error no_such_op(const std::string& name, const std::vector<ReplayOp>& ops,
                 const std::string& trace) {
  std::vector<std::string> names;
  for (const ReplayOp& op : ops) names.push_back(op.name);
  const std::vector<std::string> closest = closest_names(name, names, 3);
  return Error{fmt::format("{} has no op {} with GPU work{}", trace, name,
                           closest.empty()
                               ? "; 'fathom analyze' lists the ops"
                               : fmt::format("; there is {}", fmt::join(closest, ", ")))};
}

// In the order of their GPU time, each once.
Result<std::vector<Asked>> ops_asked_for(const ReplayOps& all, const PackOptions& options,
                                         const std::string& trace) {
  std::vector<Asked> asked;
  if (options.top > 0) {
    for (size_t i = 0; i < std::min(options.top, all.ops.size()); ++i)
      asked.push_back({&all.ops[i], false});
    return asked;
  }
  std::set<std::string> exact;
  for (const std::string& name : options.ops) {
    const auto matches = [&name](const ReplayOp& op) {
      return op.name == name || (is_pattern(name) && glob_matches(name, op.name));
    };
    if (std::ranges::none_of(all.ops, matches)) return no_such_op(name, all.ops, trace);
    if (!is_pattern(name)) exact.insert(name);
  }
  for (const ReplayOp& op : all.ops) {
    const bool wanted = std::ranges::any_of(options.ops, [&op](const std::string& name) {
      return op.name == name || glob_matches(name, op.name);
    });
    if (wanted) asked.push_back({&op, exact.contains(op.name)});
  }
  return asked;
}

// Names of ops that launch kernels as part of another op (aten::cudnn_convolution, as the sheet
// ops_summary has it) become the name of that one (aten::convolution), by which it is packed.
std::vector<std::string> as_packed(const SheetInput& input, const ReplayOps& all,
                                   const std::vector<std::string>& names) {
  std::set<std::string_view> packed;
  for (const ReplayOp& op : all.ops) packed.insert(op.name);
  std::vector<std::string> result;
  for (const std::string& name : names) {
    if (is_pattern(name) || packed.contains(name)) {
      result.push_back(name);
      continue;
    }
    std::set<std::string> around;
    for (const Launcher& launcher : find_launchers(input)) {
      if (input.store.name(input.tree.event(launcher.call)) != name) continue;
      CallId call = launcher.call;
      while (call.valid() && !packed.contains(input.store.name(input.tree.event(call)))) {
        call = input.tree.parent(call);
      }
      if (call.valid()) around.emplace(input.store.name(input.tree.event(call)));
    }
    if (around.empty()) around.insert(name);
    result.insert(result.end(), around.begin(), around.end());
  }
  return result;
}

std::string why_not(const ReplayOp& op, const std::string& trace) {
  // Of several reasons, that of most of the time.
  const ReplayRefusal& refusal =
      *std::ranges::max_element(op.refusals, {}, [](const ReplayRefusal& r) { return r.time; });
  std::string why = fmt::format("{} {} in {}", op.name, describe(refusal.reason), trace);
  if (refusal.reason == ReplayRefusal::Reason::kNoShapes) why += "; record with record_shapes=True";
  return why;
}

// a::b and a_b make the same name; the second is numbered.
class FileNames {
 public:
  std::string free(const std::string& op) {
    const std::string base = file_name_of(op);
    int& tried = tried_[base];
    std::string name = base;
    while (tried++ > 0 || !used_.insert(name).second) {
      name = fmt::format("{}-{}", base, tried);
      if (used_.insert(name).second) break;
    }
    return name + "_replay_package.zip";
  }

 private:
  std::set<std::string> used_;
  std::map<std::string, int> tried_;  // how many names were tried, by the first
};

std::string gpu_name(const EventStore& store) {
  return store.metadata().gpus.empty() ? "" : store.metadata().gpus.front().name;
}

Status make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && fs::is_directory(directory, error)) return Nothing{};
  return Error{fmt::format("cannot make the directory {}: {}; choose another place with --out",
                           directory.string(),
                           error ? error.message() : "it exists and is no directory")};
}

}  // namespace

Result<PackResult> pack_replays(const Trace& trace, const PackOptions& options,
                                const fs::path& directory) {
  const std::string file = trace.path == "-" ? "standard input" : trace.path;
  const Scope everything;
  const SheetInput input(trace.store, trace.tree, everything);
  const ReplayOps all = find_replay_ops(input);
  if (all.ops.empty()) return Error{fmt::format("{} has no op with GPU work", file)};
  PackOptions by_packed_name = options;
  by_packed_name.ops = as_packed(input, all, options.ops);
  const std::vector<Asked> asked = TRY(ops_asked_for(all, by_packed_name, file));
  PackResult result;
  result.directory = directory;
  result.trace = trace.path == "-" ? file : fs::path(trace.path).filename().string();
  result.gpu = gpu_name(trace.store);
  result.whole = all.whole;
  FileNames names;
  for (const auto& [op, by_name] : asked) {
    if (op->cases.empty()) {
      result.unpacked.push_back({op->name, why_not(*op, file), by_name, op->time});
      continue;
    }
    if (result.packed.empty()) TRY(make_directory(directory));
    const ReplayPackage package =
        make_replay_package(*op, {result.trace, result.gpu}, options.max_cases);
    PackedOp packed{op->name, names.free(op->name),  op->calls, package.cases, package.left_out,
                    op->time, package.left_out_time, {}};
    for (const ReplayRefusal& refusal : op->refusals) packed.refused_time += refusal.time;
    TRY(write_package(package, directory / packed.file));
    result.packed.push_back(std::move(packed));
  }
  return result;
}

fs::path default_package_directory(const std::string& trace_path) {
  return default_report_directory(trace_path).replace_extension(".replay_packages");
}

}  // namespace fathom
