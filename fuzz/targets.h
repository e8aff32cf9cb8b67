#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

// One function for each reader of bytes from outside. libFuzzer calls them with what it makes up;
// ./test calls them with every file of fuzz/corpus/<name> and fuzz/crashes/<name>.
namespace fathom::fuzz {

// A reader takes a hundredth of the time that an analysis or a scan of what it read takes. So the
// fuzzer runs what follows the reader for one input of `whole_one_in`, chosen by its bytes: an
// input does the same each time. ./test runs all of it.
constexpr size_t kFuzzedWholeOneIn = 16;
inline size_t whole_one_in = 1;
inline bool runs_whole(std::string_view input) {
  return std::hash<std::string_view>()(input) % whole_one_in == 0;
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// JSON text through the whole of an analysis: read, link, all sheets, every renderer; replay
// packages of its ops, and a comparison with itself.
void kineto_json(const uint8_t* data, size_t size);

// A database of Nsight Systems or rocprofv3, through the whole of an analysis.
void trace_database(const uint8_t* data, size_t size);

// rocprofv3's other formats: JSON, CSV, Perfetto's packets; each input as each of them.
void rocprof_trace(const uint8_t* data, size_t size);

// A capture as it is; and its chunks, each {kind, size of a record, size, content}, with the hashes
// that a chunk must have to be read at all.
void capture_chunks(const uint8_t* data, size_t size);

// The first line is a --log-pattern, the others are a program's output.
void log_lines(const uint8_t* data, size_t size);

// What a recorded process leaves beside its capture; by the first byte: R lines of the Python hook,
// T PyTorch's records, N calls of C functions, else a capture.
void process_records(const uint8_t* data, size_t size);

// The JSON of --platform; what is printed of it is read back.
void platform_file(const uint8_t* data, size_t size);

// gzip or zstd, decompressed in pieces.
void compressed(const uint8_t* data, size_t size);

// A cache's body, whose hash says nothing about who wrote it, through the whole of an analysis.
void store_file(const uint8_t* data, size_t size);

// Hardware counters: what ncu prints and its report files; rocprof's tables. Each is joined with a
// trace, whose hypotheses are tested and whose story is told.
void ncu_counters(const uint8_t* data, size_t size);
void rocprof_counters(const uint8_t* data, size_t size);

// The readers of a scan, then a scan of a repository that holds the input, with its report.
void cpp_source(const uint8_t* data, size_t size);
void python_source(const uint8_t* data, size_t size);
void jinja_source(const uint8_t* data, size_t size);
// Patterns of a .gitignore, an empty line, paths.
void ignore_rules(const uint8_t* data, size_t size);
void git_index(const uint8_t* data, size_t size);
// The same text as each of the files that declare dependencies.
void manifests(const uint8_t* data, size_t size);
void markdown(const uint8_t* data, size_t size);
// Several files, each below a line "=== name".
void repository(const uint8_t* data, size_t size);

// Messages of `fathom mcp`, one on each line; every answer is a line that can be read.
void rpc_messages(const uint8_t* data, size_t size);
// A request of `fathom serve`: "METHOD target", then its headers.
void request_targets(const uint8_t* data, size_t size);

// plan.toml: what it shows of itself; one without mistakes is written and read again.
void plan_file(const uint8_t* data, size_t size);
// suite.toml, a line "=== journal", finished steps without their hashes; through the report.
void suite_file(const uint8_t* data, size_t size);
// tasks.tsv, a line "=== state", the state of the first task.
void fleet_files(const uint8_t* data, size_t size);

struct Target {
  const char* name;  // its folder in fuzz/corpus
  void (*run)(const uint8_t* data, size_t size);
};
// The readers of a scan are a program of their own too, which is built in half the time.
inline constexpr Target kScanTargets[] = {
    {"cpp_source", cpp_source},     {"python_source", python_source},
    {"jinja_source", jinja_source}, {"ignore_rules", ignore_rules},
    {"git_index", git_index},       {"manifests", manifests},
    {"markdown", markdown},         {"repository", repository},
};
inline constexpr Target kOtherTargets[] = {
    {"kineto_json", kineto_json},         {"trace_database", trace_database},
    {"rocprof_trace", rocprof_trace},     {"capture_chunks", capture_chunks},
    {"compressed", compressed},           {"store_file", store_file},
    {"ncu_counters", ncu_counters},       {"rocprof_counters", rocprof_counters},
    {"platform_file", platform_file},     {"log_lines", log_lines},
    {"process_records", process_records}, {"rpc_messages", rpc_messages},
    {"request_targets", request_targets}, {"plan_file", plan_file},
    {"suite_file", suite_file},           {"fleet_files", fleet_files},
};

}  // namespace fathom::fuzz
