// How a README starts the program, what it sets there, and what can be chosen when it is built.
#include "scan/docs/start_commands.h"

#include <map>

#include "checks.h"
#include "scan/manifests/build_switches.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

class StartCommands : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((directory_.path() / path).parent_path());
    test::write_file(directory_.path() / path, text);
  }

  CodeFacts scan() {
    Result<CodeFacts> facts = scan_repository(directory_.path(), {});
    EXPECT_TRUE(facts.ok());
    return facts.ok() ? std::move(facts).value() : CodeFacts();
  }

  test::TemporaryDirectory directory_;
};

TEST_F(StartCommands, OwnProgramsOnly) {
  write("train.py", "import sys\nprint(sys.argv)\n");
  write("tools/cli/CMakeLists.txt", "set(TARGET my-cli)\nadd_executable(${TARGET} cli.cpp)\n");
  write("tools/cli/cli.cpp", "int main(int argc, char** argv) { return argc; }\n");
  write("setup.py", "from setuptools import setup\nsetup()\n");
  write("README.md",
        "# T\n\n```sh\npip install -r requirements.txt\npython setup.py install\n"
        "python -m pytest tests\n$ python train.py --batch_size=4  # small\n"
        "torchrun --nproc_per_node=8 \\\n  train.py\nmy-cli -m model\n./build/bin/my-cli -m other\n"
        "./build/perf -b 8 -e 128M\n./configure\nother-tool --x\ncd build\n```\n\n"
        "```python\npython train.py\n```\n");
  std::vector<std::string> commands;
  const CodeFacts facts = scan();
  for (const StartCommand& command : facts.start_commands) {
    commands.push_back(command.text +
                       (command.file ? " → " + facts.files[*command.file].path : ""));
  }
  EXPECT_EQ(commands, (std::vector<std::string>{"python train.py --batch_size=4 → train.py",
                                                "torchrun --nproc_per_node=8 train.py → train.py",
                                                "my-cli -m model → tools/cli/cli.cpp",
                                                "./build/bin/my-cli -m other → tools/cli/cli.cpp",
                                                "./build/perf -b 8 -e 128M"}));
  EXPECT_EQ(facts.start_commands[0].at.line, 7u);
}

// A tree of files and what a tool prints name programs, and start none.
TEST_F(StartCommands, ScriptsAreGivenToAShellAndTreesAreNone) {
  write("runs/fast.sh", "python -m tools.train\n");
  write("tools/train.py", "import sys\nprint(sys.argv)\n");
  write("README.md",
        "# T\n\n```bash\nbash runs/fast.sh\nbash other/slow.sh\n```\n\n```\n.\n├── runs\n"
        "│   └── fast.sh\n└── tools/train.py\n|-- tools/train.py\n```\n");
  std::vector<std::string> commands;
  const CodeFacts facts = scan();
  for (const StartCommand& command : facts.start_commands) {
    commands.push_back(command.text +
                       (command.file ? " → " + facts.files[*command.file].path : ""));
  }
  EXPECT_EQ(commands, std::vector<std::string>{"bash runs/fast.sh → runs/fast.sh"});
}

// A program that Cargo.toml names is started by that name and runs the package's main.rs.
TEST_F(StartCommands, ProgramsOfCargo) {
  write("cli/Cargo.toml",
        "[package]\nname = \"x-cli\"\n[[bin]]\nname = \"xx\"\npath = \"src/main.rs\"\n");
  write("cli/src/main.rs", "fn main() {}\n");
  write("README.md", "# T\n\n```sh\nxx infer model.onnx\n```\n");
  const CodeFacts facts = scan();
  ASSERT_EQ(facts.start_commands.size(), 1u);
  ASSERT_TRUE(facts.start_commands[0].file.has_value());
  EXPECT_EQ(facts.files[*facts.start_commands[0].file].path, "cli/src/main.rs");
}

