#include "story/launch_story.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "scan/facts/pattern_ids.h"
#include "story/python_story.h"

namespace fathom {
namespace {

// Whether a step makes, sizes or checks the launch, or holds what does.
bool concerns_launch(const StoryStep& step) {
  constexpr std::array kinds = {Phrase::kLaunches,     Phrase::kComputesForLaunch,
                                Phrase::kChecks,       Phrase::kChooses,
                                Phrase::kChoosesTypes, Phrase::kChoosesLaunch,
                                Phrase::kFails,        Phrase::kFailsWhere,
                                Phrase::kByDefault,    Phrase::kFillsInTemplate,
                                Phrase::kTakesKernel,  Phrase::kLaunchesHere,
                                Phrase::kInFunction,   Phrase::kInCase};
  return step.words.is_pattern(pattern_id::kSharedMemoryOptIn) ||
         std::any_of(kinds.begin(), kinds.end(), [&](Phrase kind) { return step.words.is(kind); });
}

// How much a step matters to the launch: 2 it makes, sizes or checks it, 1 it does something, 0 it
// computes something else.
int weight(const StoryStep& step) {
  int most = 0;
  for (const StoryStep& inner : step.inside) most = std::max(most, weight(inner));
  if (step.words.is(Phrase::kLaunchesOther)) return std::max(most, 1);
  return concerns_launch(step) ? 2 : std::max(most, step.only_computes ? 0 : 1);
}

void keep(std::vector<StoryStep>& steps, int least) {
  std::erase_if(steps, [&](const StoryStep& step) { return weight(step) < least; });
  for (StoryStep& step : steps) keep(step.inside, least);
}

// Makes the longest list shorter by its last step, again and again, until `most` steps are left;
// keeps the launches whatever goes. Lists are numbered from the outside in, so that what a step
// holds is a row of them.
class StepCutter {
 public:
  explicit StepCutter(std::vector<StoryStep>& steps) {
    if (!steps.empty()) add(steps);
  }

  void cut(size_t most) {
    while (left_ > most && !longest_.empty()) {
      const auto [minus_size, number] = *longest_.begin();
      longest_.erase(longest_.begin());
      List& list = lists_[number];
      while (list.end > 0 && list.inside[list.end - 1].holds_launch) --list.end;
      if (list.end == 0) break;
      take_out(list.inside[--list.end]);
      --list.left;
      --left_;
      longest_.emplace(minus_size + 1, number);
    }
    // What is inside first: the steps move when those before them go.
    for (auto list = lists_.rbegin(); list != lists_.rend(); ++list) remove_gone(*list);
  }

 private:
  struct Inside {
    size_t first = 0, last = 0;  // the lists that the step holds
    bool holds_launch = false, gone = false;
  };
  struct List {
    std::vector<StoryStep>* steps = nullptr;
    std::vector<Inside> inside;
    size_t left = 0, end = 0;  // from `end` on no step is to go any more
  };

  // Whether there is a launch in it.
  bool add(std::vector<StoryStep>& steps) {
    const size_t number = lists_.size();
    lists_.push_back({&steps, {}, steps.size(), steps.size()});
    std::vector<Inside> all;
    bool launches = false;
    for (StoryStep& step : steps) {
      Inside inside;
      inside.first = lists_.size();
      inside.holds_launch = step.words.is(Phrase::kLaunches);
      if (!step.inside.empty() && add(step.inside)) inside.holds_launch = true;
      inside.last = lists_.size();
      launches |= inside.holds_launch;
      all.push_back(inside);
    }
    lists_[number].inside = std::move(all);
    longest_.emplace(-std::ssize(steps), number);
    left_ += steps.size();
    return launches;
  }

  void take_out(Inside& step) {
    step.gone = true;
    for (size_t i = step.first; i < step.last; ++i) {
      longest_.erase({-static_cast<ptrdiff_t>(lists_[i].left), i});
      left_ -= lists_[i].left;
      lists_[i].left = 0;
    }
  }

