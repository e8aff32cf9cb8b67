#pragma once

namespace fathom {

// While one lives, SIGINT, SIGTERM and SIGHUP end the command that runs, with its process group,
// instead of this program. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  // The signal that came; 0: none.
  static int signal();
  // Readable once one came; < 0: none is waited for.
  static int wake_fd();
};

}  // namespace fathom
