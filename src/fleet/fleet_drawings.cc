#include "fleet/fleet_drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "report/svg.h"

namespace fathom {
namespace {

constexpr int kWidth = 760, kLeft = 230, kRight = 70, kRow = 16, kTop = 34;
constexpr int kInner = kWidth - kLeft - kRight;
constexpr size_t kMostRanks = 64, kMostRows = 16, kMostSteps = 256;

struct Part {
  const char* column;
  const char* label;
  const char* colour;
};

const Column* column_of(const Table& table, std::string_view name) {
  for (const Column& column : table.columns())
    if (column.name() == name) return &column;
  return nullptr;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    size_t most = 34) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\" text-anchor=\"{}\">{}</text>\n", x, y,
      anchor, svg_safe(text, most));
}

std::string box(double x, double y, double width, double height, std::string_view colour) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
      std::max(width, 0.0), height, colour);
}

std::string legend(std::span<const Part> parts) {
  std::string out;
  double x = kLeft;
  for (const Part& part : parts) {
    out += box(x, 8, 10, 10, part.colour) + text_at(x + 14, 17, "start", part.label, 60);
    x += 150;
  }
  return out;
}

struct Bars {
  std::vector<size_t> rows;
  std::vector<Part> parts;
  std::string (*label)(const Table& table, size_t row);
  std::string_view unit;
};

// Bars from the left, their parts behind each other.
std::string bars_drawing(const Table& table, const Bars& bars) {
  double longest = 0;
  const auto total = [&](size_t row) {
    double sum = 0;
    for (const Part& part : bars.parts) sum += std::max(0.0, number_in(table, part.column, row));
    return sum;
  };
  for (const size_t row : bars.rows) longest = std::max(longest, total(row));
  std::string out = svg_begin(kWidth, kTop + kRow * static_cast<int>(bars.rows.size()) + 8);
  out += legend(bars.parts);
  double y = kTop;
  for (const size_t row : bars.rows) {
    out += text_at(kLeft - 6, y + 10, "end", bars.label(table, row));
    double x = kLeft;
    for (const Part& part : bars.parts) {
      const double width =
          longest > 0 ? std::max(0.0, number_in(table, part.column, row)) / longest * kInner : 0;
      out += box(x, y, width, 12, part.colour);
      x += width;
    }
    out += text_at(x + 5, y + 10, "start", fmt::format("{:.4g} {}", total(row), bars.unit));
    y += kRow;
  }
  return out + "</svg>\n";
}

