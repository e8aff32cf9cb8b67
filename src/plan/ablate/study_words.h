#pragma once

#include <string>
#include <string_view>

#include "base/table.h"
#include "plan/ablate/study.h"

// The words and tables of a study, for the terminal and for files.
namespace fathom::ablate {

std::string_view state_name(RowState state);        // "timed", "not built"
std::string_view decision_name(Decision decision);  // "kept"
std::string_view difference_name(Difference difference);

// "faster: kept", "no difference: dropped", "wrong: value 3 is 1 where 2 is expected".
std::string verdict_text(const StudyRow& row);
std::string warning_text(const Warning& warning);
// "1.37 × (1.36–1.38)"; "no difference (0.99–1.01 ×)".
std::string speed_up_text(const SpeedUp& speed_up);
std::string estimate_text(const Estimate& time);  // "402.6 µs (401.2–404.0)"
// "Bank conflicts 69.6 → 0.1 %"
std::string moved_text(const Moved& moved);
// "69.6 %", "4.43 G": a value of data/hypotheses with its unit.
std::string hardware_value_text(std::string_view name, double value);
std::string bandwidth_text(const StudyRow& row, const Platform* platform);  // "650 GB/s, 14 %"
// "1.33–2.00 ×", ", at most 1.20 × by the roofline floor"; empty: not known.
std::string next_gain_text(const NextHypothesis& next);
// "L1 hit rate 12 %": the counted values that a hypothesis rests on.
std::string hypothesis_evidence(const StudyRow& row, const TestedHypothesis& tested);
std::string case_words(const Case& of);  // ", large", for Markdown; empty: the only one
std::string hypothesis_title(const std::string& hypothesis);  // of an id; other words stay

// ablation.csv: everything, a row for each variant.
Table ablation_sheet(const Study& study);
// The columns for reading: for Markdown, where texts of the suite are made inert, or short, for a
// terminal.
enum class TableStyle : uint8_t { kMarkdown, kShort };
Table ablation_table(const Study& study, TableStyle style);
Table flag_table(const Study& study);
Table pair_table(const Study& study);

}  // namespace fathom::ablate
