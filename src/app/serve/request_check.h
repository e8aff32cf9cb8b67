#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/serve/http_server.h"

namespace fathom {

// Who may ask: the token is in the address that was printed.
struct ServerAccess {
  std::string token;
  uint16_t port = 0;
};

// 128 random bits in hexadecimal; nothing where the system has none to give.
std::optional<std::string> random_token();

// The parts of a path behind the token, decoded: "/TOKEN/r/0/a%20b" → r, 0, "a b"; a last empty
// part for a "/" at the end. Or the answer that refuses the request: a Host or Origin that is not
// this server's (DNS rebinding, another site's page), a wrong token, a method other than GET and
// HEAD, a path with ".." or anything else that names no file of a report.
struct CheckedRequest {
  std::vector<std::string> parts;
  std::optional<HttpAnswer> refusal;
};
CheckedRequest check_request(const HttpRequest& request, const ServerAccess& access);

// A sentence as an answer.
HttpAnswer plain_answer(int status, std::string_view text);

}  // namespace fathom