std::vector<size_t> first_rows(const Table& table, size_t most) {
  std::vector<size_t> rows(std::min(table.rows(), most));
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

std::string part_label(const Table& table, size_t row) {
  return std::string(text_in(table, "part", row));
}

std::string name_label(const Table& table, size_t row) {
  return std::string(text_in(table, "name", row));
}

std::string ranks_drawing(const Table& ranks) {
  Bars bars{first_rows(ranks, kMostRanks),  // the slowest of many; those shown by their rank
            {{"compute_ms", "GPU work", "#3b7dd8"},
             {"communication_ms", "communication", "#d98c1f"},
             {"idle_ms", "idle", "#9a9a9a"}},
            part_label,
            "ms"};
  std::ranges::stable_sort(bars.rows, {},
                           [&](size_t row) { return number_in(ranks, "rank", row); });
  return bars_drawing(ranks, bars);
}

std::string collectives_drawing(const Table& table) {
  const auto label = [](const Table& t, size_t row) {
    const double bytes = number_in(t, "bytes", row);
    const std::string size = bytes > 0 ? fmt::format(" {:.2f} MB", bytes / 1e6) : "";
    return fmt::format("{}{} × {:.0f}", text_in(t, "collective", row), size,
                       number_in(t, "calls", row));
  };
  return bars_drawing(table, {first_rows(table, kMostRows),
                              {{"transfer_ms", "transfer", "#d98c1f"},
                               {"mean_wait_ms", "waiting, mean of the ranks", "#c0504d"}},
                              label,
                              "ms"});
}

std::string steps_drawing(const Table& table) {
  const auto label = [](const Table& t, size_t row) {
    return fmt::format("step {:.0f}", number_in(t, "step", row));
  };
  return bars_drawing(table, {first_rows(table, kMostRows),
                              {{"slowest_rank_ms", "slowest rank", "#3b7dd8"}},
                              label,
                              "ms"});
}

std::string clocks_drawing(const Table& table) {
  return bars_drawing(table, {first_rows(table, kMostRanks),
                              {{"sm_clock_mhz", "SM clock, median", "#3b7dd8"}},
                              part_label,
                              "MHz"});
}

std::string hosts_drawing(const Table& table) {
  const auto label = [](const Table& t, size_t row) {
    return std::string(text_in(t, "host", row));
  };
  return bars_drawing(table, {first_rows(table, kMostRanks),
                              {{"median_own_ms", "own work, median of the ranks", "#3b7dd8"}},
                              label,
                              "ms"});
}

// From the fastest rank's mean to the slowest's, over the median rank's.
std::string kernels_drawing(const Table& table) {
  const std::vector<size_t> rows = first_rows(table, kMostRows);
  const auto over = [&](std::string_view column, size_t row) {
    const double median = number_in(table, "median_us", row);
    return median > 0 ? number_in(table, column, row) / median : 1;
  };
  double least = 1, most = 1.01;
  for (const size_t row : rows) {
    least = std::min(least, over("fastest_us", row));
    most = std::max(most, over("slowest_us", row));
  }
  const auto x_of = [&](double value) { return kLeft + (value - least) / (most - least) * kInner; };
  std::string out = svg_begin(kWidth, kTop + kRow * static_cast<int>(rows.size()) + 8);
  constexpr Part kParts[] = {{"", "fastest to 90 % of ranks", "#3b7dd8"},
                             {"", "up to the slowest rank", "#c0504d"}};
  out += legend(kParts);
  out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>\n",
                     x_of(1), kTop - 4, kTop + kRow * static_cast<int>(rows.size()));
  double y = kTop;
  for (const size_t row : rows) {
    const double from = x_of(over("fastest_us", row)), to = x_of(over("p90_us", row)),
                 end = x_of(over("slowest_us", row));
    out += text_at(kLeft - 6, y + 10, "end", name_label(table, row));
    out += box(from, y + 2, std::max(to - from, 2.0), 8, "#3b7dd8");
    out += box(to, y + 4, end - to, 4, "#c0504d");
    out += text_at(end + 5, y + 10, "start", fmt::format("{:.2f} ×", over("slowest_us", row)));
    y += kRow;
  }
  return out + "</svg>\n";
}

// How much more own work a rank has than the median rank: blue none, red as much again.
std::string heat(double percent) {
  const double t = std::clamp(percent / 50, 0.0, 1.0);
  const auto mixed = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * t)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0xdc, 0xb0), mixed(0xe6, 0x1e),
                     mixed(0xf2, 0x1e));
}

// Ranks × steps.
std::string rank_steps_drawing(const Table& table) {
  std::vector<std::string> parts;
  std::set<int64_t> all_steps;
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string_view part = text_in(table, "part", row);
    if (parts.empty() || parts.back() != part) parts.emplace_back(part);
    all_steps.insert(static_cast<int64_t>(number_in(table, "step", row)));
  }
  std::map<int64_t, size_t> columns;  // of many steps the last
  const size_t skipped = all_steps.size() - std::min(all_steps.size(), kMostSteps);
  for (auto step = std::next(all_steps.begin(), static_cast<int64_t>(skipped));
       step != all_steps.end(); ++step)
    columns.emplace(*step, columns.size());
  const double width = static_cast<double>(kInner) / static_cast<double>(columns.size());
  std::string out = svg_begin(kWidth, kTop + kRow * static_cast<int>(parts.size()) + 26);
  out += box(kLeft, 8, 10, 10, heat(0)) + text_at(kLeft + 14, 17, "start", "as the median rank");
  out += box(kLeft + 150, 8, 10, 10, heat(50)) +
         text_at(kLeft + 164, 17, "start", "50 % more own work, or over that");
  size_t line = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string_view part = text_in(table, "part", row);
    const bool is_new = row == 0 || part != text_in(table, "part", row - 1);
    if (is_new && row > 0) ++line;
    const double y = kTop + kRow * static_cast<double>(line);
    if (is_new) out += text_at(kLeft - 6, y + 10, "end", part);
    const auto column = columns.find(static_cast<int64_t>(number_in(table, "step", row)));
    if (column == columns.end()) continue;
    out += box(kLeft + width * static_cast<double>(column->second), y, width + 0.2, 13,
               heat(number_in(table, "over_median_percent", row)));
  }
  const double below = kTop + kRow * static_cast<double>(parts.size()) + 12;
  out += text_at(kLeft, below, "start", fmt::format("step {}", columns.begin()->first));
  out += text_at(kLeft + kInner, below, "end", fmt::format("step {}", columns.rbegin()->first));
  return out + "</svg>\n";
}

