#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Thing::apply(…) of a class Thing : public torch::autograd::Function<Thing> calls Thing::forward:
// the calls are renamed to what they run.
void follow_autograd(const TokenList& source, Usage& usage);

}  // namespace fathom::cpp
