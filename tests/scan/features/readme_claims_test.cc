// What a README says, held against the code: it moves features forward and never makes one.
#include <algorithm>

#include "checks.h"
#include "report/scan/claims_report.h"
#include "scan/docs/readme_mentions.h"
#include "scan/features/pairs.h"

namespace fathom {
namespace {

std::vector<std::string> mentioned(std::string_view readme, std::string_view name = "ours") {
  std::vector<std::string> rules;
  for (const ReadmeMention& mention : find_mentions(readme, true, name).known) {
    rules.emplace_back(FeatureRules::built_in().claims()[mention.claim].rule);
  }
  std::ranges::sort(rules);
  return rules;
}

using Rules = std::vector<std::string>;

TEST(ReadmeMentions, HeadingsListsAndSentencesThatClaim) {
  EXPECT_EQ(mentioned("### 2.5: Paged KV cache.\n"), Rules{"paged_kv_cache"});
  EXPECT_EQ(mentioned("- **Radix Cache**: reuses\n"), Rules{"prefix_caching"});
  EXPECT_EQ(mentioned("1. [Chunked prefill](x.md) of\n   long prompts\n"),
            Rules{"chunked_prefill"});
  EXPECT_EQ(mentioned("It supports CUDA\ngraphs.\n"), Rules{"cuda_graphs"});
  EXPECT_EQ(mentioned("Some say that CUDA graphs matter.\n"), Rules{});
}

TEST(ReadmeMentions, ListsOfOneNounAreSeveralClaims) {
  EXPECT_EQ(mentioned("- Tensor, pipeline, and expert parallelism\n"),
            (Rules{"expert_parallelism", "pipeline_parallelism", "tensor_parallelism"}));
  EXPECT_EQ(mentioned("- Tensor cores. Other parallelism\n"), Rules{});
}

TEST(ReadmeMentions, TheLongerPhraseTakesItsWords) {
  EXPECT_EQ(mentioned("- CUDAGraph and torch.compile compatible\n"),
            (Rules{"cuda_graphs", "torch_custom_ops"}));
  EXPECT_EQ(mentioned("- Kernels by torch.compile\n"), Rules{"torch_compile"});
}

TEST(ReadmeMentions, WordsInsideWordsAreOthers) {
  EXPECT_EQ(mentioned("- Enigmatic lorax, prefixes and gradients\n"), Rules{});
  EXPECT_EQ(mentioned("- CUDA graphs\n"), Rules{"cuda_graphs"});
  EXPECT_EQ(mentioned("- CUDA graphsX\n"), Rules{});
}

TEST(ReadmeMentions, WhatIsDeniedOrPromisedIsNoClaim) {
  EXPECT_EQ(mentioned("We don't need any activation checkpointing.\n"), Rules{});
  EXPECT_EQ(mentioned("- Beam search is not yet there\n"), Rules{});
  EXPECT_EQ(mentioned("- Sliding window attention is currently a work in progress\n"), Rules{});
  EXPECT_EQ(mentioned("- Speculative decoding is planned\n"), Rules{});
  // What stands before the denial is claimed.
  EXPECT_EQ(mentioned("- Sorting-free sampling without beam search\n"),
            Rules{"sorting_free_sampling"});
}

TEST(ReadmeMentions, CodeTablesCommentsAndSectionsAboutOthersSayNothing) {
  EXPECT_EQ(mentioned("```\n- Beam search\n```\n<!-- - Beam search -->\n| Beam search | yes |\n"),
            Rules{});
  EXPECT_EQ(mentioned("<!--\n- Beam search\n-->\n"), Rules{});
  EXPECT_EQ(mentioned("## Acknowledgement\n- FlashAttention\n### More\n- vLLM's PagedAttention\n"),
            Rules{});
  EXPECT_EQ(mentioned("## Related work\n- FlashAttention\n## Features\n- LoRA\n"), Rules{"lora"});
}

TEST(ReadmeMentions, TheRepositorysOwnNameIsNoClaim) {
  EXPECT_EQ(mentioned("## Why FlashInfer?\n", "flashinfer"), Rules{});
  EXPECT_EQ(mentioned("## Why FlashInfer?\n", "ours"), Rules{"flash_attention"});
}

TEST(ReadmeMentions, LinesAreThoseOfTheWords) {
  const ReadmeMentions mentions = find_mentions(
      "# Ours\n\nIt provides many\nthings, and beam\nsearch.\n\n- LoRA\n- Tool calls for all\n",
      true, "ours");
  ASSERT_EQ(mentions.known.size(), 2u);
  EXPECT_EQ(mentions.known[0].line, 4u);
  EXPECT_EQ(mentions.known[1].line, 7u);
  ASSERT_EQ(mentions.unknown.size(), 1u);
  EXPECT_EQ(mentions.unknown[0], (std::pair<uint32_t, std::string>(8, "Tool calls for all")));
}

TEST(ReadmeMentions, AnyTextIsRead) {
  for (const char* text : {"", "#", "- ", "-", "12. ", "<!--", "```", "… … parallelism",
                           "- tensor … parallelism", "\xff\xfe- \xff beam search\n"}) {
    find_mentions(text, true, "");
    find_mentions(text, false, "");
  }
}

// The README's claims over a small repository.
std::vector<ReadmeClaim> claims_of(std::string_view readme, const test::SmallRepository& code) {
  const FeatureRules& rules = FeatureRules::built_in();
  const SignalTable table(rules);
  SignalFinder finder(table);
  std::vector<FileSignals> signals;
  for (const auto& file : code.files) signals.push_back(finder.find(python::lex(file.text)));
  const ReadmeMentions mentions = find_mentions(readme, true, "ours");
  return link_features(test::facts_of(code), signals, rules, mentions.known).claims;
}

TEST(ReadmeClaims, AreFoundOrADependencysOrAbsent) {
  const auto claims = claims_of("- Beam search\n- FlashAttention\n- GGUF\n",
                                {{{"app/search.py", "def beam_search(x):\n    return x\n"},
                                  {"app/other.py", "import flash_attn.layers\n"}},
                                 {}});
  ASSERT_EQ(claims.size(), 3u);
  EXPECT_EQ(claims[0].verdict, ClaimVerdict::kFound);
  EXPECT_EQ(claims[0].what, "def beam_search");
  EXPECT_EQ(claims[0].at, (CodePlace{0, 1}));
  EXPECT_EQ(claims[1].verdict, ClaimVerdict::kDependency);
  EXPECT_EQ(claims[1].package, "flash_attn");
  EXPECT_EQ(claims[1].package_at, (CodePlace{1, 1}));
  EXPECT_EQ(claims[2].verdict, ClaimVerdict::kAbsent);
}

TEST(ReadmeClaims, ChangeTheOrderAlone) {
  const FeatureRules& rules = FeatureRules::built_in();
  const SignalTable table(rules);
  SignalFinder finder(table);
  const test::SmallRepository code{
      {{"a.py", "import zmq\nimport torch\nf = torch.compile(f)\n"}, {"b.py", "import zmq\n"}}, {}};
  std::vector<FileSignals> signals;
  for (const auto& file : code.files) signals.push_back(finder.find(python::lex(file.text)));
  const CodeFacts facts = test::facts_of(code);
  const auto order = [&](std::string_view readme) {
    std::vector<std::string> ids;
    const ReadmeMentions mentions = find_mentions(readme, true, "ours");
    for (const auto& feature : link_features(facts, signals, rules, mentions.known).features) {
      ids.push_back(feature.id);
    }
    return ids;
  };
  EXPECT_EQ(order("nothing\n"), (Rules{"process_queues", "torch_compile"}));
  EXPECT_EQ(order("- torch.compile\n- GGUF\n"), (Rules{"torch_compile", "process_queues"}));
}

TEST(ClaimsMarkdown, SaysWhereAndWhyNot) {
  CodeFacts facts;
  facts.repository = "ours";
  facts.files.push_back({"README.md", Language::kMarkdown, Origin::kOwn, 0, 0, ""});
  facts.files.push_back({"a|b.py", Language::kPython, Origin::kOwn, 0, 0, ""});
  EXPECT_EQ(claims_markdown(facts), "");
  ReadmeClaim claim;
  claim.rule = "lora";
  claim.title = "LoRA adapters";
  claim.doc = {0, 4};
  claim.verdict = ClaimVerdict::kAbsent;
  facts.readme_claims.push_back(claim);
  claim.verdict = ClaimVerdict::kDependency;
  claim.package = "punica";
  claim.package_at = CodePlace{1, 2};
  facts.readme_claims.push_back(claim);
  claim = {};
  claim.said = "Fast | <b>simple</b>";
  claim.doc = {0, 9};
  facts.readme_claims.push_back(claim);
  const std::string text = claims_markdown(facts);
  EXPECT_NE(text.find("| LoRA adapters | `README.md:4` | claimed, no evidence in the code |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("by a dependency: `punica`, imported at `a\\|b.py:2`"), std::string::npos)
      << text;
  EXPECT_NE(text.find("`Fast | <b>simple</b>` (`README.md:9`)"), std::string::npos) << text;
  // A submodule that is not here may hold what was not found.
  DependencyFacts submodule;
  submodule.name = "third_party/x";
  submodule.kind = DependencyKind::kSubmodule;
  facts.dependencies.push_back(submodule);
  EXPECT_NE(claims_markdown(facts).find("submodules `third_party/x` were not fetched"),
            std::string::npos);
}

TEST(ClaimRules, RefuseWhatDoesNotExist) {
  const auto parse = [](std::string_view claims) {
    const auto rules =
        FeatureRules::parse("header\na\tA\tx\tname:abcd\t\t\tc\tIt is.\tidle\t\n", "header\n",
                            "header\nidle\tidle\tprocess\t\t\t\tsee\n", claims);
    return rules.ok() ? "" : rules.error().message;
  };
  EXPECT_EQ(parse("header\na\tthing\n"), "");
  EXPECT_EQ(parse("header\nb\tthing\n"), "rule b: claims are of rules that exist");
  EXPECT_EQ(parse("header\ncomponent:a\tthing\n"),
            "rule component:a: claims are of rules that exist");
  EXPECT_EQ(parse("header\na\t\n"), "rule a: no words claim it");
}

// Phrases are compared with folded text: small letters, no dashes; none may belong to two rules.
TEST(ClaimRules, PhrasesCanBeFoundAndAreUnique) {
  std::set<std::string_view> seen;
  for (const ClaimRule& claim : FeatureRules::built_in().claims()) {
    for (const std::string_view phrase : claim.phrases) {
      EXPECT_TRUE(seen.insert(phrase).second) << phrase << " twice";
      EXPECT_EQ(phrase.find_first_of("-_ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string_view::npos)
          << phrase;
      std::string text = "- " + std::string(phrase);
      if (text.ends_with('*')) text.pop_back();
      if (const size_t gap = text.find("…"); gap != std::string::npos)
        text.replace(gap, 3, ", and");
      const Rules found = mentioned(text + "\n");
      EXPECT_TRUE(std::ranges::find(found, claim.rule) != found.end())
          << claim.rule << ": " << text;
    }
  }
}

}  // namespace
}  // namespace fathom
