#include "session/input_format.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/csv_text.h"
#include "base/file_descriptor.h"
#include "base/read_all.h"
#include "base/shell_text.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/reader.h"
#include "ingest/kineto/reader.h"
#include "ingest/nsys/reader.h"
#include "ingest/rocprof/perfetto.h"
#include "ingest/rocprof/rocpd.h"
#include "ingest/rocprof/trace_csv.h"
#include "ingest/rocprof/trace_json.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

constexpr size_t kHeadSize = 64 << 10;
// Formats that are held in memory as a whole while they are read.
constexpr int64_t kMostHeld = int64_t{8} << 30;

// The bytes that were looked at, then the rest.
class HeadedSource : public ByteSource {
 public:
  HeadedSource(std::string_view head, ByteSource& rest) : head_(head), rest_(rest) {}
  Result<size_t> read(std::span<char> into) override {
    const size_t n = std::min(into.size(), head_.size());
    std::memcpy(into.data(), head_.data(), n);
    head_.remove_prefix(n);
    return n + TRY(rest_.read(into.subspan(n)));
  }
  bool truncated() const override { return rest_.truncated(); }
  bool changed() const override { return rest_.changed(); }
  double progress() const override { return rest_.progress(); }

 private:
  std::string_view head_;
  ByteSource& rest_;
};

// Keeps what is read.
class KeepingSource : public ByteSource {
 public:
  explicit KeepingSource(ByteSource& source) : source_(source) {}
  Result<size_t> read(std::span<char> into) override {
    const size_t got = TRY(source_.read(into));
    if (static_cast<int64_t>(kept_.size() + got) > kMostHeld)
      return Error{"over 8 GiB from a pipe; write it to a file first"};
    kept_.append(into.data(), got);
    return got;
  }
  bool truncated() const override { return source_.truncated(); }
  bool changed() const override { return source_.changed(); }
  double progress() const override { return source_.progress(); }

  std::shared_ptr<const std::string> take() {
    return std::make_shared<const std::string>(std::move(kept_));
  }

 private:
  ByteSource& source_;
  std::string kept_;
};

std::string_view first_line(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text.substr(0, text.find_first_of("\r\n"));
}

std::string_view without_spaces_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

bool has_columns(std::string_view line, std::initializer_list<std::string_view> wanted) {
  CsvRecord record;
  split_csv(line, record);
  return std::ranges::all_of(wanted, [&](std::string_view name) {
    return std::ranges::find(record.fields, name) != record.fields.end();
  });
}

// ncu prints lines of its own, and the program its, before the table.
bool is_ncu_csv(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = first_line(text.substr(at));
    if (line.starts_with("\"ID\"") && has_columns(line, {"ID", "Process ID", "Kernel Name"}))
      return true;
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return false;
}

bool begins_json(std::string_view text) {
  const std::string_view rest = without_spaces_before(text);
  return rest.starts_with('{') || rest.starts_with('[');
}

// Of a format that is held as a whole.
Result<EventStore> read_text(Input& input, const OpenOptions& options,
                             Result<EventStore> (*read)(std::string_view, const std::string&)) {
  HeadedSource source(input.head, *input.source);
  const int64_t limit = options.max_size > 0 ? std::min(options.max_size, kMostHeld) : kMostHeld;
  Result<WholeText> whole = read_all(source, static_cast<size_t>(limit));
  if (!whole.ok()) {
    return Error{fmt::format("cannot read {}: {}", input.shown, whole.error().message)};
  }
  Result<EventStore> store = read(whole.value().text, input.shown);
  if (!store.ok()) return store;
  EventStore read_store = store.take();
  Diagnostics more;
  if (whole.value().cut) more.add(Flaw::kSizeLimit);
  if (whole.value().truncated && read_store.diagnostics().count(Flaw::kTruncated) == 0) {
    more.add(Flaw::kTruncated);
  }
  if (source.changed()) more.add(Flaw::kChangedWhileRead);
  read_store.add_diagnostics(more);
  return read_store;
}

Result<EventStore> read_database(Input& input, const OpenOptions& options,
                                 Result<EventStore> (*read)(const SqliteDatabase&,
                                                            const std::string&,
                                                            const ProgressCallback&)) {
  Result<EventStore> store = read(*input.database, input.shown, options.progress);
  if (!store.ok() || !input.database->truncated()) return store;
  EventStore read_store = store.take();
  Diagnostics more;
  more.add(Flaw::kTruncated);
  read_store.add_diagnostics(more);
  return read_store;
}

Result<EventStore> read_recording(Input& input, const OpenOptions& options) {
  HeadedSource source(input.head, *input.source);
  capture::ReadOptions read;
  if (options.max_size > 0) read.max_size = options.max_size;
  read.progress = options.progress;
  std::error_code error;
  if (input.path != "-" && std::filesystem::is_regular_file(input.path, error))
    return capture::read_capture(source, input.shown, read);
  // A pipe: its counters and samples are read from what is kept.
  KeepingSource keeping(source);
  EventStore store = TRY(capture::read_capture(keeping, input.shown, read));
  input.kept = keeping.take();
  return store;
}

