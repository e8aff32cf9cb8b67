#pragma once

#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "events/event_store.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/event_kinds.h"

namespace fathom::kineto {

// Turns one event's field texts into a row. The texts must outlive this: what was read once is
// known by its text.
class RowMaker {
 public:
  explicit RowMaker(EventStoreBuilder& out) : out_(out) {}

  void add(const FieldTexts& fields, int64_t offset);

 private:
  using Common = EventStoreBuilder::Common;

  void add_complete(const FieldTexts& fields, Common event);
  void add_metadata(const FieldTexts& fields);
  void add_undecided(const FieldTexts& fields, Common event);
  void add_counters(const FieldTexts& fields);
  void add_memory(const FieldTexts& fields);
  void add_wait(const FieldTexts& fields, EventId event);
  GpuWork gpu_work(const FieldTexts& fields) const;
  void add_collective(const FieldTexts& fields, EventId event);
  void add_gloo_collective(const FieldTexts& fields, EventId event);
  void skip(Flaw flaw, std::string_view what, int64_t offset);

  KindOfCategory kind_of(std::string_view category_json);
  TrackId track(std::string_view pid_json, std::string_view tid_json);
  StringId string(std::string_view json);
  StringId optional_string(std::string_view json) {
    return json.empty() ? StringId{} : string(json);
  }
  ArgsId args(const FieldTexts& fields);
  StringId canonical(std::string_view json);

  EventStoreBuilder& out_;

  // Neighbours tend to be of one kind and on one thread: the last answer is tried first.
  std::string_view last_category_, last_pid_, last_tid_;
  KindOfCategory last_kind_;
  TrackId last_track_;

  std::unordered_map<std::string_view, StringId, TableHash> canonical_;
  std::unordered_map<std::string_view, ArgsId, TableHash> args_;
};

}  // namespace fathom::kineto
