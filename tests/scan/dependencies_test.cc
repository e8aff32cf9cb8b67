#include "scan/manifests/dependencies.h"

#include <fmt/format.h>

#include "checks.h"
#include "scan/facts/fact_names.h"
#include "scan/files/git_files.h"
#include "scan/manifests/structured_text.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

// "3 python torch >=2.4 [dev]"
std::string text_of(const Declarations& declared) {
  std::string out;
  for (const DependencyFacts& d : declared.dependencies) {
    out += fmt::format("{} {} {}{}{}\n", d.at.line, dependency_kind_name(d.kind), d.name,
                       d.requirement.empty() ? "" : " " + d.requirement,
                       d.group.empty() ? "" : " [" + d.group + "]");
  }
  for (const EntryPoint& e : declared.entry_points) {
    out += fmt::format("{} {} {} = {}\n", e.at.line, entry_kind_name(e.kind), e.name, e.target);
  }
  return out;
}

TEST(Dependencies, Pyproject) {
  EXPECT_EQ(text_of(read_declarations("pyproject.toml", R"([build-system]
requires = ["setuptools>=61", 'wheel']

[project]
name = "x" # no dependency
dependencies = [
  "torch>=2.4,<3",  # comment with "quotes"
  "ray[cgraph] >= 2.48; sys_platform == 'linux'",
  "kernels @ git+https://example.org/k.git",
]
[project.optional-dependencies]
dev = ["pytest"]
"with space" = ["a"]
[project.scripts]
serve = "x.cli:main"
[project.entry-points."x.plugins"]
p = "x.p:q"
[dependency-groups]
lint = ["ruff", {include-group = "dev"}]
)")),
            R"(2 python setuptools >=61 [build]
2 python wheel [build]
7 python torch >=2.4,<3
8 python ray [cgraph] >= 2.48; sys_platform == 'linux'
9 python kernels @ git+https://example.org/k.git
12 python pytest [dev]
13 python a [with space]
19 python ruff [lint]
15 console script serve = x.cli:main
)");
}

TEST(Dependencies, Poetry) {
  EXPECT_EQ(text_of(read_declarations("sub/pyproject.toml", R"([tool.poetry.dependencies]
python = "^3.10"
torch = "^2.1"
numpy = "*"
ray = { version = "2.9", extras = ["serve"], optional = true }
[tool.poetry.group.test.dependencies]
pytest = ">=8"
[tool.poetry.scripts]
run = "pkg:main"
)")),
            R"(3 python torch ^2.1
4 python numpy
5 python ray 2.9
7 python pytest >=8 [test]
9 console script run = pkg:main
)");
}

TEST(Dependencies, Requirements) {
  const Declarations declared = read_declarations("requirements-test.txt", R"(# what tests need
-r common.txt
--requirement=more/cuda.txt
--index-url https://example.org
pytest>=8 \
    --hash=sha256:0
numpy==1.26 # pinned
-e git+https://example.org/tool.git@v1#egg=tool
https://example.org/wheels/fast-1.0-py3.whl
./local
)");
  EXPECT_EQ(text_of(declared), R"(5 python pytest >=8 [test]
7 python numpy ==1.26 [test]
8 python tool git+https://example.org/tool.git@v1#egg=tool [test]
9 python fast https://example.org/wheels/fast-1.0-py3.whl [test]
)");
  EXPECT_EQ(declared.includes, (std::vector<std::string>{"common.txt", "more/cuda.txt"}));
  const auto group = [](std::string_view path) {
    return read_declarations(path, "a\n").dependencies.at(0).group;
  };
  EXPECT_EQ(group("requirements.txt"), "");
  EXPECT_EQ(group("docs/requirements.txt"), "docs");
  EXPECT_EQ(group("requirements/cuda.txt"), "cuda");
  EXPECT_EQ(group("dev_requirements.txt"), "dev");
}

TEST(Dependencies, SetupPy) {
  EXPECT_EQ(text_of(read_declarations("setup.py", R"(from setuptools import setup
# install_requires=["commented"]
REQUIRED = ["torch", "einops>=0.6"]
setup(
    name="x",
    install_requires=REQUIRED,
    setup_requires=["ninja"],  # builds
    extras_require={"dev": ["pytest", "black"], "docs": ["sphinx"]},
    entry_points={"console_scripts": ["x=x.main:run", "y = x.y:go"]},
)
)")),
            R"(3 python torch
3 python einops >=0.6
7 python ninja [build]
8 python pytest [dev]
8 python black [dev]
8 python sphinx [docs]
9 console script x = x.main:run
9 console script y = x.y:go
)");
  EXPECT_EQ(text_of(read_declarations("setup.py", "setup(install_requires=get_requirements())")),
            "");
}

TEST(Dependencies, SetupCfg) {
  EXPECT_EQ(text_of(read_declarations("setup.cfg", R"([metadata]
name = x
[options]
install_requires =
    torch>=2
    # no
    numpy
[options.extras_require]
dev = pytest
[options.entry_points]
console_scripts =
    go = x:go
)")),
            R"(5 python torch >=2
7 python numpy
9 python pytest [dev]
12 console script go = x:go
)");
}

TEST(Dependencies, Conda) {
  EXPECT_EQ(text_of(read_declarations("environment.yml", R"(name: x
channels:
  - conda-forge
dependencies:
  - python=3.11
  - conda-forge::cudatoolkit=11.8  # CUDA
  - cmake>=3.20
  - pip:
    - torch==2.4
  - ninja
)")),
            R"(6 conda cudatoolkit =11.8
7 conda cmake >=3.20
9 python torch ==2.4
10 conda ninja
)");
}

TEST(Dependencies, CMake) {
  const Declarations declared = read_declarations("src/CMakeLists.txt", R"(project(x LANGUAGES CUDA)
find_package(CUDAToolkit 12.0 REQUIRED)  # find_package(No)
#[[ find_package(NeitherThis) ]]
Find_Package(
  Torch REQUIRED)
FetchContent_Declare(cutlass GIT_REPOSITORY https://example.org/c.git GIT_TAG v3.5)
pkg_check_modules(NUMA REQUIRED IMPORTED_TARGET numa>=2)
add_library(own own.cc)
target_link_libraries(own PUBLIC CUDA::cudart ${TORCH} PRIVATE "-lnuma" $<X:y> dl)
)");
  EXPECT_EQ(text_of(declared), R"(2 cmake CUDAToolkit 12.0
4 cmake Torch
6 cmake cutlass https://example.org/c.git @ v3.5
7 system numa >=2
9 system CUDA::cudart
9 system numa
9 system dl
)");
  EXPECT_EQ(declared.targets, std::vector<std::string>{"own"});
}

TEST(Dependencies, Meson) {
  EXPECT_EQ(text_of(read_declarations("src/meson.build", R"(project('x', 'cpp')
# dependency('old')
deps += dependency('zlib', version : '>=1.2', required : true)
cuda = cc.find_library('cudart', dirs : cuda_dirs)
own_dep = declare_dependency(link_with : own)
deps += dependency(name)
again = dependency('zlib')
)")),
            "3 system zlib >=1.2\n4 system cudart\n");
}

TEST(Dependencies, NpmAndCargo) {
  EXPECT_EQ(text_of(read_declarations("web/package.json", R"({
  "name": "x",
  "dependencies": {"react": "^18", "@scope/b": "1"},
  "devDependencies": {
    "vite": "5"
  },
  "bin": {"x": "./cli.js"}
})")),
            R"(3 npm react ^18
3 npm @scope/b 1
5 npm vite 5 [dev]
7 console script x = ./cli.js
)");
  EXPECT_EQ(text_of(read_declarations("Cargo.toml", R"([dependencies]
serde = "1"
tokio = { version = "1.2", features = ["full"] }
mine = { path = "../mine" }
shared.workspace = true
[dev-dependencies]
criterion = "0.5"
[[bin]]
name = "server"
)")),
            R"(2 cargo serde 1
3 cargo tokio 1.2
5 cargo shared
7 cargo criterion 0.5 [dev]
9 console script server = 
)");
}

TEST(Dependencies, Submodules) {
  EXPECT_EQ(text_of(read_declarations(".gitmodules",
                                      "[submodule \"c\"]\n\tpath = 3rdparty/c/\n\turl "
                                      "= https://example.org/c\n")),
            "1 submodule c https://example.org/c\n");
}

TEST(Dependencies, WhichFilesDeclare) {
  for (const char* yes :
       {"pyproject.toml", "a/requirements-dev.txt", "requirements/x.in", "setup.py",
        "environment.yaml", "cmake/x.cmake", "Cargo.toml", ".gitmodules"}) {
    EXPECT_TRUE(declares_dependencies(yes)) << yes;
  }
  for (const char* no :
       {"a.toml", "notes.txt", "src/setup.pyx", "a/.gitmodules", "requirements.md"}) {
    EXPECT_FALSE(declares_dependencies(no)) << no;
  }
}

TEST(Dependencies, OfARepository) {
  const test::TemporaryDirectory directory;
  const auto put = [&](const std::string& path, std::string_view text) {
    test::write_file(directory.path() / path, text);
  };
  put("requirements.txt", "-r needs/base.list\n-r requirements.txt\n-r ../outside.txt\ntorch\n");
  put("needs/base.list", "numpy\n-r ../requirements.txt\n");
  put("third_party/x/requirements.txt", "not-ours\n");
  put("CMakeLists.txt", "add_library(own a.cc)\ntarget_link_libraries(a own dl)\n");
  put("sub/CMakeLists.txt",
      "my_add_library(NAME core SRCS a.cc)\nadd_library(repo b.cc)\n"
      "target_link_libraries(b own dl core repo::core repo::repo)\n");
  const CodeFacts facts = scan_repository(directory.path()).take();
  std::string names;
  for (const DependencyFacts& d : facts.dependencies) {
    names += fmt::format("{}:{} {} {}\n", facts.files[d.at.file].path, d.at.line, d.name,
                         d.used_at.size());
  }
  EXPECT_EQ(names,
            "CMakeLists.txt:2 dl 1\nneeds/base.list:1 numpy 0\nrequirements.txt:4 torch 0\n");
}

// What no parser should fall over.
TEST(Dependencies, BrokenFiles) {
  const std::string brackets(100000, '['), braces(100000, '{');
  for (const char* path :
       {"pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "Cargo.toml",
        "CMakeLists.txt", "package.json", "requirements.txt", ".gitmodules"}) {
    for (const std::string& text :
         {std::string(), std::string("[project\ndependencies = [\"a"), "x = " + brackets,
          "dependencies = " + braces, std::string("{\"dependencies\": {\"a\""), std::string("\\"),
          std::string("install_requires=['a"), std::string("find_package("), std::string("#[["),
          std::string("\"\"\""), std::string(1, '\0'), std::string("-r"), std::string("=")}) {
      (void)read_declarations(path, text);
    }
  }
  EXPECT_EQ(text_of(read_pyproject("[project]\ndependencies = [\"a\", \"b")),
            "2 python a\n2 python b\n");
}

TEST(StructuredText, TomlValues) {
  std::string text;
  read_toml(
      "a.b = 1\n[t.'x.y']\nk = \"q\\\"\\n\"\nl = [ # c\n 'a',\n {z = true}]\n"
      "s = \"\"\"\nlong\n\"\"\"\n[[u]]\nn = 1\n[[u]]\nn = 2\n",
      [&text](const TextValue& v) {
        text += fmt::format("{} {} = {}\n", v.line, fmt::join(v.path, "/"), v.value);
      });
  EXPECT_EQ(text,
            "1 a/b = 1\n3 t/x.y/k = q\"\n\n5 t/x.y/l/0 = a\n6 t/x.y/l/1/z = true\n"
            "7 t/x.y/s = long\n\n11 u/0/n = 1\n13 u/1/n = 2\n");
}

TEST(GitFiles, ABrokenIndexIsNone) {
  EXPECT_FALSE(TrackedPaths::read("").has_value());
  EXPECT_FALSE(TrackedPaths::read("DIRC").has_value());
  EXPECT_FALSE(TrackedPaths::read(std::string("DIRC\0\0\0\2\xff\xff\xff\xff", 12)).has_value());
  const auto empty = TrackedPaths::read(std::string("DIRC\0\0\0\2\0\0\0\0", 12));
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->size(), 0u);
}

}  // namespace
}  // namespace fathom
