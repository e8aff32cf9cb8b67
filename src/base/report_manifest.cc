#include "base/report_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/content_hash.h"

namespace fathom {
namespace {

constexpr std::string_view kFirstLine =
    "Fathom report. The files listed here are replaced by the next run; all others stay.";
constexpr std::string_view kEarlier = "Made by fathom; the next report replaces this directory.\n";
constexpr std::string_view kSum = "sum ", kComplete = "complete", kReplacing = "being replaced";

// On one line, whatever the text holds.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

template <typename T>
bool parse_number(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    uint8_t byte = 0;
    if (i + 2 >= text.size() || !parse_number(text.substr(i + 1, 2), byte, 16)) return {};
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool stays_inside(std::string_view path) {
  if (path.empty() || path.size() > 4000 || path.find('\0') != std::string_view::npos) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return false;
    begin = end + 1;
  }
  return true;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

// "file HASH SIZE PATH"
bool add_file(std::string_view line, ReportManifest& manifest) {
  ManifestFile file;
  if (!parse_number(take_until(line, ' '), file.hash, 16) ||
      !parse_number(take_until(line, ' '), file.size)) {
    return false;
  }
  std::optional<std::string> path = unescaped(line);
  if (!path || !stays_inside(*path)) return false;
  manifest.files.emplace(std::move(*path), file);
  return true;
}

bool add_line(std::string_view line, ReportManifest& manifest) {
  const std::string_view key = take_until(line, ' ');
  if (key == "file") return add_file(line, manifest);
  if (key == "stamp") return parse_number(line, manifest.stamp, 16);
  if (key == "state") {
    manifest.complete = line == kComplete;
    return manifest.complete || line == kReplacing;
  }
  std::optional<std::string> value = unescaped(line);
  std::string* field = key == "kind"      ? &manifest.identity.kind
                       : key == "subject" ? &manifest.identity.subject
                       : key == "scope"   ? &manifest.identity.scope
                       : key == "program" ? &manifest.program
                                          : nullptr;
  if (!value || field == nullptr) return false;
  *field = std::move(*value);
  return true;
}

}  // namespace

std::string describe(const ReportIdentity& identity) {
  return fmt::format("the {} report of {}{}{}", identity.kind, identity.subject,
                     identity.scope.empty() ? "" : ", ", identity.scope);
}

bool ReportManifest::lists(const std::string& path, const ManifestFile& file) const {
  const auto [begin, end] = files.equal_range(path);
  return std::any_of(begin, end, [&](const auto& entry) { return entry.second == file; });
}

std::string print_manifest(const ReportManifest& manifest) {
  std::string text =
      fmt::format("{}\nkind {}\nsubject {}\nscope {}\nprogram {}\nstamp {:016x}\nstate {}\n",
                  kFirstLine, escaped(manifest.identity.kind), escaped(manifest.identity.subject),
                  escaped(manifest.identity.scope), escaped(manifest.program), manifest.stamp,
                  manifest.complete ? kComplete : kReplacing);
  for (const auto& [path, file] : manifest.files) {
    text += fmt::format("file {:016x} {} {}\n", file.hash, file.size, escaped(path));
  }
  return text + fmt::format("{}{:016x}\n", kSum, hash_content(text));
}

std::optional<ReportManifest> parse_manifest(std::string_view text) {
  const size_t last = text.rfind(kSum);
  if (last == std::string_view::npos || !text.ends_with('\n')) return {};
  uint64_t sum = 0;
  if (!parse_number(text.substr(last + kSum.size(), text.size() - last - kSum.size() - 1), sum,
                    16) ||
      sum != hash_content(text.substr(0, last))) {
    return {};
  }
  text = text.substr(0, last);
  if (take_until(text, '\n') != kFirstLine) return {};
  ReportManifest manifest;
  while (!text.empty()) {
    if (!add_line(take_until(text, '\n'), manifest)) return {};
  }
  return manifest;
}

bool is_manifest_of_earlier_version(std::string_view text) { return text == kEarlier; }

}  // namespace fathom
