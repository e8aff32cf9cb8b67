#include <algorithm>
#include <string>
#include <vector>

#include "checks.h"
#include "scan/cpp/evidence.h"
#include "scan/index/reach.h"

namespace fathom::cpp {
namespace {

// A repository of a few files, read as `scan` reads them.
class SmallRepository {
 public:
  void add(std::string path, std::string text, std::vector<std::string> includes = {}) {
    includes_of_.push_back({path, std::move(includes)});
    files_.emplace_back().path = std::move(path);
    texts_.push_back(std::move(text));
  }

  // "scope::name certainty" of what is reached, sorted; the first is left out.
  std::vector<std::string> reached(const std::string& name) {
    build();
    std::vector<std::string> out;
    const Reach reach = graph_->reach(find(name));
    for (size_t i = 1; i < reach.units.size(); ++i) {
      constexpr const char* words[] = {"certain", "likely", "unsure"};
      out.push_back(index_->qualified_name(reach.units[i].unit) + " " +
                    words[static_cast<size_t>(reach.units[i].certainty)]);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<CodeEvidence> evidence(const std::string& name) {
    build();
    return collect_evidence(*index_, graph_->reach(find(name)), hits_);
  }

  const SymbolIndex& index() {
    build();
    return *index_;
  }

 private:
  SymbolId find(const std::string& name) const {
    for (uint32_t i = 0; i < index_->size(); ++i) {
      const Symbol& symbol = index_->symbol({i});
      if (symbol.name == name && symbol.kind < SymbolKind::kClass) return {i};
    }
    ADD_FAILURE() << name;
    return {0};
  }

  void build() {
    if (graph_) return;
    includes_ = std::make_unique<IncludeGraph>(includes_of_);
    definitions_.resize(files_.size());
    units_.resize(files_.size());
    usages_.resize(files_.size());
    for (size_t file = 0; file < files_.size(); ++file) {
      const TokenList source = lex(texts_[file]);
      definitions_[file] = find_definitions(source, {});
      const Brackets brackets(source);
      BodyTrees trees({source, brackets}, definitions_[file]);
      units_[file] = find_units(trees, definitions_[file]);
      usages_[file] = find_usage(trees.code(), definitions_[file], {});
      code_.push_back({&files_[file], &definitions_[file], &usages_[file], &python_});
    }
    index_ = std::make_unique<SymbolIndex>(code_, *includes_);
    classes_ = std::make_unique<ClassTree>(*index_);
    graph_ = std::make_unique<CallGraph>(*index_, *classes_);
    hits_.resize(index_->size());
    for (uint32_t file = 0; file < files_.size(); ++file) {
      for (size_t i = 0; i < units_[file].units.size(); ++i)
        hits_[graph_->add(file, units_[file].units[i]).value] = &units_[file].hits[i];
    }
    graph_->seal();
  }

  std::vector<SourceFile> files_;
  std::vector<IncludeGraph::File> includes_of_;
  std::vector<std::string> texts_;
  std::vector<Definitions> definitions_;
  std::vector<FileUnits> units_;
  std::vector<Usage> usages_;
  python::PythonFile python_;
  std::vector<FileCode> code_;
  std::unique_ptr<IncludeGraph> includes_;
  std::unique_ptr<SymbolIndex> index_;
  std::unique_ptr<ClassTree> classes_;
  std::unique_ptr<CallGraph> graph_;
  std::vector<const std::vector<PatternHit>*> hits_;
};

using NameList = std::vector<std::string>;

TEST(ScanReach, FollowsQualifiedCallsIntoIncludedFiles) {
  SmallRepository repository;
  repository.add("src/run.cu", "__global__ void run() { lane::move<4>(a, b); }",
                 {"<lib/lane.cuh>"});
  repository.add("include/lib/lane.cuh",
                 "namespace gpu::lane { __device__ void move(int a, int b) { step(a); }\n"
                 "__device__ void step(int a) { __syncwarp(); } }");
  repository.add("include/other/lane.cuh", "namespace cpu::lane { void move(int a, int b) {} }");
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
  repository.add("a.cu", "__global__ void run() { load(p); }");
  repository.add("b.cuh", "__device__ void load(int* p) { }");
  EXPECT_EQ(repository.reached("run"), NameList{});
}

TEST(ScanReach, AHeaderMayRelyOnWhatItsIncluderBrings) {
  SmallRepository repository;
  repository.add("kernel.cuh", "__global__ void run() { load(p); }");
  repository.add("load.cuh", "__device__ void load(int* p) { }");
  repository.add("main.cu", "", {"\"load.cuh\"", "\"kernel.cuh\""});
  EXPECT_EQ(repository.reached("run"), NameList{"load likely"});
}

TEST(ScanReach, OverloadsComeTogetherAndDeviceBeforeHost) {
  SmallRepository repository;
  repository.add("a.cu",
                 "namespace d { __device__ float up(float x) { } __device__ int up(int x) { } }\n"
                 "namespace h { float up(float x) { } }\n"
                 "__global__ void run() { up(x); }");
  EXPECT_EQ(repository.reached("run"), (NameList{"d::up likely", "d::up likely"}));
}

TEST(ScanReach, SeveralNamesThatFitAreUnsure) {
  SmallRepository repository;
  repository.add("a.cu",
                 "namespace d { __device__ float up(float x) { } }\n"
                 "namespace e { __device__ float up(float x) { } }\n"
                 "__global__ void run() { up(x); }");
  EXPECT_EQ(repository.reached("run"), (NameList{"d::up unsure", "e::up unsure"}));
}

TEST(ScanReach, TheCallersOwnNamespaceComesFirst) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "namespace d { __device__ float up(float x) { } __global__ void run() { up(x); } }\n"
      "namespace e { __device__ float up(float x) { } }\n");
  EXPECT_EQ(repository.reached("run"), NameList{"d::up certain"});
}

TEST(ScanReach, CyclesEnd) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "__device__ void even(int n) { odd(n - 1); } __device__ void odd(int n) { even(n - 1); }\n"
      "__global__ void run() { even(4); }");
  EXPECT_EQ(repository.reached("run"), (NameList{"even certain", "odd certain"}));
}

