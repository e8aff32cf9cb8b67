#include <simdjson.h>

#include <algorithm>

#include "checks.h"
#include "report/scan/fact_writer.h"
#include "report/scan/features_markdown.h"

namespace fathom {
namespace {

// One feature of a repository whose names mean harm.
CodeFacts hostile_facts() {
  CodeFacts facts;
  facts.repository = "a|b<script>";
  facts.files.push_back({"src/x|y`z.py", Language::kPython, Origin::kOwn, 0, 0, ""});
  facts.files.push_back({"src/\xff.py", Language::kPython, Origin::kOwn, 0, 0, ""});
  OptionFacts option;
  option.name = "--a|b`<img>";
  option.default_value = "@all";
  option.at = {0, 7};
  facts.options.push_back(option);
  KernelFacts kernel;
  kernel.name = "k<T>";
  kernel.at = {1, 3};
  facts.kernels.push_back(kernel);
  FeatureFacts feature;
  feature.id = "pages";
  feature.title = "Paged KV cache";
  feature.area = "attention";
  feature.concern = "latency";
  feature.implication = "Two loads.";
  feature.evidence = {{"name page_table", {0, 12}, 3}, {"class P|Q", {1, 2}, 1}};
  feature.files = 4;
  feature.options = {0};
  feature.kernels = {0};
  feature.certainty = Certainty::kLikely;
  feature.metrics = {{"dram",
                      "DRAM bytes",
                      "hardware",
                      {"dram__bytes_read.sum"},
                      {"FETCH_SIZE"},
                      {"GH100"},
                      "read it"},
                     {"ttft", "time to first token", "application", {}, {}, {}, "per request"}};
  facts.features.push_back(feature);
  ComponentFacts component;
  component.id = "cache";
  component.title = "KV cache";
  component.purpose = "keeps pages";
  component.files = {0, 1};
  component.folders = {"src"};
  component.evidence = {{"class P", {0, 1}, 1}};
  facts.components.push_back(component);
  return facts;
}

bool page_holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string top_page(const CodeFacts& facts) { return feature_pages(facts).pages[0].text; }

TEST(FeaturesMarkdown, ShowsFeatureConcernMeasureOptionAndPlace) {
  const std::string text = top_page(hostile_facts());
  EXPECT_TRUE(page_holds(text, "[Paged KV cache](#paged-kv-cache) (likely)")) << text;
  EXPECT_TRUE(page_holds(text, "| latency | DRAM bytes; time to first token |")) << text;
  EXPECT_TRUE(page_holds(text, "- [ ] DRAM bytes: `dram__bytes_read.sum` – Paged KV cache"))
      << text;
  EXPECT_TRUE(page_holds(text, "- [ ] Time to first token – Paged KV cache")) << text;
  EXPECT_TRUE(page_holds(text, "`name page_table` at ``src/x|y`z.py:12`` and in 2 more files"))
      << text;
  EXPECT_TRUE(page_holds(text, "only GH100")) << text;
  EXPECT_TRUE(page_holds(text, "Two loads. Concern: latency.")) << text;
}

TEST(FeaturesMarkdown, NamesOfTheRepositoryStayText) {
  const std::string text = top_page(hostile_facts());
  EXPECT_FALSE(page_holds(text, "# Features of a|b<script>")) << text;
  // Every cell of a table row is one: unescaped bars are those of the table.
  size_t begin = text.find("## Options that affect them");
  ASSERT_NE(begin, std::string::npos);
  begin = text.find("| ``--a", begin);
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string row = text.substr(begin, text.find('\n', begin) - begin);
  size_t bars = 0;
  for (size_t i = 0; i < row.size(); ++i) bars += row[i] == '|' && (i == 0 || row[i - 1] != '\\');
  EXPECT_EQ(bars, 5u) << row;
}

TEST(FeaturesMarkdown, SaysWhenThereIsNothing) {
  CodeFacts facts;
  facts.repository = "empty";
  EXPECT_TRUE(page_holds(top_page(facts), "No feature was recognised in the code."));
}

TEST(FeaturesMarkdown, ManyFeaturesHavePagesByArea) {
  CodeFacts facts = hostile_facts();
  for (int i = 0; i < 79; ++i) {
    facts.features.push_back(facts.features[0]);
    if (i % 2 == 0) facts.features.back().area = "serving";
  }
  const FeaturePages pages = feature_pages(facts);
  ASSERT_EQ(pages.pages.size(), 3u);
  EXPECT_EQ(pages.pages[1].path, "features/attention.md");
  EXPECT_EQ(pages.pages[2].path, "features/serving.md");
  EXPECT_LT(std::ranges::count(pages.pages[0].text, '\n'), 110);
  EXPECT_TRUE(page_holds(pages.pages[0].text, "The other 60 are on the pages of their areas"));
  EXPECT_FALSE(page_holds(pages.pages[0].text, "Two loads."));
  EXPECT_EQ(pages.links[0], "features/attention.md#paged-kv-cache");
  EXPECT_EQ(pages.links[1], "features/serving.md#paged-kv-cache");
  EXPECT_EQ(pages.links[3], "features/serving.md#paged-kv-cache-1");
}

TEST(FeaturesJson, IsValidWhateverTheNames) {
  const CodeFacts facts = hostile_facts();
  FactWriter w(facts, true);
  w.json().begin_object();
  write_components(w, facts);
  write_features(w, facts);
  w.json().end_object();
  simdjson::dom::parser parser;
  const std::string text = w.take();
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
  const auto feature = root["features"].at(0);
  EXPECT_EQ(std::string_view(feature["id"]), "pages");
  EXPECT_EQ(std::string_view(feature["confidence"]), "likely");
  EXPECT_EQ(std::string_view(feature["evidence"].at(0)["file"]), "src/x|y`z.py");
  EXPECT_EQ(int64_t(feature["evidence"].at(0)["line"]), 12);
  EXPECT_EQ(std::string_view(feature["options"].at(0)["name"]), "--a|b`<img>");
  EXPECT_EQ(std::string_view(feature["measure"].at(0)["nvidia"].at(0)), "dram__bytes_read.sum");
  EXPECT_EQ(std::string_view(root["components"].at(0)["folders"].at(0)), "src");
}

}  // namespace
}  // namespace fathom
