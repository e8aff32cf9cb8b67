#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/ascii.h"
#include "base/check.h"
#include "base/closest_names.h"
#include "base/glob.h"
#include "platform/platform.h"

extern const std::string_view platform_gpus_tsv, platform_links_tsv, platform_rates_tsv;

namespace fathom {
namespace {

// "A100-80GB SXM" as a100, 80gb, sxm. The vendor's name says nothing that the model does not.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words{""};
  for (const char c : small_letters(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || word == "nvidia" || word == "amd" || word == "instinct";
  });
  return words;
}

std::string joined(const std::vector<std::string>& words, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += words[i];
  return text;
}

// The model has to be named in full, for A10 and H20 are GPUs too; of the words behind it the
// beginning is enough: "a100 80 sxm". However they are parted: "a10080gb", "mi 300x".
bool names(const std::vector<std::string>& typed, const std::vector<std::string>& name) {
  for (size_t count = 1; count <= name.size(); ++count) {
    if (joined(typed, typed.size()) == joined(name, count)) return true;
  }
  const auto begins_a_word = [&](const std::string& word) {
    return std::any_of(name.begin() + 1, name.end(),
                       [&](const std::string& whole) { return whole.starts_with(word); });
  };
  return typed.size() > 1 && typed.front() == name.front() &&
         std::all_of(typed.begin() + 1, typed.end(), begins_a_word);
}

// "NVIDIA H100 PCIe" as "h100 pcie", which is how gpus.tsv has it.
std::string model_of(std::string_view device) {
  std::string model = small_letters(device);
  for (const std::string_view word : {"nvidia ", "amd ", "instinct "}) {
    if (model.starts_with(word)) model.erase(0, word.size());
  }
  return model;
}

// Drivers keep some memory to themselves, most where error correction lies in it (L4: 8 %). A slice
// of a GPU (MIG, AMD's partitions) has its name, but less of everything: its limits are others.
bool fits(const Platform& platform, const DeviceDescription& device) {
  if (device.compute_units && platform.compute_units &&
      *device.compute_units != *platform.compute_units) {
    return false;
  }
  if (!device.memory_bytes || !platform.memory_bytes) return true;
  const double share =
      static_cast<double>(*device.memory_bytes) / static_cast<double>(*platform.memory_bytes);
  return share > 0.88 && share < 1.02;
}

// Names that drivers give where they do not know the model, and empty ones.
bool tells_no_model(std::string_view model) {
  static constexpr std::string_view kGeneric[] = {"",         "radeon graphics",
                                                  "instinct", "graphics device",
                                                  "graphics", "gpu",
                                                  "amdgpu",   "unknown",
                                                  "n/a",      "none"};
  return std::ranges::find(kGeneric, model) != std::end(kGeneric);
}

// "9.0" of sm_90, "9.4" of gfx942, as Kineto gives the compute capability; empty: unknown.
std::string capability_of(const Platform& platform) {
  std::string_view digits = platform.architecture;
  const bool is_amd = digits.starts_with("gfx");
  for (const std::string_view front : {"sm_", "gfx"}) {
    if (digits.starts_with(front)) digits.remove_prefix(front.size());
  }
  // The last of AMD's three is the stepping.
  if (is_amd && !digits.empty()) digits.remove_suffix(1);
  if (digits.size() < 2) return {};
  return fmt::format("{}.{}", digits.substr(0, digits.size() - 1), digits.back());
}

// By what it has, not by its name: units and memory both have to be known, for many GPUs share one.
bool fits_by_properties(const Platform& platform, const DeviceDescription& device) {
  if (!device.compute_units || !device.memory_bytes || !platform.compute_units) return false;
  const std::string capability = capability_of(platform);
  const bool same_chip =
      device.capability.empty() || capability.empty() || device.capability == capability;
  return same_chip && fits(platform, device);
}

// Reads a table that was compiled in: a fault in it is our own.
class TsvRows {
 public:
  explicit TsvRows(std::string_view tsv) : rest_(tsv) { CHECK(next()); }

  // False at the end. Comments and empty lines are no rows; the first row is the header.
  bool next() {
    while (!rest_.empty()) {
      std::string_view line = cut(rest_, '\n');
      if (line.empty() || line.starts_with('#')) continue;
      const size_t columns = cells_.size();
      cells_.clear();
      for (bool more = true; more;) {
        more = line.find('\t') != std::string_view::npos;
        cells_.push_back(cut(line, '\t'));
      }
      CHECK(columns == 0 || cells_.size() == columns);
      return true;
    }
    return false;
  }

  std::string_view text(size_t column) const { return cells_.at(column); }

  std::optional<double> number(size_t column, double unit) const {
    const std::string_view cell = text(column);
    if (cell.empty()) return {};
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    CHECK(error == std::errc() && end == cell.data() + cell.size());
    return value * unit;
  }

  std::optional<int64_t> integer(size_t column, int64_t unit) const {
    const auto value = number(column, 1);
    if (!value) return {};
    return static_cast<int64_t>(*value) * unit;
  }

  Source source(size_t column) const {
    for (const auto kind : {Source::Kind::kDatasheet, Source::Kind::kMeasured,
                            Source::Kind::kDerived, Source::Kind::kAssumed}) {
      if (text(column) == source_kind_name(kind)) return {kind, std::string(text(column + 1))};
    }
    CHECK(false);
  }

  static std::string_view cut(std::string_view& rest, char separator) {
    const size_t end = rest.find(separator);
    const std::string_view piece = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    return piece;
  }

