#include "scan/docs/usage_claims.h"

#include <algorithm>

#include "base/text_parts.h"
#include "scan/docs/doc_values.h"

namespace fathom {
namespace {

// Fewer lines than this are no list of the options.
constexpr size_t kFewestLines = 3;

class UsageChecker {
 public:
  UsageChecker(uint32_t file, const FileReading& reading, std::vector<DocClaim>& out)
      : file_(file), lines_(reading.usage_lines), out_(out) {
    for (const cpp::Option& option : reading.cpp_options) {
      if (option.source == cpp::Option::Source::kArgv) options_.push_back(&option);
    }
  }

  void run() {
    if (lines_.size() < kFewestLines || options_.empty()) return;
    for (const cpp::UsageLine& line : lines_) {
      const cpp::Option* option = option_of(line);
      if (option == nullptr) {
        add(ClaimKind::kOptionAbsent, line.names.front(), "listed in the usage text",
            "not accepted by the argument parser", line.line, std::nullopt);
      } else {
        check_default(line, *option);
      }
    }
    for (const cpp::Option* option : options_) {
      if (is_listed(*option)) continue;
      add(ClaimKind::kOptionNotInUsage, option->names.front(), "missing from the usage text",
          "accepted by the argument parser", lines_.front().line, CodePlace{file_, option->line});
    }
  }

 private:
  static bool shares_a_name(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::any_of(a.begin(), a.end(),
                       [&](const std::string& name) { return contains(b, name); });
  }

  const cpp::Option* option_of(const cpp::UsageLine& line) const {
    for (const cpp::Option* option : options_) {
      if (shares_a_name(option->names, line.names)) return option;
    }
    for (const cpp::Option* option : options_) {
      if (!option->more_may_follow) continue;
      const bool begins = std::any_of(line.names.begin(), line.names.end(), [&](const auto& name) {
        return name.starts_with(option->names.front());
      });
      if (begins) return option;
    }
    return nullptr;
  }

  bool is_listed(const cpp::Option& option) const {
    if (option.names.front() == "--help" || option.names.front() == "-h") return true;
    return std::any_of(lines_.begin(), lines_.end(), [&](const cpp::UsageLine& line) {
      return shares_a_name(option.names, line.names);
    });
  }

  void check_default(const cpp::UsageLine& line, const cpp::Option& option) {
    if (!line.default_value || !option.default_value) return;
    const auto said = plain_value(*line.default_value);
    const auto is = plain_value(*option.default_value);
    const bool empty = option.default_value->empty();
    if (!said || (!is && !empty)) return;
    if (is && same_value(*said, *is)) return;
    if (empty && (*said == "none" || *said == "null" || *said == "empty")) return;
    // Another variable's name is decided later.
    if (is && std::isalpha(static_cast<unsigned char>((*is)[0])) && option.type != "string") return;
    add(ClaimKind::kDefaultDiffers, line.names.front(), *line.default_value,
        empty ? "an empty string" : *option.default_value, line.line,
        CodePlace{file_, option.line});
  }

  void add(ClaimKind kind, std::string what, std::string said, std::string is, uint32_t line,
           std::optional<CodePlace> code) {
    out_.push_back({kind,
                    std::move(what),
                    std::move(said),
                    std::move(is),
                    {file_, line},
                    code,
                    Certainty::kLikely});
  }

  const uint32_t file_;
  const std::vector<cpp::UsageLine>& lines_;
  std::vector<const cpp::Option*> options_;
  std::vector<DocClaim>& out_;
};

}  // namespace

std::vector<DocClaim> find_usage_claims(const Readings& readings) {
  std::vector<DocClaim> out;
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    if (readings.files[file].origin != Origin::kOwn) continue;
    UsageChecker(file, readings.readings[file], out).run();
  }
  return out;
}

}  // namespace fathom
