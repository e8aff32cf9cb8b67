#include "plan/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/goal_words.h"
#include "plan/python_files.h"
#include "plan/ranks.h"
#include "plan/server_load.h"

namespace fathom {
namespace {

std::string_view parent_folder(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_python_word(std::string_view word) {
  const size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  return word.starts_with("python") || word == "torchrun" || word == "accelerate";
}

// Words of a path or command that say that it waits for requests.
bool serves(std::string_view name) {
  for (const std::string_view part : {"serve", "server", "launch", "api", "shell", "daemon"}) {
    for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
      const bool begins = at == 0 || !((name[at - 1] >= 'a' && name[at - 1] <= 'z'));
      const size_t after = at + part.size();
      const bool ends = after == name.size() || !(name[after] >= 'a' && name[after] <= 'z');
      if (begins && ends) return true;
    }
  }
  return false;
}

bool lies_aside(std::string_view path) {
  for (const std::string_view part :
       {"tests/", "test/", "tools/", "scripts/", "dev/", "docs/", "ci/", ".github/", "docker/"}) {
    if (path.starts_with(part) || path.find("/" + std::string(part)) != std::string_view::npos)
      return true;
  }
  return false;
}

// Scripts that make things ready for the program and are not what is to be measured.
bool prepares(std::string_view path) {
  for (const std::string_view folder : {"data/", "dataset/", "datasets/"}) {
    if (path.starts_with(folder) || path.find("/" + std::string(folder)) != std::string_view::npos)
      return true;
  }
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view begin : {"prepare", "preproc", "download", "convert", "export",
                                       "setup", "install", "tokenize", "tokenise"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

class ProgramChooser {
 public:
  ProgramChooser(const ReadGoal& goal, const CodeFacts& facts, const ProgramSources& sources)
      : goal_(goal), facts_(facts), sources_(sources), files_(facts) {
    for (uint32_t i = 0; i < sources.commands.size(); ++i) {
      const DocumentedCommand& command = sources.commands[i];
      const std::optional<uint32_t> file =
          files_.of_command(command.words, parent_folder(facts.files[command.at.file].path));
      const auto keep_shorter = [&](auto& table, const auto& key) {
        const auto [place, added] = table.emplace(key, i);
        if (!added && command.words.size() < sources.commands[place->second].words.size())
          place->second = i;
      };
      if (file) keep_shorter(documented_files_, *file);
      const std::string& document = facts.files[command.at.file].path;
      if (file && !first_shown_ && document.find('/') == std::string::npos &&
          !prepares(facts.files[*file].path))
        first_shown_ = file;
      keep_shorter(documented_names_, command.words[0]);
    }
    for (const BuiltProgram& one : sources.built) {
      for (const uint32_t file : one.sources) {
        const auto [place, is_new] = built_.emplace(file, &one);
        if (!is_new && one.sources.size() < place->second->sources.size()) place->second = &one;
      }
    }
    for (const RequestPath& path : facts.request_paths) {
      if (path.kernels_reached > 0 && !path.hops.empty()) reaching_.insert(path.hops[0].at.file);
    }
  }

  Result<Program> from_command(const std::string& given) {
    SplitCommand split = TRY(split_command(given));
    Program program;
    program.command = std::move(split.words);
    program.environment = std::move(split.variables);
    program.file = files_.of_command(program.command);
    for (uint32_t i = 0; i < facts_.entry_points.size() && program.file; ++i) {
      const EntryPoint& entry = facts_.entry_points[i];
      if (entry.at.file == *program.file && entry.kind != EntryKind::kHttpRoute) program.entry = i;
    }
    if (!program.file) find_console_script(program);
    program.why = "given with --command";
    finish(program);
    find_load(facts_, commands_shown(), program);
    return program;
  }

  Program choose() {
    Program best;
    double best_score = -1e9;
    for (uint32_t i = 0; i < facts_.entry_points.size(); ++i) {
      const std::optional<double> score = score_of(i);
      if (!score || *score <= best_score) continue;
      best_score = *score;
      best = Program();
      best.entry = i;
    }
    // A script without a main block is one that a document runs.
    for (const auto& [file, command] : documented_files_) {
      const std::optional<double> score = has_entry(file) ? std::nullopt : score_of_script(file);
      if (!score || *score <= best_score) continue;
      best_score = *score;
      best = Program();
      best.file = file;
    }
    if (best.entry) {
      complete(best);
    } else if (best.file) {
      take_documented(best, sources_.commands[documented_files_.at(*best.file)]);
      finish(best);
      add_required(best);
      find_load(facts_, commands_shown(), best);
    }
    return best;
  }

 private:
  CommandOfEntry commands_shown() const {
    return [this](uint32_t entry) { return command_in_documents(entry); };
  }
  void find_console_script(Program& program) const {
    const std::string& word = program.command[0];
    for (uint32_t i = 0; i < facts_.entry_points.size(); ++i) {
      const EntryPoint& entry = facts_.entry_points[i];
      if (entry.kind != EntryKind::kConsoleScript || entry.name != word) continue;
      program.entry = i;
      // "package.module:function"
      std::string module = entry.target.substr(0, entry.target.find(':'));
      program.file = files_.of_module(module);
      return;
    }
  }

  std::optional<double> score_of(uint32_t position) const {
    const EntryPoint& entry = facts_.entry_points[position];
    double score = 0;
    switch (entry.kind) {
      case EntryKind::kBenchmark:
        score = 15;
        break;
      case EntryKind::kExample:
        score = 10;
        break;
      case EntryKind::kMain:
      case EntryKind::kConsoleScript:
        score = 8;
        break;
      case EntryKind::kCppMain:
      case EntryKind::kCommand:
        score = 4;
        break;
      case EntryKind::kTest:
        score = -60;
        break;
      default:
        return std::nullopt;
    }
    if (std::ranges::find(goal_.entry_points, position) != goal_.entry_points.end()) score += 100;
    const std::string& path = facts_.files[entry.at.file].path;
    if (facts_.files[entry.at.file].origin != Origin::kOwn) return std::nullopt;
    if (lies_aside(path) && entry.kind != EntryKind::kTest) score -= 10;
    const bool is_package =
        path.ends_with("__main__.py") || entry.kind == EntryKind::kConsoleScript;
    const bool server = serves(entry.command.empty() ? path : entry.command) || serves(path) ||
                        (is_package && has_server());
    score += place_score(entry.at.file, command_in_documents(position), server);
    if (path.find("offline") != std::string::npos || path.find("throughput") != std::string::npos ||
        path.find("latency") != std::string::npos)
      score += goal_.whole_project ? 12 : 4;
    score += reaches_kernels(entry) ? 6 : 0;
    if (entry.kind == EntryKind::kCppMain) {
      score += name_rank("program", path.substr(path.rfind('/') + 1));
      const BuiltProgram* built = built_from(entry.at.file);
      score += built != nullptr ? 6 : 0;
      if (built != nullptr && is_said(built->program.substr(built->program.rfind('/') + 1)))
        score += 100;
    }
    return score;
  }

  std::optional<double> score_of_script(uint32_t file) const {
    const std::string& path = facts_.files[file].path;
    if (facts_.files[file].origin != Origin::kOwn) return std::nullopt;
    return 8 - (lies_aside(path) ? 10 : 0) +
           place_score(file, &sources_.commands[documented_files_.at(file)], serves(path));
  }
  // What the path says, and the document that shows how the program is run.
  double place_score(uint32_t file, const DocumentedCommand* documented, bool server) const {
    const std::string& path = facts_.files[file].path;
    // Depth: what lies near the root is meant for everybody.
    double score = relevance(squashed(path)) - static_cast<double>(std::ranges::count(path, '/'));
    if (documented != nullptr) {
      // The deeper a document lies, the narrower is what it is about.
      const auto depth = std::ranges::count(facts_.files[documented->at.file].path, '/');
      score += depth == 0 ? 12 : std::max(0.0, 9 - 3 * static_cast<double>(depth));
    }
    if (server) {
      score -= 16;
    } else if (first_shown_ == file) {
      score += 8;
    }
    if (prepares(path)) score -= 60;
    const std::string name = squashed(path.substr(path.rfind('/') + 1));
    const bool trains =
        name.find("train") != std::string::npos || name.find("finetune") != std::string::npos;
    if (trains && is_about_training()) score += 25;
    return score;
  }
  bool has_entry(uint32_t file) const {
    return std::ranges::any_of(facts_.entry_points, [&](const EntryPoint& entry) {
      return entry.at.file == file && entry.kind != EntryKind::kHttpRoute;
    });
  }
  // The goal says so, or the repository does nothing else.
  bool is_about_training() const {
    const auto& named = goal_.components;
    if (std::ranges::find(named, "training_loop") != named.end()) return true;
    const auto has = [&](std::string_view id) {
      return std::ranges::find(facts_.components, id, &ComponentFacts::id) !=
             facts_.components.end();
    };
    return goal_.phases.empty() && has("training_loop") && !has("server") && !has("scheduler");
  }

  bool has_server() const {
    return std::ranges::find(facts_.components, "server", &ComponentFacts::id) !=
           facts_.components.end();
  }

  // How many of the goal's subjects the path names.
  double relevance(const std::string& path) const {
    double score = 0;
    for (const GoalSubject& subject : goal_.reading.subjects) {
      if (subject.kind == SubjectKind::kProject || subject.kind == SubjectKind::kMetric) continue;
      const std::string id = squashed(subject.id), said = squashed(subject.said);
      const bool named = (id.size() > 3 && path.find(id) != std::string::npos) ||
                         (said.size() > 3 && path.find(said) != std::string::npos);
      if (named) score += 12;
      // The kernel's own folder: flash_attention/check.cu for v7_specialised.
      const std::string folder(parent_folder(parent_file(subject.where)));
      if (!folder.empty() && path.starts_with(squashed(folder))) score += 8;
    }
    return std::min(score, 40.0);
  }
  static std::string_view parent_file(std::string_view where) {
    return where.substr(0, where.rfind(':'));
  }

  bool reaches_kernels(const EntryPoint& entry) const { return reaching_.contains(entry.at.file); }

  const DocumentedCommand* command_in_documents(uint32_t position) const {
    const EntryPoint& entry = facts_.entry_points[position];
    if (entry.kind == EntryKind::kConsoleScript) {
      const auto found = documented_names_.find(entry.name);
      return found == documented_names_.end() ? nullptr : &sources_.commands[found->second];
    }
    const auto found = documented_files_.find(entry.at.file);
    return found == documented_files_.end() ? nullptr : &sources_.commands[found->second];
  }

  void complete(Program& program) {
    const EntryPoint& entry = facts_.entry_points[*program.entry];
    program.file = entry.at.file;
    if (entry.kind == EntryKind::kConsoleScript) find_file_of_script(entry, program);
    const std::string where = code_place_text(facts_, entry.at);
    if (const DocumentedCommand* documented = command_in_documents(*program.entry)) {
      take_documented(program, *documented);
    } else if (!entry.command.empty()) {
      program.command = words_of_command(entry.command);
      program.why = where;
    } else if (entry.kind == EntryKind::kConsoleScript || entry.kind == EntryKind::kCommand) {
      program.command = words_of_command(entry.name);
      program.why = where;
    } else if (const BuiltProgram* built = built_from(entry.at.file)) {
      program.command = {built->program};
      program.folder = built->folder;
      program.sources = built->sources;
      program.why = code_place_text(facts_, built->at);
      program.prepare = fmt::format("Build it first ({}): {}", program.why, built->build);
      // With the arguments that a document gives it.
      const auto shown = documented_names_.find(built->program);
      if (shown != documented_names_.end()) {
        const DocumentedCommand& with_arguments = sources_.commands[shown->second];
        program.command = with_arguments.words;
        program.environment = with_arguments.variables;
        program.why = "as in " + code_place_text(facts_, with_arguments.at);
      }
    } else {
      program.command = {"<PROGRAM>"};
      program.why = where;
      program.prepare = fmt::format(
          "Build {} and put the path of the program in place of <PROGRAM>: no build file names it.",
          facts_.files[entry.at.file].path);
    }
    finish(program);
    add_required(program);
    find_load(facts_, commands_shown(), program);
  }
  // Whether a word of the goal is this name.
  bool is_said(std::string_view name) const {
    const std::string wanted = squashed(name);
    const GoalText words = goal_text(goal_.reading.original);
    return wanted.size() > 3 && std::ranges::any_of(words.tokens, [&](const std::string& token) {
             return squashed(token) == wanted;
           });
  }
  // The smallest program that a build file makes of this file: others link it along.
  const BuiltProgram* built_from(uint32_t file) const {
    const auto found = built_.find(file);
    return found == built_.end() ? nullptr : found->second;
  }
  void take_documented(Program& program, const DocumentedCommand& documented) const {
    program.command = documented.words;
    program.environment = documented.variables;
    program.why = "as in " + code_place_text(facts_, documented.at);
    // Documents of a folder are written from there.
    const std::string& path =
        facts_.files[program.entry ? facts_.entry_points[*program.entry].at.file : *program.file]
            .path;
    for (const std::string& word : program.command) {
      const std::string plain = word.starts_with("./") ? word.substr(2) : word;
      if (plain.ends_with(".py") && path.size() > plain.size() && path.ends_with("/" + plain))
        program.folder = path.substr(0, path.size() - plain.size() - 1);
    }
    if (program.command[0].ends_with(".py"))
      program.command.insert(program.command.begin(), "python");
  }
  void find_file_of_script(const EntryPoint& entry, Program& program) const {
    const std::string module = entry.target.substr(0, entry.target.find(':'));
    if (const auto file = files_.of_module(module)) program.file = file;
  }

  // Those declared in the program's own file; where it has none, in its package.
  void finish(Program& program) const {
    program.python = is_python_word(program.command[0]);
    std::string joined;
    for (const std::string& word : program.command) joined += word + " ";
    program.server = serves(joined);
    if (program.file) {
      const SourceFile& file = facts_.files[*program.file];
      program.python = program.python || file.language == Language::kPython;
      program.server =
          program.server || (serves(file.path) && joined.find("bench") == std::string::npos);
      const auto add_if = [&](auto&& fits) {
        for (uint32_t i = 0; i < facts_.options.size(); ++i) {
          const OptionFacts& option = facts_.options[i];
          if (option.kind == OptionKind::kCli && fits(option)) program.options.push_back(i);
        }
      };
      add_if([&](const OptionFacts& option) { return option.at.file == *program.file; });
      const std::string folder(parent_folder(file.path));
      const bool is_package =
          file.path.ends_with("__main__.py") ||
          (program.entry && facts_.entry_points[*program.entry].kind == EntryKind::kConsoleScript);
      const bool has_routes =
          std::ranges::any_of(facts_.entry_points, [&](const EntryPoint& entry) {
            return entry.kind == EntryKind::kHttpRoute &&
                   facts_.files[entry.at.file].path.starts_with(folder + "/");
          });
      program.server =
          program.server || (is_package && has_routes && joined.find("bench") == std::string::npos);
      if (program.options.empty() && is_package) {
        add_if([&](const OptionFacts& option) {
          return facts_.files[option.at.file].path.starts_with(folder + "/");
        });
        // A package with a server declares its options beside it.
        program.server =
            program.server || std::ranges::any_of(program.options, [&](uint32_t i) {
              return serves(parent_folder(facts_.files[facts_.options[i].at.file].path));
            });
      }
    }
    program.torch = program.python && std::ranges::any_of(facts_.dependencies, [](const auto& one) {
                      return one.name == "torch" || one.name == "pytorch";
                    });
  }

  // Positional arguments without a default, and options that a program cannot do without.
  void add_required(Program& program) const {
    size_t given = 0;  // arguments without a dash behind the program
    bool behind = false;
    for (const std::string& word : program.command) {
      if (behind && !word.starts_with('-')) ++given;
      behind = behind || word.ends_with(".py");
    }
    for (const uint32_t i : program.options) {
      const OptionFacts& option = facts_.options[i];
      const bool own = program.file && option.at.file == *program.file;
      if (option.name.starts_with('-') || option.default_value || !own) continue;
      if (given > 0) {
        --given;
        continue;
      }
      std::string placeholder;
      for (const char c : option.name) {
        placeholder += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      }
      if (placeholder.size() > 40 || !is_placeholder("<" + placeholder + ">"))
        placeholder = "VALUE";
      program.command.push_back("<" + placeholder + ">");
      program.prepare += fmt::format("{}Fill in <{}>: {} ({}).", program.prepare.empty() ? "" : " ",
                                     placeholder, option.help.empty() ? option.name : option.help,
                                     code_place_text(facts_, option.at));
    }
  }

  const ReadGoal& goal_;
  const CodeFacts& facts_;
  const ProgramSources& sources_;
  PythonFiles files_;
  std::map<uint32_t, uint32_t> documented_files_;                  // file → shortest command
  std::map<std::string, uint32_t, std::less<>> documented_names_;  // first word → shortest command
  std::optional<uint32_t> first_shown_;            // the file that the root's README runs first
  std::map<uint32_t, const BuiltProgram*> built_;  // file → the smallest program made of it
  std::set<uint32_t> reaching_;  // files of entry points whose requests reach kernels
};

}  // namespace

Result<Program> choose_program(const std::string& given, const ReadGoal& goal,
                               const CodeFacts& facts, const ProgramSources& sources) {
  ProgramChooser chooser(goal, facts, sources);
  if (!given.empty()) return chooser.from_command(given);
  return chooser.choose();
}

}  // namespace fathom
