#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/kernel_name.h"
#include "base/utf8.h"
#include "plan/run/results_text.h"
#include "report/svg.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

constexpr int kWidth = 860, kLeft = 330, kRight = 190, kRow = 20, kHead = 24;
constexpr int kInner = kWidth - kLeft - kRight;
constexpr size_t kMostDrawnRows = 40;  // of a part of the picture; the tables have all
constexpr std::string_view kMeasured = "#0072b2", kExpected = "#8fd0b5", kSurprise = "#d55e00";

struct Row {
  std::string name, words;
  const MetricResult* measured = nullptr;
  const ExpectedResult* expected = nullptr;  // none: only measured
};

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    size_t most) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"{}\">{}</text>\n", x, y,
      anchor, svg_safe(text, most));
}

std::string box(double from, double to, double y, double height, std::string_view colour) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", from, y,
      std::max(to - from, 1.5), height, colour);
}

// What a row's axis must reach.
double reach_of(const Row& row) {
  double most = row.measured->summary.p50;
  if (row.measured->interval) most = std::max(most, row.measured->interval->high);
  if (row.expected != nullptr) {
    most = std::max({most, row.expected->expected->low.value_or(most),
                     row.expected->expected->high.value_or(most)});
  }
  return most;
}

// A surprise is a diamond, so that colour is not all that tells it.
std::string mark(double x, double y, ExpectedVerdict verdict) {
  if (verdict == ExpectedVerdict::kSurprise)
    return fmt::format("<path d=\"M{0:.1f} {1:.1f}l6 6l-6 6l-6 -6z\" fill=\"{2}\"/>\n", x, y - 6,
                       kSurprise);
  const bool is_hollow = verdict == ExpectedVerdict::kWithinNoise;
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"{}\" stroke=\"{}\" "
      "stroke-width=\"1.5\"/>\n",
      x, y, is_hollow ? "none" : kMeasured, kMeasured);
}

// From 0 to `most` of the row's unit.
std::string draw_row(const Row& row, double most, double y) {
  const auto x_of = [most](double value) {
    return kLeft + kInner * (most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0.0);
  };
  std::string out = text_at(kLeft - 8, y + 14, "end", row.name, 52);
  out += fmt::format("<line class=\"grid\" x1=\"{0}\" y1=\"{2:.1f}\" x2=\"{1}\" y2=\"{2:.1f}\"/>\n",
                     kLeft, kLeft + kInner, y + 10);
  if (row.expected != nullptr && row.expected->expected->known()) {
    const ExpectedObservation& range = *row.expected->expected;
    out += box(x_of(range.low.value_or(0)), range.high ? x_of(*range.high) : kLeft + kInner, y + 3,
               14, kExpected);
  }
  if (row.measured->interval)
    out += box(x_of(row.measured->interval->low), x_of(row.measured->interval->high), y + 9, 2,
               kMeasured);
  out += mark(x_of(row.measured->summary.p50), y + 10,
              row.expected != nullptr ? row.expected->verdict : ExpectedVerdict::kFirstMeasurement);
  return out + text_at(kLeft + kInner + 10, y + 14, "start", row.words, 60);
}

std::string metric_words(const MetricResult& metric) {
  std::string words = metric.metric;
  std::ranges::replace(words, '_', ' ');
  if (!metric.subject.empty()) words += " " + normal_kernel_name(metric.subject).text;
  return words;
}

bool can_be_drawn(const MetricResult& metric) {
  const SampleInterval whole = metric.interval.value_or(SampleInterval{});
  return std::isfinite(metric.summary.p50) && metric.summary.p50 >= 0 && std::isfinite(whole.low) &&
         std::isfinite(whole.high) && whole.low >= 0;
}

std::vector<Row> expected_rows(const ExperimentResult& of) {
  std::vector<Row> rows;
  for (const ExpectedResult& one : of.expected) {
    if (one.measured == nullptr || !can_be_drawn(*one.measured) || rows.size() == kMostDrawnRows)
      continue;
    rows.push_back(
        {fmt::format("{} · {}", cut_to_bytes(metric_words(*one.measured), 38),
                     of.configurations[one.configuration].name),
         fmt::format("{}, {}", measured_text(one.measured->summary.p50, one.measured->unit),
                     expected_verdict_name(one.verdict)),
         one.measured, &one});
  }
  return rows;
}

// The metric of the whole run that the configurations have in common: the time of a step, else of
// the run.
std::vector<Row> configuration_rows(const ExperimentResult& of) {
  for (const char* metric : {"iteration_time", "wall_time"}) {
    std::vector<Row> rows;
    for (const ConfigurationResult& in : of.configurations) {
      const auto found = std::ranges::find_if(in.metrics, [&](const MetricResult& one) {
        return one.metric == metric && one.subject.empty() && can_be_drawn(one);
      });
      if (found == in.metrics.end() || rows.size() == kMostDrawnRows) continue;
      rows.push_back({fmt::format("{} · {}", metric_words(*found), in.name),
                      measured_text(found->summary.p50, found->unit), &*found, nullptr});
    }
    if (!rows.empty()) return rows;
  }
  return {};
}

}  // namespace

std::string experiment_drawing(const ExperimentResult& of) {
  const std::vector<Row> expected = expected_rows(of);
  std::vector<Row> measured = configuration_rows(of);
  if (measured.size() == 1 && !expected.empty()) measured.clear();  // nothing to compare it with
  if (expected.empty() && measured.empty()) return "";
  std::string out;
  double y = 4;
  if (!expected.empty()) {
    out += box(kLeft, kLeft + 16, y + 6, 10, kExpected) +
           text_at(kLeft + 22, y + 15, "start", "expected; each row from 0", 60);
    out += mark(kLeft + 200, y + 11, ExpectedVerdict::kConfirmed) +
           text_at(kLeft + 210, y + 15, "start", "median, 95 % interval", 60);
    y += kHead;
    for (const Row& row : expected) {
      out += draw_row(row, 1.05 * reach_of(row), y);
      y += kRow;
    }
  }
  if (!measured.empty()) {
    double most = 0;
    for (const Row& row : measured) most = std::max(most, reach_of(row));
    out += text_at(kLeft, y + 15, "start", "configurations, on one scale from 0", 60);
    y += kHead;
    for (const Row& row : measured) {
      out += draw_row(row, 1.05 * most, y);
      y += kRow;
    }
  }
  return svg_begin(kWidth, static_cast<int>(y) + 8) + out + "</svg>\n";
}

}  // namespace fathom
