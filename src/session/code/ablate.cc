#include "session/code/ablate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/closest_names.h"
#include "base/count_text.h"
#include "base/hash.h"
#include "base/screen_text.h"
#include "doctor/examine.h"
#include "plan/ablate/study_words.h"
#include "report/csv.h"
#include "report/page/documents_page.h"
#include "session/code/ablate_counters.h"
#include "session/code/ablate_steps.h"
#include "session/code/run_files.h"
#include "session/counter_plan.h"
#include "trial/interruption.h"
#include "trial/machine_state.h"

namespace fathom::ablate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournalName = "journal";
constexpr uint64_t kLargestJournalText = 256 << 20, kLargestSuite = 1 << 20;
// Of all copies of the source together.
constexpr uint64_t kMostTreeBytes = uint64_t{16} << 30;

Status check_names(const Suite& suite) {
  const auto check_pattern = [&](const std::string& pattern, int line) -> Status {
    if (pattern.empty()) return Nothing{};
    const Result<LogPattern> parsed = LogPattern::parse(pattern);
    if (parsed.ok()) return Nothing{};
    return Error{fmt::format("{}:{}: {}", suite.file.string(), line, parsed.error().message)};
  };
  TRY(check_pattern(suite.timing.pattern, suite.timing.pattern_line));
  TRY(check_pattern(suite.timing.second_pattern, suite.timing.second_line));
  if (suite.counters.wanted && !counter_metrics(suite.counters.set))
    return Error{
        fmt::format("{}:{}: '{}' is not a counter set; basic, memory, stalls, roofline and "
                    "full are",
                    suite.file.string(), suite.counters.set_line, suite.counters.set)};
  return Nothing{};
}

// Below the out folder, a real folder: a link would lead out of it.
Status make_folder_in(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (fs::is_directory(fs::symlink_status(folder, error))) return Nothing{};
  return Error{fmt::format("{} cannot be made, or is no folder", folder.string())};
}

enum class OutState { kFree, kOurs, kOther };

OutState state_of(const fs::path& out) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(out, error))) return OutState::kFree;
  if (!fs::is_directory(out, error)) return OutState::kOther;
  if (fs::exists(out / kJournalName, error) || fs::exists(out / "ablation.json", error))
    return OutState::kOurs;
  return fs::is_empty(out, error) && !error ? OutState::kFree : OutState::kOther;
}

Status check_out(const fs::path& out, bool resume) {
  switch (state_of(out)) {
    case OutState::kFree:
      return Nothing{};
    case OutState::kOther:
      return Error{
          fmt::format("{} is not an ablation folder; choose another with --out", out.string())};
    case OutState::kOurs:
      break;
  }
  if (resume) return Nothing{};
  return Error{
      fmt::format("{} already holds an ablation; continue with --resume, or choose another folder "
                  "with --out",
                  out.string())};
}

std::string command_line(const ReadyCommand& command) {
  std::string out;
  for (const auto& [name, value] : command.environment)
    out += shell_text({name + "=" + value}) + " ";
  out += shell_text(command.words);
  if (!command.folder.empty()) out += fmt::format("   (in {})", command.folder);
  return screen_safe(out);
}

Machine machine_of(const std::vector<std::string>& environment) {
  Machine machine;
  for (const std::string& line : environment) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos)
      machine.variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return machine;
}

const Platform* platform_of(const Suite& suite, const Measurements& measurements) {
  if (!suite.platform.empty()) {
    const auto found = Platforms::built_in().find(suite.platform);
    return found.ok() ? found.value() : nullptr;
  }
  for (const auto& [name, m] : measurements.variants) {
    if (!m.counters.gpu.empty()) return Platforms::built_in().detect({m.counters.gpu, {}, {}});
  }
  return nullptr;
}

}  // namespace

