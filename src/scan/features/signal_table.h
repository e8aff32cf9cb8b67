#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/cpp/tokens.h"
#include "scan/features/feature_rules.h"
#include "scan/python/tokens.h"

namespace fathom {

// A signal in a file: where it was seen first, under which name, and how often.
struct SignalHit {
  uint32_t signal = 0;  // of FeatureRules::signals()
  uint32_t line = 0, count = 0;
  std::string name;
};

// The hits of one file, at most one for each signal, in order of signal. Small enough to keep for
// every file of a repository, and a function of the file's text and the rules alone.
using FileSignals = std::vector<SignalHit>;

// What the rules ask for in code, arranged so that an identifier is looked up once. Immutable after
// construction; threads may share it.
class SignalTable {
 public:
  explicit SignalTable(const FeatureRules& rules);
  static const SignalTable& built_in();  // of the built-in rules
  SignalTable(const SignalTable&) = delete;
  SignalTable& operator=(const SignalTable&) = delete;

  // One alternative of a signal, as it is looked up.
  struct Wanted {
    uint32_t signal;
    SignalKind kind;
    std::string glob;                     // of the last part of a dotted name
    std::vector<std::string> qualifiers;  // globs of the parts before it, outermost first
  };

  using Matches = std::vector<const Wanted*>;
  // The names and calls that an identifier can be, and the classes or functions that it can define.
  Matches names(std::string_view identifier) const;
  Matches definitions(std::string_view identifier, SignalKind kind) const;
  const std::vector<Wanted>& modules() const { return modules_; }
  const std::vector<Wanted>& headers() const { return headers_; }
  size_t signals() const { return signal_count_; }

 private:
  void add(uint32_t index, SignalKind kind, std::string_view alternative);

  std::vector<Wanted> globs_, definitions_, modules_, headers_, exact_;
  std::unordered_map<std::string, Matches> exact_by_name_;
  size_t signal_count_;
};

// Finds in a file's tokens what the rules ask for: names, definitions, calls and imports. Comments,
// strings and docstrings are no identifiers, so they never count; nor does C++ code in `#if 0`.
// Remembers identifiers from file to file, which changes the speed alone: one for each thread.
class SignalFinder {
 public:
  explicit SignalFinder(const SignalTable& table) : table_(table) {}

  FileSignals find(const cpp::TokenList& source);
  FileSignals find(const python::TokenList& source);

  // What is known of an identifier; `role` is kName where it is used, else what it defines.
  const SignalTable::Matches& matches(std::string_view identifier, SignalKind role);

 private:
  const SignalTable& table_;
  std::unordered_map<uint64_t, uint32_t> seen_;  // by the identifier's hash: place in found_
  std::vector<SignalTable::Matches> found_ = {{}};
};

}  // namespace fathom
