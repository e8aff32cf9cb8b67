#include <simdjson.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "checks.h"
#include "query/duck_for_tests.h"
#include "test_files.h"

// What `--json` prints, held against docs/schemas.
namespace fathom::test {
namespace {

namespace fs = std::filesystem;
namespace dom = simdjson::dom;

// The part of JSON Schema that docs/schemas uses: type, required, properties, items and
// additionalProperties. Another key is a mistake of the schema.
class SchemaCheck {
 public:
  std::vector<std::string> problems;

  void check(dom::element schema, dom::element value, const std::string& place) {
    if (problems.size() > 5) return;
    dom::element part;
    if (schema["type"].get(part) == simdjson::SUCCESS && !fits(part, value)) {
      problems.push_back(place + " is " + simdjson::minify(value).substr(0, 60) + ", expected " +
                         simdjson::minify(part));
      return;
    }
    dom::object object;
    if (value.get(object) == simdjson::SUCCESS) check_object(schema, object, place);
    dom::array array;
    if (value.get(array) == simdjson::SUCCESS && schema["items"].get(part) == simdjson::SUCCESS) {
      size_t index = 0;
      for (const dom::element item : array)
        check(part, item, place + "[" + std::to_string(index++) + "]");
    }
  }

  // Whether the schema itself uses only what is checked.
  void check_schema(dom::element schema, const std::string& place) {
    static const std::set<std::string_view> known = {
        "$schema", "title", "type", "required", "properties", "items", "additionalProperties"};
    for (const dom::key_value_pair& pair : dom::object(schema)) {
      if (!known.contains(pair.key)) problems.push_back(place + ": " + std::string(pair.key));
      if (pair.key == "properties")
        for (const dom::key_value_pair& member : dom::object(pair.value))
          check_schema(member.value, place + "." + std::string(member.key));
      if (pair.key == "items" || pair.key == "additionalProperties")
        check_schema(pair.value, place + "." + std::string(pair.key));
    }
  }

