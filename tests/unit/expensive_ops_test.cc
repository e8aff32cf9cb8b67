// Ops that are expensive by their nature, slow host functions, copies of weights and ids, gradients
// for nobody, launches that wait; and near-twins.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "base/tsv.h"
#include "unit/workload.h"

extern const std::string_view expensive_ops_tsv;
extern const std::string_view expensive_calls_tsv;

namespace fathom {
namespace {

using test::finds;
using test::first_finding;
using test::kTwoBf16;
using test::Workload;

std::string title_of(const Workload& w, FindingKind kind) {
  const auto findings = w.find();
  const Finding* f = first_finding(findings, kind);
  return f == nullptr ? "" : f->title;
}

TEST(ExpensiveOps, RowsAreComplete) {
  const std::vector<std::string_view> conditions = {"inference", "training", "double", "real",
                                                    "integer",   "square",   "single", "batched",
                                                    "awkward",   "few",      "inner"};
  for (const auto& row : read_tsv(expensive_ops_tsv, 8)) {
    for (const std::string_view text : row) EXPECT_FALSE(text.empty()) << row[0];
    if (row[3] == "*") continue;
    for (const std::string_view when : split(row[3], ','))
      EXPECT_TRUE(when.starts_with("arg") || when.starts_with("after=") ||
                  std::ranges::find(conditions, when) != conditions.end())
          << when;
  }
  for (const auto& row : read_tsv(expensive_calls_tsv, 4))
    for (const std::string_view text : row) EXPECT_FALSE(text.empty()) << row[0];
}

TEST(ExpensiveOps, WhereTheyTakeMuchOfTheStep) {
  const auto decompose = [](int64_t micros) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::linalg_eigh", "[[1024,1024],[]]", R"(["float","Scalar"])", micros);
      w.op("aten::mm", test::kMatrix, kTwoBf16, 2000);
    }
    return w;
  };
  const auto findings = decompose(5000).find();
  const Finding* f = first_finding(findings, FindingKind::kExpensiveOp);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("less often"), std::string::npos);
  EXPECT_LE(f->saving_at_most.count, f->time.count);
  EXPECT_FALSE(finds(decompose(50), FindingKind::kExpensiveOp)) << "a small part of the step";
}

TEST(ExpensiveOps, ConditionsTellNearTwinsApart) {
  const auto transform = [](int size) {
    Workload w;
    for (int i = 0; i < 4; ++i)
      w.op("aten::_fft_c2c", fmt::format("[[4096,{}],[],[],[]]", size),
           R"(["c10::complex<float>","ScalarList","Scalar","Scalar"])", 500, "fft", 0,
           R"("Concrete Inputs":["","[1]","0","True"])");
    return finds(w, FindingKind::kExpensiveOp);
  };
  EXPECT_TRUE(transform(1009)) << "a prime";
  EXPECT_FALSE(transform(1024));
  const auto rank = [](const char* first) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op(first, "[[64,4096],[],[]]", R"(["float","Scalar","Scalar"])", 100);
      w.op("aten::argsort", "[[64,4096],[],[]]", R"(["long int","Scalar","Scalar"])", 100);
      w.op("aten::mm", test::kMatrix, kTwoBf16, 1000);
    }
    return title_of(w, FindingKind::kExpensiveOp).find("twice") != std::string::npos;
  };
  EXPECT_TRUE(rank("aten::argsort"));
  EXPECT_FALSE(rank("aten::neg")) << "ids are sorted once";
}

TEST(ExpensiveOps, ALargeTensorCopiedForAFewRows) {
  const auto write = [](const char* op, const char* dims) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.raw(test::cpu_op(op, w.host() - 1, 12,
                         fmt::format(R"("Input Dims":{},"Input type":["float","Scalar","long int",)"
                                     R"("float"])",
                                     dims)));
      w.op("aten::copy_", "[[1000000,512],[1000000,512],[]]", R"(["float","float","Scalar"])", 900);
      w.host_pause(5);
      w.op("aten::mm", test::kMatrix, kTwoBf16, 1000);
    }
    return title_of(w, FindingKind::kExpensiveOp).find("to change a few") != std::string::npos;
  };
  EXPECT_TRUE(write("aten::index_copy", "[[1000000,512],[],[4096],[4096,512]]"));
  EXPECT_FALSE(write("aten::index_copy", "[[1000000,512],[],[900000],[900000,512]]"))
      << "most of it";
  EXPECT_FALSE(write("aten::index_copy_", "[[1000000,512],[],[4096],[4096,512]]")) << "in place";
}

