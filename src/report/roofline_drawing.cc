#include "report/roofline_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/svg.h"

namespace fathom {
namespace {

constexpr int kWidth = 560, kHeight = 360, kLeft = 95, kRight = 20, kTop = 30, kBottom = 50;
constexpr int kLegendWidth = 330, kLegendLine = 18;

class Drawing {
 public:
  explicit Drawing(const Roofline& roofline) : of_(roofline) {
    highest_ = 0;
    for (const Roof& roof : of_.roofs) highest_ = std::max(highest_, roof.rate);
    y1_ = std::ceil(std::log10(highest_));
    y0_ = y1_ - 5;
    for (const RooflinePoint& p : of_.points) {
      x0_ = std::min(x0_, std::floor(std::log10(p.intensity)));
      x1_ = std::max(x1_, std::ceil(std::log10(p.intensity)));
      y0_ = std::min(y0_, std::floor(std::log10(p.rate)));
      y1_ = std::max(y1_, std::ceil(std::log10(p.rate)));
    }
  }

  std::string draw() {
    const bool has_legend = !of_.legend.empty();
    out_ = svg_begin(kWidth + (has_legend ? kLegendWidth : 0), kHeight);
    draw_grid();
    draw_roofs();
    for (const RooflinePoint& p : of_.points) draw_point(p);
    text(kWidth / 2.0, kHeight - 14, of_.axis, "middle");
    text(kLeft, 18, of_.bandwidth_of);
    for (size_t i = 0; i < of_.legend.size(); ++i)
      text(kWidth + 4, kTop + static_cast<double>(i) * kLegendLine + 12, of_.legend[i]);
    return out_ + "</svg>\n";
  }

 private:
  double x(double intensity) const {
    return kLeft + (std::log10(intensity) - x0_) / (x1_ - x0_) * (kWidth - kLeft - kRight);
  }
  double y(double rate) const {
    return kTop + (y1_ - std::log10(rate)) / (y1_ - y0_) * (kHeight - kTop - kBottom);
  }
  void line(double xa, double ya, double xb, double yb, std::string_view kind) {
    out_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, xa,
        ya, xb, yb);
  }
  void text(double at_x, double at_y, std::string_view words, std::string_view anchor = "start") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x,
                        at_y, anchor, words);
  }

  void draw_grid() {
    // Of many decades not each has its line.
    const double each_x = std::ceil((x1_ - x0_) / 10), each_y = std::ceil((y1_ - y0_) / 10);
    for (double e = x0_; e <= x1_; e += each_x) {
      line(x(std::pow(10, e)), kTop, x(std::pow(10, e)), kHeight - kBottom, "grid");
      text(x(std::pow(10, e)), kHeight - kBottom + 16, fmt::format("{:g}", std::pow(10, e)),
           "middle");
    }
    for (double e = y0_; e <= y1_; e += each_y) {
      line(kLeft, y(std::pow(10, e)), kWidth - kRight, y(std::pow(10, e)), "grid");
      text(kLeft - 6, y(std::pow(10, e)) + 4, flop_rate_text(std::pow(10, e)), "end");
    }
  }

  // The bandwidth's slope up to the highest roof, then a roof for each kind of arithmetic.
  void draw_roofs() {
    const double low = std::pow(10, std::max(x0_, y0_ - std::log10(of_.bandwidth)));
    line(x(low), y(low * of_.bandwidth), x(highest_ / of_.bandwidth), y(highest_), "line");
    for (const Roof& roof : of_.roofs) {
      line(x(roof.rate / of_.bandwidth), y(roof.rate), kWidth - kRight, y(roof.rate), "line");
      text(kWidth - kRight - 4, y(roof.rate) - 4,
           fmt::format("{} {}", roof.name, flop_rate_text(roof.rate)), "end");
    }
  }

  void draw_point(const RooflinePoint& p) {
    const double at_x = x(p.intensity), at_y = y(p.rate);
    out_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"#d55e00\" "
        "fill-opacity=\"0.6\"/>\n",
        at_x, at_y, p.radius);
    const bool is_right = at_x > kWidth / 2.0;
    text(at_x + (is_right ? -p.radius - 3 : p.radius + 3), at_y + 4, p.label,
         is_right ? "end" : "start");
  }

  const Roofline& of_;
  std::string out_;
  double x0_ = -2, x1_ = 4, y0_ = 0, y1_ = 0;  // decades
  double highest_ = 0;
};

}  // namespace

std::string flop_rate_text(double rate) {
  if (rate >= 1e15) return fmt::format("{:.3g} PFLOP/s", rate / 1e15);
  return rate >= 1e12 ? fmt::format("{:.3g} TFLOP/s", rate / 1e12)
                      : fmt::format("{:.3g} GFLOP/s", rate / 1e9);
}

std::string roofline_drawing(const Roofline& roofline) { return Drawing(roofline).draw(); }

}  // namespace fathom
