#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/ablate/commands.h"
#include "plan/ablate/records.h"
#include "plan/ablate/study_report.h"
#include "session/code/ablate_trees.h"

namespace fathom::ablate {

struct AblateRequest {
  std::filesystem::path suite, out;
  std::filesystem::path replay;  // a folder with a journal: nothing is run
  bool resume = false;
  std::vector<std::string> environment;  // "NAME=value"
  std::filesystem::path program;         // fathom itself, for `fathom record`
  bool page = true;                      // report.html too
};

// Told when a step begins; null: nobody listens.
using AblateProgress = void (*)(void* context, const std::string& step);

// A suite with what was measured of it. An out folder has suite.toml, the journal, trees, logs and
// captures; nothing else is written.
class Ablation {
 public:
  // Reads and checks; writes nothing.
  static Result<Ablation> open(const AblateRequest& request);
  // Of an out folder, its own suite: for `note` and `next`.
  static Result<Ablation> open_finished(const std::filesystem::path& out);

  const Suite& suite() const { return *suite_; }
  // Every command that run() may run, with how often; "" where nothing is left to do.
  std::string commands_text() const;
  // Does what is not done yet. SIGINT and SIGTERM end it between steps, with an error.
  Status run(AblateProgress progress, void* context);
  bool was_interrupted() const { return interrupted_; }  // by a signal, in run()

  // Of what was measured so far. Views this object.
  Study study() const;
  // Errors of the study: times under the floor.
  std::vector<std::string> refusals(const Study& study) const;
  // OPTIMIZATION_REPORT.md, ablation.csv, ablation.json, waterfall.svg and report.html in the out
  // folder.
  Status write_report(const Study& study, const ReportOptions& options,
                      const std::filesystem::path& out) const;

 private:
  friend class AblateSteps;
  Status read_journal(const std::filesystem::path& file, bool any_source);

  AblateRequest request_;
  std::unique_ptr<Suite> suite_;  // the plan and studies view it
  SourceTree source_;
  std::vector<uint64_t> sources_;  // by variant: of the source and its changes
  SuitePlan plan_;
  FoundSteps found_;
  bool is_replay_ = false, interrupted_ = false;
};

// Fails where the folder is no ablation's, or the variant is none of its suite's.
Status check_note(const std::filesystem::path& out, const Note& note);
// Appends a note to the journal of an out folder, after check_note().
Status add_note(const std::filesystem::path& out, const Note& note);

}  // namespace fathom::ablate
