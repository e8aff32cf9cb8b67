#pragma once

#include "events/event_store.h"
#include "ingest/kineto/chunk_splitter.h"

namespace fathom::kineto {

// A chunk's events as a piece of the store. What cannot be read is skipped, counted, and keeps its
// position.
EventStoreBuilder parse_chunk(const EventChunk& chunk);

}  // namespace fathom::kineto