// What a program or a test runner prints names programs too. A command may be announced, and have
// brackets in quotes.
TEST_F(StartCommands, OutputIsNoCommand) {
  write("CMakeLists.txt", "add_executable(blur blur.cpp)\n");
  write("blur.cpp", "int main() { return 0; }\n");
  write("README.md",
        "# T\n\n```\nRunning tests of 2 programs\nCommand: ./blur -sigma=10\n"
        "blur (run 1/5): Failed (code 1)\nblur.exe -sigma=2\n./blur '(a)' $(pwd)\n"
        "./blur -n 1   # (slow)\n```\n");
  std::vector<std::string> commands;
  for (const StartCommand& command : scan().start_commands) {
    commands.push_back(command.text);
    EXPECT_TRUE(command.file.has_value()) << command.text;
  }
  EXPECT_EQ(commands, (std::vector<std::string>{"./blur -sigma=10", "blur.exe -sigma=2",
                                                "./blur '(a)' '$(pwd)'", "./blur -n 1"}));
}

// Where no block of the README runs anything, its text may, and then a guide.
TEST_F(StartCommands, TextAndGuidesWhereThereIsNoBlock) {
  write("serve.py", "if __name__ == '__main__':\n    pass\n");
  write("docs/en/quick_start.md", "# Start\n\n```sh\npython serve.py --port 1\n```\n");
  write("docs/en/zebra.md", "```sh\npython serve.py --port 2\n```\n");
  const auto commands = [&] {
    std::vector<std::string> out;
    for (const StartCommand& command : scan().start_commands) out.push_back(command.text);
    return out;
  };
  write("README.md", "# T\n\n`serve.py` serves.\n\n```sh\ngit clone x\n```\n");
  EXPECT_EQ(commands(), std::vector<std::string>{"python serve.py --port 1"});
  write("README.md", "# T\n\n1. Run: `DEVICE=0 python serve.py --port 3`\n");
  EXPECT_EQ(commands(), std::vector<std::string>{"DEVICE=0 python serve.py --port 3"});
}

// What a program prints, and what another tool installs, mention a path; mpirun starts one.
TEST_F(StartCommands, LinesOfOutputAreNoCommands) {
  write("app.cu", "int main() { return 0; }\n");
  write("app.py", "print(1)\n");
  write("README.md",
        "# T\n\n```\nINFO - Logging to ./log/today\nReading config from ./config.yaml\n"
        "R CMD INSTALL ./package.tar.gz\n.. literalinclude:: app.py\nmpirun -n 4 ./bin/app -b 1\n"
        "OMP_NUM_THREADS=4 time ./bin/app\n```\n");
  std::vector<std::string> commands;
  for (const StartCommand& command : scan().start_commands) commands.push_back(command.text);
  EXPECT_EQ(commands, (std::vector<std::string>{"mpirun -n 4 ./bin/app -b 1",
                                                "OMP_NUM_THREADS=4 time ./bin/app"}));
}

// "-i" of one program is not another's.
TEST_F(StartCommands, LettersBelongToTheProgramThatIsRun) {
  const std::string parser = "import argparse\np = argparse.ArgumentParser()\n";
  const std::string main = "if __name__ == '__main__':\n    p.parse_args()\n";
  write("bench.py", parser + "p.add_argument('-i', help='rounds')\n" + main);
  write("make.py", parser +
                       "p.add_argument('-i', help='install')\n"
                       "p.add_argument('--jobs', help='how many')\n" +
                       main);
  write("README.md", "# T\n\n```sh\npython bench.py -i 200\n```\n\nSee `--jobs`.\n");
  std::map<std::string, bool> shown;
  for (const OptionFacts& option : scan().options) shown[option.help] = option.in_readme;
  EXPECT_TRUE(shown.at("rounds"));
  EXPECT_FALSE(shown.at("install"));
  EXPECT_TRUE(shown.at("how many"));
}

