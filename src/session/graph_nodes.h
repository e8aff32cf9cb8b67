#pragma once

#include "session/trace.h"

namespace fathom {

// What naming the nodes of graph launches came to.
struct NamedGraphs {
  size_t launches = 0, named = 0;  // graph launches of the trace, and those whose nodes got names
  size_t kernels = 0;              // named with them
  size_t ambiguous = 0;            // launches that several captured graphs fit equally well
};

// Puts the ops of a graph's capture around the kernels of its replays: a trace of the replays alone
// has one launch for hundreds of kernels, and neither op nor shape. Each graph launch gets, inside
// its own interval, the ops that the capture trace has between cudaStreamBeginCapture and
// cudaStreamEndCapture, and each kernel the launch that was captured for it.
// Nodes are told by what the capture trace has of kernels of the same ops outside the capture (name
// and grid, where a warm-up was recorded), else by their order and by what kind of work ops and
// kernels are. Fails where no captured graph fits: the capture of another program.
Result<NamedGraphs> name_graph_nodes(Trace& trace, const Trace& capture);

}  // namespace fathom