constexpr InputFormat kFormats[] = {
    {InputKind::kTrace, "capture", "fathom record -- COMMAND",
     [](const InputHead& head) { return capture::is_capture(head.text); }, read_recording},
    {InputKind::kTrace, "Nsight Systems SQLite export", "nsys export --type sqlite REPORT.nsys-rep",
     [](const InputHead& head) {
       return head.database != nullptr && nsys::is_export(*head.database);
     },
     [](Input& input, const OpenOptions& options) {
       return read_database(input, options, nsys::read_trace);
     }},
    {InputKind::kTrace, "rocpd database", "rocprofv3 --output-format rocpd",
     [](const InputHead& head) {
       return head.database != nullptr && rocprof::is_rocpd(*head.database);
     },
     [](Input& input, const OpenOptions& options) {
       return read_database(input, options, rocprof::read_rocpd);
     }},
    {InputKind::kCounters, "Nsight Compute report", "ncu --export REPORT",
     [](const InputHead& head) { return head.text.starts_with("NVR\0"sv); }, nullptr},
    {InputKind::kTrace, "rocprofv3 JSON", "rocprofv3 --output-format json",
     [](const InputHead& head) {
       return begins_json(head.text) &&
              head.text.substr(0, 4096).find(rocprof::kJsonKey) != std::string_view::npos;
     },
     [](Input& input, const OpenOptions& options) {
       return read_text(input, options, rocprof::read_trace_json);
     }},
    {InputKind::kTrace, "rocprofv3 CSV trace", "rocprofv3 --output-format csv",
     [](const InputHead& head) { return rocprof::is_trace_header(head.text); },
     [](Input& input, const OpenOptions& options) {
       return read_text(input, options, rocprof::read_trace_csv);
     }},
    {InputKind::kCounters, "Nsight Compute CSV", "ncu --csv --page raw",
     [](const InputHead& head) { return is_ncu_csv(head.text); }, nullptr},
    {InputKind::kCounters, "rocprofv3 counter CSV", "rocprofv3 --pmc … --output-format csv",
     [](const InputHead& head) {
       return has_columns(first_line(head.text), {"Counter_Name", "Counter_Value"});
     },
     nullptr},
    {InputKind::kCounters, "ROCm Compute Profiler CSV", "rocprof-compute profile",
     [](const InputHead& head) {
       return has_columns(first_line(head.text), {"Dispatch_ID", "GPU_ID", "Kernel_Name"});
     },
     nullptr},
    {InputKind::kTrace, "Perfetto trace of rocprofv3", "rocprofv3 --output-format pftrace",
     [](const InputHead& head) { return rocprof::is_perfetto(head.text); },
     [](Input& input, const OpenOptions& options) {
       return read_text(input, options, rocprof::read_perfetto);
     }},
    // Last: it finds events in any text, behind log lines and damage too.
    {InputKind::kTrace, "Chrome trace JSON",
     "torch.profiler's export_chrome_trace, or the JAX/XLA profiler (.trace.json.gz)",
     [](const InputHead& head) { return head.database == nullptr; },
     [](Input& input, const OpenOptions& options) {
       kineto::ReadOptions read;
       read.threads = options.threads;
       read.progress = options.progress;
       if (options.max_size > 0) read.limits.max_size = options.max_size;
       HeadedSource source(input.head, *input.source);
       return kineto::read_trace(source, input.shown, read);
     }},
};

constexpr std::string_view kWhatIsRead =
    "Fathom reads traces of torch.profiler and JAX (JSON), Nsight Systems (SQLite) and rocprofv3 "
    "(JSON, CSV, rocpd, pftrace)";

// The first names of many.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(names.size(), kShown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

Error unknown_database(const Input& input) {
  const SqliteDatabase& database = *input.database;
  std::string what = fmt::format(
      "an SQLite database with {}",
      database.tables().empty() ? "no tables" : "the tables " + listed(database.tables()));
  std::string advice(kWhatIsRead);
  if (database.has_table("StringTable") && database.has_table("CUPTI_ACTIVITY_KIND_RUNTIME")) {
    what = "a database of nvprof, which Nsight Systems replaced";
    advice =
        "record it again: nsys profile -o report COMMAND && nsys export --type sqlite "
        "report.nsys-rep";
  } else if (database.has_table("rocpd_op") && database.has_table("rocpd_api")) {
    what = "a database of rpd_tracer (.rpd)";
    advice = fmt::format(
        "convert it to JSON: python3 rpd2tracing.py {} trace.json, or record with "
        "rocprofv3",
        shell_word(input.path));
  }
  return Error{fmt::format("{} is {}; {}", input.shown, what, advice)};
}

