#include "session/code/ablate_steps.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <ranges>
#include <thread>

#include "base/count_text.h"
#include "base/file_descriptor.h"
#include "plan/ablate/correctness.h"
#include "session/code/ablate_counters.h"
#include "session/code/run_files.h"
#include "trial/order.h"

namespace fathom::ablate {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestOutput = 256 << 20;

Error interrupted() {
  return Error{"interrupted; what was finished is in the journal: go on with --resume"};
}

std::string last_line(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  return std::string(text.substr(start == std::string_view::npos ? 0 : start + 1).substr(0, 300));
}

// "a.cc:3:1: error: …": what a compiler says first is the cause, what make says last is not.
std::string first_error_line(std::string_view text) {
  const size_t at = text.find("error");
  if (at == std::string_view::npos) return "";
  const size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return last_line(text.substr(start, text.find('\n', at) - start));
}

// Why a command did not do what it should, with the lines that tell most.
std::string end_reason(const TrialEnd& end, double limit_s, std::string_view output) {
  std::string line = last_line(output);
  const std::string error = first_error_line(output);
  if (!error.empty() && error != line) line = error + "; last line: " + line;
  return end_text(end, limit_s) + (line.empty() ? "" : ": " + line);
}

// Each line with the numbers that fit.
template <class Visit>
void for_each_match(const LogPattern& pattern, std::string_view output, const Visit& visit) {
  for (size_t start = 0; start < output.size();) {
    const size_t end = std::min(output.find('\n', start), output.size());
    for (const LogPattern::Found& found : pattern.match(output.substr(start, end - start)))
      visit(start, found);
    start = end + 1;
  }
}

// The median of all numbers that fit, over the lines.
std::optional<double> printed_number(const LogPattern& pattern, std::string_view output) {
  std::vector<double> values;
  for_each_match(pattern, output,
                 [&](size_t, const LogPattern::Found& found) { values.push_back(found.value); });
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Times differ in each run, so they are no output that can be right or wrong.
Result<std::string> without_times(std::string output, const Timing& timing) {
  for (const std::string* text : {&timing.pattern, &timing.second_pattern}) {
    if (text->empty()) continue;
    const LogPattern pattern = TRY(LogPattern::parse(*text));
    std::vector<std::pair<size_t, size_t>> times;
    for_each_match(pattern, output, [&](size_t start, const LogPattern::Found& found) {
      times.emplace_back(start + found.begin, start + found.end);
    });
    for (const auto& [begin, end] : times)
      std::fill(output.begin() + static_cast<std::ptrdiff_t>(begin),
                output.begin() + static_cast<std::ptrdiff_t>(end), '~');
  }
  return output;
}

}  // namespace

void AblateSteps::tell(const std::string& step) const {
  if (progress_ != nullptr) progress_(context_, step);
}

fs::path AblateSteps::tree_of(const BuildPlan& build) const {
  return a_.request_.out / "trees" / build.name;
}

StepOf AblateSteps::step_of(size_t variant, uint64_t key) const {
  return {a_.suite_->variants[variant].name, key, a_.sources_[variant]};
}

VariantMeasurements& AblateSteps::measured(size_t variant) {
  VariantMeasurements& m = a_.found_.measurements.variants[a_.suite_->variants[variant].name];
  m.cases.resize(a_.suite_->cases.size());
  return m;
}

Result<AblateSteps::Ran> AblateSteps::run_one(const ReadyCommand& ready, const std::string& tree,
                                              const std::string& log_name, bool ends_child) const {
  // A link of a patch's or of a build's would let the command run elsewhere.
  if (!ready.folder.empty()) {
    std::error_code error;
    Ran refused;
    refused.end.kind = EndKind::kNotStarted;
    if (leads_out(tree, ready.folder + "/x"))
      refused.end.why = fmt::format("folder {} leads out of the tree", ready.folder);
    else if (!fs::is_directory(fs::path(tree) / ready.folder, error))
      refused.end.why = fmt::format("the tree has no folder {}", ready.folder);
    if (!refused.end.why.empty()) return refused;
  }
  TrialCommand command;
  command.words = ready.words;
  command.folder = fs::path(tree) / ready.folder;
  std::vector<std::string> changes;
  for (const auto& [name, value] : ready.environment) changes.push_back(name + "=" + value);
  command.environment = changed_environment(without_git(a_.request_.environment), changes);
  command.limit_s = static_cast<double>(ready.timeout_ms) / 1e3;
  Ran ran;
  ran.log = "logs/" + log_name + ".log";
  command.log = a_.request_.out / ran.log;
  command.ends_child = ends_child;
  ran.end = TRY(run_command(command));
  if (ran.end.kind == EndKind::kInterrupted || Interruption::signal() != 0) return interrupted();
  ran.output = read_plain_file(command.log, kLargestOutput).value_or("");
  ran.seconds = static_cast<double>(ran.end.wall_ns) * 1e-9;
  return ran;
}

Status AblateSteps::run() {
  const Interruption interruption;
  TRY(make_trees());
  TRY(build_all());
  TRY(check_all());
  TRY(note_changes());
  TRY(time_all(false));
  TRY(note_changes());
  TRY(count_all(false));
  if (!a_.suite_->has_flags || a_.suite_->most_pairs == 0) return Nothing{};
  pairs_ = pairs_that_matter(a_.study());
  TRY(time_all(true));
  return count_all(true);
}

bool AblateSteps::is_wanted(size_t variant, bool pairs) const {
  const Variant& v = a_.suite_->variants[variant];
  if (v.only_if_pairs_matter != pairs) return false;
  return !pairs || std::ranges::find(pairs_, v.name) != pairs_.end();
}

bool AblateSteps::is_checked(size_t variant) const {
  const auto found = a_.found_.measurements.variants.find(a_.suite_->variants[variant].name);
  if (found == a_.found_.measurements.variants.end() || !found->second.build.ok) return false;
  return a_.suite_->check.empty() || found->second.check.ok;
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
  std::vector<std::thread> threads;
  const size_t jobs = std::min(static_cast<size_t>(a_.suite_->build_jobs), left.size());
  for (size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) return *failure;
  return Nothing{};
}

Result<std::string> AblateSteps::reference_output() {
  if (reference_) return *reference_;
  const Check& check = a_.suite_->check;
  const auto text = read_plain_file(a_.suite_->folder / check.reference, kLargestOutput);
  if (!text) return Error{fmt::format("the reference {} cannot be read", check.reference)};
  reference_ = *text;
  return *text;
}

Result<Checked> AblateSteps::check_one(size_t v) {
  const Check& check = a_.suite_->check;
  const VariantPlan& plan = a_.plan_.variants[v];
  const std::string& tree = a_.plan_.builds[plan.build].tree;
  const std::string& name = a_.suite_->variants[v].name;
  std::error_code error;
  const fs::path file = fs::path(tree) / check.output;
  Checked checked;
  checked.done = true;
  if (!check.output.empty() && check.output != "stdout") {
    if (leads_out(tree, check.output)) {
      checked.reason = fmt::format("{} leads out of the tree", check.output);
      return checked;
    }
    // What an earlier check of a shared tree wrote is not this one's.
    fs::remove(file, error);
  }
  const Ran ran = TRY(run_one(plan.check, tree, name + ".check"));
  checked.seconds = ran.seconds;
  checked.log = ran.log;
  constexpr int kSkipped = 77;
  if (ran.end.kind == EndKind::kExited && ran.end.code == kSkipped) {
    checked.reason = "not checked: the check was skipped (exit status 77)";
    return checked;
  }
  if (!ran.end.ok()) {
    checked.reason =
        end_reason(ran.end, static_cast<double>(plan.check.timeout_ms) / 1e3, ran.output);
    return checked;
  }
  if (check.output.empty()) {
    checked.ok = true;
    checked.outcome = last_line(ran.output);
    return checked;
  }
  std::string output = ran.output;
  if (check.output != "stdout") {
    const auto text = read_plain_file(file, kLargestOutput);
    if (!text) {
      checked.reason = fmt::format("{} was not written, or is larger than 256 MB", check.output);
      return checked;
    }
    output = *text;
  }
  if (!check.reference_variant.empty() && name == check.reference_variant) {
    // Kept for the others, and for a run that goes on after this one.
    const fs::path kept = a_.request_.out / "reference";
    const FileDescriptor out(
        ::open(kept.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!out.ok() ||
        write(out.get(), output.data(), output.size()) != static_cast<ssize_t>(output.size()))
      return Error{fmt::format("cannot write {}", kept.string())};
    checked.ok = true;
    checked.outcome = "the reference";
    return checked;
  }
  if (!check.reference_variant.empty()) {
    const auto text = read_plain_file(a_.request_.out / "reference", kLargestOutput);
    if (!text) {
      checked.reason = fmt::format("not checked: {} gave no reference", check.reference_variant);
      return checked;
    }
    reference_ = *text;
  }
  std::string expected = TRY(reference_output());
  if (check.format == OutputFormat::kText) {
    output = TRY(without_times(std::move(output), a_.suite_->timing));
    expected = TRY(without_times(std::move(expected), a_.suite_->timing));
  }
  const Compared compared = compare_output(output, expected, check);
  checked.ok = compared.right;
  checked.reason = compared.reason;
  if (compared.right)
    checked.outcome = fmt::format("{}, largest error {:.3g}", counted(compared.count, "value"),
                                  compared.largest_error.value_or(0));
  return checked;
}

Status AblateSteps::check_all() {
  const Check& check = a_.suite_->check;
  if (check.empty()) return Nothing{};
  std::vector<size_t> order;
  for (size_t v = 0; v < a_.suite_->variants.size(); ++v) {
    const bool is_reference = a_.suite_->variants[v].name == check.reference_variant;
    order.insert(is_reference ? order.begin() : order.end(), v);
  }
  for (const size_t v : order) {
    if (!measured(v).build.ok || measured(v).check.done) continue;
    tell(fmt::format("check {}", a_.suite_->variants[v].name));
    const Checked checked = TRY(check_one(v));
    measured(v).check = checked;
    TRY(journal_.append(check_record(step_of(v, a_.plan_.variants[v].check_key), checked)));
  }
  return Nothing{};
}

Status AblateSteps::time_all(bool pairs) {
  const Suite& suite = *a_.suite_;
  std::optional<LogPattern> first, second;
  if (!suite.timing.pattern.empty()) first = TRY(LogPattern::parse(suite.timing.pattern));
  if (suite.timing.second == SecondTimer::kPrinted)
    second = TRY(LogPattern::parse(suite.timing.second_pattern));
  std::vector<Slot> slots;
  for (size_t v = 0; v < suite.variants.size(); ++v) {
    if (!is_wanted(v, pairs) || !is_checked(v)) continue;
    for (size_t c = 0; c < suite.cases.size(); ++c) slots.push_back({v, c});
  }
  const auto done = [&](const Slot& slot) -> const std::vector<int64_t>& {
    auto& rounds = a_.found_.rounds[suite.variants[slot.variant].name];
    rounds.resize(suite.cases.size());
    return rounds[slot.in_case];
  };
  const auto is_left = [&](const Slot& slot, int64_t round) {
    return measured(slot.variant).cases[slot.in_case].problem.empty() &&
           std::ranges::find(done(slot), round) == done(slot).end();
  };
  for (const Slot& slot : slots) {
    const auto rounds = std::views::iota(int64_t{0}, suite.repetitions);
    if (std::ranges::none_of(rounds, [&](int64_t r) { return is_left(slot, r); })) continue;
    for (int64_t i = 0; i < suite.warmup; ++i) TRY(time_slot(slot, -1, nullptr, nullptr));
  }
  const std::vector<size_t> order =
      interleaved(slots.size(), static_cast<size_t>(suite.repetitions));
  for (size_t n = 0; n < order.size(); ++n) {
    const auto round = static_cast<int64_t>(n / std::max<size_t>(1, slots.size()));
    const Slot& slot = slots[order[n]];
    if (!is_left(slot, round)) continue;
    TRY(time_slot(slot, round, first ? &*first : nullptr, second ? &*second : nullptr));
  }
  return Nothing{};
}

// Round −1 is a warm-up.
Status AblateSteps::time_slot(const Slot& slot, int64_t round, const LogPattern* first,
                              const LogPattern* second) {
  const Suite& suite = *a_.suite_;
  const VariantPlan& plan = a_.plan_.variants[slot.variant];
  const Variant& variant = suite.variants[slot.variant];
  const std::string& case_name = suite.cases[slot.in_case].name;
  const std::string shown = variant.name + (case_name.empty() ? "" : ", " + case_name);
  tell(round < 0 ? fmt::format("warm-up of {}", shown)
                 : fmt::format("run {} of {} of {}", round + 1, suite.repetitions, shown));
  gpu_.start();
  const Result<Ran> result = run_one(plan.runs[slot.in_case], a_.plan_.builds[plan.build].tree,
                                     fmt::format("{}.run.{}", variant.name, slot.in_case));
  const GpuState::Reading gpu = gpu_.stop();
  const Ran ran = TRY(result);
  Sample sample;
  sample.wall = ran.seconds;
  sample.clock_mhz = gpu.clock_mhz;
  sample.temperature = gpu.temperature;
  std::string problem;
  if (!ran.end.ok()) {
    const double limit = static_cast<double>(plan.runs[slot.in_case].timeout_ms) / 1e3;
    problem = end_reason(ran.end, limit, ran.output);
  } else if (round >= 0) {
    const auto printed = [&](const LogPattern& pattern) -> std::optional<double> {
      const auto number = printed_number(pattern, ran.output);
      return number ? std::optional(*number * suite.timing.unit) : std::nullopt;
    };
    const auto time = first != nullptr ? printed(*first) : std::optional(ran.seconds);
    if (!time)
      problem = fmt::format("printed no '{}'", suite.timing.pattern);
    else if (!(*time > 0) || *time > 1e9)
      problem = fmt::format("printed {:g} s, which is no time", *time);
    else
      sample.seconds = *time;
    if (second != nullptr) sample.second = printed(*second);
    if (suite.timing.second == SecondTimer::kWall) sample.second = ran.seconds;
  }
  if (round < 0 && problem.empty()) {
    a_.found_.measurements.seconds_spent += ran.seconds;
    return journal_.append(warmup_record(ran.seconds));
  }
  sample.order = a_.found_.next_order++;
  TRY(journal_.append(run_record(step_of(slot.variant, plan.run_keys[slot.in_case]), case_name,
                                 std::max<int64_t>(round, 0), sample, problem)));
  a_.found_.measurements.seconds_spent += ran.seconds;
  Timed& timed = measured(slot.variant).cases[slot.in_case];
  if (problem.empty())
    timed.samples.push_back(sample);
  else
    timed.problem = problem;
  return Nothing{};
}

Status AblateSteps::count_all(bool pairs) {
  const Suite& suite = *a_.suite_;
  if (!suite.counters.wanted) return Nothing{};
  for (size_t v = 0; v < suite.variants.size(); ++v) {
    VariantMeasurements& m = measured(v);
    if (!is_wanted(v, pairs) || !is_checked(v) || m.counters.done || !m.cases[0].problem.empty())
      continue;
    const VariantPlan& plan = a_.plan_.variants[v];
    const std::string& name = suite.variants[v].name;
    const fs::path capture = a_.request_.out / "captures" / (name + ".capture");
    tell(fmt::format("counters of {}", name));
    ReadyCommand command = plan.counted;
    command.words = record_command(suite, a_.request_.program, capture, plan.counted.words);
    const Ran ran =
        TRY(run_one(command, a_.plan_.builds[plan.build].tree, name + ".counters", true));
    Counted counted;
    if (ran.end.ok()) {
      counted = read_counted(capture, suite);
      std::error_code error;
      if (!counted.ok && !fs::exists(capture, error)) counted.reason = last_line(ran.output);
      if (counted.reason.empty() && !counted.ok) counted.reason = "nothing was recorded";
    } else {
      counted.done = true;
      counted.reason =
          end_reason(ran.end, static_cast<double>(command.timeout_ms) / 1e3, ran.output);
    }
    counted.seconds = ran.seconds;
    counted.log = ran.log;
    m.counters = counted;
    TRY(journal_.append(counters_record(step_of(v, plan.counters_key), counted)));
  }
  return Nothing{};
}

}  // namespace fathom::ablate
