#pragma once

#include <span>
#include <vector>

#include "sheets/gpu_selection.h"

namespace fathom {

// The GPU work of the gradients of forward calls.
class Gradients {
 public:
  explicit Gradients(const SheetInput& input);

  // Of a call and of all calls below it.
  std::vector<EventId> of(CallId call) const;

 private:
  struct Link {
    CallId forward, node;
  };
  const SheetInput& input_;
  std::vector<Link> links_;  // by forward call
};

}  // namespace fathom
