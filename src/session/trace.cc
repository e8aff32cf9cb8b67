#include "session/trace.h"

#include "ingest/kineto/reader.h"

namespace fathom {

Result<Trace> open_trace(const std::string& path, const OpenOptions& options) {
  kineto::ReadOptions read;
  read.threads = options.threads;
  read.progress = options.progress;
  EventStore store = TRY(kineto::read_trace(path, read));
  CallTree tree = build_call_tree(store);
  return Trace{path, std::move(store), std::move(tree)};
}

}  // namespace fathom
