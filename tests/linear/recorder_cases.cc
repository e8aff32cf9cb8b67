// Recordings of other tools: databases, JSON, CSV and packets of n events.
#include <fmt/format.h>

#include "capture/gpu_numbers.h"
#include "linear_cases.h"
#include "made_database.h"
#include "record/made_capture.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

// `rows` as the values of one table, with the numbers of a row for {0}.
std::string inserted(std::string_view table, std::string_view row, size_t n) {
  std::string sql = fmt::format("INSERT INTO {} VALUES", table);
  for (size_t i = 0; i < n; ++i) {
    sql += i > 0 ? "," : "";
    sql += fmt::format(fmt::runtime(row), i, 100 * i, 100 * i + 50);
  }
  return sql + ";";
}

void write_nsys(const fs::path& directory, size_t n) {
  make_database(
      directory / "t.sqlite",
      "BEGIN;CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER,"
      " globalTid INTEGER, nameId INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, correlationId INTEGER,"
      " demangledName INTEGER);"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, textId INTEGER, globalTid INTEGER);" +
          inserted("StringIds", "({0},'name{0}')", n) +
          inserted("CUPTI_ACTIVITY_KIND_RUNTIME", "({1},{2},{0},{0},{0})", n) +
          inserted("CUPTI_ACTIVITY_KIND_KERNEL", "({1},{2},{0},{0})", n) +
          inserted("NVTX_EVENTS", "({1},{2},{0},{0})", n) + "COMMIT;");
}

void write_nsys_of_tables(const fs::path& directory, size_t n) {
  std::string sql = "BEGIN;CREATE TABLE StringIds(id INTEGER, value TEXT);";
  for (size_t i = 0; i < n; ++i) {
    sql += fmt::format("CREATE TABLE NVTX_EVENTS{}(start);", i > 0 ? std::to_string(i) : "");
  }
  make_database(directory / "t.sqlite", sql + "INSERT INTO NVTX_EVENTS VALUES(1);COMMIT;");
}

void write_rocpd(const fs::path& directory, size_t n) {
  make_database(directory / "t.db",
                "BEGIN;CREATE TABLE rocpd_event_01234567(id INTEGER, stack_id INTEGER);"
                "CREATE TABLE rocpd_region_01234567(start INTEGER, end INTEGER, event_id INTEGER,"
                " tid INTEGER);"
                "CREATE TABLE rocpd_kernel_dispatch_01234567(start INTEGER, end INTEGER,"
                " event_id INTEGER, kernel_id INTEGER);" +
                    inserted("rocpd_event_01234567", "({0},{0})", n) +
                    inserted("rocpd_region_01234567", "({1},{2},{0},{0})", n) +
                    inserted("rocpd_kernel_dispatch_01234567", "({1},{2},{0},{0})", n) + "COMMIT;");
}

void write_json(const fs::path& directory, size_t n) {
  std::string text = R"({"rocprofiler-sdk-tool":[{"kernel_symbols":[)";
  for (size_t i = 0; i < n; ++i) {
    text += fmt::format(R"({}{{"kernel_id":{},"formatted_kernel_name":"k{}"}})", i > 0 ? "," : "",
                        i, i);
  }
  text += R"(],"buffer_records":{"kernel_dispatch":[)";
  for (size_t i = 0; i < n; ++i) {
    text += fmt::format(R"({}{{"start_timestamp":{},"end_timestamp":{},)"
                        R"("dispatch_info":{{"kernel_id":{}}},"stream_id":{{"handle":{}}}}})",
                        i > 0 ? "," : "", 10 * i, 10 * i + 5, i, i);
  }
  write_file(directory / "t.json", text + "]}}]}");
}

void write_nested_json(const fs::path& directory, size_t n) {
  write_file(directory / "t.json",
             R"({"rocprofiler-sdk-tool":[{"agents":)" + repeated("[{\"a\":", n));
}

void write_csv(const fs::path& directory, size_t n) {
  std::string text = "Kind,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n";
  for (size_t i = 0; i < n; ++i)
    text += fmt::format("K,\"k{}\",{},{},{}\n", i, i, 10 * i, 10 * i + 5);
  write_file(directory / "t.csv", text);
}

void write_open_quotes(const fs::path& directory, size_t n) {
  write_file(directory / "t.csv",
             "Kind,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n" +
                 repeated("K,\"k,1,2,3\n", n));
}

std::string varint_text(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
std::string field_number(uint32_t field, uint64_t value) {
  return varint_text(field << 3) + varint_text(value);
}
std::string field_bytes(uint32_t field, std::string_view text) {
  return varint_text(field << 3 | 2) + varint_text(text.size()) + std::string(text);
}

// Slices that begin and never end, each on a track and in a sequence of its own.
void write_packets(const fs::path& directory, size_t n) {
  std::string trace;
  for (size_t i = 0; i < n; ++i) {
    trace += field_bytes(1, field_number(10, i) + field_bytes(60, field_number(1, i)));
    trace += field_bytes(1, field_number(10, i) + field_number(8, 10 * i) +
                                field_bytes(11, field_number(9, 1) + field_number(11, i) +
                                                    field_bytes(23, "slice")));
  }
  write_file(directory / "t.pftrace", trace);
}

void write_xla(const fs::path& directory, size_t n) {
  std::string text =
      R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}})";
  for (size_t i = 0; i < n; ++i) {
    text += fmt::format(
        R"(,{{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":"Stream #{0}"}}}})"
        R"(,{{"ph":"X","pid":1,"tid":{0},"ts":{0},"dur":1,"name":"k{0}","args":{{)"
        R"("kernel_details":"grid:1,1,1 block:1,1,1"}}}})"
        R"(,{{"ph":"C","name":"c","pid":1,"tid":1,"ts":{0},"args":{{"v{0}":1}}}})",
        i);
  }
  write_file(directory / "t.json", text + "]}");
}

