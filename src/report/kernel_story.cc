#include "report/kernel_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/kernel_behaviour.h"
#include "report/markdown.h"
#include "scan/cpp/code_patterns.h"
#include "scan/fact_names.h"
#include "story/expectation.h"
#include "story/host_expectation.h"

namespace fathom {
namespace {

constexpr size_t kMaxSteps = 14;

std::string place(const CodeFacts& facts, const CodePlace& at) {
  return md_code(place_text(facts, at));
}

class StoryWriter {
 public:
  StoryWriter(const CodeFacts& facts, const KernelFacts& kernel, const StoryContext& context)
      : facts_(facts),
        kernel_(kernel),
        context_(context),
        expected_(expect_of(kernel, context.parameters, context.platform)) {}

  std::string run() {
    story();
    out_ += kernel_behaviour(facts_, kernel_, expected_, context_);
    return std::move(out_);
  }

 private:
  void story() {
    out_ += "\n**Execution story** (code facts; what is derived says so)\n\n";
    size_t step = 0;
    for (const PathHop& hop : kernel_.path) {
      out_ += fmt::format("{}. {} {}\n", ++step, md_text(hop.what), place(facts_, hop.at));
    }
    launch_steps(step);
    device_steps(step);
    if (step == 0) out_ += "Nothing of it could be followed.\n";
    integration();
  }

  // Who calls it, and how often as far as the caller's own name tells.
  void integration() {
    constexpr size_t kShown = 5;
    if (kernel_.callers.empty()) return;
    out_ += "\nCalled by ";
    for (size_t i = 0; i < std::min(kernel_.callers.size(), kShown); ++i) {
      const PathHop& caller = kernel_.callers[i];
      out_ += fmt::format("{}{} {}", i == 0 ? "" : ", ", md_text(caller.what),
                          place(facts_, caller.at));
      if (caller.what.ends_with(".forward")) out_ += " (in every forward pass of that module)";
      if (caller.certainty != Certainty::kCertain)
        out_ += fmt::format(" ({})", certainty_name(caller.certainty));
    }
    if (kernel_.callers.size() > kShown)
      out_ += fmt::format(" and {} more", kernel_.callers.size() - kShown);
    out_ += ".\n";
  }

  void launch_steps(size_t& step) {
    if (!expected_.launch) return;
    const KernelLauncher& launcher = *expected_.launch->launcher;
    for (const NamedValue* value : in_order(launcher)) {
      out_ += fmt::format("{}. {} {}", ++step, md_code(value->name + " = " + value->text),
                          place(facts_, value->at));
      if (const auto known = context_.parameters.evaluate_in(value->text, launcher.values)) {
        out_ += fmt::format(" → {:g} (derived)", *known);
      }
      out_ += "\n";
    }
    out_ += fmt::format("{}. Launch {}: grid {}, block {}", ++step, place(facts_, launcher.at),
                        dimensions(expected_.launch->grid), dimensions(expected_.launch->block));
    if (expected_.launch->shared_bytes && *expected_.launch->shared_bytes > 0) {
      out_ += fmt::format(", {:.0f} B of dynamic shared memory", *expected_.launch->shared_bytes);
    }
    for (const std::string& attribute : launcher.attributes) out_ += ", " + md_text(attribute);
    out_ += "\n";
  }

  // Python's values before C++'s, each in the order of its file; the first value of a name is the
  // one that counts.
  std::vector<const NamedValue*> in_order(const KernelLauncher& launcher) const {
    std::vector<const NamedValue*> values;
    for (const NamedValue& value : launcher.values) {
      const bool known = std::any_of(values.begin(), values.end(), [&](const NamedValue* other) {
        return other->name == value.name;
      });
      if (!known) values.push_back(&value);
    }
    const auto rank = [&](const NamedValue* value) {
      return std::tuple(facts_.files[value->at.file].language != Language::kPython, value->at,
                        value->name);
    };
    std::sort(values.begin(), values.end(),
              [&](const NamedValue* a, const NamedValue* b) { return rank(a) < rank(b); });
    return values;
  }

  static std::string dimensions(const std::vector<ExpectedLaunch::Dimension>& list) {
    if (list.empty()) return "not said";
    std::string out;
    for (const ExpectedLaunch::Dimension& dimension : list) {
      if (!out.empty()) out += " × ";
      out += md_code(dimension.text);
      if (dimension.value && dimension.text != fmt::format("{:g}", *dimension.value)) {
        out += fmt::format(" = {:g}", *dimension.value);
      }
    }
    return out;
  }

