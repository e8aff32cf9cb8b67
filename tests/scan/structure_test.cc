#include <algorithm>
#include <fstream>
#include <map>

#include "checks.h"
#include "report/scan/scan_report.h"
#include "scan/facts/fact_names.h"
#include "scan/files/code_purpose.h"
#include "scan/scan_repository.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

// Small repositories: what the scan says of how their files hang together.
class StructureTest : public ::testing::Test {
 protected:
  void put(const std::string& path, std::string_view content) const {
    test::write_file(temporary_.path() / "repo" / path, content);
  }
  const CodeFacts& scan(size_t threads = 0) {
    Result<CodeFacts> scanned = scan_repository(temporary_.path() / "repo", {threads, {}});
    EXPECT_TRUE(scanned.ok()) << (scanned.ok() ? "" : scanned.error().message);
    if (scanned.ok()) facts_ = scanned.take();
    return facts_;
  }
  // "a -> b -> kernel" of the first way to the kernel; empty: it is not reached.
  std::string way_to(std::string_view kernel) const {
    for (const RequestPath& path : facts_.request_paths) {
      if (path.hops.empty() || path.hops.back().function != kernel) continue;
      std::string out;
      for (const RequestHop& hop : path.hops) out += (out.empty() ? "" : " -> ") + hop.function;
      return out;
    }
    return "";
  }
  const RequestHop* hop(std::string_view function) const {
    for (const RequestPath& path : facts_.request_paths) {
      for (const RequestHop& h : path.hops) {
        if (h.function == function) return &h;
      }
    }
    return nullptr;
  }
  std::vector<std::string> claims() const {
    std::vector<std::string> out;
    for (const DocClaim& claim : facts_.doc_claims)
      out.push_back(std::string(claim_kind_name(claim.kind)) + " " + claim.what);
    return out;
  }
  size_t rank_of(std::string_view path) const {
    const auto& modules = facts_.modules.modules;
    for (size_t i = 0; i < modules.size(); ++i) {
      if (facts_.files[modules[i].file].path == path) return i;
    }
    return SIZE_MAX;
  }
  // A module whose function `launch` puts the kernel `twice` on the GPU.
  void put_kernel(const std::string& path = "app/kernel.py") const {
    put(path,
        "import triton\n"
        "@triton.jit\n"
        "def twice(x):\n"
        "    pass\n"
        "def launch(x):\n"
        "    twice[(1,)](x)\n");
  }
  void put_route(std::string_view body) const {
    put("app/server.py",
        "from fastapi import FastAPI\nfrom .engine import *\napp = FastAPI()\n"
        "@app.post('/generate')\ndef generate(x):\n" +
            std::string(body));
  }

  test::TemporaryDirectory temporary_;
  CodeFacts facts_;
};

using Texts = std::vector<std::string>;

TEST(CodePurpose, FoldersThatOnlyShowOrTry) {
  EXPECT_EQ(purpose_of("example_plugins/updater/Updater.cc"), CodePurpose::kExample);
  EXPECT_EQ(purpose_of("clients/gtest/main.cpp"), CodePurpose::kTest);
  EXPECT_EQ(purpose_of("app/pytest/state.py"), CodePurpose::kTest);
  EXPECT_EQ(purpose_of("core/unit_test/main.cpp"), CodePurpose::kTest);
  EXPECT_EQ(purpose_of("core/performance_tests/main.cpp"), CodePurpose::kTest);
  EXPECT_EQ(purpose_of("core/latest/main.cpp"), CodePurpose::kProduct);
  EXPECT_EQ(purpose_of("plugins/updater/Updater.cc"), CodePurpose::kProduct);
  EXPECT_EQ(purpose_of("exampleware/main.cpp"), CodePurpose::kProduct);
}

