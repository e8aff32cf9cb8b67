#pragma once

#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "events/event_store.h"
#include "sheets/scope.h"
#include "tree/call_tree.h"

namespace fathom {

// A trace, read and linked.
struct Trace {
  std::string path;
  EventStore store;
  CallTree tree;
};

struct OpenOptions {
  size_t threads = 0;  // 0: as many as the machine has
  ProgressCallback progress;
};

Result<Trace> open_trace(const std::string& path, const OpenOptions& options = {});

}  // namespace fathom
