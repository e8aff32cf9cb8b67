// What C and C++ code reads from its command line and environment, and the values around a launch.
#include "checks.h"
#include "scan/cpp/cpp_options.h"
#include "scan/cpp/local_values.h"

namespace fathom::cpp {
namespace {

std::vector<Option> options_of(std::string_view text) { return find_options(lex(text)); }

TEST(CppOptions, FlagsOfLibraries) {
  const auto options = options_of(
      "DEFINE_int32(batch, 8, \"Rows \" \"in a batch\");\n"
      "ABSL_FLAG(std::string, mode, \"fast\", \"How\");\n"
      "app.add_option(\"-n,--count\", count, \"How many\");\n"
      "app.add_flag(\"--quiet\", quiet);\n");
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].names, std::vector<std::string>{"--batch"});
  EXPECT_EQ(options[0].type, "int32");
  EXPECT_EQ(options[0].default_value, "8");
  EXPECT_EQ(options[0].help, "Rows in a batch");
  EXPECT_EQ(options[1].names, std::vector<std::string>{"--mode"});
  EXPECT_EQ(options[1].default_value, "fast");
  EXPECT_EQ(options[1].line, 2u);
  EXPECT_EQ(options[2].names, (std::vector<std::string>{"--count", "-n"}));
  EXPECT_EQ(options[2].default_value, std::nullopt);
  EXPECT_EQ(options[3].type, "flag");
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const Option& option : options_of(text)) names.push_back(option.names.at(0));
  return names;
}

// Rows of braces that a program's own loop compares argv with.
TEST(CppOptions, RowsOfBraces) {
  const auto options = options_of(
      "options.strings = {\n  {\"-m\", \"--model\", \"path to the model\", 0, &model},\n"
      "  {\"\", \"--vae\", \"path to the \" \"decoder\", 0, &vae},\n"
      "  {\"-p\", \"--prompt\", \"the prompt to use\", 0, &prompt}};\n");
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--model", "-m"}));
  EXPECT_EQ(options[1].names, std::vector<std::string>{"--vae"});
  EXPECT_EQ(options[1].help, "path to the decoder");
  EXPECT_EQ(options[1].line, 3u);
  // The text may stand behind the value; a row that has none is no option.
  const auto late = options_of(
      "t_pargs pa[] = {\n { \"-nt\", FALSE, etINT, { &threads }, \"Number of threads\" },\n"
      " { \"-pin\", FALSE, etENUM, { pins }, \"Whether to set affinities\" },\n"
      " { \"-raw\", FALSE, etBOOL, { &raw }, \"raw\" },\n"
      " { \"-rcon\", FALSE, etREAL, { &rcon }, \"Maximum distance (nm), \"\n \"0 is estimate\" "
      "}};\n");
  ASSERT_EQ(late.size(), 3u);
  EXPECT_EQ(late[0].names, std::vector<std::string>{"-nt"});
  EXPECT_EQ(late[0].help, "Number of threads");
  EXPECT_EQ(late[2].names, std::vector<std::string>{"-rcon"});
  EXPECT_EQ(late[2].help, "Maximum distance (nm), 0 is estimate");
  // Arguments of compilers have no text for people, and a table of texts has no dashes.
  EXPECT_EQ(
      names_in("flags = {{\"-O3\", \"--fast\"}, {\"-g\", \"--debug\"}, {\"-v\", \"--verbose\"}};"),
      std::vector<std::string>{});
  EXPECT_EQ(names_in("texts = {{\"one\", \"the first of\"}, {\"two\", \"the second of\"},"
                     " {\"six\", \"the sixth of\"}};"),
            std::vector<std::string>{});
  EXPECT_EQ(names_in("errors = {{\"-1\", \"the device was not found\"}, {\"-2\", \"out of memory"
                     " there\"}, {\"-3\", \"it was not allowed\"}};"),
            std::vector<std::string>{});
}