TEST(ExpensiveOps, AnInnerOpIsToldOfItself) {
  Workload w;
  for (int i = 0; i < 4; ++i) {
    const int64_t begin = w.host() - 2;
    w.op("aten::_coalesce", "[[100000,100000]]", R"(["float"])", 700);
    w.op("aten::addmm", "[[100000,64]]", R"(["float"])", 900);
    w.raw(test::cpu_op(
        "aten::_sparse_mm", begin, w.host() - begin,
        R"("Input Dims":[[100000,100000],[100000,64]],"Input type":["float","float"])"));
    w.host_pause(4);
  }
  std::vector<std::string> titles;
  for (const Finding& f : w.find())
    if (f.kind == FindingKind::kExpensiveOp) titles.push_back(f.title);
  ASSERT_EQ(titles.size(), 2U);
  EXPECT_NE(titles[0].find("ordered again"), std::string::npos) << titles[0];
  EXPECT_NE(titles[1].find("Sparse products"), std::string::npos) << titles[1];
}

// The weights of a few experts, gathered for each token.
TEST(ExpensiveOps, MatricesGatheredForEachRow) {
  const auto gather = [](const char* operands, const char* product) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::embedding", operands, R"(["c10::BFloat16","long int"])", 600);
      w.op("aten::bmm", product, kTwoBf16, 500);
    }
    return finds(w, FindingKind::kLargeIntermediate);
  };
  const char* each_its_own = "[[512,1024,2048],[512,2048,1]]";
  EXPECT_TRUE(gather("[[8,2097152],[256,2]]", each_its_own));
  EXPECT_FALSE(gather("[[512,2097152],[256,2]]", each_its_own)) << "no matrix is copied twice";
  EXPECT_FALSE(gather("[[8,2097152],[256,2]]", "[[8,1024,2048],[8,2048,64]]"))
      << "the product reads the matrices themselves";
}

TEST(ExpensiveOps, IdsRepeatedBeforeTheModel) {
  const auto prefill = [](const char* looked_up, const char* rows) {
    Workload w;
    w.raw(test::cpu_op("aten::repeat_interleave", w.host(), 12,
                       R"("Input Dims":[[8,512],[],[],[]],"Input type":["long int","","",""])"));
    w.host_pause(1);
    w.op("aten::copy_", "[[8,8,512],[8,8,512],[]]", R"(["long int","long int","Scalar"])", 5);
    w.host_pause(5);
    w.op("aten::embedding", looked_up, R"(["c10::BFloat16","long int"])", 50);
    for (int i = 0; i < 6; ++i) w.op("aten::mm", rows, kTwoBf16, 1000);
    return finds(w, FindingKind::kRecompute);
  };
  EXPECT_TRUE(prefill("[[32000,2048],[64,512]]", "[[32768,2048],[2048,2048]]"));
  EXPECT_FALSE(prefill("[[32000,2048],[8,512]]", "[[32768,2048],[2048,2048]]")) << "other ids";
  EXPECT_FALSE(prefill("[[32000,2048],[64,512]]", "[[64,2048],[2048,2048]]")) << "one row each";
}

TEST(ExpensiveOps, GradientsOfOwnFunctionsForNobody) {
  const auto train = [](const char* accumulated) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.raw(test::cpu_op("autograd::engine::evaluate_function: OwnBackward", w.host(), 40));
      w.host_pause(1);
      w.raw(test::cpu_op("OwnBackward", w.host(), 35,
                         R"("Input Dims":[[8192,512]],"Input type":["c10::BFloat16"])"));
      w.host_pause(1);
      w.op("aten::mm", "[[512,8192],[8192,512]]", kTwoBf16, 300);
      w.op("aten::mm", "[[16,8192],[8192,512]]", kTwoBf16, 100);
      w.host_pause(25);
      w.raw(test::cpu_op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                         w.host(), 8));
      w.host_pause(1);
      w.raw(test::cpu_op(
          "torch::autograd::AccumulateGrad", w.host(), 4,
          fmt::format(R"("Input Dims":[{}],"Input type":["c10::BFloat16"])", accumulated)));
      w.host_pause(8);
    }
    return finds(w, FindingKind::kUnusedGradients);
  };
  EXPECT_TRUE(train("[16,512]")) << "of the two products one is a gradient";
  EXPECT_FALSE(train("[512,512],[16,512]")) << "both are";
}

