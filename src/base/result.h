#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace fathom {

// Why an operation failed, as one sentence for the user: what happened, where, what to try.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  const T& value() const {
    CHECK(ok());
    return std::get<T>(state_);
  }
  T take() {
    CHECK(ok());
    return std::move(std::get<T>(state_));
  }
  const Error& error() const {
    CHECK(!ok());
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

}  // namespace fathom

// auto value = TRY(operation());  returns the error to the caller when the operation failed.
#define TRY(expression)                                               \
  __extension__({                                                     \
    auto try_result = (expression);                                   \
    if (!try_result.ok()) return ::fathom::Error{try_result.error()}; \
    try_result.take();                                                \
  })
