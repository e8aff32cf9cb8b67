#include "base/table.h"

#include <cmath>

#include "checks.h"
#include "report/csv.h"

namespace fathom {
namespace {

TEST(TableCells, TimesAreExactInTheColumnsUnit) {
  Table table("t");
  Column& micros = table.time_column("us", Unit::kMicros);
  Column& millis = table.time_column("ms", Unit::kMillis);
  for (int64_t nanos : {int64_t{1'234'567}, int64_t{1500}, int64_t{0}, int64_t{-1},
                        int64_t{6'500'000'000'000'000'001}}) {
    micros.add(Nanos{nanos});
    millis.add(Nanos{nanos});
  }
  EXPECT_EQ(micros.cell(0), "1234.567");
  EXPECT_EQ(millis.cell(0), "1.234567");
  EXPECT_EQ(micros.cell(1), "1.5");
  EXPECT_EQ(millis.cell(1), "0.0015");
  EXPECT_EQ(micros.cell(2), "0");
  EXPECT_EQ(micros.cell(3), "-0.001");
  EXPECT_EQ(millis.cell(3), "-0.000001");
  EXPECT_EQ(micros.cell(4), "6500000000000000.001");
  EXPECT_EQ(micros.number(1), 1.5);
  EXPECT_EQ(millis.number(1), 0.0015);
}

TEST(TableCells, RealsAreTheShortestTextThatReadsBackTheSame) {
  Table table("t");
  Column& column = table.real_column("r");
  for (double value : {0.1, 1.0 / 3, 100.0, 1e-7, 1e22, 0.1 + 0.2}) column.add(value);
  for (size_t row = 0; row < table.rows(); ++row) {
    EXPECT_EQ(std::stod(column.cell(row)), column.number(row));
  }
  EXPECT_EQ(column.cell(0), "0.1");
  EXPECT_EQ(column.cell(2), "100");
  EXPECT_EQ(column.cell(5), "0.30000000000000004");
}

TEST(TableCells, UnknownIsNotZero) {
  Table table("t");
  Column& text = table.text_column("text");
  Column& count = table.count_column("count");
  Column& real = table.real_column("real");
  Column& time = table.time_column("time", Unit::kMicros);
  for (Column* column : {&text, &count, &real, &time}) {
    column->add_unknown();
    EXPECT_FALSE(column->known(0));
    EXPECT_EQ(column->cell(0), "");
  }
  count.add(int64_t{0});
  real.add(0.0);
  time.add(Nanos{0});
  text.add(std::string_view(""));
  for (Column* column : {&text, &count, &real, &time}) EXPECT_TRUE(column->known(1));
  for (Column* column : {&count, &real, &time}) EXPECT_EQ(column->cell(1), "0");
}

TEST(TableCells, WhatIsNoNumberIsUnknown) {
  Table table("t");
  Column& column = table.real_column("r");
  column.add(std::nan("")).add(HUGE_VAL).add(-HUGE_VAL).add(1e308);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_FALSE(column.known(row));
    EXPECT_EQ(column.cell(row), "");
  }
  EXPECT_EQ(column.cell(3), "1e+308");
}

TEST(TableCells, AnEmptyOptionalIsUnknown) {
  Table table("t");
  Column& count = table.count_column("count");
  Column& text = table.text_column("text");
  count.add(std::optional<int64_t>(5)).add(std::optional<int64_t>());
  text.add(std::optional<std::string>("x")).add(std::optional<std::string>());
  EXPECT_EQ(count.cell(0), "5");
  EXPECT_FALSE(count.known(1));
  EXPECT_EQ(text.cell(0), "x");
  EXPECT_FALSE(text.known(1));
}

TEST(TableCells, CountsKeepAll64Bits) {
  Table table("t");
  Column& count = table.count_column("count");
  count.add(INT64_MAX).add(INT64_MIN).add((int64_t{1} << 53) + 1);
  EXPECT_EQ(count.cell(0), "9223372036854775807");
  EXPECT_EQ(count.cell(1), "-9223372036854775808");
  EXPECT_EQ(count.cell(2), "9007199254740993");
}

TEST(TableColumns, KeepTheirPlaceWhileOthersAreAdded) {
  Table table("t");
  EXPECT_EQ(table.rows(), 0u);
  Column& first = table.text_column("first");
  for (int i = 0; i < 100; ++i) table.count_column(std::to_string(i));
  first.add(std::string_view("here"));
  EXPECT_EQ(&first, &table.columns().front());
  EXPECT_EQ(table.columns().front().text(0), "here");
  EXPECT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.columns().back().name(), "99");
}

TEST(TableAsCsv, QuotesOnlyWhatNeedsIt) {
  Table table("t");
  Column& text = table.text_column("a,b");
  Column& count = table.count_column("n");
  for (std::string_view value : {"plain", "with, comma", "with \"quotes\"", "two\nlines", ""}) {
    text.add(value);
    count.add(int64_t{1});
  }
  text.add_unknown();
  count.add_unknown();
  EXPECT_EQ(to_csv(table),
            "\"a,b\",n\nplain,1\n\"with, comma\",1\n\"with \"\"quotes\"\"\",1\n"
            "\"two\nlines\",1\n,1\n,\n");
}

TEST(TableAsCsv, AnEmptyTableIsItsHeader) {
  Table table("t");
  table.text_column("a");
  table.count_column("b");
  EXPECT_EQ(to_csv(table), "a,b\n");
}

}  // namespace
}  // namespace fathom