TEST(ExpensiveOps, RowsScatteredAreNoOneHotMatrix) {
  Workload w;
  for (int i = 0; i < 4; ++i) {
    w.op("aten::scatter_", "[[16,4096,2048],[],[16,2048,2048],[16,2048,2048]]",
         R"(["c10::BFloat16","Scalar","long int","c10::BFloat16"])", 300);
    w.op("aten::mm", "[[65536,2048],[2048,8]]", kTwoBf16, 300);
  }
  EXPECT_FALSE(finds(w, FindingKind::kOneHotProduct));
}

TEST(ExpensiveOps, AnIndexRepeatedOverTheWidth) {
  const auto pick = [](const char* strides) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::copy_", "[[16,2048,2048],[16,2048,2048],[]]",
           R"(["long int","long int","Scalar"])", 300, "copy", 0,
           fmt::format(R"("Input Strides":[[4194304,2048,1],{},[]])", strides));
      w.op("aten::gather", "[[16,4096,2048],[],[16,2048,2048],[]]",
           R"(["c10::BFloat16","Scalar","long int","Scalar"])", 400);
    }
    return title_of(w, FindingKind::kLayoutCopies);
  };
  EXPECT_NE(pick("[2048,1,0]").find("index is repeated"), std::string::npos);
  EXPECT_EQ(pick("[4194304,2048,1]").find("index is repeated"), std::string::npos);
}

// Frames are written around what is added in body.
template <typename Body>
void call(Workload& w, int& id, std::string_view name, Body body) {
  const int64_t begin = w.host();
  const int own = ++id;
  w.host_pause(1);
  body();
  w.raw(test::event_text("python_function", name, begin, w.host() + 1 - begin,
                         fmt::format(R"("Python id":{})", own)));
  w.host_pause(2);
}

TEST(ExpensiveOps, AHookThatLaunchesNothing) {
  const auto train = [](int64_t hook) {
    Workload w;
    int id = 0;
    call(w, id, "train.py(5): step", [&] {
      for (int i = 0; i < 24; ++i) {
        w.op("aten::mm", "[[512,512],[512,512]]", kTwoBf16, 20);
        call(w, id, "train.py(20): note", [&] {
          call(w, id, "torch/cuda/memory.py(227): memory_stats", [&] { w.host_pause(hook); });
        });
      }
    });
    const auto findings = w.find();
    const auto found = std::ranges::find(findings, true, &Finding::is_quiet_function);
    return found == findings.end() ? "" : found->title;
  };
  EXPECT_NE(train(300).find("memory_stats builds"), std::string::npos) << train(300);
  EXPECT_EQ(train(4), "") << "Python's own cost of a call";
}

TEST(ExpensiveOps, AKnownFunctionThatLaunchesToo) {
  const auto train = [](std::string_view function) {
    Workload w;
    int id = 0;
    call(w, id, "train.py(5): step", [&] {
      for (int i = 0; i < 24; ++i) {
        w.op("aten::mm", "[[512,512],[512,512]]", kTwoBf16, 20);
        call(w, id, function, [&] {
          w.host_pause(200);
          w.op("aten::copy_", "[[8],[8],[]]", R"(["long int","long int","Scalar"])", 2);
          w.host_pause(200);
        });
      }
    });
    const auto findings = w.find();
    const auto found = std::ranges::find(findings, true, &Finding::is_quiet_function);
    return found == findings.end() ? "" : found->title;
  };
  EXPECT_NE(train("torch/distributed/distributed_c10d.py(9): all_gather_object")
                .find("all_gather_object exchanges Python objects"),
            std::string::npos);
  EXPECT_EQ(train("torch/distributed/distributed_c10d.py(9): all_gather"), "") << "not known";
}

TEST(ExpensiveOps, LaunchCallsThatWaitForTheirKernels) {
  const auto run = [](int64_t launch) {
    Workload w;
    for (int i = 0; i < 40; ++i) {
      const int64_t id = w.next_correlation();
      w.raw(test::cpu_op("aten::add", w.host(), launch + 6));
      w.raw(test::launch_call(w.host() + 2, launch, id));
      w.raw(test::kernel("add", w.host() + 6, 50, id));
      w.host_pause(100);
    }
    return finds(w, FindingKind::kSynchronization);
  };
  EXPECT_TRUE(run(60));
  EXPECT_FALSE(run(4));
}

}  // namespace
}  // namespace fathom
