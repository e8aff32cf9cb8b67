#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scan/cpp/evidence.h"
#include "scan/index/reach.h"

namespace fathom::cpp {
namespace {

// A repository of a few files. Functions are told to it; where they stand it finds by the name and
// the first { after it.
class SmallRepository {
 public:
  struct Told {
    FunctionKind kind;
    std::string scope, name;
    std::string template_parameters, parameters;
  };

  void add(std::string path, std::string text, std::vector<Told> functions,
           std::vector<std::string> includes = {}) {
    files_.push_back({std::move(path), std::move(includes)});
    texts_.push_back(std::move(text));
    told_.push_back(std::move(functions));
  }

  // "scope::name certainty" of what is reached, sorted; the first is left out.
  std::vector<std::string> reached(const std::string& name) {
    build();
    std::vector<std::string> out;
    const Reach reach = graph_->reach(find(name));
    for (size_t i = 1; i < reach.units.size(); ++i) {
      const ReachedUnit& unit = reach.units[i];
      const std::string scope(graph_->scope(unit.unit));
      constexpr const char* words[] = {"certain", "likely", "unsure"};
      out.push_back(scope + (scope.empty() ? "" : "::") + std::string(graph_->name(unit.unit)) +
                    " " + words[static_cast<size_t>(unit.certainty)]);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<std::string> stops(const std::string& name) {
    build();
    std::vector<std::string> out;
    for (const ReachStop& stop : graph_->reach(find(name)).stops) {
      out.push_back(stop.what + ": " + stop.why);
    }
    return out;
  }

  std::vector<CodeEvidence> evidence(const std::string& name) {
    build();
    return collect_evidence(*graph_, graph_->reach(find(name)), hits_);
  }

 private:
  uint32_t find(const std::string& name) const {
    for (uint32_t i = 0; i < graph_->size(); ++i) {
      if (graph_->name(i) == name && graph_->kind(i) != UnitKind::kClass) return i;
    }
    ADD_FAILURE() << name;
    return 0;
  }

  void build() {
    if (graph_) return;
    includes_ = std::make_unique<IncludeGraph>(files_);
    graph_ = std::make_unique<CallGraph>(*includes_);
    for (size_t file = 0; file < files_.size(); ++file) {
      const TokenList source = lex(texts_[file]);
      Definitions definitions;
      size_t from = 0;
      for (const Told& told : told_[file]) {
        Function function;
        function.name = told.name;
        function.scope = told.scope;
        function.kind = told.kind;
        function.template_parameters = told.template_parameters;
        function.parameters = told.parameters;
        while (from < source.size() && !source.is(from, told.name)) ++from;
        function.line_name = source.tokens[from].line;
        while (from < source.size() && !source.is(from, "{")) ++from;
        function.body_first = from;
        function.body_last = source.closing(from);
        definitions.functions.push_back(function);
      }
      const Brackets brackets(source);
      BodyTrees trees({source, brackets}, definitions);
      FileUnits units = find_units(trees, definitions, static_cast<uint32_t>(file));
      for (size_t i = 0; i < units.units.size(); ++i) {
        graph_->add(units.units[i]);
        hits_.push_back(std::move(units.hits[i]));
      }
    }
    graph_->seal();
  }

  std::vector<IncludeGraph::File> files_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Told>> told_;
  std::unique_ptr<IncludeGraph> includes_;
  std::unique_ptr<CallGraph> graph_;
  std::vector<std::vector<PatternHit>> hits_;
};

constexpr auto kKernel = FunctionKind::kKernel;
constexpr auto kDevice = FunctionKind::kDevice;
constexpr auto kHost = FunctionKind::kHost;
using NameList = std::vector<std::string>;

TEST(ScanReach, FollowsQualifiedCallsIntoIncludedFiles) {
  SmallRepository repository;
  repository.add("src/run.cu", "__global__ void run() { lane::move<4>(a, b); }",
                 {{kKernel, "", "run", "", ""}}, {"<lib/lane.cuh>"});
  repository.add("include/lib/lane.cuh",
                 "namespace gpu::lane { __device__ void move(int a, int b) { step(a); }\n"
                 "__device__ void step(int a) { __syncwarp(); } }",
                 {{kDevice, "gpu::lane", "move", "", ""}, {kDevice, "gpu::lane", "step", "", ""}});
  repository.add("include/other/lane.cuh", "namespace cpu::lane { void move(int a, int b) {} }",
                 {{kHost, "cpu::lane", "move", "", ""}});
  EXPECT_EQ(repository.reached("run"),
            (NameList{"gpu::lane::move certain", "gpu::lane::step certain"}));
  const auto evidence = repository.evidence("run");
  ASSERT_EQ(evidence.size(), 1u);
  EXPECT_EQ(evidence[0].what, "warp_barrier");
  EXPECT_EQ(evidence[0].function, "step");
  EXPECT_EQ(evidence[0].at, (CodePlace{1, 2}));
}

TEST(ScanReach, AFileThatIsNotIncludedIsNotMeantByAPlainName) {
  SmallRepository repository;
  repository.add("a.cu", "__global__ void run() { load(p); }", {{kKernel, "", "run", "", ""}});
  repository.add("b.cuh", "__device__ void load(int* p) { }", {{kDevice, "", "load", "", ""}});
  EXPECT_EQ(repository.reached("run"), NameList{});
}

TEST(ScanReach, AHeaderMayRelyOnWhatItsIncluderBrings) {
  SmallRepository repository;
  repository.add("kernel.cuh", "__global__ void run() { load(p); }",
                 {{kKernel, "", "run", "", ""}});
  repository.add("load.cuh", "__device__ void load(int* p) { }", {{kDevice, "", "load", "", ""}});
  repository.add("main.cu", "", {}, {"\"load.cuh\"", "\"kernel.cuh\""});
  EXPECT_EQ(repository.reached("run"), NameList{"load likely"});
}

TEST(ScanReach, OverloadsComeTogetherAndDeviceBeforeHost) {
  SmallRepository repository;
  repository.add("a.cu",
                 "namespace d { __device__ float up(float x) { } __device__ int up(int x) { } }\n"
                 "namespace h { float up(float x) { } }\n"
                 "__global__ void run() { up(x); }",
                 {{kDevice, "d", "up", "", ""},
                  {kDevice, "d", "up", "", ""},
                  {kHost, "h", "up", "", ""},
                  {kKernel, "", "run", "", ""}});
  EXPECT_EQ(repository.reached("run"), (NameList{"d::up likely", "d::up likely"}));
}

TEST(ScanReach, SeveralNamesThatFitAreUnsure) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "namespace d { __device__ float up(float x) { } }\n"
      "namespace e { __device__ float up(float x) { } }\n"
      "__global__ void run() { up(x); }",
      {{kDevice, "d", "up", "", ""}, {kDevice, "e", "up", "", ""}, {kKernel, "", "run", "", ""}});
  EXPECT_EQ(repository.reached("run"), (NameList{"d::up unsure", "e::up unsure"}));
}

TEST(ScanReach, TheCallersOwnNamespaceComesFirst) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "namespace d { __device__ float up(float x) { } __global__ void run() { up(x); } }\n"
      "namespace e { __device__ float up(float x) { } }\n",
      {{kDevice, "d", "up", "", ""}, {kKernel, "d", "run", "", ""}, {kDevice, "e", "up", "", ""}});
  EXPECT_EQ(repository.reached("run"), NameList{"d::up certain"});
}

