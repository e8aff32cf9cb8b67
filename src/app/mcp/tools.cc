#include "app/mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/utf8.h"

namespace fathom {
namespace {

using Kind = ToolArguments::Kind;

constexpr ToolParameter kTrace = {"trace", Kind::kText, true, "Path of the trace or capture"};
constexpr ToolParameter kOpenParameters[] = {
    kTrace,
    {"counters", Kind::kList, false, "Files of hardware counters (ncu CSV or .ncu-rep, rocprof)"},
    {"repo", Kind::kText, false, "Repository of the kernels: adds source locations"},
    {"platform", Kind::kText, false, "GPU to compute limits for (default: the trace's)"},
    {"steps", Kind::kText, false, "Only these steps, such as 2:5 (default: the whole trace)"}};
constexpr ToolParameter kSummaryParameters[] = {kTrace};
constexpr ToolParameter kFindingsParameters[] = {
    kTrace, {"finding", Kind::kNumber, false, "Number of one finding: all that is known of it"}};
constexpr ToolParameter kStoryParameters[] = {
    kTrace,
    {"phase", Kind::kText, false, "Only phases of this name, such as decode"},
    {"op", Kind::kText, false, "Only ops of this name, such as aten::mm"},
    {"module", Kind::kText, false, "Only work below Python modules of this name"}};
constexpr ToolParameter kKernelParameters[] = {
    kTrace, {"kernel", Kind::kText, true, "Name or pattern (* and ?) of the kernel"}};
constexpr ToolParameter kQueryParameters[] = {
    {"trace", Kind::kText, true, "Path of the trace, or of a directory of fathom export"},
    {"sql", Kind::kText, false, "One SELECT in DuckDB's SQL, or the name of a shipped question"},
    {"schema", Kind::kText, false, "Instead of sql: a table's name to print its columns, or all"},
    {"rows", Kind::kNumber, false, "Rows to print (default: 50)"}};
constexpr ToolParameter kDiffParameters[] = {{"a", Kind::kText, true, "Trace before"},
                                             {"b", Kind::kText, true, "Trace after"}};
constexpr ToolParameter kRanksParameters[] = {
    {"traces", Kind::kList, true, "A folder with the traces of the ranks, or the traces"}};
constexpr ToolParameter kScanParameters[] = {
    {"repo", Kind::kText, true, "Folder of the source code"},
    {"part", Kind::kText, false,
     "A list in full: kernels, options, entry_points, dependencies, host_functions, components, "
     "features, modules, api, request_path, doc_claims or files"}};

constexpr Tool kTools[] = {
    {"open",
     "Open a GPU trace, with counters and source code if there are any. Returns what it contains.",
     kOpenParameters, open_tool},
    {"summary", "Where the time goes: busy and idle time with causes, top ops, limits, findings.",
     kSummaryParameters, summary_tool},
    {"findings",
     "What costs time and could cost less, the most to save first, with cause, place and change.",
     kFindingsParameters, findings_tool},
    {"story", "What happened when: phases, timeline, hardware state, transitions, insight.",
     kStoryParameters, story_tool},
    {"kernel", "All that is known of a kernel: runs, shape, occupancy, counters, code, limits.",
     kKernelParameters, kernel_tool},
    {"query", "Ask the trace's tables (events, kernels, ops, gaps, findings …) in SQL, read-only.",
     kQueryParameters, query_tool},
    {"diff", "Compare two traces: what became slower or faster, op by op.", kDiffParameters,
     diff_tool},
    {"ranks",
     "Compare ranks of one job, clocks aligned by collectives: which rank is late and why, waiting "
     "apart from transfer, the critical path across ranks.",
     kRanksParameters, ranks_tool},
    {"scan", "Read a repository: kernels with places, launch sites, options, features.",
     kScanParameters, scan_tool},
    {"doctor",
     "Check this machine: GPUs, drivers, permissions, what can be measured.",
     {},
     doctor_tool},
};

std::string_view type_name(Kind kind) {
  return kind == Kind::kNumber ? "integer" : kind == Kind::kList ? "array" : "string";
}

// What is wrong with the arguments; empty: nothing.
std::string mistake_in(const Tool& tool, const ToolArguments& arguments) {
  for (const auto& [name, value] : arguments.values) {
    const auto known = std::ranges::find(tool.parameters, name, &ToolParameter::name);
    if (known == tool.parameters.end()) {
      std::string names;
      for (const ToolParameter& p : tool.parameters)
        names += (names.empty() ? "" : ", ") + std::string(p.name);
      return fmt::format("{} has no argument '{}'; it has: {}", tool.name, name,
                         names.empty() ? "none" : names);
    }
    if (value.kind != known->kind)
      return fmt::format("argument '{}' must be {} {}", name,
                         known->kind == Kind::kText ? "a" : "an", type_name(known->kind));
  }
  for (const ToolParameter& p : tool.parameters)
    if (p.required && arguments.text(p.name).empty() && arguments.list(p.name).empty())
      return fmt::format("argument '{}' is missing: {}", p.name, p.text);
  return {};
}

}  // namespace

std::span<const Tool> tools() { return kTools; }

std::string tools_json() {
  JsonWriter json(false);
  json.begin_object().key("tools").begin_array();
  for (const Tool& tool : kTools) {
    json.begin_object().key("name").value(tool.name).key("description").value(tool.text);
    json.key("inputSchema").begin_object().key("type").value("object");
    json.key("properties").begin_object();
    for (const ToolParameter& p : tool.parameters) {
      json.key(p.name).begin_object().key("type").value(type_name(p.kind));
      if (p.kind == Kind::kList)
        json.key("items").begin_object().key("type").value("string").end_object();
      json.key("description").value(p.text).end_object();
    }
    json.end_object().key("required").begin_array();
    for (const ToolParameter& p : tool.parameters)
      if (p.required) json.value(p.name);
    json.end_array().key("additionalProperties").value(false).end_object();
    json.key("annotations").begin_object().key("readOnlyHint").value(true).end_object();
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string within_limit(std::string text) {
  constexpr size_t kMost = 24'000;
  if (text.size() <= kMost) return text;
  const size_t last = text.rfind("\nNext: ");
  const std::string next = last == std::string::npos ? "" : text.substr(last + 1);
  const size_t line = text.rfind('\n', kMost);
  const size_t end = line == std::string::npos ? text.find('\n') : line;
  const size_t left_out = text.size() - std::min(end + 1, text.size()) - next.size();
  if (line == std::string::npos) {  // one line of many columns
    text = with_valid_utf8(std::string_view(text).substr(0, kMost)) + "\n";
  } else {
    text.resize(end + 1);
  }
  return text + fmt::format("… {} more bytes; narrow the request\n", left_out) +
         next.substr(0, 1000);
}

ToolAnswer call_tool(const Tool& tool, TraceShelf& shelf, const ToolArguments& arguments) {
  if (std::string mistake = mistake_in(tool, arguments); !mistake.empty())
    return {std::move(mistake), true};
  const Result<std::string> answer = tool.run(shelf, arguments);
  if (!answer.ok()) return {within_limit(with_unseen_escaped(answer.error().message)), true};
  return {within_limit(answer.value()), false};
}

}  // namespace fathom
