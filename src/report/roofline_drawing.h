#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct Roof {
  std::string name;
  double rate = 0;  // FLOP/s
};
struct RooflinePoint {
  double intensity = 0, rate = 0;  // FLOP/B, FLOP/s; both above 0
  double radius = 5;
  std::string label;  // safe, short
};
struct Roofline {
  double bandwidth = 0;      // B/s
  std::string bandwidth_of;  // "DRAM 4.8 TB/s (peak)"
  std::vector<Roof> roofs;   // at least one
  std::vector<RooflinePoint> points;
  std::string axis;                 // what intensity is: "FLOP per byte of DRAM, both counted"
  std::vector<std::string> legend;  // lines beside the drawing, safe
};

// On logarithmic scales that take in every point.
std::string roofline_drawing(const Roofline& roofline);

// "4.3 TFLOP/s"
std::string flop_rate_text(double rate);

}  // namespace fathom
