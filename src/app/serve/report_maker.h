#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <thread>

#include "app/serve/served_reports.h"

namespace fathom {

// Makes the reports of traces, one after the other, each in a process of its own: `fathom analyze`
// with what it prints of its progress. A trace that cannot be read ends that process, not the
// server.
class ReportMaker {
 public:
  // `reports` outlives it.
  ReportMaker(ServedReports& reports, std::string program);
  // Ends a report that is being made; nothing of it remains.
  ~ReportMaker();
  ReportMaker(const ReportMaker&) = delete;
  ReportMaker& operator=(const ReportMaker&) = delete;

 private:
  void make_all();
  void make(size_t i);

  ServedReports& reports_;
  std::string program_;
  std::mutex mutex_;
  pid_t child_ = 0;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace fathom
