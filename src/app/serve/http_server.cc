// The only file that includes Boost.Beast: it takes longer to compile than the rest of the folder.
#include "app/serve/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <chrono>
#include <csignal>
#include <optional>
namespace fathom {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kHeaderBytes = 16 << 10;
constexpr size_t kMostConnections = 64;
constexpr size_t kMostEventStreams = 16;
constexpr auto kRequestTime = seconds(5);  // for a whole request: a slow sender has no more
constexpr auto kPartTime = seconds(20);    // for each part of an answer
constexpr size_t kPartBytes = 256 << 10;
constexpr auto kLookEvery = milliseconds(200);
constexpr int kSilentLooks = 50;  // then a comment, which shows that both sides are there
constexpr size_t kDrainBytes = 256 << 10;

struct Limits {
  size_t connections = 0, streams = 0;
};

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 301:
      return "Moved Permanently";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

// One connection. Handlers hold it; it ends with the last of them.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Limits& limits,
             const std::function<HttpAnswer(const HttpRequest&)>& answer)
      : stream_(std::move(socket)),
        timer_(stream_.get_executor()),
        limits_(limits),
        answer_(answer) {
    ++limits_.connections;
  }
  ~Connection() {
    --limits_.connections;
    if (streams_) --limits_.streams;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytes);
    stream_.expires_after(kRequestTime);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t /*bytes*/) { self->reply(error); });
  }

 private:
  void reply(error_code error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse(431, "the request's headers are over 16 kB\n");
    if (error == http::error::unexpected_body || error == http::error::body_limit)
      return refuse(413, "a request has no body here\n");
    // The client is gone or was too slow; what is left is the parser's.
    const bool is_parsed = error.category() == make_error_code(http::error::bad_method).category();
    if (error == http::error::end_of_stream || (error && !is_parsed)) return end();
    if (error) return refuse(400, "this is no HTTP/1.1 request\n");
    HttpRequest request;
    const auto& message = parser_->get();
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message)
      request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    keep_ = message.keep_alive();
    is_head_ = request.method == "HEAD";
    send(answer_(request));
  }

  void refuse(int status, std::string_view text) {
    keep_ = false;
    is_head_ = false;
    HttpAnswer refusal;
    refusal.status = status;
    refusal.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
    refusal.body = text;
    send(std::move(refusal));
  }

  void send(HttpAnswer answer) {
    if (answer.events && !is_head_) {
      if (limits_.streams >= kMostEventStreams)
        return refuse(503, "too many pages are watching; close one\n");
      ++limits_.streams;
      streams_ = true;
      keep_ = false;
    }
    current_ = std::move(answer);
    left_ = current_.file.ok() ? current_.file_size : 0;
    part_ = fmt::format("HTTP/1.1 {} {}\r\n", current_.status, reason(current_.status));
    for (const HttpHeader& header : current_.headers)
      part_ += fmt::format("{}: {}\r\n", header.name, header.value);
    if (!streams_)
      part_ += fmt::format("Content-Length: {}\r\n",
                           current_.file.ok() ? current_.file_size : current_.body.size());
    part_ += keep_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
    if (is_head_) {
      left_ = 0;
    } else if (!current_.file.ok()) {
      part_ += current_.body;
    }
    write_part();
  }

  void write_part() {
    stream_.expires_after(kPartTime);
    asio::async_write(
        stream_, asio::buffer(part_),
        [self = shared_from_this()](error_code error, size_t /*bytes*/) { self->go_on(error); });
  }

  void go_on(error_code error) {
    if (error) return end();
    if (streams_) return wait_for_events();
    if (left_ == 0) {
      if (keep_) return read();
      return drain();
    }
    part_.resize(std::min<uint64_t>(left_, kPartBytes));
    const ssize_t got = ::read(current_.file.get(), part_.data(), part_.size());
    if (got <= 0) return end();  // cut short since: the client sees that bytes are missing
    part_.resize(static_cast<size_t>(got));
    left_ -= static_cast<uint64_t>(got);
    write_part();
  }

  void wait_for_events() {
    stream_.expires_never();
    timer_.expires_after(kLookEvery);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (error) return;
      self->part_ = self->current_.events(self->seen_);
      if (self->part_.empty() && ++self->silent_ >= kSilentLooks) self->part_ = ":\n\n";
      if (self->part_.empty()) return self->wait_for_events();
      self->silent_ = 0;
      self->write_part();
    });
  }

  // A connection that is closed with bytes unread may take the answer with it.
  void drain() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(seconds(1));
    read_away();
  }
  void read_away() {
    stream_.async_read_some(asio::buffer(waste_),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              self->drained_ += bytes;
                              if (error || self->drained_ > kDrainBytes) return self->end();
                              self->read_away();
                            });
  }

  void end() {
    timer_.cancel();
    stream_.close();
  }

  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  Limits& limits_;
  const std::function<HttpAnswer(const HttpRequest&)>& answer_;
  beast::flat_buffer buffer_{kHeaderBytes + (4 << 10)};
  std::optional<http::request_parser<http::empty_body>> parser_;
  HttpAnswer current_;
  std::string part_;
  uint64_t left_ = 0;
  bool keep_ = false, is_head_ = false, streams_ = false;
  uint64_t seen_ = 0;
  int silent_ = 0;
  std::array<char, 4096> waste_ = {};
  size_t drained_ = 0;
};

// What started the program may have it ignored: nohup, a shell's background job.
bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

struct HttpServer::State {
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::signal_set signals{io};
  asio::steady_timer pause{io};
  Limits limits;
  std::function<HttpAnswer(const HttpRequest&)> answer;

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {  // no descriptors left: some will be free soon
        pause.expires_after(kLookEvery);
        pause.async_wait([this](error_code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      if (limits.connections < kMostConnections)
        std::make_shared<Connection>(std::move(socket), limits, answer)->read();
      accept();
    });
  }
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::bind(uint16_t port) {
  try {
    auto state = std::make_unique<State>();
    const tcp::endpoint place(asio::ip::address_v4::loopback(), port);
    error_code error;
    state->acceptor.open(place.protocol(), error);
    if (!error) fcntl(state->acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    if (!error) state->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) state->acceptor.bind(place, error);
    if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      const bool is_taken =
          error == asio::error::address_in_use || error == asio::error::access_denied;
      return Error{
          fmt::format("cannot listen on 127.0.0.1:{}: {}{}", port, error.message(),
                      is_taken ? "; choose another --port, or leave it out for a free one" : "")};
    }
    return HttpServer(std::move(state));
  } catch (const std::exception& error) {  // Asio's, where the system refuses it what it needs
    return Error{fmt::format("cannot start the server: {}", error.what())};
  }
}

uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

Status HttpServer::run(std::function<HttpAnswer(const HttpRequest&)> answer) {
  try {
    state_->answer = std::move(answer);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      if (!is_ignored(signal)) state_->signals.add(signal);
    state_->signals.async_wait([this](error_code /*error*/, int /*signal*/) { state_->io.stop(); });
    state_->accept();
    state_->io.run();
    return Nothing{};
  } catch (const std::exception& error) {
    return Error{fmt::format("the server ended: {}", error.what())};
  }
}

}  // namespace fathom
