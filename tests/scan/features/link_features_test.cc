#include "scan/features/link_features.h"

#include <algorithm>
#include <sstream>

#include "checks.h"
#include "scan/features/pairs.h"
#include "scan/features/signal_places.h"

namespace fathom {
namespace {

using test::SmallRepository;

constexpr std::string_view kLinkMetrics =
    "header\nidle\tGPU idle\tprocess\t\t\t\tsee the trace\n"
    "dram\tDRAM\thardware\tdram__bytes_read.sum\tGH100\tFETCH_SIZE\tread it\n";
constexpr std::string_view kFeatures =
    "header\n"
    "pages\tPages\tcache\tclass:*page_pool\tname:page_table name:num_pages\t2\tindirection\tTwo "
    "loads.\tdram idle\t*page*\n"
    "graphs\tGraphs\truntime\tcall:torch.cuda.graph\t\t\tlaunches\tOne launch.\tidle\t\n"
    "copies\tCopies\truntime\tpattern:async_copy kernel:*copy*\t\t\tcopies\tAside.\tidle\t\n"
    "queue\tQueue\tserver\timport:zmq\t\t\tqueues\tMessages.\tidle\t\n";
constexpr std::string_view kComponents =
    "header\ncache\tCache\tclass:*pool path:*cache/* kernel:*copy*\t2\tkeeps pages\n";

FeatureRules small_rules() {
  return FeatureRules::parse(kFeatures, kComponents, kLinkMetrics).take();
}

const FeatureFacts* find(const RecognisedParts& parts, std::string_view id) {
  const auto found = std::ranges::find(parts.features, id, &FeatureFacts::id);
  return found == parts.features.end() ? nullptr : &*found;
}

TEST(LinkFeatures, EvidencePointsToTheFileThatUsesItMost) {
  const FeatureRules rules = small_rules();
  const RecognisedParts parts =
      test::recognise({{{"a.py", "num_pages = 1\n"},
                        {"b.py", "x = 1\npage_table = [x]\npage_table.append(page_table)\n"},
                        {"c.py", "page_table = []\n"}},
                       {}},
                      rules);
  const FeatureFacts* pages = find(parts, "pages");
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(pages->certainty, Certainty::kLikely);
  EXPECT_EQ(pages->files, 3u);
  ASSERT_EQ(pages->evidence.size(), 2u);
  EXPECT_EQ(pages->evidence[0].what, "name page_table");
  EXPECT_EQ(pages->evidence[0].at, (CodePlace{1, 2}));
  EXPECT_EQ(pages->evidence[0].files, 2u);
  EXPECT_EQ(pages->evidence[1].at, (CodePlace{0, 1}));
  ASSERT_EQ(pages->metrics.size(), 2u);
  EXPECT_EQ(pages->metrics[0].nvidia, std::vector<std::string>{"dram__bytes_read.sum"});
}

// "*page*" begins at a word of the option's own name.
TEST(LinkFeatures, OptionsAreComparedWordByWord) {
  const std::vector<std::string> globs = {"*mm_*", "tune"};
  EXPECT_TRUE(word_glob_matches(globs, "use_mm_cache"));
  EXPECT_TRUE(word_glob_matches(globs, "mm_cache"));
  EXPECT_TRUE(word_glob_matches(globs, "tune"));
  EXPECT_FALSE(word_glob_matches(globs, "gemm_cache"));
  EXPECT_FALSE(word_glob_matches(globs, "fast_tune"));
  EXPECT_FALSE(word_glob_matches(globs, ""));
}

TEST(LinkFeatures, OneNameInOneFileIsOnlyLikely) {
  const FeatureRules rules = small_rules();
  const RecognisedParts once =
      test::recognise({{{"a.py", "class PagePool:\n    pass\n"}}, {}}, rules);
  ASSERT_NE(find(once, "pages"), nullptr);
  EXPECT_EQ(find(once, "pages")->certainty, Certainty::kLikely);
  const RecognisedParts twice =
      test::recognise({{{"a.py", "class PagePool:\n    num_pages = page_table\n"}}, {}}, rules);
  EXPECT_EQ(find(twice, "pages")->certainty, Certainty::kCertain);
  // One signal where two are needed is no evidence, beside a proof neither.
  const RecognisedParts half =
      test::recognise({{{"a.py", "class PagePool:\n    num_pages = 1\n"}}, {}}, rules);
  EXPECT_EQ(find(half, "pages")->certainty, Certainty::kLikely);
  EXPECT_EQ(find(half, "pages")->evidence.size(), 1u);
  const RecognisedParts called = test::recognise(
      {{{"a.py", "import torch\nwith torch.cuda.graph(g):\n    f()\n"}}, {}}, rules);
  ASSERT_NE(find(called, "graphs"), nullptr);
  EXPECT_EQ(find(called, "graphs")->certainty, Certainty::kCertain);
  EXPECT_EQ(find(called, "graphs")->evidence[0].what, "call torch.cuda.graph");
}

TEST(LinkFeatures, ListsKernelsAndTheOptionsThatAffectIt) {
  const FeatureRules rules = small_rules();
  SmallRepository repository{{{"a.py", "class PagePool:\n    num_pages = 1\n"}},
                             {"kernel copy_rows", "pattern async_copy", "kernel other",
                              "dead_kernel copy_old", "option --page-size", "option --port"}};
  const RecognisedParts parts = test::recognise(repository, rules);
  ASSERT_NE(find(parts, "copies"), nullptr);
  EXPECT_EQ(find(parts, "copies")->kernels, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(find(parts, "copies")->evidence[0].what, "kernel copy_rows");
  EXPECT_EQ(find(parts, "copies")->evidence[1].what, "pattern async_copy in some_function");
  ASSERT_NE(find(parts, "pages"), nullptr);
  EXPECT_EQ(find(parts, "pages")->options, std::vector<uint32_t>{0});
}

TEST(LinkFeatures, CertainOnesComeFirstThenThoseInMoreFiles) {
  const FeatureRules rules = small_rules();
  const RecognisedParts parts =
      test::recognise({{{"a.py", "page_table = num_pages\n"},
                        {"b.py", "page_table = num_pages\nimport zmq\n"},
                        {"c.py", "import zmq\nimport torch\ntorch.cuda.graph(g)\n"}},
                       {}},
                      rules);
  std::vector<std::string> order;
  for (const FeatureFacts& feature : parts.features) order.push_back(feature.id);
  EXPECT_EQ(order, (std::vector<std::string>{"queue", "graphs", "pages"}));
}

TEST(LinkFeatures, ComponentsHaveTheirFilesFoldersAndKernels) {
  const FeatureRules rules = small_rules();
  const RecognisedParts parts =
      test::recognise({{{"app/cache/pool.py", "class PagePool:\n    pass\n"},
                        {"app/cache/tree.py", "x = 1\n"},
                        {"app/other/pool.py", "class OtherPool:\n    pass\n"},
                        {"app/other/b.py", "pool = OtherPool()\n"},
                        {"app/other/c.py", "x = 1\n"}},
                       {"kernel copy_rows"}},
                      rules);
  ASSERT_EQ(parts.components.size(), 1u);
  const ComponentFacts& cache = parts.components[0];
  EXPECT_EQ(cache.files, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(cache.folders, std::vector<std::string>{"app/cache"});
  EXPECT_EQ(cache.kernels, std::vector<uint32_t>{0});
  EXPECT_EQ(cache.evidence.back().what, "path app/cache/pool.py");
}

TEST(LinkFeatures, EvidenceIsTheProductsAndWhereMostAgrees) {
  const FeatureRules rules = small_rules();
  const RecognisedParts parts =
      test::recognise({{{"dev/try.py", "page_table = num_pages\n" + std::string(20, ' ') +
                                           "\n"
                                           "page_table = page_table = page_table = page_table\n"},
                        {"app/a.py", "page_table = page_table = page_table\n"},
                        {"app/b.py", "num_pages = page_table\n"}},
                       {}},
                      rules);
  const FeatureFacts* pages = find(parts, "pages");
  ASSERT_NE(pages, nullptr);
  // app/b.py shows both; dev/ uses the name more often and app/a.py too.
  EXPECT_EQ(pages->evidence[0].at.file, 2u);
  EXPECT_EQ(pages->evidence[1].at.file, 2u);
}

TEST(LinkFeatures, WhatLiesAsideIsLikelyAndLast) {
  const FeatureRules rules = small_rules();
  const RecognisedParts parts =
      test::recognise({{{"dev/a.py", "import zmq\n"},
                        {"dev/b.py", "import zmq\n"},
                        {"app/c.py", "import torch\ntorch.cuda.graph(g)\n"}},
                       {}},
                      rules);
  ASSERT_EQ(parts.features.size(), 2u);
  EXPECT_EQ(parts.features[0].id, "graphs");
  EXPECT_EQ(parts.features[1].id, "queue");
  EXPECT_EQ(parts.features[1].certainty, Certainty::kLikely);
}

TEST(LinkFeatures, CodeToCompareWithIsNoEvidence) {
  const FeatureRules rules = small_rules();
  const RecognisedParts parts = test::recognise(
      {{{"a.cu", "struct page_pool_ref { int n; };"}}, {"kernel copy_rows_cpu"}}, rules);
  EXPECT_TRUE(parts.features.empty());
}

TEST(LinkFeatures, ANumberIsMeasuredOnlyWhereTheProgramHasIt) {
  constexpr std::string_view kTokenMetrics =
      "header\nidle\tGPU idle\tprocess\t\t\t\tsee the trace\n"
      "ttft\ttime to first token\tapplication\t\t\t\tper request\tcache\n";
  constexpr std::string_view kQueue =
      "header\nqueue\tQueue\tserver\timport:zmq\t\t\tqueues\tMessages.\tttft idle\t\n";
  const FeatureRules rules = FeatureRules::parse(kQueue, kComponents, kTokenMetrics).take();
  const RecognisedParts plain = test::recognise({{{"a.py", "import zmq\n"}}, {}}, rules);
  ASSERT_EQ(plain.features.size(), 1u);
  ASSERT_EQ(plain.features[0].metrics.size(), 1u);
  EXPECT_EQ(plain.features[0].metrics[0].id, "idle");
  const RecognisedParts cached = test::recognise(
      {{{"app/cache/pool.py", "import zmq\nclass PagePool:\n    pass\n"}}, {}}, rules);
  EXPECT_EQ(cached.features[0].metrics.size(), 2u);
}

// Every rule's own words, but only where they prove nothing.
TEST(LinkFeatures, ARepositoryThatOnlyTalksHasNoFeatures) {
  std::string prose, comments, python_strings, cpp_strings, code;
  for (const test::RulePair& pair : test::read_pairs(false)) {
    for (const auto& file : pair.fires.files) {
      std::istringstream lines(file.text);
      for (std::string line; std::getline(lines, line);) {
        comments += "# " + line + "\n";
        std::erase(line, '\\');
        prose += line + "\n";
        std::ranges::replace(line, '"', '.');
        python_strings += "x = \"" + line + "\"\n";
        cpp_strings += "const char* x = \"" + line + "\";  // " + line + "\n";
      }
      code += file.text;
    }
  }
  ASSERT_GT(code.size(), 2000u);
  const auto features_of = [](std::vector<SmallRepository::File> files) {
    std::vector<std::string> ids;
    for (const auto& feature : test::recognise({std::move(files), {}}).features)
      ids.push_back(feature.id);
    return ids;
  };
  // The code itself fires many, so silence below is not for want of words.
  EXPECT_GT(features_of({{"app/code.py", code}}).size(), 20u);
  EXPECT_EQ(features_of({{"app/a.py", comments}}), std::vector<std::string>{});
  EXPECT_EQ(features_of({{"app/a.py", "\"\"\"" + prose + "\"\"\"\n"}}), std::vector<std::string>{});
  EXPECT_EQ(features_of({{"app/a.py", python_strings}}), std::vector<std::string>{});
  EXPECT_EQ(features_of({{"app/a.cu", cpp_strings}}), std::vector<std::string>{});
  EXPECT_EQ(features_of({{"app/a.cu", "#if 0\n" + code + "\n#endif\n"}}),
            std::vector<std::string>{});
  for (const char* path : {"third_party/x/code.py", "tests/code.py", "benchmarks/code.py",
                           "examples/code.py", "docs/code.py", "app/test_code.py"}) {
    EXPECT_EQ(features_of({{path, code}}), std::vector<std::string>{}) << path;
  }
}

bool python_fires(const std::string& text, std::string_view id) {
  const FeatureRules rules = small_rules();
  return find(test::recognise({{{"a.py", text}}, {}}, rules), id) != nullptr;
}

bool cpp_fires(const std::string& text, std::string_view id) {
  const FeatureRules rules = small_rules();
  return find(test::recognise({{{"a.cu", text}}, {}}, rules), id) != nullptr;
}

TEST(LinkFeatures, PythonImportsInEveryForm) {
  EXPECT_TRUE(python_fires("import zmq\n", "queue"));
  EXPECT_TRUE(python_fires("import os, zmq as z\n", "queue"));
  EXPECT_TRUE(python_fires("import zmq.asyncio\n", "queue"));
  EXPECT_TRUE(python_fires("from zmq.asyncio import (\n    Context,\n)\n", "queue"));
  EXPECT_TRUE(
      python_fires("def f():\n    try:\n        import zmq\n    except E: pass\n", "queue"));
  EXPECT_FALSE(python_fires("from .zmq import Context\n", "queue"));
  EXPECT_FALSE(python_fires("import zmqueue\n", "queue"));
  EXPECT_FALSE(python_fires("raise E from zmq\n", "queue"));
  EXPECT_FALSE(python_fires("import os as zmq\n", "queue"));
}

TEST(LinkFeatures, OnlyCallsAreCalls) {
  EXPECT_TRUE(python_fires("torch.cuda.graph(g)\n", "graphs"));
  EXPECT_TRUE(python_fires("@torch.cuda.graph\ndef f(): pass\n", "graphs"));
  EXPECT_FALSE(python_fires("x = torch.cuda.graph\n", "graphs"));
  EXPECT_FALSE(python_fires("cuda.graph(g)\n", "graphs"));
  EXPECT_FALSE(python_fires("torch.graph(g)\n", "graphs"));
  EXPECT_FALSE(python_fires("def graph(g): pass\n", "graphs"));
}

TEST(LinkFeatures, DefinitionsInCpp) {
  EXPECT_TRUE(cpp_fires("struct PagePool { int n; };", "pages"));
  EXPECT_TRUE(cpp_fires("template <> class PagePool<int> { int n; };", "pages"));
  EXPECT_TRUE(cpp_fires("class PagePool final : public Pool { int n; };", "pages"));
  EXPECT_FALSE(cpp_fires("struct PagePool;", "pages"));
  EXPECT_FALSE(cpp_fires("void f(struct PagePool* p);", "pages"));
  EXPECT_FALSE(
      cpp_fires("// struct PagePool { };\nconst char* s = \"struct PagePool { };\";", "pages"));
}

TEST(LinkFeatures, CodeThatIsNeverCompiledDoesNotCount) {
  EXPECT_FALSE(cpp_fires("#if 0\nstruct PagePool { };\n#endif\n", "pages"));
  EXPECT_FALSE(cpp_fires("#if 0\n#ifdef A\n#endif\nstruct PagePool { };\n#endif\n", "pages"));
  EXPECT_TRUE(cpp_fires("#if 0\nint x;\n#else\nstruct PagePool { };\n#endif\n", "pages"));
  EXPECT_TRUE(cpp_fires("#if 0\nint x;\n#endif\nstruct PagePool { };\n", "pages"));
  EXPECT_TRUE(cpp_fires("#ifdef A\nstruct PagePool { };\n#endif\n", "pages"));
}

TEST(LinkFeatures, WhatAnAssertionRefusesDoesNotCount) {
  const auto ids = [](const std::string& code) {
    std::string out;
    for (const auto& feature : test::recognise({{{"app/a.cu", code}}, {}}).features)
      out += feature.id + " ";
    return out;
  };
  EXPECT_EQ(ids("using Used = cutlass::gemm::StreamKScheduler;\n"), "stream_k ");
  EXPECT_EQ(ids("static_assert(!is_same_v<T, StreamKScheduler>, \"no\");\n"), "");
}

// A finder that has seen other files says the same as a fresh one.
TEST(SignalFinder, MemoryOfOtherFilesChangesNothing) {
  const FeatureRules& rules = FeatureRules::built_in();
  const SignalTable table(rules);
  SignalFinder used(table);
  const auto same = [](const FileSignals& a, const FileSignals& b) {
    return std::ranges::equal(a, b, [](const SignalHit& x, const SignalHit& y) {
      return x.signal == y.signal && x.line == y.line && x.count == y.count && x.name == y.name;
    });
  };
  size_t hits = 0;
  for (const test::RulePair& pair : test::read_pairs(false)) {
    for (const auto& file : pair.fires.files) {
      SignalFinder fresh(table);
      const FileSignals found = used.find(python::lex(file.text));
      hits += found.size();
      EXPECT_TRUE(same(found, fresh.find(python::lex(file.text)))) << pair.where;
      EXPECT_TRUE(same(used.find(cpp::lex(file.text)), fresh.find(cpp::lex(file.text))))
          << pair.where;
    }
  }
  EXPECT_GT(hits, 50u);
}

}  // namespace
}  // namespace fathom
