#pragma once

#include <string>
#include <vector>

namespace fathom {

// What one run showed of a metric (data/plan/metrics.tsv): one value, or one for each launch, call
// or line. Not finite values are left out.
struct Observation {
  std::string metric, subject;  // subject: kernel, function, log line; empty: the run
  std::string unit;             // as the metric's row has it
  std::vector<double> values;   // in the order of time
};

// Why a kernel or a run took its time, as its counters or its timeline show.
struct ObservedCause {
  std::string subject;  // kernel; empty: the run
  std::string text;
};

struct Observations {
  std::vector<Observation> all;
  std::vector<ObservedCause> causes;  // the most important first
  std::vector<std::string> notes;     // what could not be measured, and why

  const Observation* find(const std::string& metric, const std::string& subject) const {
    for (const Observation& one : all) {
      if (one.metric == metric && one.subject == subject) return &one;
    }
    return nullptr;
  }
};

}  // namespace fathom
