#include "scan/features/pairs.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "test_files.h"

namespace fathom::test {
namespace {

Language language_of(std::string_view path) {
  if (path.ends_with(".py")) return Language::kPython;
  return path.ends_with(".cu") ? Language::kCuda : Language::kCpp;
}

void read_pair_file(const std::filesystem::path& path, std::vector<RulePair>& pairs) {
  std::istringstream lines(read_file(path));
  SmallRepository* into = nullptr;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with("=== ")) {
      pairs.push_back(
          {line.substr(4), path.filename().string() + ":" + std::to_string(number), {}, {}});
      into = nullptr;
    } else if (line.starts_with("+++ ") || line.starts_with("--- ")) {
      into = line[0] == '+' ? &pairs.back().fires : &pairs.back().silent;
      if (line[4] == '@') {
        into->facts.push_back(line.substr(5));
      } else {
        into->files.push_back({line.substr(4), ""});
      }
    } else if (into != nullptr && !into->files.empty()) {
      into->files.back().text += line + "\n";
    }
  }
}

void add_fact(const std::string& fact, CodeFacts& facts) {
  const size_t space = fact.find(' ');
  const std::string kind = fact.substr(0, space), name = fact.substr(space + 1);
  if (kind == "option") {
    OptionFacts option;
    option.name = name;
    facts.options.push_back(option);
    return;
  }
  KernelFacts kernel;
  kernel.name = kind == "pattern" ? "some_function" : name;
  kernel.dead = kind == "dead_kernel";
  kernel.line_name = 1;
  if (kind == "pattern") kernel.evidence.push_back({name, "", {0, 1}, "", Certainty::kCertain});
  facts.kernels.push_back(kernel);
}

}  // namespace

std::vector<RulePair> read_pairs(bool components) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_dir() / "tests" / "scan" / "features")) {
    if (entry.path().extension() != ".pairs") continue;
    if ((entry.path().stem() == "components") == components) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<RulePair> pairs;
  for (const auto& path : paths) read_pair_file(path, pairs);
  return pairs;
}

CodeFacts facts_of(const SmallRepository& repository) {
  CodeFacts facts;
  facts.repository = "small";
  for (const SmallRepository::File& file : repository.files) {
    SourceFile source;
    source.path = file.path;
    source.language = language_of(file.path);
    if (file.path.starts_with("third_party/")) source.origin = Origin::kVendored;
    facts.files.push_back(source);
  }
  if (!repository.facts.empty() && facts.files.empty()) {
    facts.files.push_back({"src/facts.cu", Language::kCuda, Origin::kOwn, 0, 0, ""});
  }
  for (const std::string& fact : repository.facts) add_fact(fact, facts);
  return facts;
}

RecognisedParts recognise(const SmallRepository& repository, const FeatureRules& rules) {
  const SignalTable table(rules);
  SignalFinder finder(table);
  std::vector<FileSignals> signals;
  for (const SmallRepository::File& file : repository.files) {
    signals.push_back(language_of(file.path) == Language::kPython
                          ? finder.find(python::lex(file.text))
                          : finder.find(cpp::lex(file.text)));
  }
  return link_features(facts_of(repository), signals, rules);
}

}  // namespace fathom::test
