#include "plan/ablate/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "base/closest_names.h"
#include "base/hash.h"
#include "base/shell_text.h"

namespace fathom::ablate {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

// What commands of a variant and a case are filled in with. Later pairs replace earlier ones.
struct Filling {
  Values values;
  std::vector<std::string> macros, flags;
};

Filling filling_of(const Changes& changes, const Case* in_case) {
  Filling filling;
  if (in_case != nullptr) {
    for (const auto& [name, value] : in_case->values) filling.values[name] = value;
  }
  for (const auto& [name, value] : changes.values) filling.values[name] = value;
  for (const auto& [name, value] : changes.macros)
    filling.macros.push_back("-D" + name + (value.empty() ? "" : "=" + value));
  filling.flags = changes.flags;
  return filling;
}

// {name} by its value; braces around anything but a name stay.
Result<std::string> filled(std::string_view text, const Filling& filling, std::string_view what) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      out += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && is_word_character(text[end])) ++end;
    if (end == at + 1 || end >= text.size() || text[end] != '}') {
      out += text[at++];
      continue;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const auto found = filling.values.find(name);
    if (found == filling.values.end()) {
      if (name == "macros" || name == "flags")
        return Error{fmt::format("{}: {{{}}} must be a word of its own", what, name)};
      std::vector<std::string> known;
      for (const auto& [key, value] : filling.values) known.push_back(key);
      return Error{
          fmt::format("{}: nothing gives {{{}}} a value{}", what, name, did_you_mean(name, known))};
    }
    out += found->second;
    at = end + 1;
  }
  return out;
}

// For {macros} and {flags} in one line of a shell.
std::string joined(const std::vector<std::string>& words) { return shell_text(words); }

Result<ReadyCommand> ready(const CommandLine& command, const Changes& changes, Filling filling,
                           std::string_view what) {
  ReadyCommand out;
  out.folder = command.folder;
  out.environment = changes.environment;
  out.timeout_ms = command.timeout_ms;
  if (command.shell) {
    filling.values["macros"] = joined(filling.macros);
    filling.values["flags"] = joined(filling.flags);
    out.words = {"/bin/sh", "-c", TRY(filled(command.words[0], filling, what))};
    return out;
  }
  for (const std::string& word : command.words) {
    if (word == "{macros}" || word == "{flags}") {
      const auto& more = word == "{macros}" ? filling.macros : filling.flags;
      out.words.insert(out.words.end(), more.begin(), more.end());
    } else {
      out.words.push_back(TRY(filled(word, filling, what)));
    }
  }
  return out;
}

