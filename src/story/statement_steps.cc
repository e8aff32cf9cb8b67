#include "story/statement_steps.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text_parts.h"

namespace fathom {
namespace {

// Code nested deeper than this is not told.
constexpr size_t kDeepest = 10;

class Teller {
 public:
  Teller(const std::vector<Statement>& statements, uint32_t file, StatementTeller& teller)
      : statements_(statements), file_(file), teller_(teller) {}

  std::vector<StoryStep> tell(size_t first, size_t last, size_t level) {
    std::vector<StoryStep> out;
    for (size_t i = first; i < last;) {
      if (const size_t behind = choice(i, last, out); behind != i) {
        i = behind;
        continue;
      }
      const size_t end = std::min(end_of(statements_, i), last);
      one(i, end, level, out);
      i = end;
    }
    return out;
  }

 private:
  void one(size_t i, size_t end, size_t level, std::vector<StoryStep>& out) {
    const Statement& statement = statements_[i];
    // The end of a case, which its next label shows.
    if (statement.kind == StatementKind::kJump && statement.text == "break" && in_case_ &&
        statement.depth == case_depth_ + 1) {
      return;
    }
    if (is_compound(statement.kind)) {
      if (is_guard(i, end)) {
        out.push_back(guard(i));
        return;
      }
      compound(i, end, level, out);
      return;
    }
    std::optional<StoryStep> step = teller_.tell(statement);
    if (!step) return;
    if (in_case_ && step->words.is(Phrase::kLeavesLoop)) step->words = Phrase::kLeavesSwitch;
    place(statement, *step);
    out.push_back(std::move(*step));
  }

  // An if chain whose branches all do nothing but set one name: a choice of its value. Gives back
  // where it ends; `first`: it is none.
  size_t choice(size_t first, size_t last, std::vector<StoryStep>& out) const {
    if (statements_[first].kind != StatementKind::kIf) return first;
    StoryStep step;
    step.words = Phrase::kChooses;
    std::string name;
    size_t i = first;
    for (; i < last; i += 2) {
      const StatementKind kind = statements_[i].kind;
      const bool branch =
          i == first || kind == StatementKind::kElseIf || kind == StatementKind::kElse;
      if (!branch || statements_[i].depth != statements_[first].depth) break;
      if (end_of(statements_, i) != i + 2) return first;
      const std::string set = name_set_in(statements_[i + 1]);
      if (set.empty() || (i != first && set != name)) return first;
      name = set;
      const std::string code = tidy_code(statements_[i + 1].text, 100);
      if (i == first) {
        step.code.push_back(code);
      } else {
        step.remarks.push_back(
            {kind == StatementKind::kElse ? Phrase::kOtherwise : Phrase::kOr, code, {}, {}});
      }
      if (kind == StatementKind::kElse) continue;
      const std::string test = kind == StatementKind::kIf ? condition_of(statements_[i])
                                                          : condition_of_else(statements_[i]);
      step.remarks.push_back({statements_[i].compile_time ? Phrase::kIfCompiled : Phrase::kWhere,
                              tidy_code(test, 120),
                              {},
                              {}});
    }
    if (i == first + 2) return first;  // an if alone
    place(statements_[first], step);
    step.line_last = statements_[i - 1].line_last;
    out.push_back(std::move(step));
    return i;
  }

  // "x" of "x = 4"; nothing of a declaration or a longer way.
  static std::string name_set_in(const Statement& statement) {
    if (statement.kind != StatementKind::kPlain) return "";
    const size_t equals = statement.text.find(" = ");
    if (equals == std::string::npos) return "";
    const std::string name = statement.text.substr(0, equals);
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.';
    });
    return plain ? name : "";
  }

  static bool is_compound(StatementKind kind) {
    switch (kind) {
      case StatementKind::kIf:
      case StatementKind::kElseIf:
      case StatementKind::kElse:
      case StatementKind::kLoop:
      case StatementKind::kSwitch:
      case StatementKind::kCase:
      case StatementKind::kTry:
      case StatementKind::kCatch:
      case StatementKind::kWith:
      case StatementKind::kGivesCode:
      case StatementKind::kDefinition:
      case StatementKind::kDirective:
        return true;
      default:
        return false;
    }
  }

  void place(const Statement& statement, StoryStep& step) const {
    step.at = {file_, statement.line_first};
    step.line_last = statement.line_last;
  }

