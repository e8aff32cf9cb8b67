#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "events/event_store.h"
#include "ingest/kineto/chunk_splitter.h"

namespace fathom::kineto {

// JSON parsers that nobody uses now. Their buffers are the size of a chunk, so they are kept for
// the next one. Not one for each thread: a thread that runs out of memory while it registers the
// end of such an object is ended by the C library, with words of its own.
class ChunkParsers {
 public:
  struct Parser;
  ChunkParsers();
  ~ChunkParsers();
  std::unique_ptr<Parser> take();
  void give_back(std::unique_ptr<Parser> parser);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Parser>> free_;
};

// A chunk's events as a piece of the store. What cannot be read is skipped, counted, and keeps its
// position.
EventStoreBuilder parse_chunk(const EventChunk& chunk, ChunkParsers& parsers);

}  // namespace fathom::kineto