TEST_F(StartCommands, OptionsThatTheReadmeWrites) {
  write("main.py",
        "import argparse, os\np = argparse.ArgumentParser()\np.add_argument('--size')\n"
        "p.add_argument('--other')\nos.environ.get('APP_LEVEL')\nos.environ.get('APP_DEPTH')\n");
  write("README.md", "# T\n\nUse `--size 4`, or other.\n\n```\nAPP_LEVEL=1 python main.py\n```\n");
  std::vector<std::string> written;
  for (const OptionFacts& option : scan().options) {
    if (option.in_readme) written.push_back(option.name);
  }
  EXPECT_EQ(written, (std::vector<std::string>{"--size", "APP_LEVEL"}));
}

// Behind another program's name stand its own options.
TEST_F(StartCommands, OptionsOfOtherProgramsAreNotTheRepositorys) {
  write("main.py",
        "import argparse, os\np = argparse.ArgumentParser()\np.add_argument('-t')\n"
        "p.add_argument('-v')\nos.environ.get('APP_LEVEL')\n");
  write("README.md",
        "# T\n\n```\ndocker build -t image .\nAPP_LEVEL=1 pip install -e .\n"
        "python main.py -v\n```\n");
  std::vector<std::string> written;
  for (const OptionFacts& option : scan().options) {
    if (option.in_readme) written.push_back(option.name);
  }
  EXPECT_EQ(written, (std::vector<std::string>{"-v", "APP_LEVEL"}));
}

TEST_F(StartCommands, WhatChecksTheProjectStartsNothing) {
  write("ci/style.sh", "#!/bin/sh\n");
  write("scripts/serve.sh", "#!/bin/sh\n");
  write("README.md", "# T\n\n```sh\n./ci/style.sh\n./scripts/serve.sh\n```\n");
  const CodeFacts facts = scan();
  ASSERT_EQ(facts.start_commands.size(), 1u);
  EXPECT_EQ(facts.start_commands[0].text, "./scripts/serve.sh");
}

// One variable however many places read it: the product's first, with the others' defaults.
TEST_F(StartCommands, EnvironmentOnce) {
  write("a/test_x.py", "import os\nx = os.environ.get('APP_LEVEL', '9')\n");
  write("b/one.py", "import os\nx = os.environ.get('APP_LEVEL', '1')\n");
  write("b/two.cc", "int f() { return getenv(\"APP_LEVEL\") != nullptr; }\n");
  write("b/three.py", "import os\nx = os.environ.get('APP_LEVELS', '1')\n");
  const CodeFacts facts = scan();
  ASSERT_EQ(facts.options.size(), 2u);
  const OptionFacts& level = facts.options[0];
  EXPECT_EQ(level.name, "APP_LEVEL");
  EXPECT_EQ(facts.files[level.at.file].path, "b/one.py");
  EXPECT_EQ(level.read_at.size(), 3u);
  EXPECT_EQ(level.default_value, "'1'");
  EXPECT_EQ(level.other_defaults, std::vector<std::string>{"'9'"});
}

// An option is read where the parsed object goes, not wherever its name is used.
TEST_F(StartCommands, ReadWhereTheObjectGoes) {
  write("run.py",
        "import argparse\nfrom engine import start\np = argparse.ArgumentParser()\n"
        "p.add_argument('--depth')\nargs = p.parse_args()\nstart(args)\n");
  write("engine.py", "from worker import Worker\ndef start(args):\n    Worker(config=args)\n");
  write("worker.py",
        "class Worker:\n    def __init__(self, config):\n        self.d = config.depth\n");
  write("unrelated.py", "def show(config):\n    return config.depth\n");
  const CodeFacts facts = scan();
  ASSERT_EQ(facts.options.size(), 1u);
  ASSERT_EQ(facts.options[0].read_at.size(), 1u);
  EXPECT_EQ(facts.files[facts.options[0].read_at[0].file].path, "worker.py");
}

TEST_F(StartCommands, FunctionsThatFireCalls) {
  write("a.py",
        "import fire\ndef main(size: int = 4, name=None, *rest):\n    pass\nfire.Fire(main)\n");
  write("b.py", "def Fire(f):\n    pass\ndef main(other=1):\n    pass\nFire(main)\n");
  std::vector<std::string> names;
  for (const OptionFacts& option : scan().options)
    names.push_back(option.name + "=" + option.default_value.value_or("?"));
  EXPECT_EQ(names, (std::vector<std::string>{"--name=None", "--size=4"}));
}