  // `if (…) return;` and nothing else.
  bool is_guard(size_t i, size_t end) const {
    if (statements_[i].kind != StatementKind::kIf || end != i + 2) return false;
    if (end < statements_.size() && statements_[end].depth == statements_[i].depth &&
        (statements_[end].kind == StatementKind::kElse ||
         statements_[end].kind == StatementKind::kElseIf))
      return false;
    const StatementKind inner = statements_[i + 1].kind;
    return inner == StatementKind::kReturn || inner == StatementKind::kJump ||
           inner == StatementKind::kThrow;
  }

  StoryStep guard(size_t i) const {
    const Statement& inner = statements_[i + 1];
    StoryStep step;
    const bool leaves_loop = inner.text.starts_with("break");
    if (inner.kind == StatementKind::kReturn) {
      step.words = inner.text == "return" ? Phrase::kEndsWhere : Phrase::kReturnsWhere;
    } else if (inner.kind == StatementKind::kThrow) {
      step.words = Phrase::kFailsWhere;
    } else {
      step.words = !leaves_loop ? Phrase::kNextRoundWhere
                   : in_case_   ? Phrase::kLeavesSwitchWhere
                                : Phrase::kLeavesLoopWhere;
    }
    step.folds = step.words.is(Phrase::kFailsWhere);
    step.code.push_back(tidy_code(condition_of(statements_[i])));
    if (inner.text != "return" && inner.kind != StatementKind::kJump)
      step.remarks.push_back({Phrase::kNone, tidy_code(inner.text, 120), {}, {}});
    place(statements_[i], step);
    return step;
  }

  void compound(size_t i, size_t end, size_t level, std::vector<StoryStep>& out) {
    const Statement& statement = statements_[i];
    StoryStep step = header(statement);
    place(statement, step);
    teller_.enter(statement, step);
    if (statement.kind == StatementKind::kGivesCode) {
      if (std::optional<StoryStep> told = teller_.tell(statement)) {
        place(statement, *told);
        step = std::move(*told);
      }
    }
    if (level == kDeepest) {
      if (end > i + 1) step.remarks.push_back({Phrase::kTooDeep, "", {}, {}});
      out.push_back(std::move(step));
      return;
    }
    std::vector<StoryStep> inside = tell_inside(i, end, level);
    // An empty branch says nothing, but an empty loop may wait for something.
    const bool branch =
        statement.kind != StatementKind::kLoop && statement.kind != StatementKind::kGivesCode;
    if (statement.kind == StatementKind::kCase) {
      // Labels one behind the other are of one case.
      labels_.push_back(tidy_code(statement.text));
      if (inside.empty() && end == i + 1) return;
      step.code = std::exchange(labels_, {});
    }
    if (inside.empty() && branch) return;
    // if (…) { …; return; }: what those threads do is all they do.
    if (statements_[end - 1].kind == StatementKind::kReturn &&
        statements_[end - 1].text == "return" &&
        statements_[end - 1].depth == statement.depth + 1 &&
        statement.kind != StatementKind::kLoop) {
      step.remarks.push_back({Phrase::kThenEnds, "", {}, {}});
    }
    if (statement.kind == StatementKind::kGivesCode && !step.inside.empty() && !inside.empty()) {
      StoryStep given;
      given.words = Phrase::kGivenCode;
      place(statement, given);
      given.inside = std::move(inside);
      inside.clear();
      inside.push_back(std::move(given));
    }
    std::move(inside.begin(), inside.end(), std::back_inserter(step.inside));
    out.push_back(std::move(step));
  }

  // A break belongs to the innermost loop or switch.
  std::vector<StoryStep> tell_inside(size_t i, size_t end, size_t level) {
    const Statement& statement = statements_[i];
    const bool outer = in_case_;
    const uint32_t outer_depth = case_depth_;
    if (statement.kind == StatementKind::kLoop) in_case_ = false;
    if (statement.kind == StatementKind::kCase) {
      in_case_ = true;
      case_depth_ = statement.depth;
    }
    std::vector<StoryStep> out = tell(i + 1, end, level + 1);
    in_case_ = outer;
    case_depth_ = outer_depth;
    return out;
  }