  static void remove_gone(List& list) {
    size_t at = 0;
    std::erase_if(*list.steps, [&](const StoryStep&) { return list.inside[at++].gone; });
  }

  std::vector<List> lists_;
  std::set<std::pair<ptrdiff_t, size_t>> longest_;  // by size, the longest first, and number
  size_t left_ = 0;
};

class LaunchTeller {
 public:
  explicit LaunchTeller(const HostContext& context) : context_(context) {}

  LaunchStory run(size_t most_steps) {
    for (const PathHop& hop : context_.kernel->path) function_at(hop.at);
    if (!told_launch_) function_at(context_.launcher->at);
    if (!told_launch_) out_.steps.push_back(launch_step(context_));
    const size_t before = count_steps(out_.steps);
    for (const int least : {1, 2}) {
      if (count_steps(out_.steps) > most_steps) keep(out_.steps, least);
    }
    StepCutter(out_.steps).cut(most_steps);
    std::erase_if(out_.steps, [](const StoryStep& step) {
      return step.words.is(Phrase::kInFunction) && step.inside.empty();
    });
    out_.left_out = before - count_steps(out_.steps);
    return std::move(out_);
  }

 private:
  bool is_python(const CodePlace& at) const {
    return context_.facts.files[at.file].language == Language::kPython;
  }

  void function_at(const CodePlace& at) {
    StoryStep step;
    if (is_python(at)) {
      const PythonBody* body = context_.sources.python_function(at);
      if (body == nullptr || !told_.insert(body->function).second) return;
      step.inside = python_steps(context_, *body);
      describe(*body, step);
    } else {
      const CppBody* body = context_.sources.cpp_function(at);
      if (body == nullptr || !told_.insert(body->function).second) return;
      step.inside = host_steps(context_, *body);
      const std::string& scope = body->function->scope;
      step.code = {scope.empty() ? body->function->name : scope + "::" + body->function->name};
      step.at = {body->file, body->function->line_name};
    }
    step.words = Phrase::kInFunction;
    note_launch(step);
    if (!step.inside.empty()) out_.steps.push_back(std::move(step));
  }

  void note_launch(const StoryStep& step) {
    const KernelLauncher& launcher = *context_.launcher;
    if (step.words.is(Phrase::kLaunches) && step.at == launcher.at) told_launch_ = true;
    for (const StoryStep& inner : step.inside) note_launch(inner);
  }

  void describe(const PythonBody& body, StoryStep& step) {
    const std::string& scope = body.function->scope;
    step.code = {scope.empty() ? body.function->name : scope + "." + body.function->name};
    step.at = {body.file, body.function->line_name};
    for (const std::string& decorator : body.function->decorators) {
      // functools.lru_cache(…), not an argument of that name.
      if (decorator.substr(0, decorator.find('(')).find("cache") == std::string::npos) continue;
      step.remarks.push_back(
          {Phrase::kKeptForArguments, decorator, {body.file, body.function->line_first}, {}});
    }
    add_defaults(body, step);
  }

  // Values at module level that the launch takes where nobody says otherwise.
  void add_defaults(const PythonBody& body, StoryStep& step) {
    const bool compiles = std::any_of(
        step.inside.begin(), step.inside.end(),
        [](const StoryStep& inner) { return inner.words.is(Phrase::kFillsInTemplate); });
    if (!compiles) return;
    StoryStep values;
    values.words = Phrase::kByDefault;
    for (const NamedValue& value : context_.launcher->values) {
      if (value.at.file != body.file) continue;
      const PythonBody* around = context_.sources.python_function(value.at);
      if (around != nullptr) continue;
      values.code.push_back(value.name + " = " + value.text);
      values.at = value.at;
    }
    if (!values.code.empty()) step.inside.insert(step.inside.begin(), std::move(values));
  }

  const HostContext& context_;
  std::set<const void*> told_;
  bool told_launch_ = false;
  LaunchStory out_;
};

}  // namespace

LaunchStory launch_story(const HostContext& context, size_t most_steps) {
  return LaunchTeller(context).run(most_steps);
}

}  // namespace fathom
