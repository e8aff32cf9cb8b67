#include "plan/ablate/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fathom::ablate {
namespace {

constexpr std::string_view kValuePrefix = "value.", kStallPrefix = "stall.";

std::string exact(double value) { return fmt::format("{}", value); }

JournalRecord step_record(const char* kind, const StepOf& of) {
  return JournalRecord(kind)
      .put("variant", of.variant)
      .put("key", fmt::format("{:016x}", of.key))
      .put("source", fmt::format("{:016x}", of.source));
}

void put_step(JournalRecord& record, const Step& step) {
  record.put("ok", step.ok ? "1" : "0").put("spent", exact(step.seconds));
  if (!step.reason.empty()) record.put("reason", step.reason);
  if (!step.log.empty()) record.put("log", step.log);
}

void read_step(const JournalRecord& record, Step& step) {
  step.done = true;
  step.ok = record.get("ok") == "1";
  step.reason = record.get("reason");
  step.log = record.get("log");
  step.seconds = std::max(0.0, record.number("spent").value_or(0));
}

class RecordReader {
 public:
  RecordReader(const Suite& suite, const SuitePlan& plan, const std::vector<uint64_t>& sources)
      : suite_(suite), plan_(plan), sources_(sources) {}

  FoundSteps read(const std::vector<JournalRecord>& records) {
    sources_in_use_.resize(suite_.variants.size());
    for (size_t i = 0; i < sources_.size() && i < sources_in_use_.size(); ++i)
      sources_in_use_[i] = key_text(sources_[i]);
    if (sources_.empty()) {
      for (const JournalRecord& record : records) note_source(record);
    }
    for (const JournalRecord& record : records) add(record);
    return std::move(found_);
  }

 private:
  static std::string key_text(uint64_t key) { return fmt::format("{:016x}", key); }

  // The key that the plan has for a step of this kind; nothing where it is of no such step.
  std::optional<uint64_t> planned_key(const JournalRecord& record, size_t variant) const {
    const VariantPlan& plan = plan_.variants[variant];
    if (record.kind == "build") return plan.build_key;
    if (record.kind == "check") return plan.check_key;
    if (record.kind == "counters") return plan.counters_key;
    if (record.kind != "run") return std::nullopt;
    const auto in_case = std::ranges::find(suite_.cases, record.get("case"), &Case::name);
    if (in_case == suite_.cases.end()) return std::nullopt;
    return plan.run_keys[static_cast<size_t>(in_case - suite_.cases.begin())];
  }

  // The last step of a variant is of the source as it was last measured.
  void note_source(const JournalRecord& record) {
    const Variant* variant = suite_.find(record.get("variant"));
    if (variant == nullptr) return;
    const auto i = static_cast<size_t>(variant - suite_.variants.data());
    const auto key = planned_key(record, i);
    if (key && record.get("key") == key_text(*key)) sources_in_use_[i] = record.get("source");
  }

  void add(const JournalRecord& record) {
    const double spent = record.number("spent").value_or(0);
    if (spent > 0) found_.measurements.seconds_spent += spent;
    if (record.kind == "note") return add_note(record);
    if (record.kind == "environment") {
      found_.measurements.environment = record.fields;
      return;
    }
    const Variant* variant = suite_.find(record.get("variant"));
    if (variant == nullptr) {
      found_.measurements.stale += record.kind == "warmup" ? 0 : 1;
      return;
    }
    const auto i = static_cast<size_t>(variant - suite_.variants.data());
    VariantMeasurements& m = found_.measurements.variants[variant->name];
    m.cases.resize(suite_.cases.size());
    const VariantPlan& plan = plan_.variants[i];
    if (record.kind == "diff") {
      m.diff = record.get("text");
      m.diff_parent = record.get("parent");
    } else if (record.kind == "build") {
      if (is_current(record, i, plan.build_key)) read_step(record, m.build);
    } else if (record.kind == "check") {
      if (!is_current(record, i, plan.check_key)) return;
      read_step(record, m.check);
      m.check.outcome = record.get("outcome");
    } else if (record.kind == "run") {
      add_run(record, i, m);
    } else if (record.kind == "counters") {
      if (is_current(record, i, plan.counters_key)) add_counters(record, m.counters);
    }
  }

  bool is_current(const JournalRecord& record, size_t variant, uint64_t key) {
    const bool same =
        record.get("key") == key_text(key) && record.get("source") == sources_in_use_[variant];
    found_.measurements.stale += same ? 0 : 1;
    return same;
  }

