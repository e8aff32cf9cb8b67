#include "scan/cpp/launch_calls.h"

#include "base/check.h"
#include "base/tsv.h"
#include "scan/facts/code_names.h"

extern const std::string_view launch_calls_tsv;

namespace fathom::cpp {
namespace {

std::optional<LaunchCall::Dimensions> dimensions(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    const std::optional<size_t> one = number_in<size_t>(text);
    return one ? std::optional(LaunchCall::Dimensions{*one, 1}) : std::nullopt;
  }
  const std::optional<size_t> first = number_in<size_t>(text.substr(0, dash));
  const std::optional<size_t> last = number_in<size_t>(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return LaunchCall::Dimensions{*first, *last - *first + 1};
}

LaunchAttribute::Kind attribute_kind(std::string_view word) {
  if (word == "PDL") return LaunchAttribute::Kind::kPdl;
  if (word == "cluster") return LaunchAttribute::Kind::kCluster;
  CHECK(word == "cooperative");
  return LaunchAttribute::Kind::kCooperative;
}

LaunchCall read_row(const std::vector<std::string_view>& row) {
  LaunchCall call;
  call.name = last_name(row[0]);
  call.qualifier = before_last(row[0], "::");
  call.kernel = number_in<size_t>(row[1]);
  if (row[1].starts_with('<'))
    call.kernel_class = number_in<size_t>(row[1].substr(1, row[1].size() - 2));
  if (row[1].starts_with('.')) call.field = row[1];
  call.config = number_in<size_t>(row[2]);
  call.grid = dimensions(row[3]);
  call.block = dimensions(row[4]);
  call.shared_memory = number_in<size_t>(row[5]);
  call.stream = number_in<size_t>(row[6]);
  for (const std::string_view one : split(row[7], ' ')) {
    const size_t equals = one.find('=');
    const bool has_argument = equals != std::string_view::npos;
    call.attributes.push_back(
        {attribute_kind(one.substr(0, equals)),
         has_argument ? number_in<size_t>(one.substr(equals + 1)) : std::nullopt});
  }
  return call;
}

}  // namespace

const std::vector<LaunchCall>& launch_calls() {
  static const std::vector<LaunchCall> calls = [] {
    std::vector<LaunchCall> read;
    for (const auto& row : read_tsv(launch_calls_tsv, 8)) read.push_back(read_row(row));
    return read;
  }();
  return calls;
}

}  // namespace fathom::cpp