void write_capture(const fs::path& directory, size_t n) {
  write_file(directory / "t.capture", made_capture(static_cast<int>(n)));
}

// Kernels that all last as long as the recording, with as many numbers of their GPU, and samples of
// as many instructions in functions with long names, longer at each size than a cell of a workbook.
void write_capture_of_samples(const fs::path& directory, size_t n) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  std::vector<capture::Kernel> kernels(n);
  std::vector<capture::Number> numbers(n);
  std::vector<capture::Sample> samples(n);
  const capture::TextId long_name = writer.text(std::string(n * 80, 'f'));
  for (size_t i = 0; i < n; ++i) {
    kernels[i].start = i;
    kernels[i].end = n * 1'000'000;
    kernels[i].name = writer.text("kernel " + std::to_string(i % 50));
    numbers[i] = {
        i * 1'000'000, static_cast<double>(i % 7),
        writer.text(capture::gpu_number_name(
            0, i % 2 == 0 ? capture::GpuNumber::kSmClock : capture::GpuNumber::kClockReasons)),
        0};
    samples[i].samples = i + 1;
    samples[i].pc = i * 16;
    samples[i].function = i % 3 == 0 ? long_name : writer.text("function " + std::to_string(i));
    samples[i].reason = writer.text("wait");
    samples[i].file = i % 2 == 0 ? long_name : 0;
    samples[i].line = static_cast<uint32_t>(i);
  }
  writer.write<capture::Kernel>(capture::ChunkKind::kKernels, kernels);
  writer.write<capture::Number>(capture::ChunkKind::kNumbers, numbers);
  writer.write<capture::Sample>(capture::ChunkKind::kSamples, samples);
  write_file(directory / "t.capture", sink.text);
}

// Kernels that all last as long as the recording, each on a GPU of its own or on the first, with
// what was sampled of the GPUs and counted of each kernel.
void write_capture_of_activity(const fs::path& directory, size_t n) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  std::string meta = "gpu\t0\tNVIDIA H200\t132\t150000000000\t9\t0\n";
  std::vector<capture::Kernel> kernels(n);
  std::vector<capture::Activity> samples(n);
  std::vector<capture::Counter> counters(n);
  for (size_t i = 0; i < n; ++i) {
    const auto device = static_cast<uint32_t>(i % 2 == 0 ? 0 : i);
    meta += fmt::format(
        "activity\t{}\tsm__cycles_active.avg.pct_of_peak_sustained_elapsed\t"
        "dram__bytes_read.sum\n",
        device);
    kernels[i].start = i;
    kernels[i].end = n * 1000;
    kernels[i].device = device;
    kernels[i].name = writer.text("kernel " + std::to_string(i));
    kernels[i].grid[0] = kernels[i].block[0] = 32;
    samples[i] = {i * 1000, (i + 1) * 1000, device, 2, {50, 1000}};
    counters[i].name = kernels[i].name;
    counters[i].metric = writer.text("dram__throughput.avg.pct_of_peak_sustained_elapsed");
    counters[i].value = 80;
    counters[i].grid[0] = counters[i].block[0] = 32;
  }
  writer.write_meta(meta);
  writer.write<capture::Kernel>(capture::ChunkKind::kKernels, kernels);
  writer.write<capture::Activity>(capture::ChunkKind::kActivity, samples);
  writer.write<capture::Counter>(capture::ChunkKind::kCounters, counters);
  write_file(directory / "t.capture", sink.text);
}

// Heads that promise more than there is, one after another.
void write_crafted_capture(const fs::path& directory, size_t n) {
  std::string bytes(capture::kMagic, sizeof capture::kMagic);
  capture::ChunkHead head;
  head.kind = capture::ChunkKind::kKernels;
  head.bytes = 1 << 16;
  for (size_t i = 0; i < n; ++i) bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
  write_file(directory / "t.capture", bytes + made_capture(8).substr(sizeof capture::kMagic));
}

}  // namespace

std::vector<LinearCase> recorder_cases() {
  return {
      {"NsysExport", write_nsys, "analyze t.sqlite --threads 1 --out out", 500},
      {"NsysExportOfManyTables", write_nsys_of_tables, "analyze t.sqlite --threads 1 --out out",
       1000},
      {"RocpdDatabase", write_rocpd, "analyze t.db --threads 1 --out out", 500},
      {"RocprofJson", write_json, "analyze t.json --threads 1 --out out", 500},
      {"RocprofJsonOfOpenBrackets", write_nested_json, "analyze t.json --threads 1 --out out",
       20000, 1},
      {"RocprofCsv", write_csv, "analyze t.csv --threads 1 --out out", 500},
      {"RocprofCsvOfOpenQuotes", write_open_quotes, "analyze t.csv --threads 1 --out out", 20000},
      {"PerfettoPackets", write_packets, "analyze t.pftrace --threads 1 --out out", 4000},
      {"Capture", write_capture, "analyze t.capture --threads 1 --out out", 1000},
      {"CaptureOfSamplesAndClocks", write_capture_of_samples,
       "analyze t.capture --threads 1 --out out", 1000},
      {"CaptureOfActivityAndCounters", write_capture_of_activity,
       "analyze t.capture --threads 1 --out out", 500},
      {"CaptureOfCraftedHeads", write_crafted_capture, "convert -q t.capture out.json", 20000, 1},
      {"XlaTrace", write_xla, "analyze t.json --threads 1 --out out", 500},
  };
}

}  // namespace fathom::test
