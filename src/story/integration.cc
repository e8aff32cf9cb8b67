#include "story/integration.h"

#include <fmt/format.h>

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/facts/fact_names.h"
#include "story/statement_steps.h"

namespace fathom {
namespace {

constexpr size_t kMostCallers = 5, kMostLoops = 4, kMostTests = 4;

class Integrator {
 public:
  Integrator(const CodeFacts& facts, SourceOutlines& sources) : facts_(facts), sources_(sources) {}

  Integration run(const std::vector<PathHop>& callers, const std::vector<PathHop>& way_up,
                  const KernelFacts* kernel) {
    const RequestPath* way = kernel == nullptr ? nullptr : way_to(*kernel);
    const std::vector<PathHop> way_down(way_up.rbegin(), way_up.rend());
    if (way != nullptr) {
      along(*way);
    } else {
      for (const PathHop& hop : way_down) around(hop.at, hop.certainty);
      for (const PathHop& caller : callers) {
        if (callers.size() == 1) around(caller.at, caller.certainty);
      }
    }
    for (const PathHop& hop : way_down) add_caller(hop);
    for (size_t i = 0; i < std::min(callers.size(), kMostCallers); ++i) add_caller(callers[i]);
    if (kernel != nullptr) add_pdl(*kernel);
    return std::move(out_);
  }

 private:
  // The first way of a request that leads to the kernel.
  const RequestPath* way_to(const KernelFacts& kernel) const {
    const auto number = static_cast<uint32_t>(&kernel - facts_.kernels.data());
    for (const RequestPath& path : facts_.request_paths) {
      if (path.kernel == number) return &path;
    }
    return nullptr;
  }

  // What stands before the last queue on the way runs at its own pace, so loops count behind it.
  void along(const RequestPath& way) {
    size_t first = 0;
    for (size_t i = 0; i < way.hops.size(); ++i) {
      if (way.hops[i].how.is(ReachKind::kSends)) first = i;
    }
    if (first > 0) {
      StoryStep step;
      step.words = Phrase::kFromQueue;
      step.code = {way.hops[first].function};
      step.at = way.hops[first].at;
      step.certainty = way.hops[first].certainty;
      out_.how_often.push_back(std::move(step));
    }
    for (size_t i = first + 1; i < way.hops.size(); ++i)
      around(way.hops[i].from, way.hops[i].certainty);
    add_graphs(way);
  }

  void add_caller(const PathHop& caller) {
    StoryStep step;
    step.words = Phrase::kCalledBy;
    step.code = {hop_text(caller)};
    step.at = caller.at;
    step.certainty = caller.certainty;
    if (caller.name.ends_with(".forward"))
      step.remarks.push_back({Phrase::kEveryForwardPass, "", {}, {}});
    if (caller.name.ends_with(".__init__"))
      step.remarks.push_back({Phrase::kWhenObjectIsMade, "", {}, {}});
    out_.callers.push_back(std::move(step));
  }

  const std::vector<Statement>* statements_at(const CodePlace& at) const {
    if (at.line == 0 || at.file >= facts_.files.size()) return nullptr;
    if (facts_.files[at.file].language == Language::kPython) {
      const PythonBody* body = sources_.python_function(at);
      return body == nullptr ? nullptr : &body->statements;
    }
    const CppBody* body = sources_.cpp_function(at);
    return body == nullptr ? nullptr : &body->statements;
  }

  // The loops and streams around a line that leads on to the kernel.
  void around(const CodePlace& at, Certainty certainty) {
    const std::vector<Statement>* statements = statements_at(at);
    if (statements == nullptr) return;
    const Statement* test = nullptr;  // of the if that an else belongs to
    for (const Statement& statement : *statements) {
      if (statement.kind == StatementKind::kIf) test = &statement;
      if (statement.line_first > at.line || statement.line_last < at.line) continue;
      if (statement.kind == StatementKind::kIf && out_.only_where.size() < kMostTests) {
        add(out_.only_where, Phrase::kWhere, statement, at.file, certainty);
      }
      if (statement.kind == StatementKind::kElse && test != nullptr &&
          test->depth == statement.depth && out_.only_where.size() < kMostTests) {
        add(out_.only_where, Phrase::kWhereNot, *test, at.file, certainty);
      }
      if (statement.kind == StatementKind::kLoop && out_.how_often.size() < kMostLoops) {
        add(out_.how_often, loop_words(statement.text), statement, at.file, certainty);
      }
      if (statement.kind == StatementKind::kWith &&
          holds(small_letters(statement.text), "stream")) {
        add(out_.overlapped, Phrase::kOnChosenStream, statement, at.file, certainty);
      }
    }
  }

