#include "platform/platform.h"

#include <algorithm>
#include <sstream>

#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

const Platforms& built_in() { return Platforms::built_in(); }

std::string found(std::string_view name) {
  const Result<const Platform*> platform = built_in().find(name);
  return platform.ok() ? platform.value()->name : "error: " + platform.error().message;
}

std::string detected(std::string_view name, std::optional<int64_t> memory = {},
                     std::optional<int64_t> units = {}) {
  const Platform* platform = built_in().detect({name, memory, units});
  return platform == nullptr ? "none" : platform->name;
}

TEST(Platforms, AreFoundByTheirOwnNames) {
  EXPECT_GE(built_in().all().size(), 40u);
  for (const Platform& platform : built_in().all()) EXPECT_EQ(found(platform.name), platform.name);
}

TEST(Platforms, CapitalsSpacesAndDashesDoNotMatter) {
  EXPECT_EQ(found("mi300x"), "MI300X");
  EXPECT_EQ(found("h100-sxm"), "H100 SXM");
  EXPECT_EQ(found("H100SXM"), "H100 SXM");
  EXPECT_EQ(found("MI-300 X"), "MI300X");
  EXPECT_EQ(found(" nvidia  H200 "), "H200");
  EXPECT_EQ(found("AMD Instinct MI325X"), "MI325X");
  EXPECT_EQ(found("a100_80gb_pcie"), "A100 80GB PCIe");
  EXPECT_EQ(found("a100 sxm 80"), "A100 80GB SXM");
  EXPECT_EQ(found("A100-SXM4-40GB"), "A100 40GB SXM") << "as the driver calls it";
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100 SXM");
}

TEST(Platforms, ANameThatFitsSeveralIsRefusedWithTheChoices) {
  EXPECT_EQ(found("h100"), "error: 'h100' may be H100 PCIe, H100 SXM, H100 NVL: name one of them");
  EXPECT_EQ(found("a100 40"),
            "error: 'a100 40' may be A100 40GB PCIe, A100 40GB SXM: name one of them");
  EXPECT_EQ(found("a10080gb"),
            "error: 'a10080gb' may be A100 80GB PCIe, A100 80GB SXM: name one of them");
}

TEST(Platforms, AnotherGpuIsNotTakenForOneWeKnow) {
  for (const char* name : {"", " ", "-", "h20", "a2", "l20", "l", "h2", "b2000", "gh20", "mi308x",
                           "mi300", "rtx 3080", "h200 nvl", "nvidia", "80gb", "sxm"}) {
    EXPECT_TRUE(found(name).starts_with("error: there is no platform '")) << name << found(name);
  }
}

