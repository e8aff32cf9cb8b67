#include <simdjson.h>

#include <fstream>
#include <sstream>

#include "checks.h"
#include "query/duck_for_tests.h"
#include "test_files.h"

// Exchanges with `fathom mcp`: requests as a client sends them, and what the answers must hold.
namespace fathom::test {
namespace {

namespace fs = std::filesystem;
namespace dom = simdjson::dom;

struct Expected {
  int line;
  bool fails;
  std::string text;
};
struct Request {
  int line;
  std::string json;  // without id
  std::vector<Expected> expected;
};
struct Exchange {
  std::vector<Request> requests;
  bool needs_duckdb = false;
};

Exchange read_exchange(const fs::path& path) {
  Exchange exchange;
  std::ifstream in(path);
  std::string line, trace;
  for (int number = 1; std::getline(in, line); ++number) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    std::string rest = line.substr(std::min(space + 1, line.size()));
    if (word == "trace") trace = rest;
    if (word == "needs-duckdb") exchange.needs_duckdb = true;
    if (word == "has" || word == "fails")
      exchange.requests.back().expected.push_back({number, word == "fails", rest});
    if (word != "call") continue;
    const size_t end = rest.find(' ');
    std::string arguments = rest.substr(end + 1);
    for (size_t at; (at = arguments.find("TRACE")) != std::string::npos;)
      arguments.replace(at, 5, trace);
    exchange.requests.push_back({number,
                                 R"("method":"tools/call","params":{"name":")" +
                                     rest.substr(0, end) + R"(","arguments":)" + arguments + "}",
                                 {}});
  }
  return exchange;
}