class KeyHash {
 public:
  KeyHash& add(std::string_view text) {
    hash_ = mix_bits(hash_text(text), hash_ + 1);
    return *this;
  }
  KeyHash& add(uint64_t number) {
    hash_ = mix_bits(number + 0x51ed27, hash_ + 1);
    return *this;
  }
  KeyHash& add(const ReadyCommand& command) {
    add(command.words.size());
    for (const std::string& word : command.words) add(word);
    add(command.folder).add(command.environment);
    return *this;
  }
  KeyHash& add(const Pairs& pairs) {
    add(pairs.size());
    for (const auto& [name, value] : pairs) add(name).add(value);
    return *this;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

class SuitePlanner {
 public:
  SuitePlanner(const Suite& suite, const Places& places, const std::vector<uint64_t>& contents)
      : suite_(suite), places_(places), contents_(contents) {}

  Result<SuitePlan> plan() {
    for (size_t i = 0; i < suite_.variants.size(); ++i) TRY(add_variant(i));
    return std::move(plan_);
  }

 private:
  struct Commands {
    ReadyCommand build, check, counted;
    std::vector<ReadyCommand> runs;
  };

  // With the folders as `tree` and `suite`: real ones to run, fixed ones for keys.
  Result<Commands> commands_of(const Variant& variant, const std::string& tree,
                               const std::string& suite_folder) const {
    const Changes& changes = variant.changes;
    const auto fill = [&](const Case* in_case) {
      Filling filling = filling_of(changes, in_case);
      filling.values["tree"] = tree;
      filling.values["suite"] = suite_folder;
      return filling;
    };
    const std::string what = fmt::format("variant '{}'", variant.name);
    Commands out;
    const CommandLine& build = changes.build.empty() ? suite_.build : changes.build;
    if (!build.empty()) out.build = TRY(ready(build, changes, fill(nullptr), what + ", build"));
    const CommandLine& run = changes.run.empty() ? suite_.run : changes.run;
    const Case* first = suite_.cases.data();
    if (!suite_.check.empty())
      out.check = TRY(ready(suite_.check.command, changes, fill(first), what + ", check"));
    for (const Case& one : suite_.cases)
      out.runs.push_back(TRY(ready(run, changes, fill(&one), what + ", run")));
    if (suite_.counters.wanted) {
      const CommandLine& counted = suite_.counters.command.empty() ? run : suite_.counters.command;
      out.counted = TRY(ready(counted, changes, fill(first), what + ", counters"));
      if (suite_.counters.command.empty()) out.counted.timeout_ms = run.timeout_ms * 4;
    }
    return out;
  }

  Status add_variant(size_t i) {
    const Variant& variant = suite_.variants[i];
    const Changes& changes = variant.changes;
    // Keys do not depend on where the suite and the trees lie.
    const Commands fixed = TRY(commands_of(variant, "{tree}", "{suite}"));
    KeyHash tree;
    tree.add(changes.commit).add(changes.files).add(changes.patches.size());
    for (const std::string& patch : changes.patches) tree.add(patch);
    const uint64_t build_key = tree.add(fixed.build).value();
    // Shared where everything is the same, the contents of patches and files too.
    const uint64_t content = i < contents_.size() ? contents_[i] : 0;
    const auto [at, is_new] = builds_.try_emplace({build_key, content}, plan_.builds.size());
    if (is_new) {
      std::string folder = places_.trees + "/" + variant.name;
      if (!changes.commit.empty() && !places_.below_root.empty())
        folder += "/" + places_.below_root;
      plan_.builds.push_back({variant.name, {}, &changes, std::move(folder), {}});
    }
    BuildPlan& build = plan_.builds[at->second];
    build.variants.push_back(i);
    const Commands real = TRY(commands_of(variant, build.tree, places_.suite_folder));
    if (is_new) build.build = real.build;
    VariantPlan planned;
    planned.build = at->second;
    planned.check = real.check;
    planned.runs = real.runs;
    planned.counted = real.counted;
    planned.build_key = build_key;
    const Check& c = suite_.check;
    planned.check_key = KeyHash()
                            .add(build_key)
                            .add(fixed.check)
                            .add(c.output)
                            .add(c.reference)
                            .add(c.reference_variant)
                            .add(fmt::format("{} {} {} {}", static_cast<int>(c.format), c.absolute,
                                             c.relative, c.norm.value_or(-1)))
                            .value();
    for (const ReadyCommand& run : fixed.runs)
      planned.run_keys.push_back(KeyHash()
                                     .add(build_key)
                                     .add(run)
                                     .add(suite_.timing.pattern)
                                     .add(fmt::format("{}", suite_.timing.unit))
                                     .value());
    planned.counters_key = KeyHash()
                               .add(build_key)
                               .add(fixed.counted)
                               .add(suite_.counters.set)
                               .add(suite_.counters.kernel)
                               .add(uint64_t{suite_.counters.replay})
                               .value();
    plan_.variants.push_back(std::move(planned));
    return Nothing{};
  }

  const Suite& suite_;
  const Places& places_;
  const std::vector<uint64_t>& contents_;
  std::map<std::pair<uint64_t, uint64_t>, size_t> builds_;
  SuitePlan plan_;
};

}  // namespace

Result<SuitePlan> plan_suite(const Suite& suite, const Places& places,
                             const std::vector<uint64_t>& contents) {
  return SuitePlanner(suite, places, contents).plan();
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += shell_word(word);
  }
  return out;
}

}  // namespace fathom::ablate
