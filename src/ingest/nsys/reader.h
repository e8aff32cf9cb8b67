#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "base/sqlite_database.h"
#include "events/event_store.h"

namespace fathom::nsys {

// Whether a database is an export of Nsight Systems (nsys export --type sqlite).
bool is_export(const SqliteDatabase& database);

// Kernels, copies, memsets, graphs, runtime and driver calls, synchronisation, NVTX and MPI ranges
// of all processes. Which tables and columns there are differs between versions: what is absent is
// unknown, not zero.
Result<EventStore> read_trace(const SqliteDatabase& database, const std::string& shown,
                              const ProgressCallback& progress = {});

}  // namespace fathom::nsys
