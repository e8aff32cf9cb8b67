#pragma once

#include <span>

#include "plan/ablate/commands.h"
#include "plan/ablate/measurements.h"
#include "plan/ablate/suite.h"
#include "trial/journal.h"

// Finished steps as records of a journal, and back.
namespace fathom::ablate {

// What a step belongs to. `key` is the hash of its definition, `source` of the files it was built
// from.
struct StepOf {
  std::string variant;
  uint64_t key = 0, source = 0;
};

JournalRecord build_record(const StepOf& of, const Step& build);
JournalRecord diff_record(const std::string& variant, const std::string& parent,
                          const std::string& diff);
JournalRecord check_record(const StepOf& of, const Checked& check);
// `problem`: the run gave no time; empty: it did.
JournalRecord run_record(const StepOf& of, const std::string& in_case, int64_t round,
                         const Sample& sample, const std::string& problem);
JournalRecord warmup_record(double seconds);
JournalRecord counters_record(const StepOf& of, const Counted& counted);
JournalRecord note_record(const Note& note);
JournalRecord environment_record(const Pairs& environment);

// The steps that a note can be of.
std::span<const std::string_view> note_steps();

// Which rounds of a case are done, beside what the study needs.
struct FoundSteps {
  Measurements measurements;
  std::map<std::string, std::vector<std::vector<int64_t>>, std::less<>> rounds;  // by case
  int64_t next_order = 0;
};
// Steps whose key is not the plan's are counted as stale. `sources` by variant: a step of another
// source is stale too. Empty, as for a replay: of each variant the source of its last step counts,
// so that measurements before and after an edit are not mixed.
FoundSteps read_records(const std::vector<JournalRecord>& records, const Suite& suite,
                        const SuitePlan& plan, const std::vector<uint64_t>& sources);

}  // namespace fathom::ablate
