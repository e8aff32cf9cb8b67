#include "app/mcp/trace_shelf.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {

namespace fs = std::filesystem;

Status TraceShelf::check_path(const std::string& path) const {
  std::error_code error;
  // Standard input by another name is the client's, and a pipe may never end.
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return Error{fmt::format("{} is neither a file nor a folder", path)};
  if (root_.empty()) return Nothing{};
  const fs::path whole = fs::weakly_canonical(path, error);
  const auto differs = std::mismatch(root_.begin(), root_.end(), whole.begin(), whole.end()).first;
  if (!error && differs == root_.end()) return Nothing{};
  return Error{fmt::format("{} is outside {}, the only folder that this server opens (--root)",
                           path, root_.string())};
}

Result<ShelvedTrace*> TraceShelf::open(const std::string& path, const ModelArguments& arguments) {
  if (path == "-") return Error{"standard input is the client's; name a file"};
  TRY(check_path(path));
  for (const std::string& file : arguments.counters) TRY(check_path(file));
  if (!arguments.repository.empty()) TRY(check_path(arguments.repository));
  ShelvedTrace opened;
  opened.path = path;
  opened.model = TRY(open_model(path, arguments, Terminal{}));
  opened.tables = std::make_unique<TraceTables>(*opened.model);
  traces_.remove_if([&](const ShelvedTrace& trace) { return trace.path == path; });
  traces_.push_front(std::move(opened));
  if (traces_.size() > kMost) traces_.pop_back();
  return &traces_.front();
}

Result<ShelvedTrace*> TraceShelf::get(const std::string& path) {
  const auto known = std::ranges::find(traces_, path, &ShelvedTrace::path);
  if (known == traces_.end()) {
    ModelArguments arguments;
    arguments.reading.quiet = true;
    return open(path, arguments);
  }
  traces_.splice(traces_.begin(), traces_, known);
  return &traces_.front();
}

}  // namespace fathom