// A report that the vendor's program must export. Nothing for other files.
std::optional<Error> report_to_export(const Input& input) {
  const std::string_view path = input.path;
  const auto export_it = [&](std::string_view what, const std::string& report) {
    std::filesystem::path exported(report);
    exported.replace_extension(".sqlite");
    return Error{fmt::format("{} is {}; export it: nsys export --type sqlite --output {} {}",
                             input.shown, what, shell_word(exported.string()), shell_word(report))};
  };
  const bool text = begins_json(input.head);
  if (!text && (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))) {
    return export_it("an Nsight Systems report", input.path);
  }
  if (path.ends_with(".qdstrm") || input.head.starts_with("QDSTRM")) {
    std::filesystem::path report(input.path);
    report.replace_extension(".nsys-rep");
    return Error{fmt::format(
        "{} is an Nsight Systems recording that was not finished; import it with QdstrmImporter "
        "(in Nsight Systems' host directory): QdstrmImporter --input-file {}, then: nsys export "
        "--type sqlite {}",
        input.shown, shell_word(input.path), shell_word(report.string()))};
  }
  if (path.ends_with(".xplane.pb")) {
    return Error{fmt::format(
        "{} is an XLA profile (.xplane.pb); name the .trace.json.gz that the profiler writes "
        "beside it (jax.profiler.trace with create_perfetto_trace=True writes one)",
        input.shown)};
  }
  return {};
}

// A table whose columns are none of ours. Nothing for text that may hold a trace.
std::optional<Error> unknown_table(const Input& input) {
  const std::string_view line = first_line(input.head);
  if (line.find('\0') != std::string_view::npos) return {};  // binary, with commas by chance
  CsvRecord record;
  split_csv(line, record);
  if (record.fields.size() < 3 || record.unclosed) return {};
  if (input.head.find_first_of("{[") != std::string::npos) return {};
  for (std::string& name : record.fields) name.resize(std::min<size_t>(name.size(), 40));
  return Error{
      fmt::format("{} is a table (CSV) with the columns {}: none of those that Fathom reads; {}",
                  input.shown, listed(record.fields), kWhatIsRead)};
}

// Whether a file, as it lies there, is a whole database: not compressed, not a pipe, not cut off.
bool is_plain_database(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char head[100] = {};
  if (!file.ok() || pread(file.get(), head, sizeof(head), 0) != sizeof(head)) return false;
  const std::string_view begin(head, sizeof(head));
  struct stat status = {};
  return SqliteDatabase::begins_like_one(begin) && fstat(file.get(), &status) == 0 &&
         !SqliteDatabase::is_cut(begin, status.st_size);
}

}  // namespace

std::span<const InputFormat> input_formats() { return kFormats; }

const InputFormat* find_format(const InputHead& head) {
  for (const InputFormat& format : kFormats) {
    if (format.matches(head)) return &format;
  }
  return nullptr;
}

Result<Input> open_input(const std::string& path, const OpenOptions& options, ReadingStamp* stamp) {
  Input input{path, path == "-" ? "standard input" : path, {}, {}, {}, nullptr};
  input.source = TRY(open_source(path, stamp));
  input.head.resize(kHeadSize);
  const Result<size_t> got = input.source->read(input.head);
  if (!got.ok()) {
    return Error{fmt::format("cannot read {}: {}", input.shown, got.error().message)};
  }
  input.head.resize(got.value());
  if (!SqliteDatabase::begins_like_one(input.head)) return input;
  if (path != "-" && is_plain_database(path)) {
    input.database = TRY(SqliteDatabase::open_file(path));
    return input;
  }
  // The pages are wanted in any order.
  const int64_t limit = options.max_size > 0 ? std::min(options.max_size, kMostHeld) : kMostHeld;
  HeadedSource source(input.head, *input.source);
  Result<WholeText> whole = read_all(source, static_cast<size_t>(limit));
  if (!whole.ok()) {
    return Error{fmt::format("cannot read {}: {}", input.shown, whole.error().message)};
  }
  const std::string& text = whole.value().text;
  input.database =
      TRY(SqliteDatabase::open_bytes(std::vector<char>(text.begin(), text.end()), input.shown));
  return input;
}

Result<EventStore> read_input(Input& input, const OpenOptions& options) {
  if (std::optional<Error> error = report_to_export(input)) return *error;
  const InputFormat* const format =
      find_format({input.path, input.head, input.database ? &*input.database : nullptr});
  if (format == nullptr) return unknown_database(input);
  if (format->kind == InputKind::kCounters) {
    return Error{fmt::format("{} holds hardware counters ({}), no timeline; name a trace: {}",
                             input.shown, format->name, kWhatIsRead)};
  }
  if (format->read == kFormats[std::size(kFormats) - 1].read) {
    if (std::optional<Error> error = unknown_table(input)) return *error;
  }
  return format->read(input, options);
}

}  // namespace fathom
