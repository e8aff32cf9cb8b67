#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/counter_columns.h"
#include "plan/ablate/study_parts.h"
#include "plan/ablate/time_text.h"

namespace fathom::ablate {
namespace {

// Of the logarithm. A tenth more or less is a move that nobody predicted; one that was predicted
// may be smaller, above the noise of a counted launch.
constexpr double kLeastMove = 0.095, kLeastPredicted = 0.03;

// How far a value moved, as a logarithm. Near 0, steps of a percent or of a thousandth count.
double move_size(std::string_view name, double before, double after) {
  const double step =
      value_unit(name) == "%" ? 1.0 : 1e-3 * std::max(std::abs(before), std::abs(after));
  const double a = std::max(before, 0.0) + step, b = std::max(after, 0.0) + step;
  return a > 0 && b > 0 ? std::log(b / a) : 0;
}

std::optional<bool> went(Direction direction, double size) {
  if (direction == Direction::kUp) return size > kLeastPredicted;
  if (direction == Direction::kDown) return size < -kLeastPredicted;
  return std::abs(size) <= kLeastMove;
}

Moved moved_value(std::string_view name, const HardwareValues* before,
                  const HardwareValues* after) {
  Moved moved;
  moved.value = std::string(name);
  if (before != nullptr) moved.before = known_value(*before, name);
  if (after != nullptr) moved.after = known_value(*after, name);
  return moved;
}

double size_of(const Moved& moved) {
  return moved.before && moved.after ? move_size(moved.value, *moved.before, *moved.after) : 0;
}

}  // namespace

std::optional<double> known_value(const HardwareValues& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> bytes_moved(const HardwareValues& values) {
  std::optional<double> most;
  const auto raise = [&](double bytes) { most = std::max(most.value_or(0), bytes); };
  const auto read = known_value(values, "dram_read"), written = known_value(values, "dram_written");
  if (read && written) raise((*read + *written) * 1e6);
  const auto loads = known_value(values, "load_sectors"),
             stores = known_value(values, "store_sectors");
  if (loads && stores) {
    const double tma = known_value(values, "tma_read").value_or(0) +
                       known_value(values, "tma_written").value_or(0);
    raise((*loads + *stores) * 32 + tma * 1e6);
  } else if (most) {
    return std::nullopt;  // L2 may have held the rest
  }
  return most;
}

std::optional<double> operations_done(const HardwareValues& values) {
  const auto vector = known_value(values, "vector_flop"),
             tensor = known_value(values, "tensor_flop");
  const double busy = known_value(values, "tensor").value_or(0);
  if (!vector && !tensor) return std::nullopt;
  // Some chips do not count the operations of some tensor instructions.
  if (busy > 1 && tensor.value_or(0) <= 0) return std::nullopt;
  return vector.value_or(0) + tensor.value_or(0);
}

std::vector<Moved> expected_moves(const Variant& variant, const HardwareValues* before,
                                  const HardwareValues* after) {
  std::vector<Moved> out;
  for (const ExpectedMove& expected : variant.expects) {
    Moved moved = moved_value(expected.value, before, after);
    moved.is_expected = true;
    if (moved.before && moved.after) moved.as_expected = went(expected.direction, size_of(moved));
    out.push_back(std::move(moved));
  }
  return out;
}

std::optional<Moved> telling_move(const std::vector<Moved>& expected,
                                  const std::vector<TestedHypothesis>& tested,
                                  const HardwareValues& before, const HardwareValues& after) {
  const Moved* largest = nullptr;
  for (const Moved& moved : expected) {
    if (!moved.before || !moved.after) continue;
    if (largest == nullptr || std::abs(size_of(moved)) > std::abs(size_of(*largest)))
      largest = &moved;
  }
  if (largest != nullptr && std::abs(size_of(*largest)) > kLeastPredicted) return *largest;
  for (const TestedHypothesis& one : tested) {
    if (one.verdict != Verdict::kConfirmed) continue;
    for (const std::string_view name : one.hypothesis->evidence) {
      Moved moved = moved_value(name, &before, &after);
      if (std::abs(size_of(moved)) > kLeastMove) return moved;
    }
  }
  std::optional<Moved> most;
  for (const CounterColumn& column : counter_columns()) {
    if (!column.is_shown) continue;
    Moved moved = moved_value(column.id, &before, &after);
    if (std::abs(size_of(moved)) > kLeastMove &&
        (!most || std::abs(size_of(moved)) > std::abs(size_of(*most))))
      most = std::move(moved);
  }
  return most;
}

std::string floor_reason(const std::string& in_case, double seconds, double floor) {
  return fmt::format("{}{} is under the roofline floor of {}",
                     in_case.empty() ? "" : in_case + ": ", time_text(seconds), time_text(floor));
}

}  // namespace fathom::ablate
