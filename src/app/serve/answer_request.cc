#include "app/serve/answer_request.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <string_view>

extern const std::string_view served_list_html;  // web/served/
extern const std::string_view served_list_css;
extern const std::string_view served_list_js;

namespace fathom {
namespace {

// The list shows reports in frames and asks this server for their summaries, and nobody else.
constexpr const char* kListPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "
    "'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// A report may come from anybody: it runs its own script, which the policy inside it names, in an
// origin of its own, so that it can ask this server for nothing.
constexpr const char* kReportPolicy =
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'; frame-ancestors 'self'";
constexpr const char* kFilePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

HttpAnswer answer_of(const char* type, const char* policy) {
  HttpAnswer answer;
  answer.headers = {{"Content-Type", type},
                    {"Content-Security-Policy", policy},
                    {"X-Content-Type-Options", "nosniff"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Resource-Policy", "same-origin"},
                    {"Cache-Control", "no-store"}};
  return answer;
}

HttpAnswer text_answer(const char* type, std::string_view text) {
  HttpAnswer answer = answer_of(type, kListPolicy);
  answer.body = std::string(text);
  return answer;
}

// Only the page of a report is ever HTML.
const char* type_of(std::string_view name) {
  struct Type {
    std::string_view end;
    const char* type;
  };
  constexpr Type kTypes[] = {
      {".json", "application/json"},
      {".csv", "text/csv; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".md", "text/plain; charset=utf-8"},
      {".txt", "text/plain; charset=utf-8"},
      {".toml", "text/plain; charset=utf-8"},
      {".tsv", "text/plain; charset=utf-8"},
      {".py", "text/plain; charset=utf-8"},
      {".html", "text/plain; charset=utf-8"},
      {".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
  };
  for (const Type& one : kTypes)
    if (name.ends_with(one.end)) return one.type;
  return "application/octet-stream";
}

HttpAnswer file_answer(const std::vector<std::string>& parts, const ServedReports& reports) {
  constexpr std::string_view kMissing = "there is no such file in the reports";
  size_t number = 0;
  const std::string& text = parts[1];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return plain_answer(404, kMissing);
  const std::vector<std::string> path(parts.begin() + 2, parts.end());
  FileDescriptor file = reports.open(number, path);
  struct stat status = {};
  if (!file.ok() || fstat(file.get(), &status) != 0) return plain_answer(404, kMissing);
  const bool is_page = path.size() == 1 && path[0] == "report.html";
  HttpAnswer answer = is_page ? answer_of("text/html; charset=utf-8", kReportPolicy)
                              : answer_of(type_of(path.back()), kFilePolicy);
  answer.file = std::move(file);
  answer.file_size = static_cast<uint64_t>(status.st_size);
  return answer;
}

}  // namespace

HttpAnswer answer_request(const HttpRequest& request, const ServerAccess& access,
                          const ServedReports& reports) {
  CheckedRequest checked = check_request(request, access);
  if (checked.refusal) return std::move(*checked.refusal);
  const std::vector<std::string>& parts = checked.parts;
  if (parts.empty()) {
    HttpAnswer moved = plain_answer(301, "the address ends with /");
    moved.headers.push_back({"Location", "/" + access.token + "/"});
    return moved;
  }
  if (parts.size() >= 3 && parts[0] == "r") return file_answer(parts, reports);
  if (parts.size() != 1) return plain_answer(404, "there is no such page");
  if (parts[0].empty()) return text_answer("text/html; charset=utf-8", served_list_html);
  if (parts[0] == "list.css") return text_answer("text/css; charset=utf-8", served_list_css);
  if (parts[0] == "list.js") return text_answer("text/javascript; charset=utf-8", served_list_js);
  if (parts[0] == "reports.json") return text_answer("application/json", reports.json());
  if (parts[0] != "events") return plain_answer(404, "there is no such page");
  HttpAnswer events = answer_of("text/event-stream", kListPolicy);
  events.events = [&reports](uint64_t& seen) {
    const uint64_t version = reports.version();
    if (version == seen) return std::string();
    seen = version;
    return fmt::format("data: {}\n\n", reports.json());
  };
  return events;
}

}  // namespace fathom