  static Phrase loop_words(std::string_view text) {
    const std::string low = small_letters(text);
    if (low == "while true") return Phrase::kAgainAndAgain;  // source text
    if (holds(low, "layer")) return Phrase::kOncePerLayer;
    return Phrase::kOncePerRound;
  }

  static void add(std::vector<StoryStep>& to, Phrase words, const Statement& statement,
                  uint32_t file, Certainty certainty) {
    StoryStep step;
    step.words = words;
    step.code = {
        tidy_code(statement.kind == StatementKind::kIf ? condition_of(statement) : statement.text)};
    step.at = {file, statement.line_first};
    step.certainty = certainty;
    const bool known = std::any_of(to.begin(), to.end(),
                                   [&](const StoryStep& other) { return other.at == step.at; });
    if (!known) to.push_back(std::move(step));
  }

  // with torch.cuda.graph(…): what is called inside it and stands on the way is captured.
  void add_graphs(const RequestPath& way) {
    for (const FeatureFacts& feature : facts_.features) {
      for (const RuleEvidence& evidence : feature.evidence) {
        if (!holds(evidence.what, "cuda.graph") && !holds(evidence.what, "CUDAGraph")) continue;
        const std::vector<Statement>* statements = statements_at(evidence.at);
        if (statements != nullptr) add_captures(*statements, evidence.at.file, way);
      }
    }
  }

  void add_captures(const std::vector<Statement>& statements, uint32_t file,
                    const RequestPath& way) {
    for (size_t i = 0; i < statements.size(); ++i) {
      const bool captures =
          statements[i].kind == StatementKind::kWith && holds(statements[i].text, "graph(");
      if (!captures) continue;
      for (size_t k = i + 1; k < statements.size() && statements[k].depth > statements[i].depth;
           ++k) {
        const bool leads =
            std::any_of(way.hops.begin(), way.hops.end(), [&](const RequestHop& hop) {
              return holds(statements[k].text, "." + std::string(last_part(hop.function)) + "(");
            });
        if (!leads) continue;
        StoryStep step;
        step.words = Phrase::kCapturedInGraph;
        step.code = {tidy_code(statements[k].text)};
        step.at = {file, statements[k].line_first};
        step.certainty = Certainty::kLikely;
        step.remarks.push_back(
            {Phrase::kWithin, tidy_code(statements[i].text), {file, statements[i].line_first}, {}});
        out_.overlapped.push_back(std::move(step));
        return;
      }
    }
  }

  void add_pdl(const KernelFacts& kernel) {
    for (const KernelLauncher& launcher : kernel.launchers) {
      for (const LaunchAttribute& attribute : launcher.attributes) {
        if (attribute.kind != LaunchAttribute::Kind::kPdl) continue;
        StoryStep step;
        step.words = Phrase::kMayBeginEarly;
        step.code = {attribute_text(attribute)};
        step.at = launcher.at;
        for (const NamedValue& value : launcher.values) {
          if (value.name != attribute.condition || value.text != "false") continue;
          step.remarks.push_back({Phrase::kOffByDefault, value.name + " = " + value.text, value.at,
                                  Certainty::kLikely});
          break;
        }
        out_.overlapped.push_back(std::move(step));
        return;
      }
    }
  }

  const CodeFacts& facts_;
  SourceOutlines& sources_;
  Integration out_;
};

}  // namespace

bool in_forward_pass(const StoryStep& caller) {
  return std::any_of(caller.remarks.begin(), caller.remarks.end(), [](const StepRemark& remark) {
    return remark.words.is(Phrase::kEveryForwardPass);
  });
}

Integration integration_of(const CodeFacts& facts, const std::vector<PathHop>& callers,
                           const std::vector<PathHop>& way_up, const KernelFacts* kernel,
                           SourceOutlines& sources) {
  return Integrator(facts, sources).run(callers, way_up, kernel);
}

}  // namespace fathom