Result<Ablation> Ablation::open(const AblateRequest& request) {
  Ablation a;
  a.request_ = request;
  a.is_replay_ = !request.replay.empty();
  a.suite_ = std::make_unique<Suite>(TRY(read_suite(request.suite)));
  TRY(check_names(*a.suite_));
  std::error_code error;
  if (a.is_replay_) {
    a.plan_ = TRY(plan_suite(*a.suite_, {"/trees", "/suite", ""}, {}));
    TRY(a.read_journal(request.replay / kJournalName, true));
    return a;
  }
  a.request_.out = fs::absolute(request.out, error).lexically_normal();
  if (!a.request_.out.has_filename()) a.request_.out = a.request_.out.parent_path();
  a.suite_->folder = fs::canonical(a.suite_->folder, error);
  TRY(check_out(a.request_.out, request.resume));
  a.source_ = TRY(list_source(*a.suite_, a.request_.out));
  const std::vector<uint64_t> changes = TRY(change_hashes(*a.suite_));
  for (size_t v = 0; v < changes.size(); ++v) {
    const bool is_copy = a.suite_->variants[v].changes.commit.empty();
    a.sources_.push_back(mix_bits(changes[v], is_copy ? a.source_.hash : 0));
  }
  const Places places{(a.request_.out / "trees").string(), a.suite_->folder.string(),
                      a.source_.below_root};
  a.plan_ = TRY(plan_suite(*a.suite_, places, changes));
  if (a.source_.bytes * a.plan_.builds.size() > kMostTreeBytes)
    return Error{fmt::format(
        "{} of {} MB each are over {} GB; name a smaller folder as source in [tree]",
        counted(a.plan_.builds.size(), "tree"), a.source_.bytes >> 20, kMostTreeBytes >> 30)};
  if (fs::exists(a.request_.out / kJournalName, error))
    TRY(a.read_journal(a.request_.out / kJournalName, false));
  return a;
}

Result<Ablation> Ablation::open_finished(const fs::path& out) {
  AblateRequest request;
  request.suite = out / "suite.toml";
  request.replay = out;
  return open(request);
}

Status Ablation::read_journal(const fs::path& file, bool any_source) {
  const auto text = read_plain_file(file, kLargestJournalText);
  if (!text)
    return Error{fmt::format("{} cannot be read; an ablation's folder has one", file.string())};
  size_t good = 0, damaged = 0;
  const std::vector<JournalRecord> records = parse_journal(*text, good, damaged);
  if (records.empty() && good == 0 && !text->empty() && !is_replay_) return Nothing{};
  if (good == 0 && !text->empty())
    return Error{fmt::format("{} is not a fathom journal", file.string())};
  found_ = read_records(records, *suite_, plan_, any_source ? std::vector<uint64_t>{} : sources_);
  return Nothing{};
}

std::string Ablation::commands_text() const {
  const Suite& s = *suite_;
  std::string out = fmt::format(
      "Out folder: {}\nSource: {} ({}), only read\n", screen_safe(request_.out.string()),
      screen_safe(source_.folder.string()), counted(source_.files.size(), "file"));
  const auto add = [&](std::string_view what, const std::string& line) {
    out += fmt::format("  {:<9}{}\n", what, line);
  };
  for (const BuildPlan& build : plan_.builds) {
    out += fmt::format("\n{}, in {}\n", screen_safe(build.name), screen_safe(build.tree));
    const fs::path tree = request_.out / "trees" / build.name;
    if (build.changes->commit.empty()) add("tree", "copy of the source");
    for (const TreeCommand& command : tree_commands(s, source_, build, tree))
      add("tree", screen_safe(shell_text(command.words)));
    for (const auto& [to, from] : build.changes->files)
      add("tree", screen_safe(fmt::format("{} replaced by {}", to, from)));
    if (!build.build.words.empty()) add("build", command_line(build.build));
    for (const size_t v : build.variants) {
      const VariantPlan& plan = plan_.variants[v];
      out += fmt::format(" {}{}\n", screen_safe(s.variants[v].name),
                         s.variants[v].only_if_pairs_matter
                             ? fmt::format(" (if this pair interacts; at most {} are run)",
                                           counted(static_cast<uint64_t>(s.most_pairs), "pair"))
                             : "");
      if (!plan.check.words.empty()) add("check", command_line(plan.check));
      for (const ReadyCommand& run : plan.runs)
        add(fmt::format("run {} ×", s.repetitions + s.warmup), command_line(run));
      if (!s.counters.wanted) continue;
      ReadyCommand record = plan.counted;
      record.words = record_command(s, request_.program,
                                    request_.out / "captures" / (s.variants[v].name + ".capture"),
                                    plan.counted.words);
      add("counters", command_line(record));
    }
  }
  return out;
}

