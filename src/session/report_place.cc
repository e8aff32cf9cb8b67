#include "session/report_place.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {
namespace {

namespace fs = std::filesystem;

fs::path canonical_place(const fs::path& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  return place.has_filename() ? place : place.parent_path();
}

// Why nothing is written there; nothing where it lies outside the repository.
Result<std::optional<std::string>> inside_refusal(const std::string& repository,
                                                  const fs::path& directory) {
  std::error_code error;
  const fs::path root = fs::canonical(repository, error);
  if (error) return Error{fmt::format("cannot open {}: {}", repository, error.message())};
  const fs::path place = canonical_place(directory);
  const auto [rest, _] = std::mismatch(root.begin(), root.end(), place.begin(), place.end());
  if (rest != root.end()) return std::optional<std::string>();
  return std::optional(fmt::format("{} is inside the repository, which Fathom does not write to",
                                   directory.string()));
}

// Why a report cannot be put there, nothing where it can: tried, since permissions do not tell all.
Result<std::optional<std::string>> refusal_of(const fs::path& path, const std::string& repository) {
  if (!repository.empty()) {
    std::optional<std::string> inside = TRY(inside_refusal(repository, path));
    if (inside) return inside;
  }
  const fs::path place = canonical_place(path);
  std::error_code error;
  return fs::is_directory(place, error)
             ? StagingDirectory::refusal(place, path)
             : StagingDirectory::refusal(place.parent_path(), shown_directory(path).parent_path());
}

constexpr const char* kElsewhere = "choose another place with --out";

}  // namespace

std::string subject_of(const std::string& input, const fs::path& report) {
  if (input == "-") return "standard input";
  std::error_code error;
  const fs::file_status status = fs::status(input, error);
  if (!fs::is_regular_file(status) && !fs::is_directory(status)) return "a pipe";
  // A link is the trace that the user names, whatever it leads to today.
  const fs::path place =
      fs::is_directory(status)
          ? canonical_place(input)
          : canonical_place(fs::path(input).parent_path() / ".") / fs::path(input).filename();
  const fs::path relative = place.lexically_relative(canonical_place(report).parent_path());
  return relative.empty() ? input : relative.string();
}

Status check_outside(const std::string& repository, const fs::path& directory) {
  const std::optional<std::string> refusal = TRY(inside_refusal(repository, directory));
  if (refusal) return Error{fmt::format("{}; {}", *refusal, kElsewhere)};
  return Nothing{};
}

Result<DefaultPlace> writable_place(const fs::path& usual, const std::string& input,
                                    const std::string& repository) {
  std::error_code error;
  // What is not there is told by whoever opens it.
  if (input != "-" && !fs::exists(input, error)) return DefaultPlace{usual, ""};
  const std::optional<std::string> refusal = TRY(refusal_of(usual, repository));
  if (!refusal) return DefaultPlace{usual, ""};
  const fs::path here = usual.filename();
  if (canonical_place(here) == canonical_place(usual) || TRY(refusal_of(here, repository)))
    return Error{fmt::format("{}; {}", *refusal, kElsewhere)};
  return DefaultPlace{here, *refusal};
}

}  // namespace fathom
