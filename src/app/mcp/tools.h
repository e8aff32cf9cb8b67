#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/mcp/rpc_message.h"
#include "app/mcp/trace_shelf.h"
#include "base/result.h"

namespace fathom {

struct ToolParameter {
  std::string_view name;
  ToolArguments::Kind kind;
  bool required;
  std::string_view text;
};

struct Tool {
  std::string_view name, text;
  std::span<const ToolParameter> parameters;
  Result<std::string> (*run)(TraceShelf& shelf, const ToolArguments& arguments);
};

// All of them; tools/list is made of it.
std::span<const Tool> tools();
std::string tools_json();

// The tool's answer for the client, or what went wrong in words that it can act on.
struct ToolAnswer {
  std::string text;
  bool is_error = false;
};
ToolAnswer call_tool(const Tool& tool, TraceShelf& shelf, const ToolArguments& arguments);

// What a model reads at once. Cut where a line ends; the last line, the next question, stays.
std::string within_limit(std::string text);

// The tools, by what they are about.
Result<std::string> open_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> summary_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> findings_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> story_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> kernel_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> query_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> diff_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> ranks_tool(TraceShelf& shelf, const ToolArguments& arguments);
Result<std::string> scan_tool(TraceShelf& shelf, const ToolArguments& a);
Result<std::string> doctor_tool(TraceShelf& shelf, const ToolArguments& a);

}  // namespace fathom
