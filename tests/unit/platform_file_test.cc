#include "checks.h"
#include "platform/platform.h"
#include "test_files.h"

namespace fathom {
namespace {

std::string refusal(const std::string& json) {
  const Result<Platform> platform = parse_platform(json, "some/mine.json");
  return platform.ok() ? "accepted" : platform.error().message;
}

Platform parsed(const std::string& json) {
  Result<Platform> platform = parse_platform(json, "some/mine.json");
  EXPECT_TRUE(platform.ok()) << refusal(json);
  return platform.ok() ? platform.take() : Platform{};
}

TEST(PlatformFile, TraceLensValuesAreAchievable) {
  const Platform p = parsed(
      R"({"name": "MI300X", "mem_bw_gbps": 5300, "memory_gb": 192, "_reference": "https://…",
          "max_achievable_tflops": {"vector_fp32": 81.7, "matrix_bf16": 708, "matrix_mxfp4": 2}})");
  EXPECT_EQ(p.name, "MI300X");
  EXPECT_EQ(p.memory_bytes, int64_t{192} << 30);
  EXPECT_DOUBLE_EQ(*p.memory_bandwidth.achievable, 5.3e12);
  EXPECT_FALSE(p.memory_bandwidth.peak);
  ASSERT_EQ(p.specs.size(), 3u);
  EXPECT_EQ(p.specs[0].name, "matrix_bf16") << "in our order";
  EXPECT_EQ(p.specs[2].name, "matrix_mxfp4") << "names we do not know behind";
  EXPECT_DOUBLE_EQ(*p.find("vector_fp32")->achievable, 81.7e12);
  const auto limit = limit_of(*p.find("matrix_bf16"));
  ASSERT_TRUE(limit);
  EXPECT_DOUBLE_EQ(limit->rate, 708e12);
  EXPECT_TRUE(limit->achievable);
  EXPECT_EQ(limit->source.kind, Source::Kind::kFile);
}

TEST(PlatformFile, WhatIsNotGivenIsUnknown) {
  const Platform p = parsed(R"({"mem_bw_gbps": 7476})");
  EXPECT_EQ(p.name, "mine") << "after the file";
  EXPECT_EQ(p.memory_bandwidth.achievable_source, (Source{Source::Kind::kFile, "mine.json"}));
  EXPECT_FALSE(p.memory_bytes || p.compute_units || p.boost_clock);
  EXPECT_TRUE(p.specs.empty());
  EXPECT_FALSE(parsed(R"({"mem_bw_gbps": 7476, "memory_gb": null})").memory_bytes);
}

TEST(PlatformFile, TraceLensWritesZeroWhereNothingWasMeasured) {
  const Platform p = parsed(
      R"({"mem_bw_gbps": 7476, "max_achievable_tflops": {"matrix_fp6": 0, "matrix_bf16": 1401}})");
  EXPECT_EQ(p.find("matrix_fp6"), nullptr);
  EXPECT_NE(p.find("matrix_bf16"), nullptr);
}

TEST(PlatformFile, OfAKeyGivenTwiceTheLastCounts) {
  const Platform p = parsed(R"({"mem_bw_gbps": 1, "mem_bw_gbps": 7476,
      "max_achievable_tflops": {"matrix_bf16": 1, "vector_fp32": 3, "matrix_bf16": 1401}})");
  EXPECT_DOUBLE_EQ(*p.memory_bandwidth.achievable, 7.476e12);
  ASSERT_EQ(p.specs.size(), 2u);
  EXPECT_DOUBLE_EQ(*p.find("matrix_bf16")->achievable, 1401e12);
}

TEST(PlatformFile, OurOwnFormComesBackAsItWas) {
  for (const Platform& platform : Platforms::built_in().all()) {
    EXPECT_EQ(parsed(platform_json(platform)), platform) << platform_json(platform);
  }
}

