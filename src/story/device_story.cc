#include "story/device_story.h"

#include <algorithm>
#include <set>

#include "story/device_steps.h"

namespace fathom {
namespace {

constexpr size_t kMostSteps = 40, kFewSteps = 8;
constexpr int kTriedCalls = 6;

// What all stories together open is a multiple of the code that there is, however many kernels
// share it.
size_t most_opened(const CodeFacts& facts, const SourceOutlines& sources) {
  constexpr size_t kShare = 32, kLeast = 200, kMost = 20000;
  return std::clamp(kShare * sources.cpp_lines() / std::max<size_t>(1, facts.kernels.size()),
                    kLeast, kMost);
}

// Tells the kernel's body, then opens calls as long as the story stays readable: those first that
// do the most.
class Storyteller {
 public:
  Storyteller(const CodeFacts& facts, const KernelFacts& kernel, const KernelLauncher* launcher,
              const CppBody& body, SourceOutlines& sources)
      : kernel_(kernel),
        launcher_(launcher),
        body_(body),
        context_{kernel, OpenedCalls(facts, sources), most_opened(facts, sources)} {}

  std::vector<StoryStep> run() {
    std::vector<StoryStep> best = tell();
    for (int tried = 0; tried < kTriedCalls; ++tried) {
      const CppBody* next = most_telling();
      if (next == nullptr) break;
      tried_.insert(next->function);
      context_.to_open.insert(next->function);
      std::vector<StoryStep> longer = tell();
      // A kernel that only hands over to a function is told by that one, as far as it fits.
      const bool fits = count_steps(longer) <= kMostSteps || count_steps(best) < kFewSteps;
      if (fits) {
        best = std::move(longer);
      } else {
        context_.to_open.erase(next->function);
      }
    }
    return best;
  }

 private:
  std::vector<StoryStep> tell() {
    context_.unopened.clear();
    context_.opened.clear();
    context_.width_said = false;
    MemoryNames memory;
    memory.add_parameters_of_kernel(*body_.function, *body_.code);
    return device_steps(context_, body_, std::move(memory),
                        TemplateValues(kernel_.template_parameters, launcher_));
  }

  const CppBody* most_telling() const {
    const CppBody* best = nullptr;
    size_t most = 0;
    for (const auto& [body, count] : context_.unopened) {
      if (tried_.contains(body->function)) continue;
      if (best == nullptr || count > most) {
        best = body;
        most = count;
      }
    }
    return best;
  }

  const KernelFacts& kernel_;
  const KernelLauncher* launcher_;
  const CppBody& body_;
  DeviceContext context_;
  std::set<const cpp::Function*> tried_;
};

}  // namespace

DeviceStory device_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const KernelLauncher* launcher, SourceOutlines& sources) {
  DeviceStory story;
  const CppBody* body = kernel.kind == KernelKind::kDeviceKernel
                            ? sources.cpp_method(kernel.at, kernel.line_last, "operator()")
                            : sources.cpp_function({kernel.at.file, kernel.line_name});
  if (body == nullptr) return story;
  story.at = {body->file, body->function->line_first};
  story.line_last = body->function->line_last;
  story.steps = Storyteller(facts, kernel, launcher, *body, sources).run();
  story.left_out = shorten(story.steps, kMostSteps);
  return story;
}

}  // namespace fathom
