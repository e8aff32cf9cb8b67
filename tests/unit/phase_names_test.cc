#include "tree/phase_names.h"

#include "base/glob.h"
#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

void expect_kind(PhaseKind kind, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    const NameMeaning meaning = meaning_of_words(words_of_name(name));
    EXPECT_EQ(meaning.role, NameRole::kPhase) << name;
    EXPECT_EQ(meaning.kind, kind) << name;
  }
}

void expect_role(NameRole role, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    EXPECT_EQ(meaning_of_words(words_of_name(name)).role, role) << name;
  }
}

TEST(PhaseNames, KindsByWords) {
  expect_kind(PhaseKind::kPrefill, {"prefill", "Prefill 4x1024", "llama3_prefill", "extend",
                                    "ForwardMode.EXTEND", "chunked prefill 2/8"});
  expect_kind(PhaseKind::kDecode, {"decode", "decode 17", "DecodeStep", "llm::decode[3]",
                                   "step[DECODE bs=8 toks=8]", "forward_decode"});
  expect_kind(PhaseKind::kForward,
              {"forward", "## forward ##", "DistributedDataParallel.forward", "fwd",
               "DeepSpeedEngine.forward", "Forward 3", "encoder forward", "decoder_forward"});
  expect_kind(PhaseKind::kBackward, {"backward", "loss.backward()", "DeepSpeedEngine.backward",
                                     "Backward 0", "bwd", "backward pass"});
  expect_kind(PhaseKind::kOptimizer, {"Optimizer.step#AdamW.step", "optimizer",
                                      "DeepSpeedEngine.step", "optimiser step", "optim.step"});
  expect_kind(PhaseKind::kCommunication,
              {"nccl:all_reduce", "gloo:all_gather", "AllReduce", "allreduce_gradients",
               "DeepSpeedEngine.allreduce_gradients", "reduce_scatter_tensor"});
}

TEST(PhaseNames, NearTwinsAreOfNoKind) {
  expect_role(NameRole::kNamed,
              {"decoder", "encoder-decoder", "forward_backward", "ForwardBackward", "look_backward",
               "vae.decode", "decode_image", "JPEG decode", "tokenizer.decode", "load optimizer",
               "encode", "refill", "straightforward", "forwarding", "extended", "rollout",
               "iteration 3: generate", "fast_forward"});
  expect_role(
      NameRole::kPart,
      {"layer 3 forward", "decoder_layer", "GPT2Block.forward", "Optimizer.zero_grad#SGD.zero_grad",
       "feed_forward", "FullyShardedDataParallel._post_backward_hook", "nn.Module: Linear_3",
       "## Call CompiledFxGraph fabc ##", "Torch-Compiled Region: 0/0"});
  expect_role(NameRole::kStep,
              {"ProfilerStep#3", "iteration 4", "train_step", "step 0", "Epoch 2"});
}

// vLLM and TensorRT-LLM write how many requests of either sort a batch has.
TEST(PhaseNames, NumbersOfRequestsTellTheKind) {
  expect_kind(PhaseKind::kPrefill,
              {"execute_context_1(1024)_generation_3(3)", "execute_context_2(4096)_generation_0(0)",
               "execute_context_1(888_788544)_generation_0(0)", "execute_new_2_cached_0",
               "[Executor] _forward_step 9: 2 ctx reqs, 5 gen reqs"});
  expect_kind(PhaseKind::kDecode,
              {"execute_context_0(0)_generation_64(64)", "execute_new_0_cached_12",
               "[Executor] _forward_step 10: 0 ctx reqs, 7 gen reqs"});
}

TEST(PhaseNames, NumbersAreNoPartOfTheName) {
  const auto text = [](std::string_view name) { return text_of_name(name); };
  EXPECT_EQ(text("decode 17"), "decode");
  EXPECT_EQ(text("decode_18"), "decode");
  EXPECT_EQ(text("decode[3]"), "decode");
  EXPECT_EQ(text("## forward ##"), "forward");
  EXPECT_EQ(text("loss.backward()"), "loss.backward");
  EXPECT_EQ(text("iteration 3: generate"), "iteration #: generate");
  EXPECT_EQ(text("step[DECODE bs=8 toks=8]"), "step[DECODE bs=# toks=#]");
  EXPECT_EQ(text("copy H2D"), "copy H2D") << "a number inside a word";
  EXPECT_EQ(text("12345"), "#");
  EXPECT_EQ(text(""), "#");
}