TEST_F(StartCommands, WrappedAndSettingsClasses) {
  write("a.py",
        "import draccus\nfrom dataclasses import dataclass\n@dataclass\nclass TrainArgs:\n"
        "    steps: int = 10\n@draccus.wrap()\ndef train(cfg: TrainArgs):\n    pass\n");
  write("b.py",
        "from pydantic_settings import BaseSettings, SettingsConfigDict\nclass "
        "AppSettings(BaseSettings):\n"
        "    model_config = SettingsConfigDict(env_prefix='app_')\n    port: int = 80\n");
  write("c.py",
        "import functools\nfrom dataclasses import dataclass\n@dataclass\nclass Other:\n"
        "    width: int = 1\ndef wrap():\n    return lambda f: f\n@wrap()\ndef f(cfg: Other):\n    "
        "pass\n");
  std::vector<std::string> names;
  for (const OptionFacts& option : scan().options) {
    if (option.kind != OptionKind::kConfig) names.push_back(option.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"--steps", "APP_PORT"}));
}

TEST_F(StartCommands, KeysOfHydrasFile) {
  write("train.py",
        "import hydra\n@hydra.main(config_path='conf', config_name='main')\ndef run(cfg):\n    "
        "pass\n");
  write(
      "conf/main.yaml",
      "defaults:\n  - other\nlr: 3e-4  # how fast\noptim:\n  steps: 10\n  name: |\n    text: no\n");
  write("conf/unused.yaml", "depth: 4\n");
  std::vector<std::string> keys;
  for (const OptionFacts& option : scan().options)
    keys.push_back(option.name + "=" + option.default_value.value_or("") + " " + option.help);
  EXPECT_EQ(keys, (std::vector<std::string>{"lr=3e-4 how fast", "optim.steps=10 "}));
}

// A bare name that is the repository's is what its package manager installs.
TEST_F(StartCommands, AnInstalledProgramBeforeASourceOfItsName) {
  const std::string name = directory_.path().filename();
  write("src/main.rs", "fn main() {}\n");
  write("src/" + name + ".c", "int main() { return 0; }\n");
  write("src/other.c", "int main() { return 0; }\n");
  write("README.md", "# T\n\n```sh\n" + name + " run file\nother file\n```\n");
  const CodeFacts facts = scan();
  ASSERT_EQ(facts.start_commands.size(), 2u);
  ASSERT_TRUE(facts.start_commands[0].file && facts.start_commands[1].file);
  EXPECT_EQ(facts.files[*facts.start_commands[0].file].path, "src/main.rs");
  EXPECT_EQ(facts.files[*facts.start_commands[1].file].path, "src/other.c");
}

TEST(BuildSwitches, OfCMake) {
  const std::vector<BuildSwitch> found = cmake_switches(
      "option(WITH_CUDA \"Build the CUDA part\" ON)\noption(QUIET \"Less\")\n"
      "set(ARCH \"80;90\" CACHE STRING \"Chips\")\nset(INNER 1 CACHE INTERNAL \"\")\n"
      "option(LONG \"Run all of\n   them\")\nset(PLAIN 4)\n# option(NO \"x\" ON)\noption(${NAME} "
      "\"x\" ON)\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[3].help, "Run all of them");
  EXPECT_EQ(found[0].name, "WITH_CUDA");
  EXPECT_EQ(found[0].default_value, "ON");
  EXPECT_EQ(found[0].help, "Build the CUDA part");
  EXPECT_EQ(found[1].default_value, "OFF");
  EXPECT_EQ(found[2].name, "ARCH");
  EXPECT_EQ(found[2].default_value, "80;90");
  EXPECT_EQ(found[2].at.line, 3u);
}

}  // namespace
}  // namespace fathom