TEST_F(StructureTest, WayThroughConstructorAssignments) {
  put("app/__init__.py", "");
  put_kernel();
  put("app/engine.py",
      "from .kernel import launch\n"
      "class Model:\n    def forward(self, x):\n        launch(x)\n"
      "class Engine:\n    def __init__(self):\n        self.model = Model()\n"
      "    def step(self, x):\n        return self.model.forward(x)\n");
  put_route("    engine = Engine()\n    return engine.step(x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "generate -> Engine.step -> Model.forward -> launch -> twice");
  ASSERT_NE(hop("Model.forward"), nullptr);
  EXPECT_EQ(hop("Model.forward")->certainty, Certainty::kCertain);
  EXPECT_EQ(hop("Model.forward")->from.line, 9u);
}

TEST_F(StructureTest, WayStopsWhereTheTypeIsNotKnown) {
  put("app/__init__.py", "");
  put_kernel();
  // The near-twin: nobody says what the model is, and two classes have the method.
  put("app/engine.py",
      "from .kernel import launch\n"
      "class A:\n    def forward(self, x):\n        launch(x)\n"
      "class B:\n    def forward(self, x):\n        return x\n"
      "class C:\n    def forward(self, x):\n        return x\n"
      "class D:\n    def forward(self, x):\n        return x\n"
      "def step(model, x):\n    return model.forward(x)\n");
  put_route("    return step(x, x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "");
  ASSERT_EQ(facts_.request_paths.size(), 1u);
  EXPECT_NE(facts_.request_paths[0].stopped.find("model.forward (app/engine.py:15)"),
            std::string::npos)
      << facts_.request_paths[0].stopped;
}

TEST_F(StructureTest, WayThroughAnnotationsAbstractMethodsAndRegistries) {
  put("app/__init__.py", "");
  put_kernel();
  put("app/engine.py",
      "from abc import ABC, abstractmethod\n"
      "from .kernel import launch\n"
      "class Backend(ABC):\n    @abstractmethod\n    def run(self, x): ...\n"
      "class Fast(Backend):\n    def run(self, x):\n        launch(x)\n"
      "class Slow(Backend):\n    def run(self, x):\n        return x\n"
      "REGISTRY = Registry('backend')\n"
      "@REGISTRY.register('fast')\n"
      "def create_fast():\n    return Fast()\n"
      "def create(name) -> Backend:\n    return REGISTRY[name]()\n"
      "def create_plain(name):\n    return REGISTRY[name]()\n");
  put_route("    create('fast').run(x)\n    return create_plain('fast').run(x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "generate -> Fast.run -> launch -> twice");
  EXPECT_EQ(hop("Fast.run")->certainty, Certainty::kLikely);
}

TEST_F(StructureTest, WayThroughLayersOfAList) {
  put("app/__init__.py", "");
  put_kernel();
  put("app/engine.py",
      "from torch import nn\n"
      "from .kernel import launch\n"
      "class Layer(nn.Module):\n    def forward(self, x):\n        launch(x)\n"
      "class Model(nn.Module):\n    def __init__(self, n):\n"
      "        self.layers = nn.ModuleList([Layer() for _ in range(n)])\n"
      "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n    "
      "    return x\n");
  put_route("    return Model(2).forward(x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "generate -> Model.forward -> Layer.forward -> launch -> twice");
}

// The handler sends a message; a worker in another process takes it and does the work.
TEST_F(StructureTest, WayThroughAQueue) {
  put("app/__init__.py", "");
  put_kernel();
  const std::string worker =
      "from .kernel import launch\n"
      "class Base: pass\n"
      "class Work(Base):\n    pass\n"
      "class Other(Base):\n    pass\n"
      "class Loop:\n"
      "    def take(self, msg):\n        if isinstance(msg, CHECKED):\n            pass\n"
      "    def loop(self):\n        msg = self.recv_queue.get()\n        self.take(msg)\n        "
      "launch(msg)\n"
      "class Front:\n    def deliver(self, msg: Base):\n        self.queue.put(msg)\n";
  put("app/engine.py", std::string(worker).replace(worker.find("CHECKED"), 7, "Work"));
  put_route("    Front().deliver(Work())\n");
  scan();
  EXPECT_EQ(way_to("twice"), "generate -> Front.deliver -> Loop.loop -> launch -> twice");
  ASSERT_NE(hop("Loop.loop"), nullptr);
  EXPECT_EQ(reach_text(facts_, hop("Loop.loop")->how),
            "sends Work, which this reads from a queue and passes to take");
  EXPECT_EQ(hop("Loop.loop")->certainty, Certainty::kLikely);

  // The near-twin: the loop takes another message.
  put("app/engine.py", std::string(worker).replace(worker.find("CHECKED"), 7, "Other"));
  scan();
  EXPECT_EQ(way_to("twice"), "");
  ASSERT_FALSE(facts_.request_paths.empty());
  EXPECT_NE(facts_.request_paths[0].stopped.find("sends a message (app/engine.py:17)"),
            std::string::npos);
}

TEST_F(StructureTest, WayThroughProcessTargets) {
  put("app/__init__.py", "");
  put_kernel();
  put("app/engine.py", "from .kernel import launch\ndef worker(q):\n    launch(q)\n");
  put("app/__main__.py",
      "import multiprocessing as mp\nfrom .engine import worker\n"
      "def main():\n    mp.Process(target=worker, args=(1,)).start()\nmain()\n");
  scan();
  EXPECT_EQ(way_to("twice"), "app.__main__ -> main -> worker -> launch -> twice");
  EXPECT_EQ(reach_text(facts_, hop("worker")->how), "starts it via Process");
}

TEST_F(StructureTest, WayFromCppMain) {
  put("llm/ops.cuh",
      "__global__ void add(float* x) {}\nvoid forward(float* x) { add<<<1, 32>>>(x); }\n");
  put("other/ops.cuh",
      "__global__ void sub(float* x) {}\nvoid forward(float* x) { sub<<<1, 32>>>(x); }\n");
  put("train.cu",
      "#include \"llm/ops.cuh\"\nvoid step(float* x) { forward(x); }\nint main() { step(nullptr); "
      "}\n");
  scan();
  EXPECT_EQ(way_to("add"), "main -> step -> forward -> add");
  // The file that is not included is not meant.
  EXPECT_EQ(way_to("sub"), "");
}

TEST_F(StructureTest, WayEndsInALibraryOfKernels) {
  put("app/__init__.py", "");
  put("app/engine.py",
      "import flashinfer\nimport json\ndef sample(x):\n    json.dumps(x)\n    return "
      "flashinfer.softmax(x)\n");
  put_route("    return sample(x)\n");
  scan();
  ASSERT_EQ(facts_.request_paths.size(), 1u);
  EXPECT_EQ(facts_.request_paths[0].hops.back().function, "flashinfer.softmax");
  EXPECT_FALSE(facts_.request_paths[0].kernel.has_value());
}

TEST_F(StructureTest, WayThroughABinding) {
  put("app/__init__.py", "from .api import forward\n");
  put("csrc/api.cu",
      "__global__ void twice(float* x) {}\n"
      "void run(float* x) { twice<<<1, 32>>>(x); }\n"
      "PYBIND11_MODULE(app_cuda, m) { m.def(\"fwd\", &run); m.def(\"all_reduce\", &run); }\n");
  put("app/api.py", "import app_cuda\ndef forward(x):\n    return app_cuda.fwd(x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "forward -> run -> twice");
  EXPECT_EQ(reach_text(facts_, hop("run")->how),
            "calls it through a binding (PYBIND11_MODULE, csrc/api.cu:3)");
  EXPECT_EQ(hop("run")->from.line, 3u);
  // Near-twins: another module's function of this name, and torch's of the other.
  put("app/api.py", "import other_cuda\ndef forward(x):\n    return other_cuda.fwd(x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "");
  put("app/api.py",
      "import torch.distributed as dist\ndef forward(x):\n    return dist.all_reduce(x)\n");
  scan();
  EXPECT_EQ(way_to("twice"), "");
}

TEST_F(StructureTest, KeyModulesByTheGraphAndNotBySize) {
  put("app/__init__.py", "");
  put("app/core.py", "def used():\n    pass\n");
  put("app/large.py", std::string(4000, '\n') + "from .core import used\nused()\n");
  put("app/a.py", "from .core import used\nused()\n");
  put("app/b.py", "from app.core import used\nused()\n");
  put("tests/test_a.py", "from app.large import used\n");
  scan();
  EXPECT_EQ(rank_of("app/core.py"), 0u);
  EXPECT_EQ(facts_.modules.modules[0].imported_by, 3u);
  EXPECT_EQ(facts_.modules.modules[0].calls_into, 3u);
  EXPECT_EQ(rank_of("app/large.py"), SIZE_MAX) << "only a test imports it";
}

TEST_F(StructureTest, AThirdPartyModuleIsNotAFileOfItsName) {
  put("app/__init__.py", "");
  put("app/torch.py", "def helper():\n    pass\n");
  for (const char name : {'a', 'b', 'c'})
    put("app/" + std::string(1, name) + ".py", "import torch\ntorch.zeros(1)\n");
  put("app/d.py", "from .torch import helper\nhelper()\n");
  scan();
  ASSERT_NE(rank_of("app/torch.py"), SIZE_MAX);
  EXPECT_EQ(facts_.modules.modules[rank_of("app/torch.py")].imported_by, 1u);
}

TEST_F(StructureTest, PartsAndTheirImports) {
  put("app/__init__.py", "");
  put("app/engine/__init__.py", "");
  put("app/engine/run.py", "from app.layers.norm import norm\n\nnorm()\n");
  put("app/layers/__init__.py", "");
  put("app/layers/norm.py", "def norm():\n    pass\n");
  scan();
  std::vector<std::string> edges;
  for (const FolderFacts& part : facts_.modules.parts) {
    for (const ModuleEdge& edge : part.imports)
      edges.push_back(part.path + " -> " + facts_.modules.parts[edge.to].path);
  }
  EXPECT_EQ(edges, Texts{"app/engine -> app/layers"});
}

TEST_F(StructureTest, ApiIsWhatPackagesExport) {
  put("app/__init__.py", "from .core import shown, hidden\n__all__ = ['shown']\n");
  put("app/core.py",
      "def shown(x: int, *, y=1) -> int:\n    '''Shows x. Twice.'''\n"
      "def hidden():\n    pass\nclass Thing:\n    def __init__(self, a: int):\n        pass\n");
  put("app/sub/__init__.py",
      "from ..core import Thing, shown\nfrom ..core import hidden as _hidden\n");
  put("b.cpp",
      "PYBIND11_MODULE(x, m) { m.def(\"fwd\", &forward); }\nint forward(int a) { return a; }\n");
  scan();
  Texts names;
  for (const ApiFacts& api : facts_.api)
    names.push_back(std::string(entry_kind_name(api.kind)) + " " + api.name + api.signature);
  EXPECT_EQ(names, (Texts{"function app.shown(x: int, *, y=1) -> int",
                          "class app.sub.Thing(a: int)", "binding fwdPYBIND11_MODULE: forward"}));
  EXPECT_EQ(facts_.api[0].doc, "Shows x.");
}

// What a package takes from elsewhere to call it itself is no part of its API.
TEST_F(StructureTest, ApiIsNotWhatAPackageUses) {
  put("app/__init__.py", "");
  put("app/utils/__init__.py", "");
  put("app/utils/log.py", "def init_logger(name):\n    pass\ndef shared(x):\n    pass\n");
  put("app/models/__init__.py",
      "from app.utils.log import init_logger, shared\nlogger = init_logger(__name__)\n"
      "from .net import build\n");
  put("app/models/net.py", "def build(x):\n    pass\n");
  scan();
  Texts names;
  for (const ApiFacts& api : facts_.api) names.push_back(api.name);
  EXPECT_EQ(names, (Texts{"app.models.build", "app.models.shared"}));
}

// A file of kernels that others import ends with a trial of it; one that nobody imports is a
// program.
TEST_F(StructureTest, AMainGuardOfAKernelModuleIsATrial) {
  constexpr std::string_view guard = "if __name__ == '__main__':\n    launch(1)\n";
  put_kernel("app/kernel.py");
  put_kernel("app/alone.py");
  for (const char* path : {"app/kernel.py", "app/alone.py"}) {
    std::ofstream(temporary_.path() / "repo" / path, std::ios::app) << guard;
  }
  put("app/engine.py", "from .kernel import launch\ndef run(x):\n    launch(x)\n");
  scan();
  std::map<std::string, bool> trials;
  for (const EntryPoint& entry : facts_.entry_points) trials[entry.name] = entry.tries_module;
  EXPECT_EQ(trials,
            (std::map<std::string, bool>{{"app/alone.py", false}, {"app/kernel.py", true}}));
  EXPECT_EQ(way_to("twice"), "alone -> launch -> twice");
}

// How many kernels each program gets to, also of those whose way is not shown.
TEST_F(StructureTest, EveryProgramSaysHowManyKernelsItReaches) {
  for (const char* name : {"a", "b", "c", "d"}) {
    put(std::string(name) + ".cu", "__global__ void k_" + std::string(name) +
                                       "() {}\nint main() { k_" + name + "<<<1, 32>>>(); }\n");
  }
  put("none.cpp", "int main() { return 0; }\n");
  scan();
  for (const EntryPoint& entry : facts_.entry_points)
    EXPECT_EQ(entry.kernels_reached, entry.name == "none.cpp" ? 0u : 1u) << entry.name;
}

class DocClaimTest : public StructureTest {
 protected:
  void SetUp() override {
    put("app/__init__.py", "");
    put("app/__main__.py",
        "import argparse, os\n"
        "p = argparse.ArgumentParser()\n"
        "p.add_argument('--model-path', default='llama')\n"
        "p.add_argument('--page-size', type=int, default=16)\n"
        "p.add_argument('--verbose', action='store_true')\n"
        "os.getenv('REPO_FAST')\nos.getenv('REPO_SLOW')\nos.getenv('REPO_DEBUG')\n"
        "EXTRA = '--hidden-flag'\n");
    put("csrc/a.cu", "int a;\n");
  }
  Texts claims_of(const std::string& readme) {
    put("README.md", readme);
    scan();
    return claims();
  }
};

TEST_F(DocClaimTest, OptionsThatNoCodeHas) {
  EXPECT_EQ(claims_of("```bash\npython -m app --model-path x --batch 4\n```\n"),
            Texts{"option absent --batch"});
  EXPECT_EQ(facts_.doc_claims[0].doc.line, 2u);
  EXPECT_EQ(claims_of("```bash\npython -m app \\\n  --page_size 4 --hidden-flag\n```\n"), Texts{});
  // Of other programs, in prose, or after a pipe.
  EXPECT_EQ(
      claims_of(
          "```bash\npip install --upgrade app\nnsys profile --trace=cuda python -m app --verbose\n"
          "docker run --gpus all x\npython -m app | grep --color x\n```\nUse --batch with care.\n"),
      Texts{});
  EXPECT_EQ(claims_of("```python\npython -m app --batch 4\n```\n"), Texts{});
}

TEST_F(DocClaimTest, BeginningsOfOptions) {
  EXPECT_EQ(claims_of("```\n$ python -m app --model x\n```\n"),
            Texts{"option abbreviated --model"});
  EXPECT_EQ(facts_.doc_claims[0].is, "the full option is --model-path");
  ASSERT_TRUE(facts_.doc_claims[0].code.has_value());
  EXPECT_EQ(facts_.doc_claims[0].code->line, 3u);
}

TEST_F(DocClaimTest, PathsThatDoNotExist) {
  EXPECT_EQ(claims_of("See `csrc/a.cu`, `csrc/b.cu` and [this](docs/x.md).\n"),
            (Texts{"path absent csrc/b.cu", "path absent docs/x.md"}));
  EXPECT_EQ(
      claims_of(
          "See [a](csrc/a.cu#L1), [b](https://x.org/y.md), `a.cu`, `elsewhere/b.cu`, `csrc/*.cu`.\n"
          "Create `csrc/new.cu`; `csrc/b.cu` was removed.\n"),
      Texts{});
}

TEST_F(DocClaimTest, DefaultsThatDiffer) {
  EXPECT_EQ(
      claims_of(
          "| Option | Default |\n|---|---|\n| `--page-size` | 1 |\n| `--model-path` | `llama` |\n"),
      Texts{"default differs --page-size"});
  EXPECT_EQ(facts_.doc_claims[0].said, "1");
  EXPECT_EQ(facts_.doc_claims[0].is, "16");
  EXPECT_EQ(claims_of("- `--page-size`: tokens of a page (default: 32)\n"),
            Texts{"default differs --page-size"});
  EXPECT_EQ(
      claims_of("- `--page-size`: tokens of a page (default: 16)\n- `--verbose` (default: off)\n"
                "Neither `--page-size` nor `--model-path`, default: 3.\n"),
      Texts{});
}

TEST_F(DocClaimTest, VariablesThatNoCodeNames) {
  EXPECT_EQ(claims_of("Set `REPO_FAST=1` or `REPO_NONE=1`, never `CUDA_NONE`.\n"),
            Texts{"variable absent REPO_NONE"});
  // The reader's own variable, and what the text says is gone.
  EXPECT_EQ(
      claims_of(
          "```bash\nexport REPO_COMMIT=1\necho $REPO_COMMIT\n```\n`REPO_OLD` is deprecated.\n"),
      Texts{});
}

TEST_F(StructureTest, ReportsAreInertAndFit) {
  put("app/__init__.py", "");
  put_kernel("app/a`b|c<d>/kernel.py");
  put("app/core.py", "def used():\n    pass\n");
  put("app/sub/x.py", "from app.core import used\nused()\n");
  scan();
  const std::string architecture = architecture_markdown(facts_),
                    analysis = repo_analysis_markdown(facts_);
  bool in_code = false;
  for (size_t at = 0; at < architecture.size();) {
    const size_t end = architecture.find('\n', at);
    const std::string line = architecture.substr(at, end - at);
    if (line.starts_with("```")) in_code = !in_code;
    if (in_code) {
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_EQ(line.find("<d>"), std::string::npos) << line;
      EXPECT_EQ(line.find("b|c"), std::string::npos) << line;
    }
    at = end + 1;
  }
  EXPECT_FALSE(in_code);
  EXPECT_NE(analysis.find("`app/core.py`"), std::string::npos);
}

TEST_F(StructureTest, ThreadsChangeNothing) {
  put("app/__init__.py", "from .kernel import launch\n");
  put_kernel();
  for (int i = 0; i < 20; ++i)
    put("app/m" + std::to_string(i) + ".py",
        "from .kernel import launch\ndef f" + std::to_string(i) + "(x):\n    launch(x)\n");
  const auto json = [this](size_t threads) {
    const CodeFacts facts = scan(threads);
    return scan_json(ScanReport{facts, tell_stories(facts)});
  };
  EXPECT_EQ(json(1), json(4));
}

}  // namespace
}  // namespace fathom
