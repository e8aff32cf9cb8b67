#include "session/code/known_code.h"

#include <fmt/format.h>

#include "report/scan/expected_measured_text.h"
#include "scan/scan_repository.h"
#include "session/code/measured.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"

namespace fathom {
namespace {

// What the code of a kernel that was asked for shows, a few lines; the repository is told once.
class KernelCodeSteps {
 public:
  KernelCodeSteps(const SheetInput& input, const CodeFacts& code, const Platform* platform)
      : input_(input), code_(code) {
    StoryContext context;
    context.platform = platform;
    stories_ = tell_stories(code, context);
  }

  std::vector<CodeStep> operator()(const KernelContext& kernel) const {
    constexpr size_t kMostSteps = 6;
    std::vector<CodeStep> steps;
    const std::vector<size_t>& definitions = input_.kernels.code(kernel.first).definitions;
    // Of several definitions it is not known which one ran.
    if (definitions.size() != 1 || definitions[0] >= stories_.kernels.size()) return steps;
    for (const KernelNote& note : stories_.kernels[definitions[0]].notes) {
      if (steps.size() == kMostSteps) break;
      if (note.at.file >= code_.files.size()) continue;
      const StoryMark mark = note.basis == mark_text(StoryMark::kCodeFact)  ? StoryMark::kCodeFact
                             : note.basis == mark_text(StoryMark::kDerived) ? StoryMark::kDerived
                                                                            : StoryMark::kEstimated;
      steps.push_back(
          {note.text, fmt::format("{}:{}", code_.files[note.at.file].path, note.at.line), mark});
    }
    return steps;
  }

 private:
  const SheetInput& input_;
  const CodeFacts& code_;
  Stories stories_;
};

class ReadCode : public KnownCode {
 public:
  ReadCode(std::string repository, CodeFacts facts)
      : repository_(std::move(repository)), facts_(std::move(facts)) {}

  const CodeFacts& facts() const override { return facts_; }

  Compared compare(const CountedLaunches& launches) const override {
    SourceOutlines sources(repository_, facts_.files);
    std::vector<MeasuredRun> runs;
    MeasuredRun& run = runs.emplace_back(measured_run(launches.input, launches.contexts, facts_,
                                                      Parameters(), launches.platform, &sources));
    if (launches.samples != nullptr) add_hot_lines(launches.input, *launches.samples, facts_, run);
    run.file = launches.file;
    return {count_compared(run.compared), compared_sheet(runs),
            compared_page(facts_.repository, runs), compared_parts(run)};
  }

  CodeSteps steps(const SheetInput& input, const Platform* platform) const override {
    return KernelCodeSteps(input, facts_, platform);
  }

 private:
  std::string repository_;
  CodeFacts facts_;
};

}  // namespace

Result<std::unique_ptr<const KnownCode>> read_code(const std::string& repository, size_t threads,
                                                   const ProgressCallback& progress) {
  ScanOptions options;
  options.threads = threads;
  options.progress = progress;
  CodeFacts facts = TRY(scan_repository(repository, options));
  return std::unique_ptr<const KnownCode>(std::make_unique<ReadCode>(repository, std::move(facts)));
}

}  // namespace fathom
