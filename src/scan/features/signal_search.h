#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"
#include "scan/features/signal_table.h"

namespace fathom {

// Collects the hits of one file.
class HitCollector {
 public:
  explicit HitCollector(size_t signals) : slots_(signals, 0) {}

  void add(uint32_t signal, std::string_view name, uint32_t line) {
    if (slots_[signal] == 0) {
      hits_.push_back({signal, line, 0, std::string(name)});
      slots_[signal] = static_cast<uint32_t>(hits_.size());
    }
    ++hits_[slots_[signal] - 1].count;
  }
  FileSignals take();

 private:
  std::vector<uint32_t> slots_;  // of each signal: its place in hits_ + 1
  FileSignals hits_;
};

// The search itself, the same for every language. `Tokens` tells what it needs to know of one:
//   size(), is_name(i), text(i), line(i)
//   is_called(i), is_class(i), is_function(i)    what the identifier at i is
//   may_be_function(i)                           the same, quickly; sometimes yes where it is not
//   qualifier(i)                                 the identifier before its dot or ::, if any
template <typename Tokens>
class SignalSearch {
 public:
  SignalSearch(SignalFinder& finder, const Tokens& tokens, HitCollector& hits)
      : finder_(finder), tokens_(tokens), hits_(hits) {}

  void at(size_t i) {
    const std::string_view text = tokens_.text(i);
    if (text.size() < 3) return;
    if (tokens_.is_class(i)) {
      definition(i, SignalKind::kClass);
    } else if (tokens_.may_be_function(i)) {
      definition(i, SignalKind::kDef);
    }
    for (const SignalTable::Wanted* wanted : finder_.matches(text, SignalKind::kName)) {
      if (wanted->kind == SignalKind::kName) {
        hits_.add(wanted->signal, text, tokens_.line(i));
      } else if (tokens_.is_called(i) && is_qualified(*wanted, i)) {
        hits_.add(wanted->signal, path(i), tokens_.line(i));
      }
    }
  }

 private:
  void definition(size_t i, SignalKind kind) {
    const SignalTable::Matches& matches = finder_.matches(tokens_.text(i), kind);
    if (matches.empty() || (kind == SignalKind::kDef && !tokens_.is_function(i))) return;
    for (const SignalTable::Wanted* wanted : matches) {
      hits_.add(wanted->signal, tokens_.text(i), tokens_.line(i));
    }
  }

  bool is_qualified(const SignalTable::Wanted& wanted, size_t i) const {
    std::optional<size_t> at = i;
    for (size_t left = wanted.qualifiers.size(); left > 0; --left) {
      at = tokens_.qualifier(*at);
      if (!at || !glob_matches(wanted.qualifiers[left - 1], fold_name(tokens_.text(*at))))
        return false;
    }
    return true;
  }

  // The dotted name that ends at `i`.
  std::string path(size_t i) const {
    std::string name(tokens_.text(i));
    for (auto at = tokens_.qualifier(i); at; at = tokens_.qualifier(*at)) {
      name = std::string(tokens_.text(*at)) + "." + name;
    }
    return name;
  }

  SignalFinder& finder_;
  const Tokens& tokens_;
  HitCollector& hits_;
};

}  // namespace fathom