TEST(PhaseNames, OfALongNameTheBeginningCounts) {
  const std::string name = std::string(100'000, 'x') + " decode";
  EXPECT_LT(text_of_name(name).size(), 300u);
  EXPECT_EQ(meaning_of_words(words_of_name(name)).role, NameRole::kNamed);
}

TEST(PhaseNames, WordsAreSplitAtSignsDigitsAndCapitals) {
  EXPECT_EQ(words_of_name("Optimizer.step#AdamW.step"), " optimizer  step  adam  w  step ");
  EXPECT_EQ(words_of_name("x10_00(7)"), " x  #  0  # ");
  EXPECT_EQ(words_of_name("HTTPServer"), " httpserver ");
  EXPECT_EQ(words_of_name("--"), "");
}

// Each row of the table decides its own example: no row before it hides it, and none is idle.
TEST(PhaseNamesData, EachRowDecidesItsExample) {
  const auto rows = test::read_data_rows(test::source_dir() / "data/phases/names.tsv");
  ASSERT_GT(rows.size(), 100u);
  for (size_t row = 1; row < rows.size(); ++row) {
    ASSERT_EQ(rows[row].cells.size(), 3u) << "line " << rows[row].line;
    const std::string& role = rows[row].cells[1];
    EXPECT_TRUE(phase_kind_of_word(role) || role == "collective" || role == "named" ||
                role == "step" || role == "part" || role == "forward part" ||
                role == "backward part")
        << "line " << rows[row].line;
    std::string example = rows[row].cells[2];
    if (example.ends_with(')') && example.find(" (") != std::string::npos) {
      example.resize(example.rfind(" ("));  // what it is from
    }
    const std::string words = words_of_name(example);
    size_t first = 1;
    while (first < rows.size() && !glob_matches(pattern_of_words(rows[first].cells[0]), words))
      ++first;
    EXPECT_EQ(first, row) << "line " << rows[row].line << ": " << example << " is decided by line "
                          << (first < rows.size() ? rows[first].line : 0);
  }
}

TEST(PhaseCodeData, RowsNameAPlaceAndAKind) {
  const auto rows = test::read_data_rows(test::source_dir() / "data/phases/ops.tsv");
  ASSERT_GT(rows.size(), 20u);
  for (size_t row = 1; row < rows.size(); ++row) {
    const auto& cells = rows[row].cells;
    ASSERT_EQ(cells.size(), 4u) << "line " << rows[row].line;
    EXPECT_TRUE(cells[0] == "op" || cells[0] == "kernel" || cells[0] == "frame" ||
                cells[0] == "marker")
        << "line " << rows[row].line;
    EXPECT_TRUE(phase_kind_of_word(cells[2])) << "line " << rows[row].line;
    EXPECT_FALSE(cells[3].empty()) << "line " << rows[row].line << " has no source";
  }
}

TEST(PhaseCode, OpsKernelsAndFunctions) {
  EXPECT_EQ(kind_of_code(NamedCode::kOp, "autograd::engine::evaluate_function: MmBackward0"),
            PhaseKind::kBackward);
  EXPECT_EQ(kind_of_code(NamedCode::kOp, "aten::_fused_adamw_"), PhaseKind::kOptimizer);
  EXPECT_EQ(kind_of_code(NamedCode::kOp, "aten::mm"), std::nullopt);
  EXPECT_EQ(kind_of_code(NamedCode::kFrame, "generate.py(12): prefill"), PhaseKind::kPrefill);
  EXPECT_EQ(kind_of_code(NamedCode::kFrame, "vae.py(12): decode"), std::nullopt);
  EXPECT_EQ(kind_of_code(NamedCode::kKernel, "autograd::engine::evaluate_function: X"),
            std::nullopt)
      << "an op is no kernel";
}

}  // namespace
}  // namespace fathom
