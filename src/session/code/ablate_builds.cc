// The trees of an ablation's variants, what they change, and their builds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/threads.h"
#include "session/code/ablate_steps.h"
#include "session/code/command_output.h"
#include "session/code/run_files.h"
#include "trial/interruption.h"

namespace fathom::ablate {

namespace fs = std::filesystem;

fs::path AblateSteps::tree_of(const BuildPlan& build) const {
  return a_.request_.out / "trees" / build.name;
}

// A tree whose build is finished is used again; any other is made anew.
Status AblateSteps::make_trees() {
  for (size_t b = 0; b < a_.plan_.builds.size(); ++b) {
    const BuildPlan& build = a_.plan_.builds[b];
    std::error_code error;
    const bool is_there = fs::is_directory(fs::symlink_status(tree_of(build), error));
    const bool is_built =
        std::ranges::all_of(build.variants, [&](size_t v) { return measured(v).build.done; });
    if (is_built && is_there) continue;
    if (Interruption::signal() != 0) return interrupted();
    tell(fmt::format("tree of {}", build.name));
    const Result<std::string> made =
        make_tree(*a_.suite_, a_.source_, build, tree_of(build), a_.request_.environment,
                  a_.request_.out / "logs" / (build.name + ".tree.log"));
    const std::string problem = TRY(made);
    TRY(run_files::write_whole_file(listing_of(b), tree_listing(build.tree)));
    made_.insert(b);
    for (const size_t v : build.variants) {
      measured(v).build = {};
      if (problem.empty()) continue;
      Step& step = measured(v).build;
      step.done = true;
      step.reason = problem;
      TRY(journal_.append(build_record(step_of(v, a_.plan_.variants[v].build_key), step)));
    }
  }
  return note_changes();
}

fs::path AblateSteps::listing_of(size_t build) const {
  return a_.request_.out / "logs" / (a_.plan_.builds[build].name + ".tree.files");
}

// The diff of each variant with what it builds on, which depends on which variants are right.
Status AblateSteps::note_changes() {
  const Study study = a_.study();
  for (size_t v = 0; v < study.rows.size(); ++v) {
    if (!study.rows[v].parent) continue;
    const size_t p = *study.rows[v].parent;
    const std::string& parent = a_.suite_->variants[p].name;
    const size_t old_build = a_.plan_.variants[p].build, new_build = a_.plan_.variants[v].build;
    VariantMeasurements& m = measured(v);
    const bool is_noted = m.diff_parent == parent;
    if (is_noted && !made_.contains(old_build) && !made_.contains(new_build)) continue;
    const auto listing = [&](size_t build) {
      return read_plain_file(listing_of(build), kLargestOutput).value_or("");
    };
    std::string diff =
        change_text(*a_.suite_, a_.plan_, p, v, {listing(old_build), listing(new_build)});
    if (is_noted && diff == m.diff) continue;
    m.diff = std::move(diff);
    m.diff_parent = parent;
    TRY(journal_.append(diff_record(a_.suite_->variants[v].name, parent, m.diff)));
  }
  made_.clear();
  return Nothing{};
}

Result<Step> AblateSteps::build_one(size_t b) const {
  const BuildPlan& build = a_.plan_.builds[b];
  Step step;
  step.done = true;
  if (build.build.words.empty()) {
    step.ok = true;
    return step;
  }
  const Ran ran = TRY(run_one(build.build, build.tree, build.name + ".build"));
  step.ok = ran.end.ok();
  step.seconds = ran.seconds;
  step.log = ran.log;
  if (!step.ok)
    step.reason =
        end_reason(ran.end, static_cast<double>(build.build.timeout_ms) / 1e3, ran.output);
  return step;
}

Status AblateSteps::build_all() {
  std::vector<size_t> left;
  for (size_t b = 0; b < a_.plan_.builds.size(); ++b) {
    const auto& variants = a_.plan_.builds[b].variants;
    if (!std::ranges::all_of(variants, [&](size_t v) { return measured(v).build.done; }))
      left.push_back(b);
  }
  // Builds may run beside each other: nothing is timed meanwhile. The journal has one writer.
  std::mutex mutex;
  size_t next = 0;
  std::optional<Error> failure;
  // Of builds beside each other, each counts the time since the one before it ended: together they
  // count the time that passed.
  auto counted_until = std::chrono::steady_clock::now();
  const auto work = [&] {
    while (true) {
      size_t b = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == left.size() || failure) return;
        b = left[next++];
        tell(fmt::format("build {}", a_.plan_.builds[b].name));
      }
      const Result<Step> built = build_one(b);
      const std::lock_guard lock(mutex);
      if (!built.ok()) {
        failure = built.error();
        return;
      }
      Step step = built.value();
      const auto now = std::chrono::steady_clock::now();
      step.seconds = std::chrono::duration<double>(now - counted_until).count();
      counted_until = now;
      for (const size_t v : a_.plan_.builds[b].variants) {
        measured(v).build = step;
        const Status kept =
            journal_.append(build_record(step_of(v, a_.plan_.variants[v].build_key), step));
        if (!kept.ok()) failure = kept.error();
        step.seconds = 0;  // shared: the time was spent once
      }
    }
  };
  Threads others;
  const size_t jobs = std::min(static_cast<size_t>(a_.suite_->build_jobs), left.size());
  for (size_t i = 1; i < jobs && others.start(work); ++i) {
  }
  work();
  others.join();
  if (failure) return *failure;
  return Nothing{};
}

}  // namespace fathom::ablate
