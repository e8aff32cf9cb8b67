#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace fathom {

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method;
  std::string target;  // as it was sent
  std::vector<HttpHeader> headers;

  // Of all headers of this name; `name` is in lower case.
  std::vector<std::string> values(std::string_view name) const;
};

// What is new for one reader of events since `seen`, which it updates; empty: nothing.
using EventsSince = std::function<std::string(uint64_t& seen)>;

struct HttpAnswer {
  int status = 200;
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  FileDescriptor file = {};  // sent instead of the body
  uint64_t file_size = 0;
  EventsSince events = {};  // sent until either side ends it
};

// HTTP/1.1 on 127.0.0.1 and no other address. Transport only: what is answered is the caller's.
// What a client may cost is bounded: bytes of headers, no request body, connections, and time for
// each request and each part of an answer.
class HttpServer {
 public:
  // 0: a free port. Fails where Boost was absent when the program was built.
  static Result<HttpServer> bind(uint16_t port);
  HttpServer(HttpServer&&) noexcept;
  ~HttpServer();

  uint16_t port() const;
  // Until SIGINT, SIGTERM or SIGHUP.
  Status run(std::function<HttpAnswer(const HttpRequest&)> answer);

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace fathom
