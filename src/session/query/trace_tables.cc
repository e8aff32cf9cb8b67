#include "session/query/trace_tables.h"

#include "base/check.h"
#include "session/query/schema.h"

namespace fathom {

RowMaker::RowMaker(std::string_view table, size_t rows)
    : expected_(find_table(table)->named_columns()) {
  table_.rows = rows;
}

RowMaker& RowMaker::add_column(std::string_view name,
                               std::function<void(size_t, CellSink&)> write) {
  const size_t place = table_.columns.size();
  CHECK(place < expected_.size() && expected_[place].name == name);
  table_.columns.push_back({std::string(name), expected_[place].type, std::move(write)});
  return *this;
}

RowTable RowMaker::take() {
  CHECK(table_.columns.size() == expected_.size());
  return std::move(table_);
}

namespace {

struct Made {
  std::string_view name;
  RowTable (*make)(const TraceModel& model);
};
constexpr Made kTables[] = {
    {"run", run_rows},
    {"steps", steps_rows},
    {"events", events_rows},
    {"kernels", kernels_rows},
    {"launches", launches_rows},
    {"ops", ops_rows},
    {"op_calls", op_calls_rows},
    {"gaps", gaps_rows},
    {"collectives", collectives_rows},
    {"counters", counters_rows},
    {"samples", samples_rows},
    {"findings", findings_rows},
    {"finding_places", finding_places_rows},
    {"code", code_rows},
    {"columns", [](const TraceModel&) { return columns_rows(); }},
};

}  // namespace

std::vector<LazyTable> TraceTables::all() {
  std::vector<LazyTable> tables;
  for (const SchemaTable& table : schema()) {
    const std::string name(table.name);
    tables.push_back({name, table.named_columns(), [this, name] { return &make(name); }});
  }
  return tables;
}

const RowTable& TraceTables::make(std::string_view name) {
  const auto known = made_.find(name);
  if (known != made_.end()) return known->second;
  for (const Made& table : kTables) {
    if (table.name == name)
      return made_.emplace(std::string(name), table.make(model_)).first->second;
  }
  std::abort();  // every table of the schema is in the list
}

RowTable columns_rows() {
  struct Row {
    const SchemaTable* table;
    const SchemaColumn* column;
  };
  auto rows = std::make_shared<std::vector<Row>>();
  for (const SchemaTable& table : schema())
    for (const SchemaColumn& column : table.columns) rows->push_back({&table, &column});
  RowMaker t("columns", rows->size());
  t.add("table_name", [rows](size_t r, CellSink& c) { c.text((*rows)[r].table->name); });
  t.add("column_name", [rows](size_t r, CellSink& c) { c.text((*rows)[r].column->name); });
  t.add("type", [rows](size_t r, CellSink& c) { c.text((*rows)[r].column->type); });
  t.add("unit", [rows](size_t r, CellSink& c) { put_text(c, (*rows)[r].column->unit); });
  t.add("description", [rows](size_t r, CellSink& c) { c.text((*rows)[r].column->text); });
  return t.take();
}

}  // namespace fathom
