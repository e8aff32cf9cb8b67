#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "base/sqlite_database.h"
#include "events/event_store.h"

namespace fathom::rocprof {

// Whether a database is rocprofv3's rocpd output: tables rocpd_kernel_dispatch_<uuid> and so on.
bool is_rocpd(const SqliteDatabase& database);

Result<EventStore> read_rocpd(const SqliteDatabase& database, const std::string& shown,
                              const ProgressCallback& progress = {});

}  // namespace fathom::rocprof