// Objects of a program's own class, constructed with a name and a text for people.
TEST(CppOptions, ObjectsOfAClass) {
  const auto options = options_of(
      "const OptionId Params::kRows{\"max-rows\", \"MaxRows\", \"How many \"\n\"rows\", 'r'};\n"
      "const OptionId kMode{{.long_flag = \"mode\",\n  .help_text = \"Which one to use\",\n"
      "  .short_flag = 'm', .shown = OptionId::kAlways}};\n"
      "OptionId kHidden{\"\", \"Hidden\", \"Of the protocol alone\"};\n"
      "OptionId kDraw(\"draw\", \"\", \"Whether to draw\");\n"
      "void add(P* p) { p->Add<IntOption>(Params::kRows, 1, 9) = 4; p->Add<BoolOption>(kDraw); "
      "}\n");
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--max-rows", "-r"}));
  EXPECT_EQ(options[0].help, "How many rows");
  EXPECT_EQ(options[0].type, "int");
  EXPECT_EQ(options[0].default_value, "4");
  EXPECT_EQ(options[1].names, (std::vector<std::string>{"--mode", "-m"}));
  EXPECT_EQ(options[1].line, 3u);
  EXPECT_EQ(options[2].type, "flag");
  EXPECT_TRUE(options[0].certain);
  // Errors have names and texts, too; a list of options is none, and a value is no name.
  EXPECT_EQ(names_in("const ErrorId kLost{\"was-lost\", \"It was lost\"};"
                     "const Options all{\"all-of\", \"These are all\"};"
                     "OptionId kBad{\"Not A Name\", \"What it does here\"};"),
            std::vector<std::string>{});
}

// Keys of a configuration that the program's own functions read or declare.
TEST(CppOptions, KeysOfAConfiguration) {
  const auto read = options_of(
      "n = cfg.getInt(\"numThreads\", 1, 64); b = cfg.getBool(\"logAll\");\n"
      "if (cfg.getString(\"rules\") == \"x\") return;\n");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[1].names, std::vector<std::string>{"numThreads"});
  EXPECT_EQ(read[1].type, "int");
  EXPECT_EQ(read[1].source, Option::Source::kField);
  EXPECT_FALSE(read[1].certain);
  EXPECT_EQ(
      names_in("GetInt(params, \"max_depth\", &max_depth); GetDouble(params, \"rate\", &rate);"
               "GetBool(params, \"verbose\", &verbose);"),
      (std::vector<std::string>{"max_depth", "rate", "verbose"}));
  const auto declared = options_of(
      "registerParameter<int>(\"max_iters\", \"how many iterations at most\", 100);\n"
      "registerParameter<double>(\"tolerance\", \"where to stop\", 1e-6);\n"
      "registerParameter<std::string>(\"solver\", \"name of the solver\", \"CG\", allowed);\n");
  ASSERT_EQ(declared.size(), 3u);
  EXPECT_EQ(declared[0].names, std::vector<std::string>{"max_iters"});
  EXPECT_EQ(declared[0].help, "how many iterations at most");
  EXPECT_EQ(declared[0].default_value, "100");
  const auto added = options_of(
      "op.addOption(\"passes\", OPT_INT, \"10\", \"number of passes\", 'n');\n"
      "op.addOption(\"size\", OPT_INT, \"1\", \"size of the problem\", 's');\n"
      "op.addOption(\"verbose\", OPT_BOOL, \"\", \"say what is done\", 'v');\n");
  ASSERT_EQ(added.size(), 3u);
  EXPECT_EQ(added[0].help, "number of passes");
  EXPECT_EQ(added[0].default_value, std::nullopt);
  // Columns of a table, parts of a request, two keys alone, sentences.
  EXPECT_EQ(
      names_in("q.addParam(\"id\", id); q.addParam(\"name\", name); q.addParam(\"size\", 3);"),
      std::vector<std::string>{});
  EXPECT_EQ(names_in("row.getInt(\"id\"); row.getString(\"name\"); row.getInt(\"size\");"),
            std::vector<std::string>{});
  EXPECT_EQ(names_in("cfg.getInt(\"one\"); cfg.getInt(\"two\");"), std::vector<std::string>{});
  EXPECT_EQ(names_in("cfg.getString(\"a b\"); cfg.getString(\"c d\"); cfg.getString(\"e f\");"),
            std::vector<std::string>{});
}