 private:
  static bool is_of(std::string_view type, dom::element value) {
    switch (value.type()) {
      case dom::element_type::OBJECT:
        return type == "object";
      case dom::element_type::ARRAY:
        return type == "array";
      case dom::element_type::STRING:
        return type == "string";
      case dom::element_type::INT64:
      case dom::element_type::UINT64:
        return type == "integer" || type == "number";
      case dom::element_type::DOUBLE:
        return type == "number";
      case dom::element_type::BOOL:
        return type == "boolean";
      default:
        return type == "null";
    }
  }
  static bool fits(dom::element types, dom::element value) {
    dom::array several;
    if (types.get(several) != simdjson::SUCCESS) return is_of(std::string_view(types), value);
    for (const dom::element type : several)
      if (is_of(std::string_view(type), value)) return true;
    return false;
  }
  void check_object(dom::element schema, dom::object object, const std::string& place) {
    dom::element part, found;
    if (schema["required"].get(part) == simdjson::SUCCESS)
      for (const dom::element name : dom::array(part))
        if (object.at_key(std::string_view(name)).get(found) != simdjson::SUCCESS)
          problems.push_back(place + " has no " + std::string(std::string_view(name)));
    dom::element properties, others;
    const bool has_properties = schema["properties"].get(properties) == simdjson::SUCCESS;
    const bool has_others = schema["additionalProperties"].get(others) == simdjson::SUCCESS;
    for (const dom::key_value_pair& member : object) {
      const std::string at = place + "." + std::string(member.key);
      if (has_properties && properties[member.key].get(part) == simdjson::SUCCESS)
        check(part, member.value, at);
      else if (has_others)
        check(others, member.value, at);
    }
  }
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

fs::path schema_path(const std::string& name) {
  return source_dir() / "docs/schemas" / (name + ".schema.json");
}

void put_inputs(const fs::path& folder) {
  fs::create_directory_symlink(source_dir() / "examples", folder / "examples");
  fs::create_directory_symlink(source_dir() / "fuzz/corpus", folder / "corpus");
  fs::create_symlink(source_dir() / "bench/make_ranks.py", folder / "made_ranks.py");
  write_file(folder / "cpu.json",
             R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,)"
             R"("ts":1,"dur":50,"args":{"Input Dims":[[4,4],[4,4]]}}]})");
  write_file(folder / "host.json",
             R"({"traceEvents": [{"ph":"X","cat":"user_annotation","name":"load","pid":1,"tid":1,)"
             R"("ts":1,"dur":50},{"ph":"C","name":"memory","pid":1,"tid":1,"ts":3,)"
             R"("args":{"bytes":7}}]})");
  write_file(folder / "one.json",
             R"({"traceEvents": [{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,)"
             R"("dur":5,"args":{"device":0,"stream":7}}, {"ph":"X","cat":"kernel","name":"cut)");
  fs::create_directory(folder / "suite");
  write_file(folder / "suite/suite.toml",
             "title = \"Two echoes\"\nobjective = \"Say the same faster.\"\n"
             "[run]\ncommand = [\"sh\", \"-c\", \"echo time_us = {time}\"]\nrepetitions = 8\n"
             "[time]\npattern = \"time_us = {float}\"\nunit = \"us\"\n"
             "[[variant]]\nname = \"slow\"\nvalues = { time = 5 }\n"
             "[[variant]]\nname = \"fast\"\nvalues = { time = 4 }\n");
}

struct Output {
  std::string schema, command;
};
std::vector<Output> listed_outputs() {
  std::vector<Output> outputs;
  for (const DataRow& row : read_data_rows(source_dir() / "tests/schemas/outputs.tsv"))
    if (row.cells[0] != "schema") outputs.push_back({row.cells[0], row.cells[1]});
  return outputs;
}

class JsonSchemas : public testing::TestWithParam<std::string> {};

TEST_P(JsonSchemas, OutputsFit) {
  if (GetParam() == "query" || GetParam() == "fleet-status") NEEDS_DUCKDB();
  dom::parser schema_parser;
  const dom::element schema = schema_parser.load(schema_path(GetParam()).string()).value();
  SchemaCheck itself;
  itself.check_schema(schema, GetParam());
  ASSERT_TRUE(itself.problems.empty()) << joined(itself.problems);
  const std::string binaries = fs::path(fathom_binary()).parent_path().string();
  const bool has_python = run_command("command -v python3", source_dir()).exit_code == 0;
  for (const Output& output : listed_outputs()) {
    if (output.schema != GetParam()) continue;
    if (output.command.starts_with("python3") && !has_python) continue;
    const TemporaryDirectory folder;
    put_inputs(folder.path());
    const CommandResult run =
        run_command("PATH=" + binaries + ":$PATH; " + output.command, folder.path());
    dom::parser parser;
    dom::element value;
    ASSERT_EQ(parser.parse(run.output).get(value), simdjson::SUCCESS)
        << output.command << "\n"
        << run.output.substr(0, 200) << run.errors;
    SchemaCheck check;
    check.check(schema, value, "");
    EXPECT_TRUE(check.problems.empty()) << output.command << "\n" << joined(check.problems);
  }
}

std::vector<std::string> listed_schemas() {
  std::set<std::string> names;
  for (const Output& output : listed_outputs()) names.insert(output.schema);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(All, JsonSchemas, testing::ValuesIn(listed_schemas()),
                         [](const auto& schema) {
                           std::string name = schema.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The commands that a help lists.
std::vector<std::string> subcommands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  bool is_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) is_list = line == "Subcommands:";
    if (is_list && line.starts_with("  ") && line.size() > 4 && line[2] >= 'a' && line[2] <= 'z')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

// Those below a command that have --json, each as "fathom NAME ".
void find_json_commands(const std::string& command, std::vector<std::string>& found) {
  const std::string help = run_command(fathom_binary() + command + " --help", source_dir()).output;
  if (help.find("\n  --json") != std::string::npos) found.push_back("fathom" + command + " ");
  if (std::ranges::count(command, ' ') == 2) return;  // commands have two words at most
  for (const std::string& name : subcommands_in(help))
    find_json_commands(command + " " + name, found);
}

TEST(JsonSchemas, EveryCommandWithJsonIsListed) {
  std::string commands;
  for (const Output& output : listed_outputs()) commands += output.command + "\n";
  std::vector<std::string> found;
  find_json_commands("", found);
  EXPECT_GE(found.size(), 12u);
  for (const std::string& command : found)
    EXPECT_NE(commands.find(command), std::string::npos)
        << command << "--json has no row in tests/schemas/outputs.tsv";
}

TEST(JsonSchemas, CheckFindsWhatDoesNotFit) {
  dom::parser schema_parser, parser;
  const dom::element schema =
      schema_parser
          .parse(std::string_view(R"({"type":"object","required":["a"],"properties":)"
                                  R"({"a":{"type":["integer","null"]},"b":{"type":"array",)"
                                  R"("items":{"type":"string"}}}})"))
          .value();
  const auto fits = [&](std::string_view json) {
    SchemaCheck check;
    check.check(schema, parser.parse(json).value(), "");
    return check.problems.empty();
  };
  EXPECT_TRUE(fits(R"({"a":1})"));
  EXPECT_TRUE(fits(R"({"a":null,"b":["x"],"c":{}})"));
  EXPECT_FALSE(fits(R"({"b":[]})"));
  EXPECT_FALSE(fits(R"({"a":1.5})"));
  EXPECT_FALSE(fits(R"({"a":1,"b":["x",2]})"));
  EXPECT_FALSE(fits("[]"));
}

}  // namespace
}  // namespace fathom::test
