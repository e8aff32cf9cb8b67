#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "duck/row_table.h"
#include "session/query/trace_model.h"

namespace fathom {

// A trace as the tables of data/queries/schema.tsv. Rows are made where they are asked for.
class TraceTables {
 public:
  // The model must outlive it.
  explicit TraceTables(const TraceModel& model) : model_(model) {}

  // All of them, in the order of the schema. They refer to this object.
  std::vector<LazyTable> all();
  const RowTable& make(std::string_view name);

 private:
  const TraceModel& model_;
  std::map<std::string, RowTable, std::less<>> made_;
};

// The tables, in the files of their subjects. Each has the columns of the schema, in its order.
RowTable run_rows(const TraceModel& model);
RowTable steps_rows(const TraceModel& model);
RowTable events_rows(const TraceModel& model);
RowTable kernels_rows(const TraceModel& model);
RowTable launches_rows(const TraceModel& model);
RowTable ops_rows(const TraceModel& model);
RowTable op_calls_rows(const TraceModel& model);
RowTable gaps_rows(const TraceModel& model);
RowTable collectives_rows(const TraceModel& model);
RowTable counters_rows(const TraceModel& model);
RowTable samples_rows(const TraceModel& model);
RowTable findings_rows(const TraceModel& model);
RowTable finding_places_rows(const TraceModel& model);
RowTable code_rows(const TraceModel& model);
RowTable columns_rows();

// Collects the columns of one table and holds them against the schema.
class RowMaker {
 public:
  RowMaker(std::string_view table, size_t rows);
  template <typename Write>
  RowMaker& add(std::string_view name, Write write) {
    return add_column(name, std::function<void(size_t, CellSink&)>(std::move(write)));
  }
  RowTable take();

 private:
  RowMaker& add_column(std::string_view name, std::function<void(size_t, CellSink&)> write);

  std::vector<NamedColumn> expected_;
  RowTable table_;
};

// Text of a trace; unknown where there is none.
inline void put_text(CellSink& cell, std::string_view text) {
  text.empty() ? cell.unknown() : cell.text(text);
}

}  // namespace fathom
