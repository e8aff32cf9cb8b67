#include "app/record_summary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "app/record_extras.h"
#include "doctor/examine.h"

extern char** environ;

namespace fathom {

Result<SummaryPlace> SummaryPlace::open(const std::optional<std::string>& json) {
  SummaryPlace place;
  if (!json) return place;
  place.kind_ = *json == kNoValue ? Kind::kErrors : *json == "-" ? Kind::kOutput : Kind::kFile;
  if (place.kind_ != Kind::kFile) return place;
  place.name_ = *json;
  place.file_ = FileDescriptor(::open(json->c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!place.file_.ok())
    return Error{fmt::format("--json={}: cannot write: {}", *json, std::strerror(errno))};
  return place;
}

void SummaryPlace::use_free_output() {
  if (kind_ == Kind::kErrors) kind_ = Kind::kOutput;
}

Status SummaryPlace::write(const std::string& json) const {
  if (kind_ == Kind::kOutput) return print_output(json);
  if (kind_ == Kind::kErrors) {
    std::fputs(json.c_str(), stderr);
    return Nothing{};
  }
  size_t done = 0;
  bool ok = ftruncate(file_.get(), 0) == 0 || errno == EINVAL;  // a pipe has no length
  while (ok && done < json.size()) {
    const ssize_t wrote = ::write(file_.get(), json.data() + done, json.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    ok = wrote > 0;
    if (ok) done += static_cast<size_t>(wrote);
  }
  if (!ok) return Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
  return Nothing{};
}

std::vector<std::string> notes_before(const RecordRequest& request) {
  CountersAsked asked;
  asked.by_ncu = request.use_ncu;
  asked.has_ncu = !request.ncu.empty();
  asked.by_cupti = !request.counters.empty() || request.sampling_ns || request.pc_sampling;
  if (!asked.by_ncu && !asked.by_cupti) return {};
  return counter_notes(asked, examine_permissions(this_machine(environ)));
}

}  // namespace fathom
