#pragma once

#include <functional>

#include "analyze/diff/diff.h"
#include "analyze/diff/step_activity.h"
#include "report/report_listing.h"
#include "report/trace/summary.h"

namespace fathom {

// A comparison of two traces: the screen, diff.md, diff.json and `--json` all show this.
struct DiffReport {
  Summary a, b;  // without their ops
  Diff diff;
  StepActivity activity_a, activity_b;  // for pictures
  Nanos activity_part;                  // how long each part of them is
  bool same_file = false;
  std::string platform_a, platform_b;  // empty: not known
  ReportListing listing;
};

// Fits a screen.
std::string diff_text(const DiffReport& report, const TerminalStyle& style);
std::string diff_markdown(const DiffReport& report);
std::string diff_json(const DiffReport& report);

// Sentences that all renderers share; `name` makes text from a trace inert in its own way.
using NameWriter = std::function<std::string(std::string_view)>;
// "Times are per step: A has 3 steps, B has 2."
std::string units_sentence(const Diff& diff);
// "GPU time +1.40 ms per step (+4.2 %): idle +1.10 ms, compute +0.30 ms."
std::string timeline_sentence(const Diff& diff);
// "3 ops explain 92 % of +1.40 ms of GPU work per step: aten::mm (4096×2048) +0.90 ms, …"
std::string ops_sentence(const Diff& diff, const NameWriter& name);
// "H100 SXM → MI300X: over 87 % of A's work the limits alone would make −1.20 ms; +0.40 ms they do
// not explain." Empty where the platforms are the same or not known.
std::string limits_sentence(const DiffReport& report, const NameWriter& name);
// "2 ops ran other kernels in B than in A"; empty: none did.
std::string kernels_sentence(const Diff& diff);
// What a reader must know of the comparison itself.
std::vector<std::string> diff_notes(const DiffReport& report);

// "1.40 ms", "12.3 µs"; with a sign "+1.40 ms".
std::string time_text(double nanos);
std::string signed_time_text(double nanos);
// "[[4096,2048],[],[2048]]" as "4096×2048, 2048"; empty where no argument has a shape.
std::string shapes_text(std::string_view dims);
// Of an op: "4×8", "4×8 → 8×8" where it was matched by its path, "several shapes".
std::string op_shapes_text(const OpChange& op);

}  // namespace fathom
