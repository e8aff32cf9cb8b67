#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

enum class CellType : uint8_t { kInteger, kReal, kText, kTruth };

// Where the cells of a column go, one call for each cell.
class CellSink {
 public:
  virtual ~CellSink() = default;
  virtual void integer(int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void truth(bool value) = 0;
  virtual void unknown() = 0;

  void put(int64_t value) { integer(value); }
  void put(double value) { real(value); }
  void put(std::string_view value) { text(value); }
  template <typename T>
  void put(const std::optional<T>& value) {
    if (!value) return unknown();
    if constexpr (std::is_floating_point_v<T>)
      real(*value);
    else
      integer(static_cast<int64_t>(*value));
  }
};

struct RowColumn {
  std::string name;
  CellType type = CellType::kText;
  std::function<void(size_t row, CellSink& cell)> write;  // called by one thread at a time
};

// Rows that are written where somebody asks for them, straight from what holds them. Nothing is
// copied before, so a table of all events costs no memory.
struct RowTable {
  std::vector<RowColumn> columns;
  size_t rows = 0;
};

// A table as SQL sees it: its columns are known before its rows are made.
struct NamedColumn {
  std::string name;
  CellType type = CellType::kText;
};
struct LazyTable {
  std::string name;
  std::vector<NamedColumn> columns;
  // Called where a query names the table, by the thread that asks. What it returns outlives the
  // database and has the columns above, in their order.
  std::function<const RowTable*()> make;
};

}  // namespace fathom