// getopt's table with Windows's macro around the names.
TEST(CppOptions, NamesInTextMacros) {
  const auto options = options_of(
      "struct option longopts[] = {{_T(\"alpha\"), no_argument, 0, 'a'},\n"
      "  {make(\"beta\"), no_argument, 0, 'b'}, {0, 0, 0, 0}};\n");
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--alpha", "-a"}));
  EXPECT_EQ(options[1].names, std::vector<std::string>{"-b"});
}

TEST(CppOptions, UsageWithTwoNames) {
  const auto lines = find_usage_lines(
      lex("puts(\"  -h or --help   Show this message\\n\"); puts(\"  -o or nothing at all\\n\");"));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].names, (std::vector<std::string>{"-h", "--help"}));
  EXPECT_EQ(lines[0].help, "Show this message");
  EXPECT_EQ(lines[1].names, std::vector<std::string>{"-o"});
}

// A macro is a flag's only if a published library defines it, and the file gives it no other
// meaning.
TEST(CppOptions, OtherMacrosAreNoFlags) {
  EXPECT_EQ(names_in("DEFINE_UNARY_TASK(rms_norm, false, int x = 0)\nDEFINE_KERNEL(a, 1, 2)\n"
                     "DEFINE_int32(two, 4);\nMY_DEFINE_int32(x, 1, \"help\")"),
            std::vector<std::string>{});
  EXPECT_EQ(names_in("#define DEFINE_bool(a, b, c) bool a = b\nDEFINE_bool(own, true, \"x\");"),
            std::vector<std::string>{});
  EXPECT_EQ(names_in("C10_DEFINE_bool(ours, true, \"Whether\");"),
            std::vector<std::string>{"--ours"});
}

TEST(CppOptions, ListsOfNames) {
  const auto options = options_of(
      "add(common_arg({\"-c\", \"--ctx-size\"}, \"N\", text(\"size of the context (%d)\", p.n),\n"
      "  [](params & p, int value) { p.n = value; }).set_env(\"APP_CTX\"));\n"
      "add(common_arg({\"--mmap\"}, {\"--no-mmap\"}, \"map the file\", [](params & p, bool v) { "
      "}));\n"
      "add(common_arg({\"-v\"}, \"print more lines\", [](params & p) { p.v = true; }));\n"
      "add(common_arg({\"--name\"}, \"NAME\", \"who it is\", [](params & p, const std::string & s) "
      "{}));");
  ASSERT_EQ(options.size(), 5u);
  EXPECT_EQ(options[0].names, std::vector<std::string>{"APP_CTX"});
  EXPECT_EQ(options[1].names, (std::vector<std::string>{"--ctx-size", "-c"}));
  EXPECT_EQ(options[1].type, "int");
  EXPECT_EQ(options[1].help, "size of the context (%d)");
  EXPECT_TRUE(options[1].certain);
  EXPECT_EQ(options[2].names, (std::vector<std::string>{"--mmap", "--no-mmap"}));
  EXPECT_EQ(options[3].type, "flag");
  EXPECT_EQ(options[4].type, "string");
}

// Lists that begin with a dash and are a command's arguments.
TEST(CppOptions, ListsThatAreNoOptions) {
  EXPECT_EQ(
      names_in(
          "compile({\"-O2\", \"-g\"}, \"to a file\"); run_with_args({\"-O2\"}, \"a.cu\");\n"
          "std::vector<std::string> args = {\"-c\", \"--all\"}; add_args({\"-I\", dir}, \"a b\");\n"
          "add_option_list({\"-Wl,x\", \"a b\"}, \"two words\"); exec({\"ls\", \"-l\"}, \"a b\");"),
      std::vector<std::string>{});
}

