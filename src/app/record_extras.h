#pragma once

#include <optional>
#include <string>

#include "app/commands.h"
#include "session/record.h"

namespace fathom {

class SummaryPlace;

// Options of `record` beside those that say what is recorded.
struct RecordExtras {
  std::string before;
  std::optional<std::string> ncu;        // the set of sections
  std::optional<std::string> calibrate;  // pairs of runs
};
void add_record_extras(CLI::App& command, RecordExtras& extras);

// What cannot be asked for together; nothing: all is well.
std::optional<std::string> extras_mistake(const RecordExtras& extras, bool has_trigger,
                                          bool has_counters);
void put_extras(const RecordExtras& extras, RecordRequest& request);

// `record --calibrate`: the exit code.
int run_calibration(const RecordExtras& extras, const RecordRequest& request,
                    const SummaryPlace& place, const Terminal& terminal);

// What the parser puts for a flag that is given without a value. An option whose value may be
// absent would take the "--" before the command for its own end.
constexpr const char* kNoValue = "true";

// The set of counters that an option names, "basic" where it names none; empty: there is no such.
std::string counter_set(const std::string& text);

// For the parser: what is wrong with the name of a set, with those that there are.
std::string counter_set_mistake(const std::string& text);

// "10s", "500ms", "2m" in milliseconds; nothing else.
std::optional<int64_t> duration_ms(const std::string& text);

}  // namespace fathom