  static StoryStep header(const Statement& statement) {
    StoryStep step;
    const std::string condition = tidy_code(condition_of(statement));
    switch (statement.kind) {
      case StatementKind::kIf:
        step.words = statement.compile_time ? Phrase::kOnlyIfCompiled : Phrase::kOnlyWhere;
        step.code.push_back(condition);
        break;
      case StatementKind::kElseIf:
        step.words =
            statement.compile_time ? Phrase::kOtherwiseIfCompiled : Phrase::kOtherwiseWhere;
        step.code.push_back(condition_of_else(statement));
        break;
      case StatementKind::kElse:
        step.words = Phrase::kOtherwise;
        break;
      case StatementKind::kLoop:
        step.words = Phrase::kRepeats;
        step.code.push_back(tidy_code(statement.text));
        if (statement.unrolled) step.remarks.push_back({Phrase::kUnrolled, "", {}, {}});
        break;
      case StatementKind::kSwitch:
        step.words = Phrase::kByValue;
        step.code.push_back(condition);
        break;
      case StatementKind::kCase:
        step.words = Phrase::kInCase;
        step.code.push_back(tidy_code(statement.text));
        break;
      case StatementKind::kTry:
        step.words = Phrase::kTries;
        break;
      case StatementKind::kCatch:
        step.words = Phrase::kWhereThatFails;
        step.code.push_back(tidy_code(statement.text));
        break;
      case StatementKind::kWith:
        step.words = Phrase::kWithin;
        step.code.push_back(tidy_code(statement.text));
        break;
      case StatementKind::kDefinition:
        step.words = Phrase::kDefines;
        step.code.push_back(tidy_code(statement.text));
        break;
      case StatementKind::kDirective:
        step.words =
            statement.text == "#else" ? Phrase::kOtherwiseCompiled : Phrase::kOnlyIfCompiled;
        if (statement.text != "#else") step.code.push_back(tidy_code(asked_by(statement.text)));
        break;
      default:
        step.words = Phrase::kCalls;
        step.code.push_back(tidy_code(statement.text));
        break;
    }
    return step;
  }

  // "defined(X)" of "#ifdef X"
  static std::string asked_by(const std::string& directive) {
    const size_t space = directive.find(' ');
    if (space == std::string::npos) return directive;
    const std::string rest = directive.substr(space + 1);
    if (directive.starts_with("#ifdef")) return "defined(" + rest + ")";
    return directive.starts_with("#ifndef") ? "!defined(" + rest + ")" : rest;
  }

  static std::string condition_of_else(const Statement& statement) {
    const size_t open = statement.text.find('(');
    if (!statement.text.starts_with("else if") || open == std::string::npos)  // source text
      return tidy_code(condition_of(statement));
    return tidy_code(statement.text.substr(open + 1, statement.text.size() - open - 2));
  }

  const std::vector<Statement>& statements_;
  const uint32_t file_;
  StatementTeller& teller_;
  bool in_case_ = false;
  uint32_t case_depth_ = 0;
  std::vector<std::string> labels_;  // of cases that hold nothing yet
};

}  // namespace

std::string condition_of(const Statement& statement) {
  const std::string& text = statement.text;
  const size_t open = text.find('(');
  const bool c_family =
      text.ends_with(")") && open != std::string::npos &&
      starts_with_any(text, {"if (", "if(", "if constexpr", "else if", "switch", "while"});
  if (c_family) {
    const std::string inside = text.substr(open + 1, text.size() - open - 2);
    const size_t first = std::min(inside.find_first_not_of(' '), inside.size());
    return inside.substr(first, inside.find_last_not_of(' ') + 1 - first);
  }
  const size_t space = text.find(' ');
  return space == std::string::npos ? text : text.substr(space + 1);
}

void say_returned(StoryStep& step) {
  constexpr std::string_view word = "return ";  // source text
  step.words = Phrase::kReturns;
  if (!step.code.empty() && step.code[0].starts_with(word)) step.code[0].erase(0, word.size());
}

StoryStep returning(StoryStep step) {
  if (step.only_computes) say_returned(step);
  step.only_computes = false;
  return step;
}

bool makes_object(const cpp::Code& code, const Statement& statement) {
  size_t open = statement.first;
  while (open < statement.last && !code.is(open, "(")) open = code.past(open);
  return open < statement.last && open >= statement.first + 2 && code.source.is_name(open - 1) &&
         (code.source.is_name(open - 2) || code.is(open - 2, ">"));
}

size_t end_of(const std::vector<Statement>& statements, size_t at) {
  size_t end = at + 1;
  while (end < statements.size() && statements[end].depth > statements[at].depth) ++end;
  return end;
}

std::vector<StoryStep> tell_statements(const std::vector<Statement>& statements, size_t first,
                                       size_t last, uint32_t file, StatementTeller& teller) {
  std::vector<StoryStep> steps = Teller(statements, file, teller).tell(first, last, 0);
  fold_computations(steps);
  return steps;
}

}  // namespace fathom
