#include "report/trace/op_roofline.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/roofline_drawing.h"
#include "report/svg.h"

namespace fathom {
namespace {

constexpr size_t kMostPoints = 12;

}  // namespace

std::string op_roofline(const Assessment& a) {
  if (a.platform() == nullptr) return {};
  const Platform& platform = *a.platform();
  const std::optional<Limit> memory = limit_of(platform.memory_bandwidth);
  if (!memory) return {};
  Roofline roofline;
  roofline.bandwidth = memory->rate;
  roofline.bandwidth_of = fmt::format("memory {:.3g} TB/s ({})", memory->rate / 1e12,
                                      memory->achievable ? "achievable" : "peak");
  roofline.axis = "FLOP per byte, both by cost models; areas are shares of GPU time";
  std::map<std::string_view, double> roofs;
  for (const AssessedOp& op : a.ops()) {
    if (roofline.points.size() == kMostPoints) break;
    const Nanos time = op.group->gpu.sum;
    if (!op.group->cost || time.count <= 0) continue;
    const Cost& cost = *op.group->cost;
    const std::string_view spec = rate_name_of(cost, platform);
    if (cost.flops <= 0 || cost.bytes <= 0 || spec.empty()) continue;
    const std::optional<Limit> limit = limit_of(*platform.find(spec));
    if (!limit || limit->rate <= 0) continue;
    roofs[spec] = limit->rate;
    const double rate = cost.flops * static_cast<double>(op.group->calls.size()) /
                        (1e-9 * static_cast<double>(time.count));
    const size_t number = roofline.points.size() + 1;
    roofline.points.push_back({cost.flops / cost.bytes, rate,
                               std::max(3.0, 30 * std::sqrt(op.share)), std::to_string(number)});
    roofline.legend.push_back(
        fmt::format("{}  {}, {:.0f} %", number, svg_safe(op.group->key.name, 34), 100 * op.share));
  }
  if (roofline.points.empty()) return {};
  for (const auto& [spec, rate] : roofs) roofline.roofs.push_back({std::string(spec), rate});
  return roofline_drawing(roofline);
}

}  // namespace fathom
