#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "events/event.h"

// Values of a trace read from their JSON text. Writers disagree on types: the same field comes as a
// number, as a number in quotes, or as null.
namespace fathom::kineto {

// Microseconds with up to three or more decimals, exactly into nanoseconds; further decimals are
// rounded. Nothing where the text is no number or is beyond what 64 bits hold.
std::optional<Nanos> read_micros(std::string_view json);

std::optional<int64_t> read_integer(std::string_view json);

// The numbers of an object, with the text of their keys; those in quotes too.
void read_numbers(std::string_view json,
                  const std::function<void(std::string_view key, double value)>& visit);

// [x, y, z]
std::optional<Dim3> read_dim3(std::string_view json);

// The text that a JSON string stands for; anything else as it is written.
std::string read_text(std::string_view json);

// True when read_text would give json without its quotes: no copy is needed.
bool is_plain_string(std::string_view json);

// Without white space outside strings, so that equal values have equal text.
std::string without_spaces(std::string_view json);

}  // namespace fathom::kineto
