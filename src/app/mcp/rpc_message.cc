#include "app/mcp/rpc_message.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

std::string text_of(dom::element value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::string member_text(dom::object object, std::string_view name) {
  dom::element value;
  return object.at_key(name).get(value) == simdjson::SUCCESS ? text_of(value) : std::string();
}

ToolArguments::Value value_of(dom::element element) {
  ToolArguments::Value value;
  dom::array list;
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) {
    value.kind = ToolArguments::Kind::kText;
    value.text = text;
  } else if (element.get(value.number) == simdjson::SUCCESS) {
    value.kind = ToolArguments::Kind::kNumber;
  } else if (element.get(list) == simdjson::SUCCESS) {
    value.kind = ToolArguments::Kind::kList;
    for (const dom::element item : list) {
      if (!item.is_string()) value.kind = ToolArguments::Kind::kOther;
      value.list.push_back(text_of(item));
    }
  }
  return value;
}

constexpr std::string_view kNoId = "null";  // something else than a number or a text

// A number or a text, as JSON; empty: there is none.
std::string id_of(dom::object object, std::string_view name = "id") {
  dom::element id;
  if (object.at_key(name).get(id) != simdjson::SUCCESS) return {};
  std::string_view text;
  int64_t number = 0;
  uint64_t large = 0;
  if (id.get(text) == simdjson::SUCCESS) return json_quoted(text);
  if (id.get(number) == simdjson::SUCCESS) return std::to_string(number);
  if (id.get(large) == simdjson::SUCCESS) return std::to_string(large);
  return std::string(kNoId);
}

void read_parameters(dom::object object, RpcMessage& message) {
  dom::object parameters, arguments;
  if (object.at_key("params").get(parameters) != simdjson::SUCCESS) return;
  message.tool = member_text(parameters, "name");
  message.protocol = member_text(parameters, "protocolVersion");
  message.cancels = id_of(parameters, "requestId");
  if (parameters.at_key("arguments").get(arguments) != simdjson::SUCCESS) return;
  for (const dom::key_value_pair& pair : arguments)
    message.arguments.values.emplace(std::string(pair.key), value_of(pair.value));
}

}  // namespace

std::string ToolArguments::text(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second.text;
}

std::vector<std::string> ToolArguments::list(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::vector<std::string>() : found->second.list;
}

std::optional<int64_t> ToolArguments::number(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end() || found->second.kind != Kind::kNumber) return {};
  return found->second.number;
}

RpcRead read_message(std::string_view line) {
  RpcRead read;
  dom::parser parser;
  dom::element root;
  if (parser.parse(line.data(), line.size()).get(root) != simdjson::SUCCESS) {
    read.why = "the line is no JSON";
    return read;
  }
  dom::object object;
  read.error = RpcError::kInvalidRequest;
  if (root.get(object) != simdjson::SUCCESS) {
    read.why = "expected one object on a line";
    return read;
  }
  RpcMessage message;
  message.id = id_of(object);
  message.method = member_text(object, "method");
  dom::element other;
  if (message.method.empty()) {
    read.is_answer = object.at_key("result").get(other) == simdjson::SUCCESS ||
                     object.at_key("error").get(other) == simdjson::SUCCESS;
    read.why = "the object has no method";
    return read;
  }
  if (message.id == kNoId) {
    read.why = "an id is a text or a whole number";
    return read;
  }
  read_parameters(object, message);
  read.message = std::move(message);
  return read;
}

std::string result_line(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result) + "\n";
}

std::string error_line(std::string_view id, RpcError error, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})",
                     id.empty() ? "null" : id, static_cast<int>(error), json_quoted(message)) +
         "\n";
}

}  // namespace fathom
