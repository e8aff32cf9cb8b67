#include "session/replay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "base/closest_names.h"
#include "base/content_hash.h"
#include "base/directory_entries.h"
#include "base/glob.h"
#include "base/mapped_file.h"
#include "base/output_directory.h"
#include "base/report_swap.h"
#include "base/staging.h"
#include "base/utf8.h"
#include "replay/package.h"
#include "replay/python_text.h"
#include "session/analyze.h"
#include "sheets/launchers.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Of a name in a sentence; a trace may have names of megabytes.
constexpr size_t kNameBytes = 200;

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
  std::vector<std::string> closest = closest_names(name, names, 3);
  for (std::string& one : closest) one = cut_to_bytes(one, kNameBytes);
  return Error{fmt::format("{} has no op {} with GPU work{}", trace, cut_to_bytes(name, kNameBytes),
                           closest.empty()
                               ? "; 'fathom analyze' lists the ops"
                               : fmt::format("; did you mean {}?", fmt::join(closest, ", ")))};
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
  std::string why = fmt::format("{} {} in {}", cut_to_bytes(op.name, kNameBytes),
                                describe(refusal.reason), trace);
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

Result<FileDescriptor> open_or_make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  FileDescriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.ok()) return opened;
  return Error{fmt::format("cannot make the directory {}: {}; {}", directory.string(),
                           std::strerror(errno), remedy_of(errno))};
}

// What of the packages is there already and ours to replace. Whatever else is there is in the way.
Result<ReportManifest> own_packages(int folder, const fs::path& shown, const PackPlace& place,
                                    const std::vector<std::string>& files,
                                    const std::string& trace) {
  ReportManifest ours;
  for (const std::string& name : files) {
    struct stat status = {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const FileDescriptor file = open_regular_file(folder, name.c_str());
    const auto mapped = file.ok() ? MappedFile::map(file.get()) : nullptr;
    const auto bytes = mapped ? mapped->bytes() : std::span<const std::byte>();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (is_package_of(text, trace)) {
      ours.files.emplace(name, ManifestFile{text.size(), hash_content(text)});
    } else if (!place.force) {
      return Error{fmt::format(
          "{} exists and is no replay package of {} as Fathom made it; choose another place with "
          "--out, or have it kept under another name with --force",
          (shown / name).lexically_normal().string(), trace)};
    }
  }
  return ours;
}

// All of them or none.
using Packages = std::vector<std::pair<std::string, std::string>>;  // name, bytes

Result<std::vector<std::string>> place_packages(const Packages& packages, const PackPlace& place,
                                                const fs::path& directory,
                                                const std::string& trace) {
  const FileDescriptor folder = TRY(open_or_make_directory(directory));
  std::vector<std::string> files;
  for (const auto& [name, _] : packages) files.push_back(name);
  const fs::path shown = shown_directory(directory);
  const ReportManifest ours = TRY(own_packages(folder.get(), shown, place, files, trace));
  const StagingDirectory staging = TRY(StagingDirectory::create(directory, shown));
  ReportManifest now;
  for (const auto& [name, bytes] : packages) {
    TRY(write_new_file(staging.content() / name, shown / name, bytes));
    now.files.emplace(name, ManifestFile{bytes.size(), hash_content(bytes)});
  }
  ReportSwap swap(folder.get(), staging.fd(), shown.string(), ours);
  for (const auto& [name, file] : now.files) TRY(swap.place(name, name, file));
  swap.finish(now);
  return swap.notes();
}

Result<std::vector<std::string>> write_packages(const Packages& packages, const PackPlace& place,
                                                const std::string& trace) {
  fs::path directory = place.one_file ? place.path.parent_path() : place.path;
  if (directory.empty()) directory = ".";
  std::error_code error;
  const bool is_new = !fs::exists(directory, error);
  Result<std::vector<std::string>> placed = place_packages(packages, place, directory, trace);
  if (!placed.ok() && is_new) rmdir(directory.c_str());  // only where nothing is in it
  return placed;
}

}  // namespace

Result<PackResult> pack_replays(const Trace& trace, const PackOptions& options,
                                const PackPlace& place) {
  const std::string file = trace.path == "-" ? "standard input" : trace.path;
  const Scope everything;
  const SheetInput input(trace.store, trace.tree, everything);
  const ReplayOps all = find_replay_ops(input);
  if (all.ops.empty()) return Error{fmt::format("{} has no op with GPU work", file)};
  PackOptions by_packed_name = options;
  by_packed_name.ops = as_packed(input, all, options.ops);
  const std::vector<Asked> asked = TRY(ops_asked_for(all, by_packed_name, file));
  PackResult result;
  result.directory = place.one_file ? place.path.parent_path() : place.path;
  result.trace = trace.path == "-" ? file : fs::path(trace.path).filename().string();
  result.gpu = gpu_name(trace.store);
  result.whole = all.whole;
  FileNames names;
  std::vector<std::pair<std::string, std::string>> packages;  // file and bytes
  for (const auto& [op, by_name] : asked) {
    if (op->cases.empty()) {
      result.unpacked.push_back({op->name, why_not(*op, file), by_name, op->time});
      continue;
    }
    const ReplayPackage package =
        make_replay_package(*op, {result.trace, result.gpu}, options.max_cases);
    PackedOp packed{op->name, names.free(op->name),  op->calls, package.cases, package.left_out,
                    op->time, package.left_out_time, {}};
    for (const ReplayRefusal& refusal : op->refusals) packed.refused_time += refusal.time;
    if (place.one_file) packed.file = place.path.filename().string();
    packages.emplace_back(packed.file, TRY(zip_package(package, result.trace)));
    result.packed.push_back(std::move(packed));
  }
  if (place.one_file && packages.size() > 1) {
    return Error{fmt::format(
        "--out {} names one package, but {} ops are selected: select one op, or name a directory",
        place.path.string(), packages.size())};
  }
  if (place.path == "-" && !packages.empty()) {
    result.bytes = std::move(packages.front().second);
  } else if (place.write && !packages.empty()) {
    result.notes = TRY(write_packages(packages, place, result.trace));
  }
  return result;
}

fs::path default_package_directory(const std::string& trace_path) {
  return default_report_directory(trace_path).replace_extension(".replay_packages");
}

}  // namespace fathom
