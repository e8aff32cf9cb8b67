// Instead of http_server.cc where Boost's headers were not found.
#include "app/serve/http_server.h"

namespace fathom {

struct HttpServer::State {};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::bind(uint16_t /*port*/) {
  return Error{
      "this build has no server: Boost's headers (libboost-dev) were absent when it was built; run "
      "tools/setup --serve and build again, or open report.html from disk: it is the same page"};
}

uint16_t HttpServer::port() const { return 0; }
// NOLINTNEXTLINE(performance-unnecessary-value-param): the server that there is keeps it
Status HttpServer::run(std::function<HttpAnswer(const HttpRequest&)> /*answer*/) {
  return Nothing{};
}

}  // namespace fathom
