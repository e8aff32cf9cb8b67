#include "ingest/rocprof/trace_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/csv_text.h"
#include "ingest/rocprof/trace_rows.h"

namespace fathom::rocprof {
namespace {

enum class CsvColumn : uint8_t {
  kKind,
  kDomain,
  kFunction,
  kDirection,
  kKernel,
  kBegin,
  kEnd,
  kCorrelation,
  kProcess,
  kThread,
  kAgent,
  kTarget,
  kSource,
  kQueue,
  kStream,
  kLds,
  kVectorRegisters,
  kAccumulation,
  kGroup,
  kGroupX,
  kGroupY,
  kGroupZ,
  kGrid,
  kGridX,
  kGridY,
  kGridZ,
  kBytes,
  kCounter,
  kCount,
};

struct CsvName {
  std::string_view text;
  CsvColumn column;
};
// rocprofv3's names, and those of rocprof before it.
constexpr CsvName kCsvNames[] = {
    {"Kind", CsvColumn::kKind},
    {"Domain", CsvColumn::kDomain},
    {"Function", CsvColumn::kFunction},
    {"Direction", CsvColumn::kDirection},
    {"Kernel_Name", CsvColumn::kKernel},
    {"KernelName", CsvColumn::kKernel},
    {"Start_Timestamp", CsvColumn::kBegin},
    {"BeginNs", CsvColumn::kBegin},
    {"End_Timestamp", CsvColumn::kEnd},
    {"EndNs", CsvColumn::kEnd},
    {"Correlation_Id", CsvColumn::kCorrelation},
    {"Process_Id", CsvColumn::kProcess},
    {"pid", CsvColumn::kProcess},
    {"Thread_Id", CsvColumn::kThread},
    {"tid", CsvColumn::kThread},
    {"Agent_Id", CsvColumn::kAgent},
    {"gpu-id", CsvColumn::kAgent},
    {"Destination_Agent_Id", CsvColumn::kTarget},
    {"Source_Agent_Id", CsvColumn::kSource},
    {"Queue_Id", CsvColumn::kQueue},
    {"queue-id", CsvColumn::kQueue},
    {"Stream_Id", CsvColumn::kStream},
    {"LDS_Block_Size", CsvColumn::kLds},
    {"Group_Segment_Size", CsvColumn::kLds},
    {"lds", CsvColumn::kLds},
    {"VGPR_Count", CsvColumn::kVectorRegisters},
    {"arch_vgpr", CsvColumn::kVectorRegisters},
    {"Accum_VGPR_Count", CsvColumn::kAccumulation},
    {"accum_vgpr", CsvColumn::kAccumulation},
    {"wgr", CsvColumn::kGroup},
    {"Workgroup_Size_X", CsvColumn::kGroupX},
    {"Workgroup_Size_Y", CsvColumn::kGroupY},
    {"Workgroup_Size_Z", CsvColumn::kGroupZ},
    {"grd", CsvColumn::kGrid},
    {"Grid_Size_X", CsvColumn::kGridX},
    {"Grid_Size_Y", CsvColumn::kGridY},
    {"Grid_Size_Z", CsvColumn::kGridZ},
    {"Size", CsvColumn::kBytes},
    {"Bytes", CsvColumn::kBytes},
    {"Counter_Name", CsvColumn::kCounter},
};

// Which field of a line holds which column.
class CsvHeader {
 public:
  explicit CsvHeader(std::string_view line) {
    places_.fill(SIZE_MAX);
    CsvRecord names;
    split_csv(line, names);
    for (size_t i = 0; i < names.fields.size(); ++i) {
      const auto known = std::ranges::find(kCsvNames, names.fields[i], &CsvName::text);
      if (known != std::end(kCsvNames)) places_[index(known->column)] = i;
    }
  }

  bool has(CsvColumn column) const { return places_[index(column)] != SIZE_MAX; }
  std::string_view get(const CsvRecord& record, CsvColumn column) const {
    const size_t at = places_[index(column)];
    return at < record.fields.size() ? std::string_view(record.fields[at]) : std::string_view{};
  }
  bool is_trace() const {
    if (!has(CsvColumn::kBegin) || !has(CsvColumn::kEnd) || has(CsvColumn::kCounter)) return false;
    const bool kernels = has(CsvColumn::kKernel) &&
                         (has(CsvColumn::kKind) || has(CsvColumn::kGrid) || has(CsvColumn::kGridX));
    return kernels || has(CsvColumn::kFunction) || has(CsvColumn::kDirection);
  }

 private:
  static size_t index(CsvColumn column) { return static_cast<size_t>(column); }
  std::array<size_t, static_cast<size_t>(CsvColumn::kCount)> places_ = {};
};

// Records of a text: lines, more than one where a quoted field has line breaks.
class CsvRecords {
 public:
  explicit CsvRecords(std::string_view text) : rest_(text) {}