  void add_run(const JournalRecord& record, size_t variant, VariantMeasurements& m) {
    const auto in_case = std::ranges::find(suite_.cases, record.get("case"), &Case::name);
    if (in_case == suite_.cases.end()) {
      ++found_.measurements.stale;
      return;
    }
    const auto at = static_cast<size_t>(in_case - suite_.cases.begin());
    if (!is_current(record, variant, plan_.variants[variant].run_keys[at])) return;
    Timed& timed = m.cases[at];
    // A journal may be edited: the next number must still be one.
    const int64_t order = std::clamp<int64_t>(record.integer("order").value_or(0), 0, INT32_MAX);
    found_.next_order = std::max(found_.next_order, order + 1);
    auto& rounds = found_.rounds[suite_.variants[variant].name];
    rounds.resize(suite_.cases.size());
    rounds[at].push_back(record.integer("round").value_or(0));
    if (const std::string_view problem = record.get("problem"); !problem.empty()) {
      timed.problem = problem;
      return;
    }
    Sample sample;
    const auto seconds = record.number("seconds");
    if (!seconds || *seconds <= 0) return;
    sample.seconds = *seconds;
    sample.second = record.number("second");
    sample.wall = record.number("spent").value_or(0);
    sample.order = order;
    sample.clock_mhz = record.number("clock_mhz");
    sample.temperature = record.number("temperature");
    timed.seconds_spent += sample.wall;
    timed.samples.push_back(sample);
  }

  static void add_counters(const JournalRecord& record, Counted& counted) {
    counted = {};
    read_step(record, counted);
    counted.kernel = record.get("kernel");
    counted.gpu = record.get("gpu");
    counted.launches = record.integer("launches").value_or(0);
    counted.kernel_seconds = record.number("kernel_seconds").value_or(0);
    for (const auto& [name, text] : record.fields) {
      const auto value = journal_number(text);
      if (!value) continue;
      if (name.starts_with(kValuePrefix))
        counted.values[name.substr(kValuePrefix.size())] = *value;
      else if (name.starts_with(kStallPrefix))
        counted.stalls.emplace_back(name.substr(kStallPrefix.size()), *value);
    }
    add_derived_values(counted.values);
  }

  void add_note(const JournalRecord& record) {
    found_.measurements.notes.push_back(
        {std::string(record.get("variant")), std::string(record.get("step")),
         std::string(record.get("text")), std::string(record.get("hypothesis")),
         std::string(record.get("when"))});
  }

  const Suite& suite_;
  const SuitePlan& plan_;
  const std::vector<uint64_t>& sources_;
  std::vector<std::string> sources_in_use_;  // by variant
  FoundSteps found_;
};

}  // namespace

JournalRecord build_record(const StepOf& of, const Step& build) {
  JournalRecord record = step_record("build", of);
  put_step(record, build);
  return record;
}

JournalRecord diff_record(const std::string& variant, const std::string& parent,
                          const std::string& diff) {
  return JournalRecord("diff").put("variant", variant).put("parent", parent).put("text", diff);
}

JournalRecord check_record(const StepOf& of, const Checked& check) {
  JournalRecord record = step_record("check", of);
  put_step(record, check);
  if (!check.outcome.empty()) record.put("outcome", check.outcome);
  return record;
}

JournalRecord run_record(const StepOf& of, const std::string& in_case, int64_t round,
                         const Sample& sample, const std::string& problem) {
  JournalRecord record = step_record("run", of);
  record.put("case", in_case)
      .put("round", std::to_string(round))
      .put("order", std::to_string(sample.order))
      .put("spent", exact(sample.wall));
  if (!problem.empty()) return record.put("problem", problem);
  record.put("seconds", exact(sample.seconds));
  if (sample.second) record.put("second", exact(*sample.second));
  if (sample.clock_mhz) record.put("clock_mhz", exact(*sample.clock_mhz));
  if (sample.temperature) record.put("temperature", exact(*sample.temperature));
  return record;
}

JournalRecord warmup_record(double seconds) {
  return JournalRecord("warmup").put("spent", exact(seconds));
}

JournalRecord counters_record(const StepOf& of, const Counted& counted) {
  JournalRecord record = step_record("counters", of);
  put_step(record, counted);
  if (!counted.ok) return record;
  record.put("kernel", counted.kernel)
      .put("gpu", counted.gpu)
      .put("launches", std::to_string(counted.launches))
      .put("kernel_seconds", exact(counted.kernel_seconds));
  for (const auto& [name, value] : counted.values)
    record.put(std::string(kValuePrefix) + name, exact(value));
  for (const auto& [reason, percent] : counted.stalls)
    record.put(std::string(kStallPrefix) + reason, exact(percent));
  return record;
}

JournalRecord note_record(const Note& note) {
  return JournalRecord("note")
      .put("variant", note.variant)
      .put("step", note.step)
      .put("text", note.text)
      .put("hypothesis", note.hypothesis)
      .put("when", note.when);
}

JournalRecord environment_record(const Pairs& environment) {
  JournalRecord record("environment");
  for (const auto& [name, value] : environment) record.put(name, value);
  return record;
}

std::span<const std::string_view> note_steps() {
  static constexpr std::array<std::string_view, 6> kSteps = {
      "identified", "hypothesis", "implemented", "validated", "kept", "dropped"};
  return kSteps;
}

FoundSteps read_records(const std::vector<JournalRecord>& records, const Suite& suite,
                        const SuitePlan& plan, const std::vector<uint64_t>& sources) {
  return RecordReader(suite, plan, sources).read(records);
}

}  // namespace fathom::ablate