// The steps of the recording for each slow rank, from the one on that it is slow.
std::string since_drawing(const Table& table) {
  const std::vector<size_t> rows = first_rows(table, kMostRows);
  const double first = number_in(table, "first_step", 0);
  const double steps = std::max(1.0, number_in(table, "last_step", 0) - first + 1);
  std::string out = svg_begin(kWidth, kTop + kRow * static_cast<int>(rows.size()) + 26);
  constexpr Part kParts[] = {{"", "as the median rank", "#dce6f2"}, {"", "slower", "#b01e1e"}};
  out += legend(kParts);
  double y = kTop;
  for (const size_t row : rows) {
    const double since =
        kInner * std::clamp((number_in(table, "since_step", row) - first) / steps, 0.0, 1.0);
    out += text_at(kLeft - 6, y + 10, "end", part_label(table, row));
    out += box(kLeft, y, since, 12, kParts[0].colour) +
           box(kLeft + since, y, kInner - since, 12, kParts[1].colour);
    out += text_at(kLeft + kInner + 5, y + 10, "start",
                   fmt::format("{:+.3g} %", number_in(table, "mean_excess_percent", row)));
    y += kRow;
  }
  out += text_at(kLeft, y + 12, "start", fmt::format("step {:.0f}", first));
  out += text_at(kLeft + kInner, y + 12, "end",
                 fmt::format("step {:.0f}", number_in(table, "last_step", 0)));
  return out + "</svg>\n";
}

// Two bars for each row: before and now.
std::string against_drawing(const Table& table, std::span<const Part, 2> parts,
                            std::string_view label, std::string_view change,
                            std::string_view unit) {
  const std::vector<size_t> rows = first_rows(table, kMostRows);
  double longest = 0;
  for (const size_t row : rows)
    for (const Part& part : parts) longest = std::max(longest, number_in(table, part.column, row));
  std::string out = svg_begin(kWidth, kTop + kRow * static_cast<int>(rows.size()) + 8);
  out += legend(parts);
  double y = kTop;
  for (const size_t row : rows) {
    out += text_at(kLeft - 6, y + 10, "end", text_in(table, label, row));
    double end = kLeft;
    for (size_t i = 0; i < 2; ++i) {
      const double width =
          longest > 0 ? number_in(table, parts[i].column, row) / longest * kInner : 0;
      out += box(kLeft, y + 6 * static_cast<double>(i), width, 6, parts[i].colour);
      end = std::max(end, kLeft + width);
    }
    out += text_at(end + 5, y + 10, "start",
                   fmt::format("{:+.3g} {}", number_in(table, change, row), unit));
    y += kRow;
  }
  return out + "</svg>\n";
}

std::string against_kernels_drawing(const Table& table) {
  constexpr Part kParts[] = {{"before_ms", "before", "#9a9a9a"}, {"now_ms", "now", "#3b7dd8"}};
  return against_drawing(table, kParts, "name", "change_ms", "ms");
}

std::string against_ranks_drawing(const Table& table) {
  constexpr Part kParts[] = {{"before_ms", "median rank before", "#9a9a9a"},
                             {"now_ms", "median rank now", "#3b7dd8"}};
  return against_drawing(table, kParts, "what", "change_percent", "%");
}

}  // namespace

double number_in(const Table& table, std::string_view name, size_t row) {
  const Column* column = column_of(table, name);
  return column != nullptr && !column->is_text() && column->known(row) ? column->number(row) : 0;
}

std::string_view text_in(const Table& table, std::string_view name, size_t row) {
  const Column* column = column_of(table, name);
  return column != nullptr && column->is_text() ? column->text(row) : std::string_view();
}

std::string answer_drawing(std::string_view question, const Table& answer) {
  struct Drawing {
    std::string_view question;
    std::string (*draw)(const Table&);
  };
  constexpr Drawing kDrawings[] = {
      {"fleet-ranks", ranks_drawing},           {"fleet-hosts", hosts_drawing},
      {"fleet-rank-steps", rank_steps_drawing}, {"fleet-collectives", collectives_drawing},
      {"fleet-kernels", kernels_drawing},       {"fleet-clocks", clocks_drawing},
      {"fleet-steps", steps_drawing},           {"fleet-since", since_drawing},
      {"against-ranks", against_ranks_drawing}, {"against-kernels", against_kernels_drawing}};
  const auto known = std::ranges::find(kDrawings, question, &Drawing::question);
  return known == std::end(kDrawings) || answer.rows() == 0 ? std::string() : known->draw(answer);
}

}  // namespace fathom
