// A library that is loaded while the program runs, and calls one that was there before.
#include "record/probed/shapes.h"

extern "C" long probed_later(long value) {
  return probed_many(value, value, value, value, value, value, value, value, value, value);
}
