#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace fathom {

// Why an operation failed, as one sentence for the user: what happened, where, what to try.
struct Error {
  std::string message;
};

// A union of its own: the templates of std::variant cost a twentieth of the time to compile.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : ok_(true), value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : ok_(false), error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  Result(Result&& other) noexcept : ok_(other.ok_) {
    if (ok_) {
      new (std::addressof(value_)) T(std::move(other.value_));
    } else {
      new (&error_) Error(std::move(other.error_));
    }
  }
  Result(const Result& other) : ok_(other.ok_) {
    if (ok_) {
      new (std::addressof(value_)) T(other.value_);
    } else {
      new (&error_) Error(other.error_);
    }
  }
  Result& operator=(Result other) noexcept {
    this->~Result();
    return *new (this) Result(std::move(other));
  }
  ~Result() {
    if (ok_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  bool ok() const { return ok_; }
  const T& value() const {
    CHECK(ok());
    return value_;
  }
  T take() {
    CHECK(ok());
    return std::move(value_);
  }
  const Error& error() const {
    CHECK(!ok());
    return error_;
  }

 private:
  bool ok_;
  union {
    T value_;
    Error error_;
  };
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