  // The body's steps, each with what the code there does; long bodies by their telling lines.
  void device_steps(size_t& step) {
    std::map<size_t, std::vector<const CodeEvidence*>> of_step;
    std::vector<const CodeEvidence*> elsewhere;
    for (const CodeEvidence& evidence : kernel_.evidence) {
      if (evidence.certainty == Certainty::kUnsure) continue;
      if (evidence.what == "launch_bounds" || evidence.what == "unroll")
        continue;  // no step of its own
      const auto at = step_of(evidence);
      at ? of_step[*at].push_back(&evidence) : elsewhere.push_back(&evidence);
    }
    const bool all = kernel_.steps.size() <= kMaxSteps;
    size_t shown = 0;
    for (size_t i = 0; i < kernel_.steps.size() && shown < kMaxSteps; ++i) {
      const auto evidence = of_step.find(i);
      if (!all && evidence == of_step.end()) continue;
      ++shown;
      out_ += fmt::format("{}. On the GPU: {} {}", ++step, md_code(kernel_.steps[i].name),
                          place(facts_, kernel_.steps[i].at));
      if (evidence != of_step.end()) {
        for (const CodeEvidence* e : evidence->second) out_ += "; " + said(*e);
      }
      out_ += "\n";
    }
    for (const CodeEvidence* evidence : elsewhere) {
      if (shown++ >= kMaxSteps) break;
      out_ += fmt::format("{}. On the GPU: {}\n", ++step, said(*evidence));
    }
    if (kernel_.steps.size() > shown && !all) {
      out_ +=
          fmt::format("\nThe body has {} steps; those that no evidence stands in are left out.\n",
                      kernel_.steps.size());
    }
  }

  // The step that an evidence's line belongs to: its own line's, or the call that reaches it.
  std::optional<size_t> step_of(const CodeEvidence& evidence) const {
    std::optional<size_t> found;
    const bool own = evidence.at.file == kernel_.at.file && evidence.function == kernel_.name;
    for (size_t i = 0; i < kernel_.steps.size(); ++i) {
      const NamedValue& step = kernel_.steps[i];
      if (own && step.at.line <= evidence.at.line) found = i;
      if (own) continue;
      const size_t at = step.name.find(evidence.function);
      const size_t after = at + evidence.function.size();
      const bool calls = at != std::string::npos && after < step.name.size() &&
                         (step.name[after] == '(' || step.name[after] == '<');
      if (calls && !found) found = i;
    }
    if (own && kernel_.steps.empty()) return std::nullopt;
    return found;
  }

  std::string said(const CodeEvidence& evidence) const {
    const cpp::CodePattern* pattern = cpp::PatternTable::built_in().find(evidence.what);
    std::string out = md_text(pattern == nullptr ? evidence.what : pattern->title);
    if (!evidence.detail.empty()) out += " " + md_code(evidence.detail);
    if (evidence.function != kernel_.name) out += " " + place(facts_, evidence.at);
    if (evidence.certainty == Certainty::kLikely) out += " (likely)";
    return out;
  }

  const CodeFacts& facts_;
  const KernelFacts& kernel_;
  const StoryContext& context_;
  const Expectation expected_;
  std::string out_;
};

}  // namespace

std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const StoryContext& context) {
  return StoryWriter(facts, kernel, context).run();
}

std::string host_story(const CodeFacts& facts, const HostFacts& host, const StoryContext& context) {
  const HostExpectation expected = expect_of(host, context.parameters, context.platform);
  std::string out = "\n**Execution story** (code facts)\n\n";
  size_t step = 0;
  for (const PathHop& hop : host.path)
    out += fmt::format("{}. {} {}\n", ++step, md_text(hop.what), place(facts, hop.at));
  for (const CodeEvidence& evidence : host.evidence) {
    const cpp::CodePattern* pattern = cpp::PatternTable::built_in().find(evidence.what);
    out += fmt::format("{}. {} {} {}\n", ++step,
                       md_text(pattern == nullptr ? evidence.what : pattern->title),
                       md_code(evidence.detail), place(facts, evidence.at));
  }
  if (expected.estimates.empty()) return out;
  out += fmt::format("\n**Expected** (estimated, never measured): {}\n", md_text(expected.title));
  if (!expected.missing.empty()) {
    out += fmt::format("\nUnknown without `--param`: {}.\n",
                       md_code(fmt::format("{}", fmt::join(expected.missing, ", "))));
  }
  out += "\n| quantity | expected | formula |\n|---|---:|---|\n";
  for (const Estimate& e : expected.estimates) {
    out += fmt::format("| {} | {} | {} |\n", md_cell(e.name), estimate_range(e),
                       md_code_cell(e.formula));
  }
  return out;
}

}  // namespace fathom
