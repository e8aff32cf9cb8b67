#include "app/serve/request_check.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

namespace fathom {
namespace {

constexpr size_t kLongestTarget = 4096;

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower_letter(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// Hidden files are the program's own: manifest, staging.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::ranges::none_of(name, [](char c) {
    return c == '/' || c == '\\' || c == '\x7f' || (static_cast<unsigned char>(c) < 0x20);
  });
}

// Takes as long for a wrong first character as for a wrong last one.
bool is_same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < secret.size(); ++i)
    different = static_cast<unsigned char>(different | (given[i] ^ secret[i]));
  return different == 0;
}

bool is_own_host(std::string_view host, uint16_t port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port) ||
         (port == 80 && (host == "127.0.0.1" || host == "localhost"));
}

// A page of another site may lead here, as a link does, but not read or embed what is here.
bool is_foreign(const HttpRequest& request, std::string_view host) {
  for (const std::string& origin : request.values("origin"))
    if (origin != fmt::format("http://{}", host)) return true;
  const std::vector<std::string> sites = request.values("sec-fetch-site");
  const bool is_own = std::ranges::all_of(
      sites, [](const std::string& site) { return site == "same-origin" || site == "none"; });
  if (is_own) return false;
  return request.values("sec-fetch-mode") != std::vector<std::string>{"navigate"} ||
         request.values("sec-fetch-dest") != std::vector<std::string>{"document"};
}

}  // namespace

std::vector<std::string> HttpRequest::values(std::string_view name) const {
  std::vector<std::string> found;
  for (const HttpHeader& header : headers)
    if (std::ranges::equal(header.name, name, {}, lower_letter)) found.push_back(header.value);
  return found;
}

std::optional<std::string> random_token() {
  std::array<unsigned char, 16> bytes = {};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

HttpAnswer plain_answer(int status, std::string_view text) {
  HttpAnswer answer;
  answer.status = status;
  answer.headers = {{"Content-Type", "text/plain; charset=utf-8"},
                    {"X-Content-Type-Options", "nosniff"},
                    {"Cross-Origin-Resource-Policy", "same-origin"},
                    {"Cache-Control", "no-store"}};
  answer.body = std::string(text) + "\n";
  return answer;
}

CheckedRequest check_request(const HttpRequest& request, const ServerAccess& access) {
  const auto refuse = [](int status, std::string_view text) {
    return CheckedRequest{{}, plain_answer(status, text)};
  };
  const std::vector<std::string> hosts = request.values("host");
  if (hosts.size() != 1 || !is_own_host(hosts.front(), access.port))
    return refuse(403, "refused: the Host is not this server's; use the address it printed");
  if (is_foreign(request, hosts.front()))
    return refuse(403, "refused: the request comes from another site's page");
  if (request.method != "GET" && request.method != "HEAD") {
    CheckedRequest refused = refuse(405, "refused: only GET and HEAD are answered");
    refused.refusal->headers.push_back({"Allow", "GET, HEAD"});
    return refused;
  }
  std::string_view path = request.target;
  path = path.substr(0, path.find('?'));
  if (path.size() > kLongestTarget || !path.starts_with('/'))
    return refuse(400, "refused: the path does not begin with / or is too long");
  path.remove_prefix(1);
  const size_t slash = path.find('/');
  if (!is_same_secret(path.substr(0, slash), access.token))
    return refuse(403, "refused: the token is wrong or missing; use the address that was printed");
  CheckedRequest checked;
  while (!path.empty() && path.find('/') != std::string_view::npos) {
    path.remove_prefix(path.find('/') + 1);
    const std::string_view part = path.substr(0, path.find('/'));
    const bool is_last = part.size() == path.size();
    const std::optional<std::string> name = decoded(part);
    if (!name || (!is_plain_name(*name) && !(is_last && part.empty())))
      return refuse(400, "refused: the path is not a file of a report");
    checked.parts.push_back(*name);
  }
  return checked;
}

}  // namespace fathom
