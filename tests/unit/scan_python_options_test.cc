#include "checks.h"
#include "scan/python/python_file.h"

namespace fathom::python {
namespace {

std::string shown(const Option& option) {
  std::string out;
  for (const std::string& name : option.names) out += name + " ";
  out += "= " + option.default_value.value_or("-");
  if (!option.type.empty()) out += " : " + option.type;
  if (!option.action.empty()) out += " !" + option.action;
  if (!option.choices.empty()) out += " [";
  for (const std::string& choice : option.choices)
    out += choice + (&choice == &option.choices.back() ? "]" : "|");
  if (option.required) out += " required";
  if (!option.from_class.empty()) out += " of " + option.from_class;
  if (!option.help.empty()) out += " # " + option.help;
  return out + " @" + std::to_string(option.line) + "\n";
}

std::string options_in(std::string_view text) {
  std::string out;
  for (const Option& option : read_python(text).options) out += shown(option);
  return out;
}

TEST(ScanPythonOptions, ArgparseOnAnyObject) {
  EXPECT_EQ(options_in("p.add_argument('--rate', '-r', type=float, default=0.5,\n"
                       "  help='how '\n  f'fast {x}')\n"
                       "self.group().add_argument(\"input\", nargs='+', choices=['a', \"b\", C])\n"
                       "g.add_argument('--on', action='store_true')\n"
                       "g.add_argument('--off', action='store_false', dest='on')\n"
                       "g.add_argument('--key', required=True, choices=names())\n"
                       "g.add_argument('--color', action=argparse.BooleanOptionalAction)\n"),
            "--rate -r = 0.5 : float # how fast {x} @1\n"
            "input = - [a|b|C] @4\n"
            "--on = False !store_true @5\n"
            "--off = True !store_false @6\n"
            "--key = - [names()] required @7\n"
            "--color --no-color = - !argparse.BooleanOptionalAction @8\n");
}

TEST(ScanPythonOptions, WhatOnlyLooksLikeAnOption) {
  EXPECT_EQ(options_in("# p.add_argument('--a')\n'''p.add_argument('--b')'''\n"
                       "x = \"p.add_argument('--c')\"\np.add_argument\nadd_argument_group('--d')\n"
                       "p.add_arguments('--e')\nclick_option('--f')\ng.option('--g')\n"),
            "");
}

// What was commented out describes nothing; prose about a value does.
TEST(ScanPythonOptions, CommentedOutFieldsAreNoHelp) {
  const PythonFile file = read_python(
      "@dataclass\nclass Args:\n    # int4_kv: bool = False\n"
      "    # names: List[str] = make()\n    # Where the weights are\n    path: str = ''\n"
      "    grain: str = None #str = \"per_tensor\"\n    rows: int = 4  # rows = 4 is enough\n"
      "    size: int = 8  # size=8\n");
  ASSERT_EQ(file.classes.size(), 1u);
  std::vector<std::string> help;
  for (const Field& field : file.classes[0].fields) help.push_back(field.help);
  EXPECT_EQ(help,
            (std::vector<std::string>{"Where the weights are", "", "rows = 4 is enough", ""}));
}

// Comments for tools, and texts that begin with what another file says.
TEST(ScanPythonOptions, WhatIsNoHelp) {
  const PythonFile file = read_python(
      "@dataclass\nclass Args:\n    a: List[int] = None  # noqa: UP006\n"
      "    b: int = 1  # type: ignore[x]\n    c: int = 2  # noquad is meant\n");
  ASSERT_EQ(file.classes.size(), 1u);
  std::vector<std::string> help;
  for (const Field& field : file.classes[0].fields) help.push_back(field.help);
  EXPECT_EQ(help, (std::vector<std::string>{"", "", "noquad is meant"}));
  EXPECT_EQ(options_in("p.add_argument('--a', help=f\"{HELP['a']} (default: {x})\")\n"
                       "p.add_argument('--b', help=f\"Rows (default: {x})\")\n"),
            "--a = - @1\n--b = - # Rows (default: {x}) @2\n");
}

TEST(ScanPythonOptions, ArgparseThroughHelpersAliasesAndLoops) {
  EXPECT_EQ(options_in("def add(parser, name, **kw):\n  parser.add_argument(name, **kw)\n"
                       "add(p, '--one', type=int, default=1)\n"
                       "arg = p.add_argument\narg('--two')\n"
                       "for n in ('three', 'four'):\n  p.add_argument(f'--{n}', default=3)\n"
                       "PREFIX = 'x-'\np.add_argument('--' + PREFIX + 'five')\n"
                       "p.add_argument('--' + other)\n"),
            "--one = 1 : int @3\n--two = - @5\n--three = 3 @7\n--four = 3 @7\n--x-five = - @9\n"
            "--{other} = - @10\n");
}

TEST(ScanPythonOptions, FieldsOfAClassThroughKwargsAndLoops) {
  EXPECT_EQ(options_in("kw = get_kwargs(Config)\ng.add_argument('--seed', **kw['seed'])\n"
                       "for f in dataclasses.fields(Args):\n"
                       "  p.add_argument('--' + f.name, default=f.default)\n"),
            "--seed = - of Config @2\n--{f.name} = f.default of Args @4\n");
  const PythonFile file = read_python(
      "a, b = HfArgumentParser((A, m.B)).parse_args_into_dataclasses()\nimport tyro\n"
      "args = tyro.cli(C)\nother.cli(D)\n");
  std::string found;
  for (const ParsedClass& parsed : file.parsed_classes) {
    found += parsed.name + " " + parsed.via + "@" + std::to_string(parsed.line) + "\n";
  }
  EXPECT_EQ(found, "A HfArgumentParser@1\nm.B HfArgumentParser@1\nC tyro.cli@3\n");
}

TEST(ScanPythonOptions, Click) {
  const std::string_view text =
      "import click\n@click.command()\n"
      "@click.option('-n', '--count', 'number', default=1, type=click.Choice(['1', '2']), "
      "help='n')\n"
      "@click.option('--up/--down', default=True)\n@click.option('--flag', is_flag=True)\n"
      "@click.argument('path', required=False)\n@click.pass_context\ndef run(ctx): pass\n";
  EXPECT_EQ(options_in(text),
            "-n --count = 1 : click.Choice(['1', '2']) [1|2] # n @3\n"
            "--up --down = True @4\n--flag = False !is_flag @5\npath = - @6\n");
  const PythonFile file = read_python(text);
  EXPECT_EQ(file.options.at(0).function, "run");
  EXPECT_EQ(file.options.at(0).dest, "number");
  EXPECT_EQ(options_in("from click import option\n@option('--x')\ndef f(): pass"), "--x = - @2\n");
  EXPECT_EQ(options_in("@option('--x')\ndef f(): pass"), "") << "somebody else's option";
}

TEST(ScanPythonOptions, Typer) {
  EXPECT_EQ(options_in("import typer\napp = typer.Typer()\n@app.command()\n"
                       "def run(\n  name: str,\n  max_size: int = 5,\n"
                       "  out: str = typer.Option('x', '--output', '-o', help='where'),\n"
                       "  seed: Annotated[int, typer.Option(help='s')] = 3,\n"
                       "  must: int = typer.Option(...),\n): pass\n"
                       "def other(a: int = 1): pass\n"),
            "name = - : str required @5\n--max-size = 5 : int @6\n"
            "--output -o = 'x' : str # where @7\n--seed = 3 : int # s @8\n"
            "--must = - : int required @9\n");
}

TEST(ScanPythonOptions, Absl) {
  EXPECT_EQ(options_in("from absl import flags\nflags.DEFINE_integer('steps', 10, 'how many')\n"
                       "_M = flags.DEFINE_enum(name='mode', default='a', enum_values=['a', 'b'],\n"
                       "  help='which')\nflags.FLAGS.steps\n"),
            "--steps = 10 : integer # how many @2\n--mode = 'a' : enum [a|b] # which @3\n");
}

}  // namespace
}  // namespace fathom::python