  bool next(std::string_view& record) {
    constexpr size_t kLongest = 1 << 20;
    while (!rest_.empty()) {
      bool inside = false;
      size_t at = 0;
      for (; at < rest_.size() && at < kLongest && (inside || rest_[at] != '\n'); ++at) {
        if (rest_[at] == '"') inside = !inside;
      }
      record = rest_.substr(0, at);
      closed_ = at < rest_.size() && rest_[at] == '\n';
      rest_.remove_prefix(std::min(at + 1, rest_.size()));
      if (record.find_first_not_of("\r\n \t") != std::string_view::npos) return true;
    }
    return false;
  }
  // The last one ended with a line break.
  bool closed() const { return closed_; }

 private:
  std::string_view rest_;
  bool closed_ = true;
};

std::string_view first_line(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text.substr(0, text.find('\n'));
}

class CsvTrace {
 public:
  CsvTrace(const CsvHeader& header, EventStoreBuilder& out) : header_(header), rows_(out) {}

  void add(const CsvRecord& record) {
    record_ = &record;
    const int64_t process = number(CsvColumn::kProcess).value_or(0);
    if (header_.has(CsvColumn::kKernel)) return add_kernel(process);
    if (header_.has(CsvColumn::kDirection)) return add_copy(process);
    const TraceRows::Call call{number(CsvColumn::kBegin), number(CsvColumn::kEnd),
                               number(CsvColumn::kCorrelation), number(CsvColumn::kThread)};
    const std::string_view domain = header_.get(record, CsvColumn::kDomain);
    const StringId name = rows_.rows().text(header_.get(record, CsvColumn::kFunction));
    if (domain.starts_with("HIP") || domain.starts_with("HSA")) {
      return rows_.add_api(name, domain.starts_with("HSA"), process, call);
    }
    rows_.add_range(name, process, call);
  }

 private:
  std::optional<int64_t> number(CsvColumn column) const {
    return number_in(header_.get(*record_, column));
  }

  void add_kernel(int64_t process) {
    Dispatch d;
    d.begin = number(CsvColumn::kBegin);
    d.end = number(CsvColumn::kEnd);
    d.correlation = number(CsvColumn::kCorrelation);
    d.device = number(CsvColumn::kAgent);
    d.queue = number(CsvColumn::kQueue);
    d.stream = number(CsvColumn::kStream);
    d.lds = number(CsvColumn::kLds);
    if (const auto vector_registers = small_number(number(CsvColumn::kVectorRegisters))) {
      d.registers =
          int64_t{*vector_registers} + small_number(number(CsvColumn::kAccumulation)).value_or(0);
    }
    const bool whole = header_.has(CsvColumn::kGroup);
    d.workgroup[0] = number(whole ? CsvColumn::kGroup : CsvColumn::kGroupX);
    d.grid[0] = number(whole ? CsvColumn::kGrid : CsvColumn::kGridX);
    if (!whole) {
      d.workgroup[1] = number(CsvColumn::kGroupY);
      d.workgroup[2] = number(CsvColumn::kGroupZ);
      d.grid[1] = number(CsvColumn::kGridY);
      d.grid[2] = number(CsvColumn::kGridZ);
    }
    const std::string_view name = header_.get(*record_, CsvColumn::kKernel);
    rows_.add_kernel(rows_.rows().text(kernel_name(name)), process, d);
  }

  void add_copy(int64_t process) {
    const auto to = number(CsvColumn::kTarget), from = number(CsvColumn::kSource);
    const std::string name = copy_name(header_.get(*record_, CsvColumn::kDirection));
    const bool to_host = name.find("toH") != std::string::npos;
    rows_.add_copy(
        rows_.rows().text(name), process,
        {number(CsvColumn::kBegin), number(CsvColumn::kEnd), number(CsvColumn::kCorrelation),
         to_host ? from : to, number(CsvColumn::kStream), number(CsvColumn::kBytes)});
  }

  const CsvHeader& header_;
  TraceRows rows_;
  const CsvRecord* record_ = nullptr;
};

}  // namespace

bool is_trace_header(std::string_view line) { return CsvHeader(first_line(line)).is_trace(); }

Result<EventStore> read_trace_csv(std::string_view text, const std::string& shown) {
  const std::string_view line = first_line(text);
  const CsvHeader header(line);
  if (!header.is_trace()) return Error{fmt::format("{} is no trace table of rocprof", shown)};
  EventStoreBuilder out;
  CsvTrace trace(header, out);
  CsvRecords records(text.substr(
      std::min(static_cast<size_t>(line.data() - text.data()) + line.size() + 1, text.size())));
  CsvRecord record;
  std::string_view whole;
  while (records.next(whole)) {
    split_csv(whole, record);
    if (record.unclosed) {
      out.diagnostics().add(records.closed() ? Flaw::kMalformedEvent : Flaw::kTruncated);
      out.skip_position();
      continue;
    }
    trace.add(record);
  }
  TraceMetadata metadata;
  metadata.source = header.has(CsvColumn::kGrid) ? "rocprof" : "rocprofv3";
  return std::move(out).seal(std::move(metadata), static_cast<int64_t>(text.size()));
}

}  // namespace fathom::rocprof
