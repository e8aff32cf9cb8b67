#include "fleet/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "base/count_text.h"
#include "report/markdown.h"
#include "report/svg.h"

namespace fathom {
namespace {

const Column* column_of(const Table& table, std::string_view name) {
  for (const Column& column : table.columns())
    if (column.name() == name) return &column;
  return nullptr;
}

double number_in(const Table& table, std::string_view name, size_t row) {
  const Column* column = column_of(table, name);
  return column != nullptr && !column->is_text() && column->known(row) ? column->number(row) : 0;
}

std::string_view text_in(const Table& table, std::string_view name, size_t row) {
  const Column* column = column_of(table, name);
  return column != nullptr && column->is_text() ? column->text(row) : std::string_view();
}

const FleetAnswer* answer_of(const std::vector<FleetAnswer>& answers, std::string_view name) {
  const auto at = std::ranges::find(answers, name, &FleetAnswer::name);
  return at == answers.end() ? nullptr : &*at;
}

std::string summary_text(const std::vector<FleetAnswer>& answers) {
  const FleetAnswer* ranks = answer_of(answers, "fleet-ranks");
  const std::optional<SlowRank> slow = ranks != nullptr ? slow_rank(ranks->table) : std::nullopt;
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
  return out + ".\n";
}

}  // namespace

std::optional<SlowRank> slow_rank(const Table& ranks) {
  if (ranks.rows() < 2) return std::nullopt;
  SlowRank slow{std::string(text_in(ranks, "part", 0)), number_in(ranks, "over_median_percent", 0)};
  for (size_t row = 1; row < ranks.rows(); ++row) {
    const double over = number_in(ranks, "over_median_percent", row);
    if (over > slow.over_median_percent) slow = {std::string(text_in(ranks, "part", row)), over};
  }
  return slow;
}

Table compared_kernels(const Table& now, const Table& before) {
  struct Times {
    std::optional<double> now, before;
  };
  std::map<std::string, Times, std::less<>> kernels;
  for (size_t row = 0; row < now.rows(); ++row)
    kernels[std::string(text_in(now, "name", row))].now = number_in(now, "ms_per_rank", row);
  for (size_t row = 0; row < before.rows(); ++row)
    kernels[std::string(text_in(before, "name", row))].before =
        number_in(before, "ms_per_rank", row);
  std::vector<std::pair<std::string, Times>> rows(kernels.begin(), kernels.end());
  const auto change = [](const auto& row) {
    return row.second.now.value_or(0) - row.second.before.value_or(0);
  };
  std::ranges::stable_sort(rows, std::greater<>(),
                           [&](const auto& row) { return std::abs(change(row)); });
  Table table("compared");
  Column& name = table.text_column("name");
  Column& old_ms = table.real_column("before_ms_per_rank");
  Column& new_ms = table.real_column("now_ms_per_rank");
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

std::string fleet_markdown(const Fleet& fleet, const FleetStatus& status,
                           const std::vector<FleetAnswer>& answers) {
  constexpr size_t kRows = 10, kFailed = 20;
  std::string out = fmt::format("# {}: all ranks\n\n{}.\n",
                                md_text(fleet.directory.filename().string()), fleet_line(status));
  if (status.done < static_cast<int64_t>(status.tasks.size())) {
    out += "\nMissing here:\n\n";
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
  if (answer_of(answers, "fleet-ranks") != nullptr) out += "\n![Time of each rank](ranks.svg)\n";
  for (const FleetAnswer& answer : answers) {
    out += fmt::format("\n## {}\n\n", answer.question);
    if (answer.table.rows() == 0) {
      out += "Nothing.\n";
      continue;
    }
    MarkdownTableStyle style;
    style.code_columns = {"part", "name", "slowest", "mostly_last"};
    style.max_rows = kRows;
    out += md_table(answer.table, style);
    if (answer.table.rows() > kRows)
      out += fmt::format("\n{} of {}; all in `{}.csv`.\n", kRows,
                         counted(answer.table.rows(), "row"), answer.name);
  }
  return out;
}

std::string ranks_drawing(const Table& ranks) {
  constexpr size_t kMost = 64;
  constexpr int kWidth = 760, kLeft = 170, kRow = 14, kTop = 34;
  std::vector<size_t> order(ranks.rows());
  std::iota(order.begin(), order.end(), size_t{0});
  // The slowest of many; those shown by their rank.
  if (order.size() > kMost) order.resize(kMost);
  std::ranges::stable_sort(order, {}, [&](size_t row) { return number_in(ranks, "rank", row); });
  double longest = 0;
  const auto total = [&](size_t row) {
    return number_in(ranks, "compute_ms", row) + number_in(ranks, "communication_ms", row) +
           number_in(ranks, "idle_ms", row);
  };
  for (const size_t row : order) longest = std::max(longest, total(row));
  const int height = kTop + kRow * static_cast<int>(order.size()) + 8;
  std::string out = svg_begin(kWidth, height);
  struct Part {
    const char* column;
    const char* label;
    const char* colour;
  };
  constexpr Part kParts[] = {{"compute_ms", "GPU work", "#3b7dd8"},
                             {"communication_ms", "communication", "#d98c1f"},
                             {"idle_ms", "idle", "#9a9a9a"}};
  int x = kLeft;
  for (const Part& part : kParts) {
    out += fmt::format(
        "<rect x=\"{}\" y=\"8\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"17\" "
        "font-size=\"11\">{}</text>\n",
        x, part.colour, x + 14, part.label);
    x += 120;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const int y = kTop + kRow * static_cast<int>(i);
    out += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"10\" text-anchor=\"end\">{}</text>\n",
                       kLeft - 6, y + 9, svg_safe(text_in(ranks, "part", order[i]), 28));
    double at = kLeft;
    for (const Part& part : kParts) {
      const double width =
          longest > 0 ? number_in(ranks, part.column, order[i]) / longest * (kWidth - kLeft - 12)
                      : 0;
      out +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"10\" fill=\"{}\"/>\n",
                      at, y, width, part.colour);
      at += width;
    }
  }
  return out + "</svg>\n";
}

}  // namespace fathom