TEST(ScanReach, CyclesEnd) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "__device__ void even(int n) { odd(n - 1); } __device__ void odd(int n) { even(n - 1); }\n"
      "__global__ void run() { even(4); }",
      {{kDevice, "", "even", "", ""}, {kDevice, "", "odd", "", ""}, {kKernel, "", "run", "", ""}});
  EXPECT_EQ(repository.reached("run"), (NameList{"even certain", "odd certain"}));
}

TEST(ScanReach, AliasesAndDefaultsOfTemplateParametersLeadOn) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "template <int N> constexpr auto pack() { if constexpr (N == 16) { return uint4{}; } }\n"
      "template <int N> using pack_t = decltype(pack<N>());\n"
      "constexpr int unit(int n) { return n; }\n"
      "__device__ void move(void* p) { using Package = pack_t<N>; }\n"
      "__global__ void run() { move(p); }",
      {{kHost, "", "pack", "int N", ""},
       {kHost, "", "unit", "", ""},
       {kDevice, "", "move", "int B, int N = unit(B)", ""},
       {kKernel, "", "run", "", ""}});
  const NameList reached = repository.reached("run");
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "pack certain")) << reached.size();
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "unit certain"));
  const auto evidence = repository.evidence("run");
  ASSERT_EQ(evidence.size(), 1u);
  EXPECT_EQ(evidence[0].detail, "16 bytes if N == 16");
}

