#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Messages of JSON-RPC 2.0, one on each line, as the Model Context Protocol sends them.
namespace fathom {

enum class RpcError : int {
  kParse = -32700,
  kInvalidRequest = -32600,
  kNoMethod = -32601,
  kInvalidParameters = -32602,
  kInternal = -32603
};

// What a tool is called with: texts, whole numbers and lists of texts.
struct ToolArguments {
  enum class Kind { kText, kNumber, kList, kOther };
  struct Value {
    Kind kind = Kind::kOther;
    std::string text;
    int64_t number = 0;
    std::vector<std::string> list;
  };
  std::map<std::string, Value, std::less<>> values;

  // Empty where it was not given.
  std::string text(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;
  std::optional<int64_t> number(std::string_view name) const;
};

struct RpcMessage {
  std::string id;  // as JSON; empty: a notification, which gets no answer
  std::string method;
  std::string tool, protocol;  // of tools/call and initialize; else empty
  std::string cancels;         // of notifications/cancelled: the id, as JSON
  ToolArguments arguments;
};

struct RpcRead {
  std::optional<RpcMessage> message;  // none: the error
  RpcError error = RpcError::kParse;
  std::string why;
  bool is_answer = false;  // the client's answer to something: nothing is to be done
};
RpcRead read_message(std::string_view line);

// One line each. `result` is JSON.
std::string result_line(std::string_view id, std::string_view result);
std::string error_line(std::string_view id, RpcError error, std::string_view message);

}  // namespace fathom