 private:
  std::string_view rest_;
  std::vector<std::string_view> cells_;
};

// Capitals do not count as changes: "; did you mean 'H200'?", or a full stop.
std::string nearest_platform(std::string_view typed, std::span<const std::string_view> choices) {
  std::vector<std::string> lowered;
  for (const std::string_view choice : choices) lowered.push_back(small_letters(choice));
  const std::vector<std::string> closest = closest_names(small_letters(typed), lowered, 1);
  if (closest.empty()) return ".";
  const auto place = std::ranges::find(lowered, closest.front()) - lowered.begin();
  return fmt::format("; did you mean '{}'?", choices[static_cast<size_t>(place)]);
}

double unit_of(std::string_view unit) {
  CHECK(unit == "TB/s" || unit == "TFLOPS" || unit == "TOPS");
  return 1e12;
}

}  // namespace

Platforms::Platforms(std::string_view gpus_tsv, std::string_view rates_tsv,
                     std::string_view links_tsv) {
  for (TsvRows gpus(gpus_tsv); gpus.next();) {
    Platform platform;
    platform.name = gpus.text(0);
    platform.vendor = gpus.text(1);
    platform.architecture = gpus.text(2);
    platform.compute_units = gpus.integer(3, 1);
    platform.unit_name = gpus.text(4);
    platform.boost_clock = gpus.number(5, 1e6);
    platform.memory_bytes = gpus.integer(6, int64_t{1} << 30);
    platform.memory_type = gpus.text(7);
    platform.source = gpus.source(8);
    platforms_.push_back(std::move(platform));
    std::string_view rest = gpus.text(10);
    auto& patterns = devices_.emplace_back();
    while (!rest.empty()) patterns.push_back(small_letters(TsvRows::cut(rest, '|')));
  }
  for (TsvRows rates(rates_tsv); rates.next();) {
    const double unit = unit_of(rates.text(2));
    Rate rate;
    rate.halved = rates.text(3) == "halved";
    rate.peak = rates.number(4, unit);
    if (rate.peak) rate.peak_source = rates.source(5);
    rate.achievable = rates.number(7, unit);
    if (rate.achievable) rate.achievable_source = rates.source(8);
    rate.per_clock = rates.number(10, 1);
    rate.clock = rates.number(11, 1e6);
    add_rate(rates.text(0), rates.text(1), rate);
  }
  if (links_tsv.empty()) return;
  for (TsvRows links(links_tsv); links.next();) {
    add_link(links.text(0), {std::string(links.text(1)), links.number(2, 1e9).value_or(0),
                             std::string(links.text(3))});
  }
}

void Platforms::add_link(std::string_view gpus, const Link& link) {
  CHECK(link.bytes_per_second > 0);
  while (!gpus.empty()) {
    const auto platform = std::ranges::find(platforms_, TsvRows::cut(gpus, '|'), &Platform::name);
    CHECK(platform != platforms_.end());
    const auto slower = std::ranges::find_if(platform->links, [&](const Link& other) {
      return other.bytes_per_second < link.bytes_per_second;
    });
    platform->links.insert(slower, link);
  }
}

void Platforms::add_rate(std::string_view gpus, std::string_view what, const Rate& rate) {
  CHECK(rate.known());
  while (!gpus.empty()) {
    const auto platform = std::ranges::find(platforms_, TsvRows::cut(gpus, '|'), &Platform::name);
    CHECK(platform != platforms_.end());
    if (what == "memory") {
      CHECK(!platform->memory_bandwidth.known());
      platform->memory_bandwidth = rate;
      continue;
    }
    CHECK(std::ranges::find(compute_spec_names(), what) != compute_spec_names().end());
    CHECK(platform->find(what) == nullptr);
    platform->specs.push_back({std::string(what), rate});
  }
}

const Platforms& Platforms::built_in() {
  static const Platforms platforms(platform_gpus_tsv, platform_rates_tsv, platform_links_tsv);
  return platforms;
}

Result<const Platform*> Platforms::find(std::string_view name) const {
  const std::vector<std::string> typed = words_of(name);
  std::vector<const Platform*> found;
  for (const Platform& platform : platforms_) {
    const std::vector<std::string> words = words_of(platform.name);
    if (typed == words) return &platform;
    if (!typed.empty() && names(typed, words)) found.push_back(&platform);
  }
  if (found.size() == 1) return found.front();
  if (const Platform* device = detect({name, {}, {}}); device != nullptr) return device;
  std::vector<std::string_view> choices;
  for (const Platform* platform : found) choices.push_back(platform->name);
  if (!choices.empty()) {
    return Error{fmt::format("'{}' may be {}: name one of them", name, fmt::join(choices, ", "))};
  }
  for (const Platform& platform : platforms_) choices.push_back(platform.name);
  return Error{fmt::format(
      "there is no platform '{}'{} 'fathom platforms' lists them; a file of your own ends "
      "in .json",
      name, nearest_platform(name, choices))};
}

std::vector<const Platform*> Platforms::candidates(const DeviceDescription& device) const {
  const std::string model = model_of(device.name);
  if (model.find(" mig ") != std::string::npos) return {};
  const bool by_properties = tells_no_model(model);
  std::vector<const Platform*> found;
  for (size_t i = 0; i < platforms_.size(); ++i) {
    const bool fitting = by_properties ? fits_by_properties(platforms_[i], device)
                                       : std::ranges::any_of(devices_[i],
                                                             [&](const std::string& pattern) {
                                                               return glob_matches(pattern, model);
                                                             }) &&
                                             fits(platforms_[i], device);
    if (fitting) found.push_back(&platforms_[i]);
  }
  return found;
}

const Platform* Platforms::detect(const DeviceDescription& device) const {
  const std::vector<const Platform*> found = candidates(device);
  return found.size() == 1 ? found.front() : nullptr;
}

}  // namespace fathom