TEST(ScanReach, MethodsOfDeclaredObjectsAndTheClassAroundThem) {
  SmallRepository repository;
  repository.add("a.cu",
                 "struct Tile { static constexpr int kStages = 3;\n"
                 "  __device__ void load() { __ldg(p); } };\n"
                 "struct Other { __device__ void load() { __syncthreads(); } };\n"
                 "__global__ void run() { Tile tile; tile.load(); }",
                 {{kDevice, "Tile", "load", "", ""},
                  {kDevice, "Other", "load", "", ""},
                  {kKernel, "", "run", "", ""}});
  EXPECT_EQ(repository.reached("run"), (NameList{"Tile certain", "Tile::load certain"}));
  NameList whats;
  for (const CodeEvidence& one : repository.evidence("run")) whats.push_back(one.what);
  EXPECT_EQ(whats, (NameList{"pipeline_stages", "read_only_load"}));
}

TEST(ScanReach, TemplateParametersStopItAndItSaysSo) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "struct Tile { __device__ void load() { } };\n"
      "template <class Mover> __global__ void run(Mover mover) { mover.load(); }",
      {{kDevice, "Tile", "load", "", ""}, {kKernel, "", "run", "class Mover", "Mover mover"}});
  EXPECT_EQ(repository.reached("run"), NameList{});
  EXPECT_EQ(repository.stops("run"), NameList{"load: Mover is a template parameter"});
}

TEST(ScanReach, AnAliasOfTheParametersNameWhereTheFileIsIncludedIsAGuess) {
  SmallRepository repository;
  repository.add("kernel.cuh",
                 "template <class Mover_> struct Kernel { using Mover = Mover_;\n"
                 "  __device__ void run() { Mover mover; mover.load(); } };",
                 {{kDevice, "Kernel", "run", "", ""}});
  repository.add("tile.cuh", "struct Tile { __device__ void load() { __syncwarp(); } };",
                 {{kDevice, "Tile", "load", "", ""}});
  repository.add("launch.cu",
                 "void launch() { using Mover = std::conditional_t<kNew >= 9, Tile, void>; }",
                 {{kHost, "", "launch", "", ""}}, {"tile.cuh", "kernel.cuh"});
  const NameList reached = repository.reached("run");
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "Tile::load unsure"));
}

TEST(ScanReach, ArgumentsOfTheTemplateWhereTheFileIsIncludedAreAGuess) {
  SmallRepository repository;
  repository.add("kernel.cuh",
                 "template <class Shape, class Order_> struct Kernel { using Order = Order_;\n"
                 "  __device__ void run() { Order order; order.next(); } };",
                 {{kDevice, "Kernel", "run", "", ""}});
  repository.add("orders.cuh",
                 "struct Once { __device__ int next() { return 0; } };\n"
                 "struct Looping { __device__ int next() { return tile + gridDim.x; } };\n"
                 "struct Unused { __device__ int next() { return 1; } };",
                 {{kDevice, "Once", "next", "", ""},
                  {kDevice, "Looping", "next", "", ""},
                  {kDevice, "Unused", "next", "", ""}});
  repository.add("launch.cu",
                 "void launch() { using Chosen = std::conditional_t<kLoop, Looping, Once>;\n"
                 "  using Run = Kernel<Tile<1, 2>, Chosen>; }",
                 {{kHost, "", "launch", "", ""}}, {"orders.cuh", "kernel.cuh"});
  const NameList reached = repository.reached("run");
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "Once::next unsure"));
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "Looping::next unsure"));
  EXPECT_FALSE(std::count(reached.begin(), reached.end(), "Unused::next unsure"));
}

