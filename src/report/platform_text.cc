#include "report/platform_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/screen_text.h"

namespace fathom {
namespace {

constexpr std::string_view kUnknownText = "–";

std::string fit_right(std::string_view text, size_t width) {
  const size_t columns = screen_width(text);
  return std::string(width - std::min(width, columns), ' ') + std::string(text);
}

std::string heading(std::string text, bool color) {
  text.erase(text.find_last_not_of(' ') + 1);
  return color ? fmt::format("\033[1m{}\033[0m\n", text) : text + "\n";
}

// In tera: TB/s, TFLOPS. As exact as datasheets are, so that columns stay narrow.
std::string tera(double rate) {
  const double value = rate / 1e12;
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value >= 1000) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string memory_text(int64_t bytes) {
  return fmt::format("{:.4g} GB", static_cast<double>(bytes) / 0x1p30);
}

std::string known_text(std::string_view text) {
  return text.empty() ? std::string(kUnknownText) : screen_safe(text);
}

struct TableLine {
  std::string name, architecture, units, bandwidth, bandwidth_achievable, bf16, bf16_achievable,
      fp8, fp32, memory;

  std::string text() const {
    return fit_left(name, 15) + fit_left(architecture, 7) + fit_right(units, 7) +
           fit_right(bandwidth, 7) + fit_right(bandwidth_achievable, 11) + fit_right(bf16, 8) +
           fit_right(bf16_achievable, 11) + fit_right(fp8, 7) + fit_right(fp32, 7) +
           fit_right(memory, 9);
  }
};

std::string marked(const std::string& text, const Source& source) {
  return source.kind == Source::Kind::kAssumed ? text + "*" : text;
}

std::string peak_cell(const Rate* rate) {
  if (rate == nullptr || !rate->peak) return std::string(kUnknownText);
  return marked(tera(*rate->peak), rate->peak_source);
}

std::string achievable_cell(const Rate* rate) {
  if (rate == nullptr || !rate->achievable) return std::string(kUnknownText);
  return marked(tera(*rate->achievable), rate->achievable_source);
}

TableLine table_line(const Platform& p) {
  const Rate* bf16 = p.find("matrix_bf16");
  TableLine line;
  line.name = screen_safe(p.name);
  line.architecture = known_text(p.architecture);
  line.units = p.compute_units
                   ? marked(fmt::format("{} {}", *p.compute_units, p.unit_name), p.source)
                   : kUnknownText;
  line.bandwidth = peak_cell(&p.memory_bandwidth);
  line.bandwidth_achievable = achievable_cell(&p.memory_bandwidth);
  line.bf16 = peak_cell(bf16);
  line.bf16_achievable = achievable_cell(bf16);
  line.fp8 = peak_cell(p.find("matrix_fp8"));
  line.fp32 = peak_cell(p.find("vector_fp32"));
  line.memory = p.memory_bytes ? marked(memory_text(*p.memory_bytes), p.source) : kUnknownText;
  return line;
}

// One platform's values, each with the number of its source; the sources follow below.
class ValueTable {
 public:
  explicit ValueTable(const Platform& platform) : platform_(platform) {}

  void add(std::string_view what, std::string_view peak, std::string_view achievable,
           std::string_view remarks) {
    std::string line = "  " + fit_left(what, 17) + fit_right(peak, 18) + fit_right(achievable, 18) +
                       "   " + std::string(remarks);
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }

  std::string cited(const std::string& value, const Source& source) {
    auto found = std::ranges::find(sources_, source);
    if (found == sources_.end()) found = sources_.insert(found, source);
    return fmt::format("{} [{}]", value, found - sources_.begin() + 1);
  }

  void add_fact(std::string_view what, const std::optional<std::string>& value) {
    add(what, value ? cited(*value, platform_.source) : kUnknownText, "", "");
  }

  void add_rate(std::string_view what, const Rate& rate, std::string_view unit) {
    const auto cell = [&](const std::optional<double>& value, const Source& source) {
      return value ? cited(fmt::format("{:.6g} {}", *value / 1e12, unit), source)
                   : std::string(kUnknownText);
    };
    std::string remarks;
    if (rate.halved && rate.peak) {
      remarks = fmt::format("half of {:.6g} sparse", *rate.peak / 1e12 * 2);
    }
    if (rate.per_clock && rate.clock && platform_.compute_units) {
      remarks = fmt::format("{} × {} × {:.6g} MHz{}{}", *rate.per_clock, *platform_.compute_units,
                            *rate.clock / 1e6, remarks.empty() ? "" : "; ", remarks);
    }
    // One statement after the other, so that sources are numbered as they are read.
    const std::string peak = cell(rate.peak, rate.peak_source);
    add(what, peak, cell(rate.achievable, rate.achievable_source), remarks);
  }

  std::string take() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = sources_[i];
      out_ += fmt::format("  [{}] {}{}{}\n", i + 1, source_kind_name(source.kind),
                          source.where.empty() ? "" : ": ", screen_safe(source.where));
    }
    return std::move(out_);
  }

 private:
  const Platform& platform_;
  std::string out_;
  std::vector<Source> sources_;
};

}  // namespace

std::string platforms_text(std::span<const Platform> platforms, bool color) {
  const TableLine above{"", "", "", "", "TB/s", "", "BF16 TFLOPS", "FP8", "FP32", ""};
  const TableLine below{"GPU",  "arch",       "units",  "peak",   "achievable",
                        "peak", "achievable", "TFLOPS", "TFLOPS", "memory"};
  std::string out = heading(above.text(), color) + heading(below.text(), color);
  for (const Platform& platform : platforms) out += table_line(platform).text() + "\n";
  return out +
         "\nPeaks are the vendor's, for dense data: BF16 and FP8 of the matrix units, FP32 of the "
         "vector units.\n"
         "Achievable: the highest rate measured. – unknown   * assumed\n";
}

std::string platform_text(const Platform& p, bool color) {
  std::string out = heading(fmt::format("{}   {} · {}", screen_safe(p.name), known_text(p.vendor),
                                        known_text(p.architecture)),
                            color);
  ValueTable table(p);
  std::optional<std::string> units, clock, memory;
  if (p.compute_units) units = fmt::format("{} {}", *p.compute_units, screen_safe(p.unit_name));
  if (p.boost_clock) clock = fmt::format("{:.6g} MHz", *p.boost_clock / 1e6);
  if (p.memory_bytes) memory = memory_text(*p.memory_bytes);
  table.add_fact("compute units", units);
  table.add_fact("boost clock", clock);
  table.add_fact("memory", memory);
  table.add("", "peak", "achievable", "per clock × units × clock");
  table.add_rate("memory bandwidth", p.memory_bandwidth, "TB/s");
  for (const ComputeSpec& spec : p.specs) {
    table.add_rate(screen_safe(spec.name), spec.rate,
                   compute_unit_of(spec.name) == "OP/s" ? "TOPS" : "TFLOPS");
  }
  return out + table.take() +
         "Rates are for dense data. Efficiency relates to the achievable rate, else to the peak.\n";
}

}  // namespace fathom