TEST(CppOptions, TablesOfC) {
  const auto options = options_of(
      "int threads = 2; static struct option names[] = {\n{\"nthreads\", required_argument, 0, "
      "'t'},\n"
      "{\"help\", no_argument, 0, 'h'},\n{\"dry-run\", no_argument, &dry, 1}, {0, 0, 0, 0}};\n"
      "while ((c = getopt_long(argc, argv, \"t:hq\", names, 0)) != -1) switch (c) {\n"
      "case 't': threads = atoi(optarg); break; case 'h': usage(); }\n"
      "printf(\"[-t,--nthreads <num threads>] \\n\\t\" \"[-q quiet please]\\n\");");
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--nthreads", "-t"}));
  EXPECT_EQ(options[0].type, "int");
  EXPECT_EQ(options[0].default_value, "2");
  EXPECT_EQ(options[0].help, "num threads");
  EXPECT_EQ(options[1].type, "flag");
  EXPECT_EQ(options[2].names, std::vector<std::string>{"--dry-run"});
  EXPECT_EQ(options[3].names, std::vector<std::string>{"-q"});
  // Another type's table, and a function of a similar name.
  EXPECT_EQ(
      names_in("struct choice names[] = {{\"a\", 1, 0, 'a'}}; getoption(argc, argv, \"ab:\");"),
      std::vector<std::string>{});
  const auto popt = options_of(
      "struct poptOption table[] = {{\"size\", 's', POPT_ARG_INT, &size, 0, \"bytes of it\", "
      "\"N\"}};\n"
      "struct argp_option list[] = {{\"loud\", 'l', 0, 0, \"say more\"}, {0}};");
  ASSERT_EQ(popt.size(), 2u);
  EXPECT_EQ(popt[0].names, (std::vector<std::string>{"--size", "-s"}));
  EXPECT_EQ(popt[0].help, "bytes of it");
  EXPECT_EQ(popt[1].type, "flag");
}

TEST(CppOptions, ChainsOfDeclarations) {
  const auto options = options_of(
      "desc.add_options()(\"help,h\", \"Print help\")\n"
      "  (\"size,b\", po::value<int>(&n)->default_value(4), \"In MiB\");\n"
      "o.add_options(\"Group\")(\"d,debug\", \"More\", "
      "cxxopts::value<std::string>()->default_value(\"no\"));");
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--help", "-h"}));
  EXPECT_EQ(options[0].type, "flag");
  EXPECT_EQ(options[1].default_value, "4");
  EXPECT_EQ(options[1].help, "In MiB");
  EXPECT_EQ(options[2].names, (std::vector<std::string>{"--debug", "-d"}));
  EXPECT_EQ(options[2].type, "std::string");
  EXPECT_EQ(options[2].default_value, "no");
}

