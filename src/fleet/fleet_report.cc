#include "fleet/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/count_text.h"
#include "fleet/fleet_drawings.h"
#include "report/markdown.h"

namespace fathom {
namespace {

constexpr double kSame = 0.05;  // percent: less is shown as 0.0

const FleetAnswer* answer_of(const std::vector<FleetAnswer>& answers, std::string_view name) {
  const auto at = std::ranges::find(answers, name, &FleetAnswer::name);
  return at == answers.end() ? nullptr : &*at;
}

// Whether each row has a value there.
bool has_known(const Table& table, std::string_view name) {
  const auto column = std::ranges::find(table.columns(), name, &Column::name);
  if (column == table.columns().end() || table.rows() == 0) return false;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (!column->known(row)) return false;
  }
  return true;
}

// A clock that explains a slow rank; empty: none is known to.
std::string clock_text(const std::vector<FleetAnswer>& answers, std::string_view part) {
  const FleetAnswer* clocks = answer_of(answers, "fleet-clocks");
  for (size_t row = 0; clocks != nullptr && row < clocks->table.rows(); ++row) {
    const double under = number_in(clocks->table, "under_median_percent", row);
    if (text_in(clocks->table, "part", row) == part && under > 2)
      return fmt::format(
          "Its SM clock is {:.0f} MHz, {:.1f} % under the median rank's; power or heat held it "
          "down "
          "in {:.0f} % of the samples.\n",
          number_in(clocks->table, "sm_clock_mhz", row), under,
          number_in(clocks->table, "held_down_percent", row));
  }
  return "";
}

std::string summary_text(const std::vector<FleetAnswer>& answers) {
  const FleetAnswer* ranks = answer_of(answers, "fleet-ranks");
  const std::optional<SlowRank> slow = ranks != nullptr ? slow_rank(ranks->table) : std::nullopt;
  if (!slow && ranks != nullptr && ranks->table.rows() > 1)
    return "No rank has a time of its own to compare: some traces hold no GPU work.\n";
  if (!slow) return "";
  if (!slow->stands_out())
    return fmt::format(
        "No rank stands out: the slowest, {}, has {:.1f} % more work of its own than the median "
        "rank.\n",
        md_code(slow->part), slow->over_median_percent);
  std::string out = fmt::format(
      "{} is slow: {:.1f} % more work of its own (GPU work and idle time, without communication) "
      "than the median rank",
      md_code(slow->part), slow->over_median_percent);
  const FleetAnswer* since = answer_of(answers, "fleet-since");
  if (since != nullptr) {
    for (size_t row = 0; row < since->table.rows(); ++row)
      if (text_in(since->table, "part", row) == slow->part)
        out += fmt::format(", from step {:.0f} on", number_in(since->table, "since_step", row));
  }
  return out + ".\n" + clock_text(answers, slow->part);
}

// The two runs by their median ranks.
std::string against_text(const std::vector<FleetAnswer>& answers) {
  const FleetAnswer* ranks = answer_of(answers, "against-ranks");
  if (ranks == nullptr || ranks->table.rows() == 0) return "";
  const Table& t = ranks->table;
  const double change = number_in(t, "change_percent", 0),
               spread = number_in(t, "spread_percent", 0);
  return fmt::format(
      "Against the other run: the median rank's {} goes from {:.2f} to {:.2f} ms ({:+.1f} "
      "%), "
      "{} the ranks differed by before ({:.1f} %).\n",
      text_in(t, "what", 0).ends_with(" per step") ? "step" : "wall time",
      number_in(t, "before_ms", 0), number_in(t, "now_ms", 0), change,
      std::abs(change) > std::max(spread, kSame) ? "more than" : "no more than", spread);
}

// Why an answer has no row.
std::string_view nothing_text(std::string_view question) {
  if (question == "fleet-clocks") return "No trace has clocks; captures of `fathom record` do.";
  if (question == "fleet-hosts") return "The names of the traces have no hosts.";
  if (question == "fleet-collectives") return "No collective is on more than one rank.";
  return "Nothing.";
}

}  // namespace

std::optional<SlowRank> slow_rank(const Table& ranks) {
  if (ranks.rows() < 2 || !has_known(ranks, "over_median_percent")) return std::nullopt;
  SlowRank slow{std::string(text_in(ranks, "part", 0)), number_in(ranks, "over_median_percent", 0)};
  for (size_t row = 1; row < ranks.rows(); ++row) {
    const double over = number_in(ranks, "over_median_percent", row);
    if (over > slow.over_median_percent) slow = {std::string(text_in(ranks, "part", row)), over};
  }
  return slow;
}

Table compared_kernels(const Table& now, const Table& before) {
  const char* each = has_known(now, "ms_per_step") && has_known(before, "ms_per_step")
                         ? "ms_per_step"
                         : "ms_per_rank";
  struct Times {
    std::optional<double> now, before;
  };
  std::map<std::string, Times, std::less<>> kernels;
  for (size_t row = 0; row < now.rows(); ++row)
    kernels[std::string(text_in(now, "name", row))].now = number_in(now, each, row);
  for (size_t row = 0; row < before.rows(); ++row)
    kernels[std::string(text_in(before, "name", row))].before = number_in(before, each, row);
  std::vector<std::pair<std::string, Times>> rows(kernels.begin(), kernels.end());
  const auto change = [](const auto& row) {
    return row.second.now.value_or(0) - row.second.before.value_or(0);
  };
  std::ranges::stable_sort(rows, std::greater<>(),
                           [&](const auto& row) { return std::abs(change(row)); });
  Table table("compared");
  Column& name = table.text_column("name");
  Column& old_ms = table.real_column("before_ms");
  Column& new_ms = table.real_column("now_ms");
  Column& apart = table.real_column("change_ms");
  Column& percent = table.real_column("change_percent", Unit::kPercent);
  for (const auto& row : rows) {
    name.add(std::string_view(row.first));
    old_ms.add(row.second.before);
    new_ms.add(row.second.now);
    apart.add(change(row));
    if (row.second.before.value_or(0) > 0 && row.second.now)
      percent.add(100 * change(row) / *row.second.before);
    else
      percent.add_unknown();
  }
  return table;
}