TEST(PlatformFile, OurOwnFormByHand) {
  const Platform p = parsed(
      R"({"name": "mine", "memory_bandwidth": {"achievable": 1e12}, "compute_units": 12,
          "compute": {"vector_fp32": {"peak": 2e13, "peak_source": {"kind": "measured"}}}})");
  EXPECT_EQ(p.compute_units, 12);
  EXPECT_EQ(p.memory_bandwidth.achievable_source.kind, Source::Kind::kFile);
  EXPECT_EQ(p.find("vector_fp32")->peak_source.kind, Source::Kind::kMeasured);
  EXPECT_FALSE(p.find("vector_fp32")->achievable);
}

TEST(PlatformFile, WhatIsNoPlatformIsRefused) {
  EXPECT_TRUE(refusal("").starts_with("it is no JSON (")) << refusal("");
  EXPECT_TRUE(refusal("{").starts_with("it is no JSON ("));
  EXPECT_TRUE(refusal("name\tvendor\n").starts_with("it is no JSON ("));
  EXPECT_TRUE(refusal(R"({"mem_bw_gbps": NaN})").starts_with("it is no JSON ("));
  EXPECT_TRUE(refusal(std::string(100'000, '[')).starts_with("it is no JSON ("));
  EXPECT_TRUE(refusal("{\"name\": \"\xff\", \"mem_bw_gbps\": 1}").starts_with("it is no JSON ("));
  EXPECT_EQ(refusal("[]"), "it is no JSON object");
  const char* none = "it gives no memory bandwidth: expected mem_bw_gbps or memory_bandwidth";
  EXPECT_EQ(refusal("{}"), none);
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": null})"), none);
  EXPECT_EQ(refusal(R"({"name": "x", "max_achievable_tflops": {"matrix_bf16": 708}})"), none);
}

TEST(PlatformFile, NonsenseIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": "5300"})"), "mem_bw_gbps is no number");
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": 0})"),
            "mem_bw_gbps is 0, which no GPU has: expected 1 to 1000000");
  EXPECT_TRUE(refusal(R"({"mem_bw_gbps": -5300})").starts_with("mem_bw_gbps is -5300, which no"));
  EXPECT_TRUE(refusal(R"({"mem_bw_gbps": 1e300})").starts_with("mem_bw_gbps is 1e+300, which no"));
  EXPECT_TRUE(refusal(R"({"mem_bw_gbps": 5300000000000})").starts_with("mem_bw_gbps is 53"));
  EXPECT_TRUE(refusal(R"({"mem_bw_gbps": 9, "memory_gb": -1})").starts_with("memory_gb is -1, "));
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": 9, "name": 7})"), "name is no text");
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": 9, "name": ")" + std::string(201, 'x') + "\"}"),
            "name is longer than 200 characters");
  const auto spec = [](const std::string& value) {
    return refusal(R"({"mem_bw_gbps": 9, "max_achievable_tflops": )" + value + "}");
  };
  EXPECT_EQ(spec("[708]"), "max_achievable_tflops is no object");
  EXPECT_TRUE(spec(R"({"matrix_bf16": -708})").starts_with("matrix_bf16 is -708, which no GPU"));
  EXPECT_TRUE(spec(R"({"matrix_bf16": 1e99})").starts_with("matrix_bf16 is 1e+99, which no GPU"));
  EXPECT_EQ(spec(R"({"matrix_bf16": true})"), "matrix_bf16 is no number");
  EXPECT_TRUE(spec(R"({"bf16": 708})").starts_with("'bf16' is no compute spec: "));
  EXPECT_TRUE(spec(R"({"matrix_\u001b[31m": 708})").find("is no compute spec") < 40);
  std::string many = "{";
  for (int i = 0; i < 101; ++i) {
    many += (i > 0 ? ",\"matrix_" : "\"matrix_") + std::to_string(i) + "\":1";
  }
  EXPECT_EQ(spec(many + "}"), "max_achievable_tflops has more than 100 entries");
}