// The answers by their lines.
std::vector<std::string> talk(const std::string& input, const std::string& options = "") {
  const TemporaryDirectory folder;
  write_file(folder.path() / "input", input);
  const CommandResult run =
      run_command(fathom_binary() + " mcp " + options + " <" + (folder.path() / "input").string(),
                  source_dir());
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  std::vector<std::string> lines;
  std::istringstream in(run.output);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

const char* kHello =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
    "\n"
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
    "\n";

std::vector<fs::path> exchange_files() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/mcp/exchanges"))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

class McpExchange : public testing::TestWithParam<fs::path> {};

TEST_P(McpExchange, AnswersHoldWhatIsExpected) {
  const Exchange exchange = read_exchange(GetParam());
  if (exchange.needs_duckdb) NEEDS_DUCKDB();
  std::string input = kHello;
  for (size_t i = 0; i < exchange.requests.size(); ++i)
    input += R"({"jsonrpc":"2.0","id":)" + std::to_string(i + 1) + "," + exchange.requests[i].json +
             "}\n";
  const std::vector<std::string> lines = talk(input);
  ASSERT_EQ(lines.size(), exchange.requests.size() + 1);
  for (size_t i = 0; i < exchange.requests.size(); ++i) {
    dom::parser parser;
    dom::element answer;
    ASSERT_EQ(parser.parse(lines[i + 1]).get(answer), simdjson::SUCCESS);
    EXPECT_EQ(int64_t(answer["id"]), static_cast<int64_t>(i + 1));
    const dom::element content = answer["result"]["content"].at(0);
    const std::string text{std::string_view(content["text"])};
    EXPECT_LT(text.size(), 25'000u) << "an answer is short";
    ASSERT_FALSE(exchange.requests[i].expected.empty());
    for (const Expected& expected : exchange.requests[i].expected) {
      EXPECT_EQ(bool(answer["result"]["isError"]), expected.fails)
          << "line " << expected.line << "\n"
          << text;
      EXPECT_NE(text.find(expected.text), std::string::npos)
          << "line " << expected.line << ": no '" << expected.text << "' in\n"
          << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, McpExchange, testing::ValuesIn(exchange_files()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(Mcp, SaysWhatItIsAndListsItsTools) {
  const std::vector<std::string> lines =
      talk(std::string(kHello) + R"({"jsonrpc":"2.0","id":"x","method":"tools/list"})" + "\n" +
           R"({"jsonrpc":"2.0","id":3,"method":"ping"})" + "\n");
  ASSERT_EQ(lines.size(), 3u);
  dom::parser parser;
  const dom::element hello = parser.parse(lines[0]).value();
  EXPECT_EQ(std::string_view(hello["result"]["protocolVersion"]), "2025-06-18");
  EXPECT_EQ(std::string_view(hello["result"]["serverInfo"]["name"]), "fathom");
  dom::parser other;
  const dom::element list = other.parse(lines[1]).value();
  EXPECT_EQ(std::string_view(list["id"]), "x");
  std::string names;
  for (const dom::element tool : list["result"]["tools"]) {
    names += std::string(std::string_view(tool["name"])) + " ";
    EXPECT_EQ(std::string_view(tool["inputSchema"]["type"]), "object");
    for (const dom::element required : tool["inputSchema"]["required"])
      EXPECT_EQ(tool["inputSchema"]["properties"][std::string_view(required)].error(),
                simdjson::SUCCESS);
  }
  EXPECT_EQ(names, "open summary findings story kernel query diff ranks scan doctor ");
  EXPECT_EQ(lines[2], R"({"jsonrpc":"2.0","id":3,"result":{}})");
}

TEST(Mcp, DamagedMessagesGetAnErrorAndItGoesOn) {
  const std::string ping = R"({"jsonrpc":"2.0","id":9,"method":"ping"})";
  for (const std::string& damaged :
       {std::string("garbage"), std::string("[1, 2]"), std::string("{}"), std::string("\"text\""),
        std::string(R"({"id":1.5,"method":"ping"})"), std::string(R"({"id":{},"method":"ping"})"),
        std::string(R"({"id":null,"method":"ping"})"),
        std::string(R"({"id":1,"method":"no/such"})"), std::string(R"({"id":1,"method":7})"),
        std::string(R"({"id":1,"method":"tools/call"})"),
        std::string(R"({"id":1,"method":"tools/call","params":{"name":"no_tool"}})"),
        std::string(R"({"id":1,"method":"tools/call","params":[]})"), std::string(5'000'000, 'x'),
        std::string(200'000, '['), std::string("\xff\xfe\x00{", 4)}) {
    const std::vector<std::string> lines = talk(damaged + "\n" + ping + "\n");
    ASSERT_EQ(lines.size(), 2u) << damaged.substr(0, 80);
    EXPECT_NE(lines[0].find("\"error\""), std::string::npos) << lines[0];
    EXPECT_EQ(lines[1], R"({"jsonrpc":"2.0","id":9,"result":{}})");
  }
  EXPECT_EQ(talk("{\"id\":18446744073709551615,\"method\":\"ping\"}\n"),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":18446744073709551615,"result":{}})"});
  // Notifications and answers get none; the last line may lack its end.
  EXPECT_EQ(talk("{\"method\":\"notifications/cancelled\"}\n\n{\"id\":3,\"result\":{}}\n" + ping),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":9,"result":{}})"});
}

TEST(Mcp, RootLimitsWhatIsOpened) {
  const auto open = [](const std::string& trace) {
    const std::vector<std::string> lines =
        talk(R"({"id":1,"method":"tools/call","params":{"name":"open","arguments":{"trace":")" +
                 trace + "\"}}}\n",
             "--root examples");
    return lines.size() == 1 ? lines[0] : std::string();
  };
  EXPECT_NE(open("examples/llama-h200.json.gz").find("\"isError\":false"), std::string::npos);
  for (const char* outside : {"tests/faults/recorded/item_per_layer.json.gz", "/etc/passwd",
                              "examples/../README.md", "examples-not"})
    EXPECT_NE(open(outside).find("is outside"), std::string::npos) << outside;
}

// DuckDB looks for an interrupt between chunks of rows: one that is computed for an hour has none.
TEST(Mcp, AQueryThatDoesNotStopEndsAlone) {
  NEEDS_DUCKDB();
  const auto query = [](int id, const std::string& sql) {
    return R"({"id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"query","arguments":{"trace":)"
           R"("examples/llama-h200.json.gz","sql":")" +
           sql + "\"}}}\n";
  };
  const std::vector<std::string> lines =
      talk(query(1, "SELECT levenshtein(repeat('ab', 1000000), repeat('ba', 1000000))") +
               query(2, "SELECT count(*) AS n FROM kernels") + query(3, "SELECT nothing FROM no"),
           "--time-limit 200ms");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("the query did not stop at its limit of 0.2 s"), std::string::npos);
  EXPECT_NE(lines[0].find("\"isError\":true"), std::string::npos);
  EXPECT_NE(lines[1].find("\"isError\":false"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("\"isError\":true"), std::string::npos) << lines[2];
}

std::string call(int id, const std::string& tool, const std::string& arguments) {
  return R"({"id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" + tool +
         R"(","arguments":{"trace":"examples/moe-h200.json.gz")" + arguments + "}}}\n";
}
std::string cancelled(int id) {
  return R"({"method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
         "}}\n";
}

TEST(Mcp, ACallThatIsTakenBackGetsNoAnswer) {
  const std::vector<std::string> lines = talk(call(1, "summary", "") + call(2, "findings", "") +
                                              call(3, "story", "") + cancelled(2) + cancelled(7));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find(R"("id":1,"result")"), std::string::npos);
  EXPECT_NE(lines[1].find(R"("id":3,"result")"), std::string::npos);
}

// While it runs; what was open before stays open, with what it was opened with.
TEST(Mcp, ARunningCallThatIsTakenBackEnds) {
  NEEDS_DUCKDB();
  const TemporaryDirectory folder;
  const std::string endless =
      R"x(,"sql":"SELECT levenshtein(repeat('ab', 1000000), repeat('ba', 1000000))")x";
  write_file(folder.path() / "first",
             call(1, "open", R"(,"platform":"mi300x")") + call(2, "query", endless));
  write_file(folder.path() / "then", R"({"id":9,"method":"ping"})"
                                     "\n" +
                                         cancelled(2) + call(3, "summary", ""));
  const std::string in = folder.path().string();
  const CommandResult run = run_command("(cat " + in + "/first; sleep 3; cat " + in + "/then) | " +
                                            fathom_binary() + " mcp --time-limit 60s",
                                        source_dir());
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  std::istringstream lines(run.output);
  std::string open, ping, summary;
  ASSERT_TRUE(std::getline(lines, open) && std::getline(lines, ping) &&
              std::getline(lines, summary))
      << run.output;
  EXPECT_EQ(ping, R"({"jsonrpc":"2.0","id":9,"result":{}})") << "answered while a tool is at work";
  EXPECT_NE(summary.find(R"("id":3,"result")"), std::string::npos);
  EXPECT_NE(summary.find("MI300X"), std::string::npos) << summary;
  EXPECT_FALSE(std::getline(lines, open)) << open;
}

// The official client, where node and its package are there (./dev test-mcp installs it).
TEST(Mcp, OfficialClientSolvesTheQuestion) {
  const fs::path client = source_dir() / "tests/mcp/client";
  if (run_command("command -v node", source_dir()).exit_code != 0)
    GTEST_SKIP() << "skipped: no node";
  if (!fs::exists(client / "node_modules/@modelcontextprotocol/sdk"))
    GTEST_SKIP() << "skipped: the client is not installed (./dev test-mcp)";
  const CommandResult run =
      run_command("node " + (client / "client.mjs").string() + " " + fathom_binary(), source_dir());
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
}

}  // namespace
}  // namespace fathom::test
