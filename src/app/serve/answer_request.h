#pragma once

#include "app/serve/request_check.h"
#include "app/serve/served_reports.h"

namespace fathom {

// The list of reports, its events, and the reports' files. `reports` outlives the answer.
HttpAnswer answer_request(const HttpRequest& request, const ServerAccess& access,
                          const ServedReports& reports);

}  // namespace fathom
