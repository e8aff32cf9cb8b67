#include "doctor/loaded_library.h"

#include <fmt/format.h>

#include <cstring>

namespace fathom {
namespace {

// In the child. A bare name that the loader does not know is not there; a file that does not load
// is broken.
void* load_first(const std::vector<std::string>& candidates, const char* function,
                 const AnswerWriter& answer) {
  for (const std::string& candidate : candidates) {
    const bool is_file = candidate.find('/') != std::string::npos;
    if (is_file) answer.put("trying", candidate);
    void* const library = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL);
    void* const symbol = library == nullptr ? nullptr : dlsym(library, function);
    if (symbol != nullptr) {
      Dl_info where = {};
      const bool known = dladdr(symbol, &where) != 0 && where.dli_fname != nullptr;
      answer.put("path", known ? where.dli_fname : candidate.c_str());
      return library;
    }
    const char* const why = dlerror();
    if (is_file) answer.put("broken", why == nullptr ? "not a library of this name" : why);
    if (library != nullptr) dlclose(library);
  }
  return nullptr;
}

std::string end_text(const ChildAnswer& answer, std::chrono::milliseconds patience) {
  switch (answer.end) {
    case ChildAnswer::End::kDone:
      return "";
    case ChildAnswer::End::kFailed:
      return fmt::format("ended with exit code {}", answer.code);
    case ChildAnswer::End::kCrashed:
      return fmt::format("crashed ({})", strsignal(answer.code));
    case ChildAnswer::End::kTimedOut:
      return fmt::format("did not answer within {:g} s",
                         static_cast<double>(patience.count()) / 1000);
    case ChildAnswer::End::kNotStarted:
      return "no process could be started to ask it";
  }
  return "";
}

}  // namespace

AnswerLines ask_library(const Machine& machine, const std::vector<std::string>& candidates,
                        const char* function,
                        const std::function<void(void* library, const AnswerWriter&)>& ask,
                        LibraryFact& fact) {
  if (!machine.may_run || candidates.empty()) {
    // Of a file system that is only looked at, a file is known to be there and no more.
    if (!candidates.empty()) fact.path = machine.shown(candidates.front());
    return {};
  }
  const ChildAnswer answer = ask_child(
      [&](int out) {
        const AnswerWriter writer(out);
        if (void* const library = load_first(candidates, function, writer)) ask(library, writer);
      },
      machine.patience);
  AnswerLines lines = lines_of_answer(answer.text);
  std::string tried, first_broken, first_problem;
  for (const auto& [key, value] : lines) {
    if (key == "trying") tried = value;
    if (key == "broken" && first_broken.empty()) {
      first_broken = tried;
      first_problem = value;
    }
    if (key == "path") fact.path = value;
    if (key == "version") fact.version = value;
    if (key == "problem") fact.problem = value;
  }
  const std::string end = end_text(answer, machine.patience);
  if (!end.empty()) fact.problem = end;
  if (fact.path.empty() && !end.empty()) fact.path = tried;
  if (fact.path.empty() && !first_broken.empty()) {
    fact.path = first_broken;
    fact.problem = first_problem;
  }
  fact.path = machine.shown(fact.path);
  return lines;
}

}  // namespace fathom