TEST(ScanReach, AliasesAndDefaultsOfTemplateParametersLeadOn) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "template <int N> constexpr auto pack() { if constexpr (N == 16) { return uint4{}; } }\n"
      "template <int N> using pack_t = decltype(pack<N>());\n"
      "constexpr int unit(int n) { return n; }\n"
      "template <int B, int N = unit(B)> __device__ void move(void* p) { using Package = "
      "pack_t<N>; }\n"
      "__global__ void run() { move(p); }");
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
                 "__global__ void run() { Tile tile; tile.load(); }");
  EXPECT_EQ(repository.reached("run"), (NameList{"Tile certain", "Tile::load certain"}));
  NameList whats;
  for (const CodeEvidence& one : repository.evidence("run")) whats.push_back(one.what);
  EXPECT_EQ(whats, (NameList{"pipeline_stages", "read_only_load"}));
}

TEST(ScanReach, MethodsThatAClassInherits) {
  SmallRepository repository;
  repository.add(
      "a.cu",
      "struct Store { __device__ void put() { __syncwarp(); } __device__ void seal() {} };\n"
      "struct Far { __device__ void put() {} __device__ void seal() {} };\n"
      "template <class T> struct Sink : public Store { __device__ void seal() {} };\n"
      "struct Log : Sink<int> { __device__ void go() { put(); } };\n"
      "__global__ void run() { Log log; log.put(); log.seal(); log.go(); }");
  EXPECT_EQ(repository.reached("run"),
            (NameList{"Log certain", "Log::go certain", "Sink certain", "Sink::seal certain",
                      "Store certain", "Store::put certain"}));
}

TEST(ScanReach, TemplateParametersStopIt) {
  SmallRepository repository;
  repository.add("a.cu",
                 "struct Tile { __device__ void load() { } };\n"
                 "template <class Mover> __global__ void run(Mover mover) { mover.load(); }");
  EXPECT_EQ(repository.reached("run"), NameList{});
}

TEST(ScanReach, AnAliasOfTheParametersNameWhereTheFileIsIncludedIsAGuess) {
  SmallRepository repository;
  repository.add("kernel.cuh",
                 "template <class Mover_> struct Kernel { using Mover = Mover_;\n"
                 "  __device__ void run() { Mover mover; mover.load(); } };");
  repository.add("tile.cuh", "struct Tile { __device__ void load() { __syncwarp(); } };");
  repository.add("launch.cu",
                 "void launch() { using Mover = std::conditional_t<kNew >= 9, Tile, void>; }",
                 {"tile.cuh", "kernel.cuh"});
  const NameList reached = repository.reached("run");
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "Tile::load unsure"));
}

TEST(ScanReach, ArgumentsOfTheTemplateWhereTheFileIsIncludedAreAGuess) {
  SmallRepository repository;
  repository.add("kernel.cuh",
                 "template <class Shape, class Order_> struct Kernel { using Order = Order_;\n"
                 "  __device__ void run() { Order order; order.next(); } };");
  repository.add("orders.cuh",
                 "struct Once { __device__ int next() { return 0; } };\n"
                 "struct Looping { __device__ int next() { return tile + gridDim.x; } };\n"
                 "struct Unused { __device__ int next() { return 1; } };");
  repository.add("launch.cu",
                 "void launch() { using Chosen = std::conditional_t<kLoop, Looping, Once>;\n"
                 "  using Run = Kernel<Tile<1, 2>, Chosen>; }",
                 {"orders.cuh", "kernel.cuh"});
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
                 {"vec.cuh"});
  repository.add("vec.cuh",
                 "template <int N> struct Vec { __device__ void fill() { } };\n"
                 "template <> struct Vec<2> { __device__ void fill() { } };");
  repository.add(
      "launch.cu",
      "struct New { __device__ void load() { } }; struct Old { __device__ void copy() { } };\n"
      "void launch() { using Mover = std::conditional_t<kNew, New, Old>; }",
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
        "__global__ void run() { up(x); down(x); } __device__ void down(float x) { up(x); }");
  }
  EXPECT_EQ(one.reached("run"), two.reached("run"));
}