TEST(ScanReach, OfSeveralGuessesTheOneThatHasTheMethodIsLikelyButNoSpecialisationIs) {
  SmallRepository repository;
  repository.add("kernel.cuh",
                 "template <class Mover> struct Kernel {\n"
                 "  __device__ void run() { Mover mover; mover.load(); Vec<4> v; v.fill(); } };",
                 {{kDevice, "Kernel", "run", "", ""}}, {"vec.cuh"});
  repository.add("vec.cuh",
                 "template <int N> struct Vec { __device__ void fill() { } };\n"
                 "template <> struct Vec<2> { __device__ void fill() { } };",
                 {{kDevice, "Vec", "fill", "", ""}, {kDevice, "Vec", "fill", "", ""}});
  repository.add(
      "launch.cu",
      "struct New { __device__ void load() { } }; struct Old { __device__ void copy() { } };\n"
      "void launch() { using Mover = std::conditional_t<kNew, New, Old>; }",
      {{kDevice, "New", "load", "", ""},
       {kDevice, "Old", "copy", "", ""},
       {kHost, "", "launch", "", ""}},
      {"kernel.cuh"});
  const NameList reached = repository.reached("run");
  EXPECT_EQ(std::count(reached.begin(), reached.end(), "New::load likely"), 1);
  EXPECT_EQ(std::count(reached.begin(), reached.end(), "Vec::fill unsure"), 2);
}

TEST(ScanReach, IsTheSameEachTime) {
  SmallRepository one, two;
  for (SmallRepository* repository : {&one, &two}) {
    repository->add(
        "a.cu",
        "namespace d { __device__ float up(float x) { } }\n"
        "namespace e { __device__ float up(float x) { } }\n"
        "__global__ void run() { up(x); down(x); } __device__ void down(float x) { up(x); }",
        {{kDevice, "d", "up", "", ""},
         {kDevice, "e", "up", "", ""},
         {kKernel, "", "run", "", ""},
         {kDevice, "", "down", "", ""}});
  }
  EXPECT_EQ(one.reached("run"), two.reached("run"));
}

TEST(ScanReferences, CallsMembersAndTypes) {
  const TokenList source =
      lex("Tile<4> tile(a); tile.load<2>(b); x = ns::f<int>(g(1)); this->own(); if (h) (y)(); "
          "other.size(); return sizeof(int);");
  NameList found;
  for (const Reference& one : find_references(source, 0, source.size(), "const Thing& thing")) {
    found.push_back(one.name + (one.type.empty() ? "" : " of " + one.type) + " " +
                    std::to_string(static_cast<int>(one.kind)));
  }
  EXPECT_EQ(found, (NameList{"Tile 2", "load of Tile 1", "ns::f 0", "g 0", "own 0", "size 1"}));
}

TEST(ScanReferences, NamesOfTemplateParameters) {
  EXPECT_EQ(
      template_parameter_names("typename T, int N = f<2>(3), template <class> class C, class... R"),
      (NameList{"T", "N", "C", "R"}));
  EXPECT_EQ(template_parameter_names("template <bool kOn>"), NameList{"kOn"});
  EXPECT_EQ(template_parameter_names(""), NameList{});
}

TEST(ScanReferences, AliasesAndClassesHaveTheirScope) {
  const TokenList source =
      lex("namespace a::b { template <class T> struct S : Base<T> { using X = T; struct In { int "
          "i; }; };\n"
          "enum class E { k }; struct Forward; using Y = S<int>; void f(struct S* s) { } }");
  NameList found;
  const DeclaredTypes types = find_declared_types(source);
  for (const Alias& one : types.aliases) found.push_back(one.scope + "::" + one.name);
  for (const ClassBody& one : types.classes) found.push_back(one.scope + "::" + one.name);
  EXPECT_EQ(found, (NameList{"a::b::S::X", "a::b::Y", "a::b::S", "a::b::S::In"}));
}

TEST(ScanIncludes, BesideFirstThenTheNearestPathThatEndsSo) {
  const IncludeGraph graph({{"a/x.cu", {"y.h", "../c/z.h", "<lib/w.h>"}},
                            {"a/y.h", {}},
                            {"b/y.h", {}},
                            {"c/z.h", {"\"cycle.h\""}},
                            {"c/cycle.h", {"z.h"}},
                            {"include/lib/w.h", {}}});
  EXPECT_TRUE(graph.sees(0, 1));
  EXPECT_FALSE(graph.sees(0, 2));
  EXPECT_TRUE(graph.sees(0, 3));
  EXPECT_TRUE(graph.sees(0, 4));
  EXPECT_TRUE(graph.sees(4, 3));
  EXPECT_TRUE(graph.sees(0, 5));
  EXPECT_FALSE(graph.sees(1, 0));
  EXPECT_TRUE(graph.may_see(1, 3));
  EXPECT_FALSE(graph.may_see(2, 3));
}

}  // namespace
}  // namespace fathom::cpp