TEST(CppOptions, OtherLibraries) {
  const auto options = options_of(
      "program.add_argument(\"-n\", \"--count\").help(\"How many\").default_value(3).scan<'i', "
      "int>();\n"
      "static cl::opt<unsigned> Depth(\"depth\", cl::desc(\"How deep\"), cl::init(7));\n"
      "if (cmd.check_cmd_line_flag(\"help\")) {} cmd.get_cmd_line_argument(\"m\", options.m, "
      "512);\n"
      "TCLAP::ValueArg<int> width(\"w\", \"width\", \"How wide\", false, 8, \"int\");\n"
      "NCCL_PARAM(Channels, \"MAX_CHANNELS\", 32);\n"
      "parser.set_optional<unsigned int>(\"x\", \"rows\", 64, \"Rows of the grid\"); "
      "set_optional(1);\n");
  ASSERT_EQ(options.size(), 7u);
  EXPECT_EQ(options[6].names, std::vector<std::string>{"--rows"});
  EXPECT_EQ(options[6].default_value, "64");
  EXPECT_EQ(options[6].help, "Rows of the grid");
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--count", "-n"}));
  EXPECT_EQ(options[0].help, "How many");
  EXPECT_EQ(options[0].default_value, "3");
  EXPECT_EQ(options[1].names, std::vector<std::string>{"--depth"});
  EXPECT_EQ(options[1].type, "unsigned");
  EXPECT_EQ(options[1].default_value, "7");
  EXPECT_EQ(options[1].help, "How deep");
  EXPECT_EQ(options[2].names, std::vector<std::string>{"--help"});
  EXPECT_EQ(options[3].names, std::vector<std::string>{"--m"});
  EXPECT_EQ(options[3].default_value, "512");
  EXPECT_EQ(options[4].names, std::vector<std::string>{"--width"});
  EXPECT_EQ(options[5].names, std::vector<std::string>{"NCCL_MAX_CHANNELS"});
  // The same words of other objects.
  EXPECT_EQ(
      names_in("menu.add_option(\"Start\", go); f.add_argument(\"x\"); other::opt<int> a(\"b\");\n"
               "check_cmd_line_flag(\"help\");"),
      std::vector<std::string>{});
}

// Writing the environment is not reading it.
TEST(CppOptions, EnvironmentThatIsWritten) {
  EXPECT_EQ(names_in("setenv(\"A_B\", \"1\", 1); unsetenv(\"A_C\"); set_env(\"A_D\"); "
                     "process.set_env(\"A_E\");"),
            std::vector<std::string>{});
  EXPECT_EQ(names_in("get_env<int>(\"A_F\", 0);"), std::vector<std::string>{"A_F"});
}

TEST(CppOptions, VariablesThatHoldAnArgument) {
  EXPECT_EQ(names_in("int main(int n, char** words) { std::string arg = words[1];\n"
                     "if (arg == \"-h\" || arg == \"--help\") {} else if (\"--all\" == arg) {}\n"
                     "if (arg.rfind(\"--size=\", 0) == 0) {} if (other == \"--no\") {}\n"
                     "std::vector<std::string> list(words + 1, words + n);\n"
                     "for (const auto& one : list) { if (one == \"--each\") {} } }\n"
                     "void f() { if (name == \"-x\") {} call(argv + 1); if (call == \"-y\") {} }"),
            (std::vector<std::string>{"--help", "--all", "--size", "--each"}));
}

// A check for one more argument is not what the option sets.
TEST(CppOptions, ValuesBehindACheck) {
  const auto options = options_of(
      "bool bad = false; int rows = 4; for (int i = 1; i < argc; i++) { std::string arg = "
      "argv[i];\n"
      "if (arg == \"--rows\") { if (++i >= argc) { bad = true; break; } rows = std::stoi(argv[i]); "
      "}\n"
      "else if (arg == \"--list\") { if (++i >= argc) { bad = true; break; } add(i); }\n"
      "else if (arg == \"--bad\") { bad = true; } }\n"
      "printf(\"  -r N, --rows N  how many (default: %d)\\n\");");
  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0].type, "int");
  EXPECT_EQ(options[0].default_value, "4");
  EXPECT_EQ(options[0].help, "how many (default: %d)");
  EXPECT_EQ(options[1].type, "");
  EXPECT_EQ(options[1].default_value, std::nullopt);
  EXPECT_EQ(options[2].type, "flag");
}

TEST(CppOptions, Environment) {
  const auto options = options_of(
      "std::getenv(\"APP_LEVEL\"); env_or(\"APP_WIDTH\", 4); GetEnvInt(\"lower case\", 1);\n"
      "envelope(\"NOT_THIS\"); environment(\"NOR_THIS\"); getenv(name);\n");
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(options[0].names[0], "APP_LEVEL");
  EXPECT_EQ(options[0].default_value, std::nullopt);
  EXPECT_EQ(options[1].names[0], "APP_WIDTH");
  EXPECT_EQ(options[1].default_value, "4");
  EXPECT_EQ(options[1].source, Option::Source::kEnvironmentWrapper);
}

