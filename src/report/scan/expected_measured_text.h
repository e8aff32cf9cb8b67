#pragma once

#include <string>
#include <string_view>

#include "base/table.h"
#include "story/measured_run.h"

// Expectation and measurement side by side, for the pages of a trace and of a scan.
namespace fathom {

// 1048576 B → "1.05 MB"; 2.1e-6 s → "2.1 µs"; 12 % → "12 %".
std::string amount_text(double value, std::string_view unit);

// A row for each quantity: expected, measured, verdict, likeliest reason.
std::string compared_table(const ComparedKernel& compared);
// "n = 67,108,609 – 67,108,864 (grid x)": what the launch tells of the kernel's names.
std::string solved_text(const ComparedKernel& compared);
// What was verified of the expectation and what was not, as a list with boxes.
std::string verified_list(const ComparedKernel& compared, const KernelContext& context);
// What the measured launch of a kernel comes to, under its heading: expected and measured,
// roofline, stalls, hypotheses, checklist.
std::string measured_part(const MeasuredRun& run, const ComparedKernel& compared);
std::string hot_lines_text(const MeasuredRun::Sampled& sampled);

// For each context of the run what its page in a report says of it; empty: nothing is expected.
std::vector<std::string> compared_parts(const MeasuredRun& run);

// expected_vs_measured.csv: a row for each kernel, launch and quantity.
Table compared_sheet(const std::vector<MeasuredRun>& runs);
// expected_vs_measured.md
std::string compared_page(const std::string& repository, const std::vector<MeasuredRun>& runs);

}  // namespace fathom