TEST(Platforms, AreDetectedByTheNamesThatDriversGive) {
  EXPECT_EQ(detected("NVIDIA L4", 23'600'000'000, 58), "L4");
  EXPECT_EQ(detected("NVIDIA A100-PCIE-40GB"), "A100 40GB PCIe");
  EXPECT_EQ(detected("A100-SXM4-40GB", 42'405'855'232, 108), "A100 40GB SXM");
  EXPECT_EQ(detected("NVIDIA A100-SXM4-80GB", 85'100'000'000, 108), "A100 80GB SXM");
  EXPECT_EQ(detected("NVIDIA A100 80GB PCIe"), "A100 80GB PCIe");
  EXPECT_EQ(detected("NVIDIA H100 PCIe", {}, 114), "H100 PCIe");
  EXPECT_EQ(detected("NVIDIA H100 80GB HBM3", 85'018'279'936, 132), "H100 SXM");
  EXPECT_EQ(detected("NVIDIA H200", 150'109'880'320, 132), "H200");
  EXPECT_EQ(detected("NVIDIA B200", 191'503'138'816, 148), "B200");
  EXPECT_EQ(detected("AMD Instinct MI300X", 206'141'652'992, 304), "MI300X");
  EXPECT_EQ(detected("AMD Instinct MI300X VF", 205'571'227'648, 304), "MI300X");
  EXPECT_EQ(detected("AMD Instinct MI325X"), "MI325X");
  EXPECT_EQ(detected("AMD Instinct MI355X", 288 * kGiB, 256), "MI355X");
  EXPECT_EQ(detected("AMD Instinct MI400"), "MI400");
}

TEST(Platforms, UnitsAndMemoryDecideWhereTheNameDoesNot) {
  EXPECT_EQ(detected("NVIDIA H100"), "none");
  EXPECT_EQ(detected("NVIDIA H100", {}, 132), "H100 SXM");
  EXPECT_EQ(detected("NVIDIA H100", {}, 114), "H100 PCIe");
  EXPECT_EQ(detected("NVIDIA A100 SXM4"), "none");
  EXPECT_EQ(detected("NVIDIA A100 SXM4", 40 * kGiB), "A100 40GB SXM");
  EXPECT_EQ(detected("NVIDIA A100 SXM4", 79 * kGiB), "A100 80GB SXM");
  EXPECT_EQ(detected("NVIDIA A100", 80 * kGiB), "none") << "SXM and PCIe differ in bandwidth";
}

TEST(Platforms, AreDetectedByPropertiesWhereTheNameTellsNoModel) {
  const auto by_properties = [](std::string_view name, int64_t memory, int64_t units,
                                const char* capability) {
    std::string names;
    for (const Platform* p : built_in().candidates({name, memory, units, capability}))
      names += (names.empty() ? "" : ", ") + p->name;
    return names;
  };
  EXPECT_EQ(by_properties("", 206'141'652'992, 304, "9.4"), "MI300X");
  EXPECT_EQ(by_properties("AMD Radeon Graphics", 206'141'652'992, 304, "9.4"), "MI300X");
  EXPECT_EQ(by_properties("", 274'861'129'728, 304, "9.4"), "MI325X");
  EXPECT_EQ(by_properties("", 137'422'176'256, 228, "9.4"), "MI300A");
  EXPECT_EQ(by_properties("", 309'220'868'096, 256, "9.5"), "MI350X, MI355X");
  EXPECT_EQ(by_properties("", 68'702'699'520, 104, "9.0"), "MI210, MI250 GCD");
  EXPECT_EQ(by_properties("", 68'702'699'520, 110, "9.0"), "MI250X GCD");
  EXPECT_EQ(by_properties("NVIDIA Graphics Device", 85'018'279'936, 132, "9.0"), "H100 SXM");
  EXPECT_EQ(by_properties("", 150'109'880'320, 132, "9.0"), "GH200 144GB, H200");
  EXPECT_EQ(by_properties("", 85'100'000'000, 108, "8.0"), "A100 80GB PCIe, A100 80GB SXM");
  EXPECT_EQ(built_in().detect({"", 85'100'000'000, 108, "8.0"}), nullptr) << "one of two";
  // Near-twins: another chip with as many units, a partition, a model that is named and not known.
  EXPECT_EQ(by_properties("", 206'141'652'992, 304, "9.5"), "");
  EXPECT_EQ(by_properties("", 25'757'220'864, 38, "9.4"), "");
  EXPECT_EQ(by_properties("NVIDIA H800", 85'018'279'936, 132, "9.0"), "");
  EXPECT_TRUE(built_in().candidates({"", 206'141'652'992, {}, "9.4"}).empty())
      << "memory alone is not enough";
}

TEST(Platforms, ManyMoreAreKnown) {
  EXPECT_EQ(detected("Tesla V100-SXM2-16GB"), "V100 16GB SXM");
  EXPECT_EQ(detected("Tesla V100-SXM2-32GB", 34'000'000'000, 80), "V100 32GB SXM");
  EXPECT_EQ(detected("Tesla V100-PCIE-32GB"), "V100 32GB PCIe");
  EXPECT_EQ(detected("Tesla V100S-PCIE-32GB"), "V100S PCIe");
  EXPECT_EQ(detected("Tesla T4", 15'800'000'000, 40), "T4");
  EXPECT_EQ(detected("NVIDIA A10"), "A10");
  EXPECT_EQ(detected("NVIDIA A30"), "A30");
  EXPECT_EQ(detected("NVIDIA L40S"), "L40S");
  EXPECT_EQ(detected("NVIDIA GeForce RTX 3090"), "RTX 3090");
  EXPECT_EQ(detected("NVIDIA GeForce RTX 4090"), "RTX 4090");
  EXPECT_EQ(detected("NVIDIA GeForce RTX 5090"), "RTX 5090");
  EXPECT_EQ(detected("NVIDIA RTX A6000"), "RTX A6000");
  EXPECT_EQ(detected("NVIDIA RTX 6000 Ada Generation"), "RTX 6000 Ada");
  EXPECT_EQ(detected("NVIDIA H100 NVL", 94 * kGiB, 132), "H100 NVL");
  EXPECT_EQ(detected("NVIDIA GH200 480GB", 95 * kGiB, 132), "GH200 96GB");
  EXPECT_EQ(detected("NVIDIA GB200"), "GB200");
  EXPECT_EQ(detected("NVIDIA B300 SXM6 AC"), "B300");
  EXPECT_EQ(detected("AMD Instinct MI210"), "MI210");
  EXPECT_EQ(detected("AMD Instinct MI250X", 64 * kGiB, 110), "MI250X GCD");
  EXPECT_EQ(detected("AMD Instinct MI250", 64 * kGiB, 104), "MI250 GCD");
  EXPECT_EQ(detected("AMD Instinct MI350X"), "MI350X");
}

TEST(Platforms, LinksAreKnownInOneDirectionTheFastestFirst) {
  const Platform& h200 = *built_in().find("H200").value();
  ASSERT_EQ(h200.links.size(), 2u);
  EXPECT_EQ(h200.links[0].name, "nvlink");
  EXPECT_DOUBLE_EQ(h200.links[0].bytes_per_second, 450e9);
  EXPECT_EQ(h200.links[1].name, "pcie");
  EXPECT_EQ(built_in().find("MI300X").value()->links[0].name, "infinity_fabric");
  EXPECT_EQ(built_in().find("L40S").value()->links[0].name, "pcie") << "it has no other";
}

TEST(Platforms, AnH100IsHeldAgainstWhatWasMeasuredOnItOrOnItsChipInAnH200) {
  const Platform& h100 = *built_in().find("h100-sxm").value();
  const auto measured = limit_of(*h100.find("matrix_bf16"));
  ASSERT_TRUE(measured && measured->achievable);
  EXPECT_EQ(measured->source.kind, Source::Kind::kMeasured);
  EXPECT_NEAR(measured->rate, 792.1e12, 1e11);
  const auto limit = limit_of(*h100.find("matrix_fp16"));
  ASSERT_TRUE(limit && limit->achievable);
  EXPECT_EQ(limit->source.kind, Source::Kind::kDerived);
  EXPECT_NEAR(limit->rate, 753e12, 1e12);
  EXPECT_NEAR(limit_of(h100.memory_bandwidth)->rate / 3.35e12, 4.29 / 4.8, 0.001);
  // A PCIe card has half the power: its products are not comparable.
  EXPECT_FALSE(limit_of(*built_in().find("H100 PCIe").value()->find("matrix_bf16"))->achievable);
}

TEST(Platforms, ASliceOfAGpuOrAnotherModelIsNotDetected) {
  EXPECT_EQ(detected("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), "none");
  EXPECT_EQ(detected("NVIDIA H100 80GB HBM3", 10 * kGiB, 16), "none");
  EXPECT_EQ(detected("AMD Instinct MI300X", 192 * kGiB, 38), "none") << "one of eight partitions";
  EXPECT_EQ(detected("AMD Instinct MI300X", 24 * kGiB, 304), "none");
  EXPECT_EQ(detected("NVIDIA H200 NVL"), "none");
  EXPECT_EQ(detected("NVIDIA GH200 480GB"), "none") << "96 or 144 GB";
  EXPECT_EQ(detected("NVIDIA A10G"), "none");
  EXPECT_EQ(detected("NVIDIA GeForce RTX 4090 Laptop GPU"), "none");
  EXPECT_EQ(detected("Tesla V100-SXM3-32GB"), "none") << "other clocks";
  EXPECT_EQ(detected("Test GPU"), "none");
  EXPECT_EQ(detected(""), "none");
}

TEST(Platforms, TheLimitIsWhatIsAchievableAndElseThePeak) {
  const Platform& h200 = *built_in().find("H200").value();
  const auto bandwidth = limit_of(h200.memory_bandwidth);
  ASSERT_TRUE(bandwidth);
  EXPECT_DOUBLE_EQ(bandwidth->rate, 4.29e12);
  EXPECT_TRUE(bandwidth->achievable);
  EXPECT_EQ(bandwidth->source.kind, Source::Kind::kMeasured);
  const auto int8 = limit_of(*h200.find("matrix_int8"));
  ASSERT_TRUE(int8);
  EXPECT_DOUBLE_EQ(int8->rate, 1979e12);
  EXPECT_FALSE(int8->achievable);
  EXPECT_EQ(int8->source.kind, Source::Kind::kDatasheet);
  EXPECT_FALSE(limit_of(Rate{}));
  EXPECT_EQ(h200.find("matrix_fp4"), nullptr) << "Hopper has none";
}

// Else a product would look worse in BF16 than in FP16 only because nobody measured the latter.
TEST(Platforms, FloatingPointProductsHaveOneKindOfLimit) {
  for (const Platform& platform : built_in().all()) {
    const Rate* bf16 = platform.find("matrix_bf16");
    if (bf16 == nullptr) continue;  // before Ampere
    for (const char* spec : {"matrix_fp16", "matrix_fp8"}) {
      const Rate* other = platform.find(spec);
      if (other == nullptr) continue;
      EXPECT_EQ(other->achievable.has_value(), bf16->achievable.has_value())
          << platform.name << " " << spec;
    }
  }
}

TEST(Platforms, EverythingAboutMi400IsAssumed) {
  const Platform& mi400 = *built_in().find("MI400").value();
  EXPECT_EQ(mi400.source.kind, Source::Kind::kAssumed);
  EXPECT_EQ(mi400.memory_bandwidth.peak_source.kind, Source::Kind::kAssumed);
  EXPECT_EQ(mi400.memory_bytes, 320 * kGiB);
  EXPECT_DOUBLE_EQ(*mi400.memory_bandwidth.peak, 7e12);
  ASSERT_EQ(mi400.specs.size(), 1u);
  EXPECT_DOUBLE_EQ(*mi400.find("matrix_bf16")->peak, 1e15);
  EXPECT_EQ(mi400.specs[0].rate.peak_source.kind, Source::Kind::kAssumed);
  EXPECT_FALSE(mi400.compute_units || mi400.boost_clock);
}

TEST(Platforms, ReadTheirTablesByPlace) {
  const Platforms platforms(
      "# "
      "comment\nname\tvendor\tarchitecture\tunits\tunit\tboost_mhz\tmemory_"
      "gb\tmemory_type\tsource\twhere\tdevices\n"
      "X 1\tV\t\t10\tSM\t\t2\tGDDR6\tassumed\tw\tx1|x one*\n"
      "Y\tV\tgfx\t\tCU\t1000\t\t\tmeasured\t\t\n",
      "gpus\trate\tunit\tdensity\tpeak\ts\tw\tachievable\ts\tw\tper_clock\tclock\n"
      "X 1|Y\tmemory\tTB/s\t\t2\tdatasheet\td\t1.5\tmeasured\tm\t\t\n"
      "Y\tmatrix_fp8\tTFLOPS\thalved\t5\tdatasheet\td\t\t\t\t256\t1000\n");
  ASSERT_EQ(platforms.all().size(), 2u);
  const Platform &x = platforms.all()[0], &y = platforms.all()[1];
  EXPECT_EQ(x.architecture, "");
  EXPECT_EQ(x.compute_units, 10);
  EXPECT_EQ(x.memory_bytes, 2 * kGiB);
  EXPECT_FALSE(x.boost_clock || y.compute_units || y.memory_bytes);
  EXPECT_EQ(x.memory_bandwidth, y.memory_bandwidth);
  EXPECT_EQ(x.memory_bandwidth.achievable_source, (Source{Source::Kind::kMeasured, "m"}));
  ASSERT_NE(y.find("matrix_fp8"), nullptr);
  EXPECT_TRUE(y.find("matrix_fp8")->halved);
  EXPECT_EQ(y.find("matrix_fp8")->clock, 1e9);
  EXPECT_EQ(x.find("matrix_fp8"), nullptr);
  EXPECT_EQ(platforms.detect({"AMD X One Two", {}, {}}), &x);
  EXPECT_EQ(platforms.detect({"Y", {}, {}}), nullptr) << "it has no device names";
}

// The data itself.

TEST(PlatformData, UnitsTimesOperationsTimesClockIsThePeak) {
  size_t checked = 0;
  for (const Platform& platform : built_in().all()) {
    for (const auto& [name, rate] : platform.specs) {
      EXPECT_EQ(rate.per_clock.has_value(), rate.clock.has_value()) << platform.name << name;
      if (!rate.per_clock || !rate.clock || !platform.compute_units) continue;
      const double product =
          *rate.per_clock * *rate.clock * static_cast<double>(*platform.compute_units);
      EXPECT_NEAR(product / *rate.peak, 1, 0.02) << platform.name << " " << name;
      EXPECT_LE(*rate.clock, platform.boost_clock.value_or(0)) << platform.name << " " << name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 90u);
}

TEST(PlatformData, IsPlausible) {
  for (const Platform& p : built_in().all()) {
    EXPECT_FALSE(p.vendor.empty() || p.unit_name.empty()) << p.name;
    EXPECT_FALSE(p.source.where.empty()) << p.name;
    ASSERT_TRUE(p.memory_bandwidth.peak && p.memory_bytes) << p.name;
    EXPECT_GE(*p.memory_bandwidth.peak, 0.1e12) << p.name;
    EXPECT_LE(*p.memory_bandwidth.peak, 20e12) << p.name;
    ASSERT_TRUE(p.find("matrix_bf16") != nullptr || p.find("matrix_fp16") != nullptr) << p.name;
    std::vector<Rate> rates{p.memory_bandwidth};
    for (const ComputeSpec& spec : p.specs) rates.push_back(spec.rate);
    for (const Rate& rate : rates) {
      ASSERT_TRUE(rate.peak) << p.name;
      EXPECT_FALSE(rate.peak_source.where.empty()) << p.name;
      if (!rate.achievable) continue;
      EXPECT_LT(*rate.achievable, *rate.peak) << p.name;
      EXPECT_TRUE(rate.achievable_source.kind == Source::Kind::kMeasured ||
                  rate.achievable_source.kind == Source::Kind::kDerived)
          << p.name;
      EXPECT_FALSE(rate.achievable_source.where.empty()) << p.name;
    }
  }
}

TEST(PlatformData, SpecsKeepTheirOrderAndNarrowerFormatsAreNoSlower) {
  const auto names = compute_spec_names();
  for (const Platform& p : built_in().all()) {
    auto at = names.begin();
    for (const ComputeSpec& spec : p.specs) {
      at = std::find(at, names.end(), spec.name);
      ASSERT_NE(at, names.end()) << p.name << " " << spec.name;
    }
    const auto peak = [&](std::string_view spec) {
      const Rate* rate = p.find(spec);
      return rate == nullptr ? 0 : *rate->peak;
    };
    const double bf16 = peak("matrix_bf16");
    if (bf16 == 0) continue;  // before Ampere
    if (peak("matrix_fp16") > 0) {
      EXPECT_EQ(peak("matrix_fp16"), bf16) << p.name;
    }
    if (peak("matrix_fp8") > 0) {
      EXPECT_NEAR(peak("matrix_fp8") / bf16, 2, 0.03) << p.name;
    }
    if (peak("matrix_tf32") > 0) {
      EXPECT_NEAR(bf16 / peak("matrix_tf32"), 2, 0.06) << p.name;
    }
    EXPECT_LE(peak("vector_fp64"), peak("vector_fp32")) << p.name;
  }
}

TEST(PlatformData, EveryRowIsWhole) {
  const std::vector<std::pair<std::string, size_t>> tables = {
      {"gpus.tsv", 11}, {"rates.tsv", 12}, {"links.tsv", 4}};
  for (const auto& [file, columns] : tables) {
    std::istringstream lines(test::read_file(test::source_dir() / "data" / "platforms" / file));
    size_t rows = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('#')) continue;
      EXPECT_EQ(static_cast<size_t>(std::ranges::count(line, '\t')) + 1, columns) << line;
      EXPECT_EQ(line.find('\r'), std::string::npos) << line;
      ++rows;
    }
    EXPECT_GT(rows, 12u) << file;
  }
}

}  // namespace
}  // namespace fathom
