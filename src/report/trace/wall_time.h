#pragma once

#include "base/json_writer.h"
#include "report/screen.h"
#include "report/trace/summary.h"

// What a report says of the wall time that shares and savings relate to.
namespace fathom {

// "3 steps of 382.10 ms (ProfilerStep#*)", "the recording, 480.20 ms; no steps".
std::string time_base_text(const Summary& summary);
// "synchronization 31.0 %, late launch 12.0 %": of the wall time, the largest first; empty: none.
std::string idle_causes_text(const Summary& summary);

void show_wall_time(Screen& screen, const Summary& summary);
std::string md_wall_time(const Summary& summary);  // rows of the summary's table
void write_wall_time(JsonWriter& json, const Summary& summary);

}  // namespace fathom
