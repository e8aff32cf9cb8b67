#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/reader.h"
#include "session/trace.h"

// Small traces written as JSON text and read through the real reader. Times are whole microseconds.
namespace fathom::test {

constexpr Nanos micros(int64_t count) { return {count * 1000}; }

// One complete event (ph X). `args` is the inside of the args object; pid and tid are JSON.
std::string event_text(std::string_view category, std::string_view name, int64_t start,
                       int64_t duration, std::string_view args = "", std::string_view pid = "1",
                       std::string_view tid = "1");

std::string cpu_op(std::string_view name, int64_t start, int64_t duration,
                   std::string_view args = "", std::string_view thread = "1");
std::string launch_call(int64_t start, int64_t duration, int64_t correlation,
                        std::string_view thread = "1", std::string_view name = "cudaLaunchKernel");
std::string kernel(std::string_view name, int64_t start, int64_t duration, int64_t correlation,
                   int64_t stream = 7, int64_t device = 0);
std::string annotation(std::string_view name, int64_t start, int64_t duration);
std::string gpu_annotation(std::string_view name, int64_t start, int64_t duration, int64_t stream);

// {"traceEvents":[…]}
std::string trace_text(const std::vector<std::string>& events);

kineto::ReadOptions read_options(size_t threads, size_t chunk_size);

// Aborts the test program on text that is no trace: only for traces that must be readable.
EventStore read_trace_text(std::string_view json);
Trace open_events(const std::vector<std::string>& events);

// The first event of a name; an invalid id, and a failed test, where there is none.
EventId find_event(const EventStore& store, std::string_view name);

// The call of an event of this name, and the name of the call around it ("" for a root).
CallId find_call(const Trace& trace, std::string_view name);
std::string parent_name(const Trace& trace, std::string_view name);

// The positions in the file, in the order of the rows.
std::vector<int64_t> uids(const EventStore& store);
std::vector<std::string> names_of(const EventStore& store, std::span<const EventId> events);

// Everything the store holds, a line for each event: two stores are equal when their texts are.
std::vector<std::string> describe_events(const EventStore& store);
std::string describe_metadata(const TraceMetadata& metadata);
std::string describe_diagnostics(const Diagnostics& diagnostics);

}  // namespace fathom::test
