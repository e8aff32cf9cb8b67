#include "duck/lazy_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/utf8.h"

namespace fathom {
namespace {

duck::Type type_of(CellType type) {
  switch (type) {
    case CellType::kInteger:
      return duck::kBigint;
    case CellType::kReal:
      return duck::kDouble;
    case CellType::kTruth:
      return duck::kBoolean;
    case CellType::kText:
      break;
  }
  return duck::kVarchar;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Cells of a vector of DuckDB, which has the column's type. A value of another type is unknown.
class VectorSink final : public CellSink {
 public:
  VectorSink(const duck::Calls& calls, duck::Handle vector, CellType type)
      : calls_(calls), vector_(vector), data_(calls.vector_get_data(vector)), type_(type) {}

  void move_to(size_t place) { place_ = place; }

  void integer(int64_t value) override {
    if (type_ == CellType::kReal) return real(static_cast<double>(value));
    if (type_ != CellType::kInteger) return unknown();
    static_cast<int64_t*>(data_)[place_] = value;
  }
  void real(double value) override {
    if (type_ != CellType::kReal) return unknown();
    static_cast<double*>(data_)[place_] = value;
  }
  void truth(bool value) override {
    if (type_ != CellType::kTruth) return unknown();
    static_cast<bool*>(data_)[place_] = value;
  }
  void text(std::string_view value) override {
    if (type_ != CellType::kText) return unknown();
    // DuckDB takes UTF-8 only; a trace may hold anything.
    if (is_ascii(value)) {
      calls_.vector_assign_string_element_len(vector_, place_, value.data(), value.size());
    } else {
      const std::string valid = with_valid_utf8(value);
      calls_.vector_assign_string_element_len(vector_, place_, valid.data(), valid.size());
    }
  }
  void unknown() override {
    if (validity_ == nullptr) {
      calls_.vector_ensure_validity_writable(vector_);
      validity_ = calls_.vector_get_validity(vector_);
    }
    validity_[place_ / 64] &= ~(uint64_t{1} << (place_ % 64));
  }

 private:
  const duck::Calls& calls_;
  duck::Handle vector_;
  void* data_;
  uint64_t* validity_ = nullptr;
  CellType type_;
  size_t place_ = 0;
};

struct BoundScan {
  const LazyScan* scan;
  const RowTable* rows;  // null while the view is made
};

struct Reading {
  const LazyScan* scan;
  const RowTable* rows;
  std::vector<size_t> columns;  // those that are asked for
  size_t next = 0;
};

template <typename T>
void destroy(void* object) {
  delete static_cast<T*>(object);
}

void bind(const duck::Calls& calls, const LazyScan& scan, duck::Handle info) {
  for (const NamedColumn& column : scan.table.columns) {
    duck::Handle type = calls.create_logical_type(type_of(column.type));
    calls.bind_add_result_column(info, column.name.c_str(), type);
    calls.destroy_logical_type(&type);
  }
  const RowTable* rows = scan.is_defined ? scan.table.make() : nullptr;
  if (rows != nullptr) {
    CHECK(rows->columns.size() == scan.table.columns.size());
    calls.bind_set_cardinality(info, rows->rows, true);
  }
  calls.bind_set_bind_data(info, new BoundScan{&scan, rows}, destroy<BoundScan>);
}

void fill(const duck::Calls& calls, Reading& reading, duck::Handle chunk) {
  const size_t all = reading.rows != nullptr ? reading.rows->rows : 0;
  const size_t count = std::min<size_t>(calls.vector_size(), all - reading.next);
  for (size_t i = 0; i < reading.columns.size(); ++i) {
    if (reading.columns[i] >= reading.rows->columns.size()) continue;  // no column is asked for
    const RowColumn& column = reading.rows->columns[reading.columns[i]];
    VectorSink sink(calls, calls.data_chunk_get_vector(chunk, i), column.type);
    for (size_t row = 0; row < count; ++row) {
      sink.move_to(row);
      column.write(reading.next + row, sink);
    }
  }
  reading.next += count;
  calls.data_chunk_set_size(chunk, count);
}

// The one global: DuckDB's callbacks get what they are about only through its functions. Set before
// a callback can run, always to the functions of the library in use.
std::atomic<const duck::Calls*> used_calls = nullptr;

void on_bind(duck::Handle info) {
  const duck::Calls& calls = *used_calls.load();
  bind(calls, *static_cast<const LazyScan*>(calls.bind_get_extra_info(info)), info);
}

void on_init(duck::Handle info) {
  const duck::Calls& calls = *used_calls.load();
  const auto* bound = static_cast<const BoundScan*>(calls.init_get_bind_data(info));
  auto* reading = new Reading{bound->scan, bound->rows, {}, 0};
  const size_t count = calls.init_get_column_count(info);
  for (size_t i = 0; i < count; ++i)
    reading->columns.push_back(calls.init_get_column_index(info, i));
  calls.init_set_max_threads(info, 1);
  calls.init_set_init_data(info, reading, destroy<Reading>);
}

void on_fill(duck::Handle info, duck::Handle chunk) {
  const duck::Calls& calls = *used_calls.load();
  fill(calls, *static_cast<Reading*>(calls.function_get_init_data(info)), chunk);
}

}  // namespace

Status register_scan(LazyScan& scan, duck::Handle connection) {
  const duck::Calls& calls = *scan.calls;
  used_calls = &calls;
  duck::Handle function = calls.create_table_function();
  calls.table_function_set_name(function, ("fathom_" + scan.table.name).c_str());
  calls.table_function_set_extra_info(function, &scan, [](void*) {});
  calls.table_function_set_bind(function, on_bind);
  calls.table_function_set_init(function, on_init);
  calls.table_function_set_function(function, on_fill);
  calls.table_function_supports_projection_pushdown(function, true);
  const duck::State state = calls.register_table_function(connection, function);
  calls.destroy_table_function(&function);
  if (state != duck::kSuccess)
    return Error{fmt::format("DuckDB does not accept the table {}", scan.table.name)};
  return Nothing{};
}

}  // namespace fathom
