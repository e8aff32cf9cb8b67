#include "checks.h"
#include "scan/python/python_file.h"

namespace fathom::python {
namespace {

TEST(ScanPythonDefinitions, AFunctionBeginsWithItsFirstDecorator) {
  const PythonFile file = read_python(
      "@triton.autotune(\n"
      "    configs=[Config({'BLOCK': 64})],  # one\n"
      "    key=['n'],\n"
      ")\n"
      "@triton.jit\n"
      "def add(x, /, n: int, *rest, scale: float = 1.0 + 2, **more) -> None:\n"
      "    '''Adds.\n"
      "\n"
      "    At length.'''\n"
      "    def inner(a=f()):\n"
      "        g()\n"
      "    return h(lambda: i())\n");
  ASSERT_EQ(file.functions.size(), 2u);
  const Function& add = file.functions[0];
  EXPECT_EQ(add.name, "add");
  EXPECT_EQ(add.decorators,
            (std::vector<std::string>{
                "triton.autotune( configs=[Config({'BLOCK': 64})], key=['n'], )", "triton.jit"}));
  EXPECT_EQ(add.line_first, 1u);
  EXPECT_EQ(add.line_name, 6u);
  EXPECT_EQ(add.line_last, 12u);
  EXPECT_EQ(add.doc, "Adds.");
  EXPECT_EQ(add.returns, "None");
  std::string parameters;
  for (const Argument& parameter : add.parameters) {
    parameters += parameter.name + "=" + parameter.text + ";";
  }
  EXPECT_EQ(parameters, "x=;/=;n=;*rest=;scale=1.0 + 2;**more=;");
  EXPECT_EQ(add.annotations, (std::vector<std::string>{"", "", "int", "", "float", ""}));
  // A default is evaluated outside, a body inside.
  ASSERT_EQ(add.calls.size(), 3u);
  EXPECT_EQ(add.calls[0].callee, "f");
  EXPECT_EQ(add.calls[1].callee, "h");
  EXPECT_EQ(add.calls[2].callee, "i");
  EXPECT_EQ(file.functions[1].scope, "add");
  EXPECT_EQ(file.functions[1].calls.at(0).callee, "g");
  EXPECT_EQ(file.module_calls.size(), 2u) << "those of the decorator";
}

TEST(ScanPythonDefinitions, ScopesOfMethodsAndNestedClasses) {
  const PythonFile file = read_python(
      "def outer():\n  class A(B[int], metaclass=M, **k):\n    def f(self):\n      def g(): pass\n"
      "class C:\n  class D: pass\n");
  ASSERT_EQ(file.functions.size(), 3u);
  EXPECT_EQ(file.functions[1].scope, "outer.A");
  EXPECT_EQ(file.functions[2].scope, "outer.A.f");
  ASSERT_EQ(file.classes.size(), 3u);
  EXPECT_EQ(file.classes[0].scope, "outer");
  EXPECT_EQ(file.classes[0].bases, (std::vector<std::string>{"B[int]"}));
  EXPECT_EQ(file.classes[2].scope, "C");
}

TEST(ScanPythonDefinitions, Imports) {
  const PythonFile file = read_python(
      "import os, a.b.c as d, e.f\nfrom . import (g,\n  h as i,)\nfrom ..j.k import *\n"
      "# import no\n'import no'\n");
  std::string found;
  for (const Import& import : file.imports) {
    found += import.module + "|" + import.name + "|" + import.bound_to + "@" +
             std::to_string(import.line) + "\n";
  }
  EXPECT_EQ(found, "os||os@1\na.b.c||d@1\ne.f||e@1\n.|g|g@2\n.|h|i@3\n..j.k|*|*@4\n");
}

TEST(ScanPythonDefinitions, FieldsWithDefaultsAndHelp) {
  const PythonFile file = read_python(
      "@dataclass\nclass Args(Base):\n"
      "  '''What it takes.'''\n"
      "  port: int = 80  # to listen on\n"
      "  # where to\n"
      "  # write\n"
      "  out: str | None = None\n"
      "  names: list[str] = field(default_factory=list)\n"
      "  table: dict = field(default_factory=lambda: {'a': 1}, metadata={'help': 'a table'})\n"
      "  rate: float = Field(0.5, description='of what')\n"
      "  needed: int\n"
      "  '''must be given'''\n"
      "  asked: int = Field(..., gt=0)\n"
      "  size: Annotated[int, Doc(help='how large')] = 3\n"
      "  LIMIT = 4\n"
      "  def method(self):\n    local: int = 1\n");
  std::string found;
  for (const Field& field : file.classes.at(0).fields) {
    found += field.name + ":" + field.type + "=" + field.default_value.value_or("-") + "#" +
             field.help + "@" + std::to_string(field.line) + "\n";
  }
  EXPECT_EQ(found,
            "port:int=80#to listen on@4\n"
            "out:str | None=None#where to write@7\n"
            "names:list[str]=list()#@8\n"
            "table:dict={'a': 1}#a table@9\n"
            "rate:float=0.5#of what@10\n"
            "needed:int=-#must be given@11\n"
            "asked:int=-#@13\n"
            "size:Annotated[int, Doc(help='how large')]=3#how large@14\n"
            "LIMIT:=4#@15\n");
  EXPECT_EQ(file.classes[0].doc, "What it takes.");
  const std::vector<Option> options = options_of_class(file.classes[0]);
  ASSERT_EQ(options.size(), 8u) << "the constant is no option";
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--port"}));
  EXPECT_EQ(options[0].from_class, "Args");
  EXPECT_TRUE(options[5].required);
}

TEST(ScanPythonDefinitions, ConstantsAreLiteralsOfTheModule) {
  const PythonFile file = read_python(
      "A = 1024 ** 3\nB: str = 'x'\nC = [1, -2, {'k': None}]\nD = f(1)\nE = A\n"
      "def f():\n  G = 1\nclass H:\n  I = 1\nif x:\n  J = 'in a branch'\n");
  std::string found;
  for (const auto& [name, value] : file.constants) found += name + "=" + value + "\n";
  EXPECT_EQ(found, "A=1024 ** 3\nB='x'\nC=[1, -2, {'k': None}]\nJ='in a branch'\n");
  EXPECT_EQ(string_content("'a\\x41\\n' r'\\n'"), "aA\n\\n");
  EXPECT_EQ(string_content("f(x)"), std::nullopt);
}

TEST(ScanPythonDefinitions, MainGuardsInAllDisguises) {
  const auto guard = [](std::string_view text) { return read_python(text).main_guard; };
  EXPECT_EQ(guard("x = 1\nif __name__ == \"__main__\":\n  main()"), 2u);
  EXPECT_EQ(guard("if '__main__' == __name__: main()"), 1u);
  EXPECT_EQ(guard("if (\n  __name__ == '__main__'\n  and x):\n  main()"), 1u);
  EXPECT_EQ(guard("\nassert __name__ == '__main__'"), 2u);
  EXPECT_EQ(guard("if __name__ != '__main__':\n  raise SystemExit"), 1u);
  EXPECT_EQ(guard("if __name__ in ('__main__', 'builtins'): main()"), 1u);
  EXPECT_EQ(guard("@call_if_main(__name__)\ndef f(): pass"), 1u);
  EXPECT_EQ(guard("if __name__.endswith('__main__'): main()"), 1u);
  EXPECT_EQ(guard("# if __name__ == '__main__':\n'''if __name__ == \"__main__\"'''"), std::nullopt);
  EXPECT_EQ(guard("if __name__ == 'other' or name == '__main__': x()"), std::nullopt);
  EXPECT_EQ(guard("def f():\n  return __name__ == '__main__'"), std::nullopt);
  EXPECT_EQ(guard("logger = getLogger(__name__)"), std::nullopt);
}

TEST(ScanPythonDefinitions, ArgumentsAreKeptWhereTheyHoldAString) {
  const PythonFile file = read_python("a(x, 1)\nb('f.cu', *c, k=d, **e)\n");
  EXPECT_TRUE(file.module_calls.at(0).arguments.empty());
  std::string found;
  for (const Argument& argument : file.module_calls.at(1).arguments) {
    found += argument.name + ":" + argument.text + " ";
  }
  EXPECT_EQ(found, ":'f.cu' *:c k:d **:e ");
}

TEST(ScanPythonDefinitions, NamesUsedAreNotThoseDefined) {
  const PythonFile file = read_python("from m import a\ndef kernel(): pass\nb.c(d=e)\n# f\n'g'\n");
  EXPECT_EQ(file.names_used, (std::vector<std::string>{"a", "b", "c", "e"}));
}

}  // namespace
}  // namespace fathom::python