Status Ablation::run(AblateProgress progress, void* context) {
  CHECK(!is_replay_);
  const fs::path& out = request_.out;
  std::error_code error;
  fs::create_directories(out, error);
  if (error) return Error{fmt::format("cannot make {}: {}", out.string(), error.message())};
  Journal journal = TRY(Journal::open(out / kJournalName));
  // What another process finished until the journal was ours is not done again.
  found_ = read_records(journal.records(), *suite_, plan_, sources_);
  for (const char* folder : {"trees", "logs", "captures"}) TRY(make_folder_in(out / folder));
  const auto suite_text = read_plain_file(suite_->file, kLargestSuite);
  if (suite_text) TRY(run_files::write_whole_file(out / "suite.toml", *suite_text));
  if (found_.measurements.environment.empty()) {
    const Machine machine = machine_of(request_.environment);
    const Pairs environment = machine_state(machine, examine(machine));
    TRY(journal.append(environment_record(environment)));
  }
  Status done = AblateSteps(*this, journal, progress, context).run();
  interrupted_ = !done.ok() && Interruption::signal() != 0;
  // The study is made of what the journal holds, and of nothing else.
  found_ = {};
  TRY(read_journal(out / kJournalName, false));
  return done;
}

Study Ablation::study() const {
  return make_study(*suite_, found_.measurements, platform_of(*suite_, found_.measurements));
}

std::vector<std::string> Ablation::refusals(const Study& study) const {
  std::vector<std::string> out;
  for (const StudyRow& row : study.rows) {
    if (row.state == RowState::kUnderFloor)
      out.push_back(fmt::format("{}: {}; the time is refused", row.variant->name, row.reason));
  }
  return out;
}

namespace {

PageLadder::Kind ladder_kind(WaterfallBar::Kind kind) {
  switch (kind) {
    case WaterfallBar::Kind::kBaseline:
      return PageLadder::Kind::kWhole;
    case WaterfallBar::Kind::kBetter:
      return PageLadder::Kind::kBetter;
    case WaterfallBar::Kind::kWorse:
      return PageLadder::Kind::kWorse;
    case WaterfallBar::Kind::kNotKept:
      return PageLadder::Kind::kNotKept;
    case WaterfallBar::Kind::kBest:
      return PageLadder::Kind::kResult;
    case WaterfallBar::Kind::kFloor:
      return PageLadder::Kind::kFloor;
  }
  return PageLadder::Kind::kWhole;
}

std::optional<PageLadder> ladder_of(const Study& study) {
  PageLadder ladder;
  ladder.title = study.suite->cases[0].name;
  for (const WaterfallBar& bar : waterfall_bars(study))
    ladder.steps.push_back({bar.name, bar.words, bar.from, bar.to, ladder_kind(bar.kind)});
  if (ladder.steps.empty()) return {};
  return ladder;
}

}  // namespace

Status Ablation::write_report(const Study& study, const ReportOptions& options,
                              const fs::path& out) const {
  if (is_replay_) {
    if (state_of(out) == OutState::kOther)
      return Error{
          fmt::format("{} is not an ablation folder; choose another with --out", out.string())};
    std::error_code error;
    fs::create_directories(out, error);
    if (error) return Error{fmt::format("cannot make {}: {}", out.string(), error.message())};
  }
  const std::string text = optimization_report(study, options);
  TRY(run_files::write_whole_file(out / "OPTIMIZATION_REPORT.md", text));
  TRY(run_files::write_whole_file(out / "ablation.csv", to_csv(ablation_sheet(study))));
  TRY(run_files::write_whole_file(out / "ablation.json", study_json(study, options)));
  const std::string waterfall = waterfall_svg(study);
  if (!waterfall.empty()) TRY(run_files::write_whole_file(out / "waterfall.svg", waterfall));
  if (!request_.page) return Nothing{};
  DocumentsPage shown{"ablate",
                      study.suite->title,
                      "",
                      {{"OPTIMIZATION_REPORT.md", text}},
                      {{"waterfall.svg", waterfall}},
                      {ablation_sheet(study)},
                      {}};
  shown.ladder = ladder_of(study);
  return run_files::write_whole_file(out / "report.html", documents_page(shown));
}

Status check_note(const fs::path& out, const Note& note) {
  const Ablation ablation = TRY(Ablation::open_finished(out));
  if (ablation.suite().find(note.variant) != nullptr) return Nothing{};
  std::vector<std::string> names;
  for (const Variant& variant : ablation.suite().variants) names.push_back(variant.name);
  return Error{fmt::format("'{}' is not a variant of {}{}", note.variant,
                           (out / "suite.toml").string(), did_you_mean(note.variant, names))};
}

Status add_note(const fs::path& out, const Note& note) {
  TRY(check_note(out, note));
  Journal journal = TRY(Journal::open(out / kJournalName));
  return journal.append(note_record(note));
}

}  // namespace fathom::ablate