TEST(ScanReferences, CallsMembersAndTypes) {
  const TokenList source =
      lex("Tile<4> tile(a); tile.load<2>(b); x = ns::f<int>(g(1)); this->own(); if (h) (y)(); "
          "other.size(); n = sizeof(int); return ::a::b<int>::c();");
  NameList found;
  const Brackets brackets(source);
  const Code code{source, brackets};
  for (const Reference& one : find_references(code, {0, source.size()}, "const Thing& thing")) {
    found.push_back(one.name + (one.type.empty() ? "" : " of " + one.type) + " " +
                    std::to_string(static_cast<int>(one.kind)));
  }
  EXPECT_EQ(found, (NameList{"Tile 3", "load of Tile 1", "ns::f 0", "g 0", "own 0",
                             "size of .other 1", "a::b::c 0"}));
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
          "enum class E { k }; struct Forward; using Y = S<int>; typedef unsigned int word;\n"
          "typedef void (*Callback)(int); void f(struct S* s) { using Z = int; } }");
  NameList found;
  const Definitions read = find_definitions(source, {});
  for (const Alias& one : read.aliases)
    found.push_back(one.scope + "::" + one.name + " = " + source.source(one.first, one.last));
  for (const Class& one : read.classes) found.push_back(one.scope + "::" + one.name);
  EXPECT_EQ(found, (NameList{"a::b::S::X = T", "a::b::Y = S<int>", "a::b::word = unsigned int",
                             "a::b::f{}::Z = int", "a::b::S", "a::b::S::In"}));
}

// What a type of a template parameter is called like is looked for in the classes that stand for
// the parameter, and an alias of another function is never meant.
TEST(ScanReach, TypesOfATemplateParameterAreItsArgumentsOwn) {
  SmallRepository repository;
  repository.add(
      "kernel.cuh",
      "template <class Traits> __global__ void run() { using Sum = typename Traits::Sum;\n"
      "  Sum sum; sum.add(); }\n"
      "struct WarpSum { __device__ void add() { } };\n"
      "struct BlockSum { __device__ void add() { } };\n"
      "struct Small { using Sum = WarpSum; };\n"
      "struct Unused { using Sum = BlockSum; };\n"
      "void other() { using Sum = BlockSum; }");
  repository.add("launch.cu", "void launch() { using Run = run<Small>; }", {"kernel.cuh"});
  const NameList reached = repository.reached("run");
  EXPECT_TRUE(std::count(reached.begin(), reached.end(), "WarpSum::add unsure"));
  EXPECT_FALSE(std::count(reached.begin(), reached.end(), "BlockSum::add unsure"));
}

// Overloads of one scope are one name, whichever headers share them out.
TEST(ScanReach, OverloadsOfSeveralHeadersAreOneName) {
  SmallRepository repository;
  for (const char* const type : {"float", "int", "half", "double", "char"}) {
    repository.add(std::string(type) + ".cuh",
                   "namespace d { __device__ void up(" + std::string(type) + " x) { } }");
  }
  repository.add("a.cu", "__global__ void run() { d::up(x); }",
                 {"float.cuh", "int.cuh", "half.cuh", "double.cuh"});
  EXPECT_EQ(repository.reached("run"),
            (NameList{"d::up likely", "d::up likely", "d::up likely", "d::up likely"}));
}

// The method of another class has no plain name; a class that inherits may mean its base's.
TEST(ScanIndex, APlainNameIsNoMethodOfAnotherClass) {
  SmallRepository repository;
  repository.add("a.h",
                 "struct Other { void load() { } };\n"
                 "namespace util { void load() { } }\n"
                 "void run() { load(); }\n"
                 "struct Only { void store() { } };");
  const auto meant = [&](std::string_view name) {
    NameList out;
    for (const Candidate& one : repository.index().resolve(name, {0}, SymbolKind::kHostFunction))
      out.push_back(repository.index().qualified_name(one.symbol) +
                    (one.fit == ScopeFit::kByPart ? " by a part" : ""));
    return out;
  };
  EXPECT_EQ(meant("load"), NameList{"util::load"});
  EXPECT_EQ(meant("store"), NameList{"Only::store by a part"});
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
