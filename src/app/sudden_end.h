#pragma once

namespace fathom {

// What the program does when it has to end at once: it removes what it was writing. An exhausted
// memory and a mapped file that cannot be read are one sentence and the exit code given; SIGINT,
// SIGTERM, SIGHUP, SIGPIPE and SIGXCPU end it as they always do.
void prepare_for_sudden_end(int code);

}  // namespace fathom