TEST(PlatformFile, NonsenseInOurOwnFormIsRefusedWithItsPlace) {
  const auto with = [](const std::string& more) {
    return refusal(R"({"memory_bandwidth": {"peak": 1e12})" + more + "}");
  };
  EXPECT_EQ(with(""), "accepted");
  EXPECT_EQ(refusal(R"({"memory_bandwidth": 4.8})"), "memory_bandwidth: it is no object");
  EXPECT_EQ(refusal(R"({"memory_bandwidth": {}})"),
            "memory_bandwidth: neither peak nor achievable is given");
  EXPECT_EQ(with(R"(, "compute_units": 0)"),
            "compute_units is 0, which no GPU has: expected 1 to 1000000");
  EXPECT_EQ(with(R"(, "compute": 7)"), "compute is no object");
  EXPECT_TRUE(with(R"(, "compute": {"matrix_bf16": {"peak": 989}})")
                  .starts_with("matrix_bf16: peak is 989, which no GPU has"))
      << "TFLOPS in place of FLOP/s";
  EXPECT_TRUE(with(R"(, "compute": {"matrix_bf16": {"peak": 1e15, "peak_source": {"kind": "x"}}})")
                  .starts_with("matrix_bf16: peak_source has the kind 'x'; known are "));
}

TEST(PlatformFile, AKeyThatNobodyReadsIsRefused) {
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": 9, "memory_bg": 1})"),
            "TraceLens's form has no key 'memory_bg'; did you mean 'memory_gb'?");
  EXPECT_EQ(refusal(R"({"memory_bandwidth": {"peak": 1e12}, "compute_unitz": 1})"),
            "Fathom's form has no key 'compute_unitz'; did you mean 'compute_units'?");
  EXPECT_EQ(refusal(R"({"memory_bandwidth": {"peak": 1e12, "achieveable": 1e12}})"),
            "memory_bandwidth: it has no key 'achieveable'; did you mean 'achievable'?");
  EXPECT_EQ(refusal(R"({"memory_bandwith": {"peak": 1e12}})"),
            "it gives no memory bandwidth: expected mem_bw_gbps or memory_bandwidth. It has "
            "'memory_bandwith'; did you mean 'memory_bandwidth'?");
  EXPECT_TRUE(refusal(R"({"mem_bw_gbps": 9, "max_achievable_tflops": {"matrix_bf61": 1}})")
                  .ends_with("; did you mean 'matrix_bf16'?"));
  EXPECT_EQ(refusal(R"({"mem_bw_gbps": 9, "_note": [1, {}], "tdp_w": 750})"), "accepted");
}

TEST(PlatformFile, IsReadFromDisk) {
  const test::TemporaryDirectory place;
  const auto path = [&](const char* name) { return (place.path() / name).string(); };
  test::write_file(path("mine.json"), R"({"mem_bw_gbps": 5300})");
  const Result<Platform> mine = load_platform_file(path("mine.json"));
  ASSERT_TRUE(mine.ok()) << mine.error().message;
  EXPECT_EQ(mine.value().name, "mine");
  EXPECT_EQ(open_platform(path("mine.json")).value(), mine.value());
  EXPECT_EQ(open_platform("h200").value().name, "H200");

  test::write_file(path("bad.json"), "{}");
  EXPECT_TRUE(load_platform_file(path("bad.json"))
                  .error()
                  .message.starts_with(path("bad.json") + " is no platform file: it gives no"));
  test::write_file(path("large.json"), std::string(1'000'001, ' '));
  EXPECT_EQ(load_platform_file(path("large.json")).error().message,
            path("large.json") + " is no platform file: it is larger than 1 MB");
  EXPECT_TRUE(open_platform(path("absent.json")).error().message.starts_with("cannot open "));
  EXPECT_TRUE(load_platform_file(place.path().string())
                  .error()
                  .message.ends_with("is a directory; name the platform file in it"));
}

}  // namespace
}  // namespace fathom
