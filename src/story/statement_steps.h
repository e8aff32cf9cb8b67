#pragma once

#include <optional>
#include <vector>

#include "scan/cpp/expressions.h"
#include "scan/facts/statement.h"
#include "story/story_step.h"

namespace fathom {

// Says what a statement without code of its own does; control flow is said by tell_statements.
class StatementTeller {
 public:
  virtual ~StatementTeller() = default;
  // None: nothing worth a step.
  virtual std::optional<StoryStep> tell(const Statement& statement) = 0;
  // Before what a compound statement holds is told: more about its header.
  virtual void enter(const Statement& statement, StoryStep& step) = 0;
};

// The statements from `first` to before `last`, whose depth is that of the first one, as steps in
// order of the code: conditions, loops and branches hold what belongs to them.
std::vector<StoryStep> tell_statements(const std::vector<Statement>& statements, size_t first,
                                       size_t last, uint32_t file, StatementTeller& teller);

// What an if, while or switch asks: what stands between its brackets; of Python behind its word.
std::string condition_of(const Statement& statement);

// All statements of a function's body.
template <typename Body>
std::vector<StoryStep> tell_body(const Body& body, StatementTeller& teller) {
  return tell_statements(body.statements, 0, body.statements.size(), body.file, teller);
}

// Makes a step say that its statement, a return, gives this value.
void say_returned(StoryStep& step);
// The same where the step says nothing more than a computation. A return is always worth a step.
StoryStep returning(StoryStep step);

// Whether a statement is `Type<T> name(arguments)`.
bool makes_object(const cpp::Code& code, const Statement& statement);

// Behind what belongs to the statement at `at`.
size_t end_of(const std::vector<Statement>& statements, size_t at);

}  // namespace fathom