Table compared_ranks(const Table& now, const Table& before) {
  const bool by_step = has_known(now, "steps") && has_known(before, "steps");
  const auto sorted = [by_step](const Table& table, std::string_view column) {
    std::vector<double> values(table.rows());
    for (size_t row = 0; row < table.rows(); ++row)
      values[row] = number_in(table, column, row) / (by_step ? number_in(table, "steps", row) : 1);
    std::ranges::sort(values);
    return values;
  };
  const auto median = [](const std::vector<double>& v) {
    return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
  };
  Table table("compared");
  Column& what = table.text_column("what");
  Column& old_ms = table.real_column("before_ms");
  Column& new_ms = table.real_column("now_ms");
  Column& percent = table.real_column("change_percent", Unit::kPercent);
  Column& spread = table.real_column("spread_percent", Unit::kPercent);
  if (now.rows() == 0 || before.rows() == 0) return table;
  for (const char* name : {"wall_ms", "compute_ms", "communication_ms", "idle_ms", "own_ms"}) {
    const std::vector<double> a = sorted(before, name), b = sorted(now, name);
    const double was = median(a), is = median(b);
    what.add(std::string_view(std::string(name) + (by_step ? " per step" : "")));
    old_ms.add(was);
    new_ms.add(is);
    was > 0 ? percent.add(100 * (is / was - 1)) : percent.add_unknown();
    was > 0 ? spread.add(100 * (a.back() - a.front()) / was) : spread.add_unknown();
  }
  return table;
}

std::string fleet_line(const FleetStatus& status) {
  std::string line =
      fmt::format("{} of {} exported", number_text(static_cast<uint64_t>(status.done)),
                  counted(status.tasks.size(), "trace"));
  if (status.failed > 0)
    line += fmt::format(", {} failed", number_text(static_cast<uint64_t>(status.failed)));
  if (status.running > 0)
    line += fmt::format(", {} running", number_text(static_cast<uint64_t>(status.running)));
  if (status.waiting > 0)
    line += fmt::format(", {} waiting", number_text(static_cast<uint64_t>(status.waiting)));
  return line;
}

std::vector<std::string> failed_lines(const Fleet& fleet, const FleetStatus& status, size_t most) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < fleet.tasks.size() && lines.size() < most; ++i) {
    const TaskState& state = status.tasks[i];
    if (state.stage == TaskStage::kFailed)
      lines.push_back(fmt::format("{}: {}", fleet.tasks[i].trace, state.reason));
  }
  if (static_cast<size_t>(status.failed) > lines.size())
    lines.push_back(fmt::format("and {} more",
                                number_text(static_cast<uint64_t>(status.failed) - lines.size())));
  return lines;
}

std::string fleet_headline(const std::vector<FleetAnswer>& answers) {
  std::string text = summary_text(answers) + against_text(answers);
  std::ranges::replace(text, '\n', ' ');
  std::erase(text, '`');  // it is shown as plain text; names of parts have none
  return text;
}

std::string fleet_markdown(const Fleet& fleet, const FleetStatus& status,
                           const std::vector<FleetAnswer>& answers,
                           const std::vector<std::string>& damaged) {
  constexpr size_t kRows = 10, kFailed = 20;
  std::string out = fmt::format("# {}: all ranks\n\n{}.\n",
                                md_text(fleet.directory.filename().string()), fleet_line(status));
  if (status.done < static_cast<int64_t>(status.tasks.size()) || !damaged.empty()) {
    out += "\nMissing here:\n\n";
    for (size_t i = 0; i < std::min(damaged.size(), kFailed); ++i)
      out += "- " + md_prose(damaged[i]) + "\n";
    if (damaged.size() > kFailed)
      out += fmt::format("- and {} more files\n", number_text(damaged.size() - kFailed));
    for (const std::string& line : failed_lines(fleet, status, kFailed))
      out += "- " + md_prose(line) + "\n";
    const int64_t others = status.waiting + status.running;
    if (others > 0)
      out += fmt::format("- {} not exported yet: `fathom fleet run {}`\n",
                         counted(static_cast<uint64_t>(others), "trace"),
                         fleet.directory.string().find('`') == std::string::npos
                             ? fleet.directory.string()
                             : "DIR");
  }
  if (const std::string summary = summary_text(answers); !summary.empty()) out += "\n" + summary;
  if (const std::string against = against_text(answers); !against.empty()) out += "\n" + against;
  for (const FleetAnswer& answer : answers) {
    out += fmt::format("\n## {}\n\n", answer.question);
    if (answer.table.rows() == 0) {
      out += fmt::format("{}\n", nothing_text(answer.name));
      continue;
    }
    if (!answer.drawing.empty())
      out += fmt::format("![{}]({}.svg)\n\n", answer.question, answer.name);
    MarkdownTableStyle style;
    style.code_columns = {"part", "host", "name", "slowest", "mostly_last"};
    style.max_rows = kRows;
    out += md_table(answer.table, style);
    if (answer.table.rows() > kRows)
      out += fmt::format("\n{} of {}; all in `{}.csv`.\n", kRows,
                         counted(answer.table.rows(), "row"), answer.name);
  }
  return out;
}

}  // namespace fathom
