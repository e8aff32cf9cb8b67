#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "story/source_outlines.h"
#include "story/step_words.h"

namespace fathom {

// A function of the repository that a statement calls.
struct CalledBody {
  const CppBody* body = nullptr;
  size_t name = 0;  // the token that names it
  Certainty certainty = Certainty::kCertain;
  bool own_lines = true;  // the scan found the call in the statement's own lines
};

// Which functions a statement calls and what they do, from the calls that the scan found.
class OpenedCalls {
 public:
  OpenedCalls(const CodeFacts& facts, SourceOutlines& sources) : facts_(facts), sources_(sources) {}

  // In order of the statement.
  std::vector<CalledBody> of_statement(const CppBody& body, const Statement& statement);
  // What a function does, itself and by what it calls; each thing once.
  const std::vector<Saying>& summary(const CppBody& body);

 private:
  std::span<const FunctionCall> calls_in(const CppBody& body) const;
  const std::map<std::string_view, CppBody::CallsOfName>& calls_by_name(const CppBody& body);
  void add(const CppBody& body, const Statement& statement, size_t name,
           const CppBody::CallsOfName& calls, std::vector<CalledBody>& found);
  const std::vector<Saying>& summary(const CppBody& body, int depth);

  const CodeFacts& facts_;
  SourceOutlines& sources_;
  std::map<const cpp::Function*, std::vector<Saying>> summaries_;
};

// The bracket that opens the arguments of the call named at a token.
size_t arguments_open(const cpp::Code& code, size_t name);

}  // namespace fathom
