#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/table.h"
#include "events/event_store.h"
#include "tree/call_tree.h"

namespace fathom::test {

// FNV-1a over all that is added: two dumps with one digest have the same content, shown or not.
class Digest {
 public:
  Digest& add(std::string_view text);
  Digest& add(int64_t value);
  template <typename T>
  Digest& add(const std::optional<T>& value) {
    return value ? add(static_cast<int64_t>(*value)) : add(std::string_view("unknown"));
  }
  std::string text() const;

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

// Where an event stands in traceEvents, from 0; -1 for none.
int64_t position(const EventStore& store, EventId event);
// How many entries traceEvents has.
int64_t entries(const EventStore& store);

// At most `width` bytes of a long name, with an ellipsis.
std::string cut_name(std::string_view name, size_t width = 100);

std::string dump_store(const EventStore& store);
std::string dump_tree(const EventStore& store, const CallTree& tree);

// A sheet as CSV. Cells that repeat a kernel's statistics at length are digests, and numbers have
// twelve digits: what a compiler does to the last bits is no change.
std::string dump_sheet(const Table& sheet);

}  // namespace fathom::test
