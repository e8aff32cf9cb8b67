#include "checks.h"
#include "scan/python/python_file.h"

namespace fathom::python {
namespace {

std::string variables_in(std::string_view text) {
  std::string out;
  for (const Option& option : read_python(text).options) {
    EXPECT_EQ(option.source, OptionSource::kEnvironment);
    out += option.names.at(0) + " = " + option.default_value.value_or("-");
    if (!option.type.empty()) out += " : " + option.type;
    if (!option.certain) out += " ?";
    if (option.written) out += " written";
    if (!option.help.empty()) out += " # " + option.help;
    out += " @" + std::to_string(option.line) + "\n";
  }
  return out;
}

TEST(ScanPythonEnvironment, EveryWayToRead) {
  EXPECT_EQ(
      variables_in("import os\na = os.environ['A']\nb = int(os.environ.get('B', '1'))\n"
                   "c = os.getenv(key='C', default=f(x))\nd = 'D' in os.environ\n"
                   "e = os.getenv('E', '0').lower() in ('1', 'true')\n"
                   "os.environ.setdefault('F', 'x')\ng = os.getenv('G') or 'y'\n"
                   "os.environ['H'] = '1'\ndel os.environ['I']\nos.environ.pop('J', None)\n"
                   "k = bool(int(os.getenv('K', 0)))\n"),
      "A = - @2\nB = '1' : int @3\nC = f(x) @4\nD = - @5\nE = '0' : bool @6\nF = 'x' @7\n"
      "G = 'y' @8\nH = - written @9\nI = - written @10\nJ = - written @11\nK = 0 : bool @12\n");
}

TEST(ScanPythonEnvironment, ThroughImportsAndNames) {
  EXPECT_EQ(variables_in("from os import environ as env, getenv\nimport os as _os\n"
                         "env['A']; getenv('B'); _os.environ.get('C')\n"
                         "table = _os.environ\ntable['D']\nNAME = 'E'\ngetenv(NAME)\n"
                         "for n in ['F', 'G']:\n  getenv(n)\n"),
            "A = - @3\nB = - @3\nC = - @3\nD = - @5\nE = - @7\nF = - @9\nG = - @9\n");
}

TEST(ScanPythonEnvironment, TheEnvironOfSomethingElse) {
  EXPECT_EQ(variables_in("import os\nrequest.environ['A']\nself.environ.get('B')\n"
                         "def app(environ, start):\n  environ['C']\n"
                         "env = os.environ.copy()\nenv['D']\nconfig.get('E')\ngetenv('f')\n"
                         "# os.getenv('G')\n'''os.environ[\"H\"]'''\nx.os.environ['I']\n"
                         "monkeypatch.setenv('J', '1')\n"),
            "");
}

TEST(ScanPythonEnvironment, ComposedNames) {
  EXPECT_EQ(
      variables_in("import os\nP = 'APP_'\nos.getenv(f'{P}A')\nos.getenv(P + 'B', '1')\n"
                   "os.getenv(f'APP_{kind}_SIZE')\nos.getenv('APP_' + kind)\nos.getenv(kind)\n"),
      "APP_A = - @3\nAPP_B = '1' @4\nAPP_{kind}_SIZE = - @5\nAPP_{kind} = - @6\n");
}

TEST(ScanPythonEnvironment, HelpersOfThisFile) {
  const std::string_view text =
      "import os\n"
      "def raw(name, default=None):\n  return os.environ.get(name, default)\n"
      "def env_int(key: str, default: int = 7) -> int:\n  return int(raw(key, default))\n"
      "def prefixed(name):\n  return os.getenv(f'APP_{name}', 'off')\n"
      "raw('A')\nraw('B', 'x')\nenv_int('C')\nenv_int('D', default=9)\nprefixed('E')\nprefixed(e)\n"
      "def choices(name, default, allowed):\n  def read():\n    return os.getenv(name)\n  return "
      "read\n"
      "choices('F', 'a', ['a'])\n";
  EXPECT_EQ(variables_in(text),
            "A = None @8\nB = 'x' @9\nC = 7 : int @10\nD = 9 : int @11\nAPP_E = 'off' @12\n"
            "F = 'a' @18\n");
  const PythonFile file = read_python(text);
  ASSERT_EQ(file.environment_helpers.size(), 4u);
  EXPECT_EQ(file.environment_helpers[0].function, "raw");
  EXPECT_EQ(file.environment_helpers[0].default_position, 1u);
  EXPECT_EQ(file.environment_helpers[1].name_template, "APP_{name}");
}

TEST(ScanPythonEnvironment, HelpersOfOtherFilesByTheirName) {
  EXPECT_EQ(
      variables_in("from util import env_bool\nenv_bool('USE_X', False)\nget_env('Y_SIZE')\n"
                   "make_env('CartPole')\nenv_bool(name)\nprint('USE_Z')\nset_env('W_X', 1)\n"),
      "USE_X = False : bool ? @2\nY_SIZE = - ? @3\n");
}

TEST(ScanPythonEnvironment, ADictionaryOfFunctions) {
  EXPECT_EQ(variables_in(
                "import os\nif TYPE_CHECKING:\n  A_PORT: int | None = None\n"
                "variables = {\n  # The port\n  # to use.\n  'A_PORT':\n"
                "    lambda: int(os.getenv('A_PORT'))\n      if 'A_PORT' in os.environ else None,\n"
                "  'A_HOST': lambda: os.getenv('A_HOST', ''),\n"
                "  'A_MODE': lambda: os.getenv('A_MODE', 'x'),  # how\n"
                "  'A_PATH': find_path,\n  'lower': 1,\n}\n"),
            "A_PORT = None : int | None # The port to use. @7\nA_HOST = '' @10\n"
            "A_MODE = 'x' # how @11\nA_PATH = - ? @12\n");
}

TEST(ScanPythonEnvironment, AttributesThatReadUnderTheirName) {
  EXPECT_EQ(
      variables_in("import os\nfrom functools import partial\n"
                   "class Var:\n  def __init__(self, default, parse):\n    self.value = default\n"
                   "  def load(self, name):\n    text = os.getenv(name)\n"
                   "Int = partial(Var[int], parse=int)\n"
                   "Maybe = partial(Var[bool | None], parse=to_bool, default=None)\n"
                   "PREFIX = 'APP_'\n"
                   "class All:\n  SIZE = Int(1024**3)  # in bytes\n  FAST = Maybe()\n"
                   "  other = 3\n"
                   "  def __init__(self):\n    for attr in dir(self):\n"
                   "      getattr(self, attr).load(f'{PREFIX}{attr}')\n"),
      "APP_SIZE = 1024**3 : int # in bytes @12\nAPP_FAST = None : bool | None @13\n");
  EXPECT_EQ(variables_in(
                "import os\n"
                "class Var:\n  def __init__(self, default): self.default = default\n"
                "  def __set_name__(self, owner, name):\n    self.name = 'X_' + name\n"
                "  def __get__(self, a, b):\n    return os.environ.get(self.name, self.default)\n"
                "class BoolVar(Var): pass\nclass All:\n  A = Var(1)\n  B = BoolVar(False)\n"),
            "X_A = 1 @10\nX_B = False @11\n");
}

}  // namespace
}  // namespace fathom::python
