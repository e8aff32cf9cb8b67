#pragma once

#include "plan/run/results.h"

namespace fathom {

// Runs that were made after a resume are compared with those before it: the machine may have
// changed in between, and one median over both would hide it. A difference becomes a note.
void note_sessions(ConfigurationResult& of);

}  // namespace fathom
