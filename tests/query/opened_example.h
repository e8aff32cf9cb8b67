#pragma once

#include <memory>

#include "session/counters.h"
#include "session/query/trace_tables.h"
#include "test_files.h"

namespace fathom::test {

// A trace of examples/ as tables.
struct OpenedExample {
  explicit OpenedExample(const std::filesystem::path& path) {
    OpenedTrace opened;
    opened.trace = open_trace(path.string()).take();
    opened.counters = open_capture_counters(opened.trace).take();
    model = TraceModel::make(std::move(opened)).take();
    tables = std::make_unique<TraceTables>(*model);
  }
  std::unique_ptr<TraceModel> model;
  std::unique_ptr<TraceTables> tables;
};

}  // namespace fathom::test