TEST(CppOptions, ComparedArguments) {
  const auto options = options_of(
      "std::string opt(argv[i]); if (opt == std::string(\"--passes\")) {} "
      "if (other == std::string(\"--other\")) {}\n"
      "if (strcmp(argv[i], \"--batch\") == 0) {} if (!strcmp(\"-q\", argv[1])) {}\n"
      "if (strcmp(name, \"--no\") == 0) {} if (strcmp(argv[i], \"word\") == 0) {}\n"
      "if (argv[i][1] == 'b' && argv[i][2] == 's') {} else if (argv[i][1] == 'x') {}\n");
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.names[0]);
  EXPECT_EQ(names, (std::vector<std::string>{"--passes", "--batch", "-q", "-bs", "-x"}));
}

// A function of the program that searches its arguments; a format and its values are no such call.
TEST(CppOptions, ArgumentsLookedUpByAFunction) {
  const auto options = options_of(
      "int gpu = find_int(argc, argv, \"-gpu\", 4); bool all = has(argc, (char **)argv, "
      "\"--all\");\n"
      "char *out = find_text(argc, argv, \"-out\", \"a.txt\"); f = find(argc, argv, \"-f\", "
      "value);\n"
      "log(count, argv[0], \"-no\"); log(count, names, \"-nor\", 1); log(argv, \"-neither\"); "
      "find(argc, argv, \"word\");");
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.names[0]);
  ASSERT_EQ(names, (std::vector<std::string>{"-gpu", "--all", "-out", "-f"}));
  EXPECT_EQ(options[0].default_value, "4");
  EXPECT_EQ(options[1].default_value, std::nullopt);
  EXPECT_EQ(options[2].default_value, "a.txt");
  EXPECT_EQ(options[3].default_value, std::nullopt);
}

TEST(CppOptions, LettersOfASwitch) {
  const auto options = options_of(
      "void f(int argc, char** argv) { switch (argv[i - 1][1]) {\n"
      "case 's': rows = atoi(argv[i]); break; case 'q': quiet = true; break;\n"
      "case 'g': { switch (kind) { case 'n': break; } } break; default: help(); } }\n"
      "void g(char* word) { switch (word[1]) { case 'x': break; } }\n"
      "void h(char** argv) { switch (argv[1][0]) { case 'y': break; } }");
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.names[0]);
  ASSERT_EQ(names, (std::vector<std::string>{"-s", "-q", "-g"}));
  EXPECT_EQ(options[0].type, "int");
}

TEST(LocalValues, WhatABodyAssigns) {
  const CodeTree body = read_code(
      "{ int n = a + f(b, c); dim3 grid(n, 2); const int m{4}; config.gridDim = dim3(8);\n"
      "call(x); if (a == b) {} auto g = [](int y) { return y; }; return h(z); }",
      1);
  std::vector<std::string> found;
  for (const LocalValue& value : local_values(body)) {
    found.push_back(value.name + " = " + value.text);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"n = a + f(b, c)", "grid = dim3(n, 2)", "m = 4",
                                             "config.gridDim = dim3(8)"}));
}

TEST(LocalValues, ConstantsOfAFile) {
  const TokenList source =
      lex("#define THREADS 128\n#define MAX(a, b) a > b\nconstexpr int kRows = THREADS / 32;\n"
          "static const int kMore = 2;\nint changes = 3;\n");
  std::vector<std::string> found;
  for (const LocalValue& value : file_constants(source)) {
    found.push_back(value.name + " = " + value.text);
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"THREADS = 128", "kRows = THREADS / 32", "kMore = 2"}));
}

}  // namespace
}  // namespace fathom::cpp
