#pragma once

#include <string>

#include "base/json_writer.h"
#include "report/screen.h"
#include "report/trace/summary.h"

// What the screen, the reports and summary.json say of the critical path and of --what-if.
namespace fathom {

// "12.4 ms a step: kernels 61 %, host 30 %; longest: …"; not yet safe to print.
std::string critical_path_text(const Summary::Path& path);
// "'op=aten::mm x0.5': 12.4 → 9.8 to 10.2 ms a step (-18 % to -21 %; without the
// profiler …); path then: …"; likewise.
std::string what_if_text(const Summary::WhatIf& answer, bool has_steps);

void show_critical_path(Screen& screen, const Summary& summary);
void write_critical_path(JsonWriter& json, const Summary& summary);

}  // namespace fathom
