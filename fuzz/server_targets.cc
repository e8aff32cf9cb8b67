// What the servers are sent: messages of `fathom mcp`, requests of `fathom serve`.
#include <algorithm>
#include <string>
#include <string_view>

#include "app/mcp/rpc_message.h"
#include "app/serve/request_check.h"
#include "base/check.h"
#include "targets.h"

namespace fathom::fuzz {
namespace {

// The text before the next `end`, which is taken away with it.
std::string_view take_until(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

// What a client gets is one line that it can read as an answer.
void check_answer(const std::string& line) {
  CHECK(line.find('\n') == line.size() - 1);
  const RpcRead read = read_message(std::string_view(line).substr(0, line.size() - 1));
  CHECK(read.is_answer && !read.message);
}

}  // namespace

void rpc_messages(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const RpcRead read = read_message(take_until(rest, '\n'));
    if (!read.message) {
      if (!read.is_answer) check_answer(error_line("", read.error, read.why));
      continue;
    }
    const RpcMessage& message = *read.message;
    for (const auto& [name, value] : message.arguments.values) {
      (void)message.arguments.text(name);
      (void)message.arguments.list(name);
      (void)message.arguments.number(name);
    }
    if (message.id.empty()) continue;
    check_answer(result_line(message.id, "{}"));
    check_answer(error_line(message.id, RpcError::kNoMethod, message.method + message.tool));
  }
}

void request_targets(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  HttpRequest request;
  request.method = take_until(rest, ' ');
  request.target = take_until(rest, '\n');
  while (!rest.empty()) {
    const std::string_view name = take_until(rest, ':');
    request.headers.push_back({std::string(name), std::string(take_until(rest, '\n'))});
  }
  const ServerAccess access{"0123456789abcdef0123456789abcdef", 8080};
  const CheckedRequest checked = check_request(request, access);
  if (checked.refusal) {
    CHECK(checked.refusal->status >= 400 && checked.parts.empty());
    return;
  }
  CHECK(request.target.find(access.token) == 1);
  for (const std::string& part : checked.parts) {
    // A name in a folder, which leads to no other folder and to nothing hidden.
    CHECK(!part.starts_with('.') && part.find_first_of(std::string_view("/\\\0", 3)) == part.npos);
    CHECK(!part.empty() || &part == &checked.parts.back());
  }
}

}  // namespace fathom::fuzz
