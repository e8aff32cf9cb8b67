#include "scan/docs/start_commands.h"

#include <algorithm>
#include <array>
#include <map>

#include "scan/docs/doc_programs.h"
#include "scan/docs/doc_text.h"
#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"
#include "scan/files/language.h"
#include "scan/files/source_text.h"
#include "scan/manifests/build_targets.h"

namespace fathom {
namespace {

constexpr size_t kMaxCommands = 60, kMaxCommand = 300, kMaxBuildFiles = 200;
constexpr uint64_t kMaxBytes = 1u << 20;

bool is_shell(std::string_view language) {
  return is_one_of(language, {"", "sh", "bash", "shell", "console", "zsh", "text", "terminal",
                              "Bash", "Shell", "shell-session"});
}

// Programs that are nobody's of the repository: what stands behind them are their own options.
bool is_other_tool(std::string_view word) {
  return is_one_of(word, {"pip",    "pip3",   "git",   "cmake",  "make",  "cd",   "pytest", "conda",
                          "docker", "source", "cp",    "mkdir",  "wget",  "curl", "tar",    "sudo",
                          "apt",    "uv",     "ninja", "podman", "ctest", "rm",   "mamba"});
}

// "mpirun -n 4 ./app", "OMP_NUM_THREADS=4 ./app": what stands before the program starts it. A line
// of output or of another tool's arguments only mentions it.
bool starts_others(const std::vector<std::string>& words, size_t program) {
  constexpr std::array<std::string_view, 34> starters = {
      "mpirun",  "mpiexec",  "srun",          "torchrun",  "env",     "time",     "nohup",
      "taskset", "numactl",  "nsys",          "ncu",       "nvprof",  "rocprof",  "rocprofv3",
      "gdb",     "cuda-gdb", "cuda-memcheck", "bash",      "sh",      "zsh",      "sudo",
      "python",  "python3",  "optirun",       "stdbuf",    "timeout", "xvfb-run", "valgrind",
      "perf",    "exec",     "accelerate",    "deepspeed", "jsrun",   "aprun"};
  for (size_t i = 0; i < program; ++i) {
    if (holds(words[i], '=') && !words[i].starts_with('-')) continue;
    return std::ranges::find(starters, std::string_view(file_name(words[i]))) != starters.end();
  }
  return true;
}

// Whether a script builds, installs or tests and does not start the program, by its name.
bool prepares(std::string_view path) {
  const std::string name = small_letters(file_name(path));
  for (const std::string_view word : {"setup", "install", "build", "configure", "bootstrap",
                                      "pytest", "test", "download", "develop", "compile", "env"}) {
    if (name.starts_with(word)) return true;
  }
  return holds(name, "_test") || name.ends_with("-test");
}

// Whether it checks or documents the project, by its folder.
bool tends(std::string_view path) {
  const std::string_view folder = path.substr(0, path.find('/'));
  return folder.size() < path.size() && is_one_of(folder, {"ci", ".ci", ".github", "doc", "docs"});
}

// A bracket that no quote and no $ stands before is no shell command, but a line of output:
// "thing (run 1/5): Failed". Nor is a line of a tree.
bool is_output(std::string_view code) {
  // A tree of files: "├── train.py", "|-- train.py".
  for (const std::string_view branch : {"\u2502", "\u251c", "\u2514", "|", "+--", "`--"}) {
    if (code.substr(std::min(code.find_first_not_of(" \t\u00a0"), code.size())).starts_with(branch))
      return true;
  }
  char quote = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\\') {
      ++i;
    } else if (quote != 0) {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || code[i - 1] == ' ')) {
      break;  // a comment
    } else if (c == '(' && i > 0 && code[i - 1] == ' ') {
      return true;
    }
  }
  return false;
}

// The programs that CMake and make build, by their names, with the file that has main().
std::map<std::string, uint32_t, std::less<>> built_programs(const Repository& repository,
                                                            const CodeFacts& facts) {
  std::map<std::string, uint32_t, std::less<>> out;
  std::map<std::string_view, uint32_t> by_path;
  std::set<uint32_t> with_main;
  for (uint32_t i = 0; i < facts.files.size(); ++i) by_path.emplace(facts.files[i].path, i);
  for (const EntryPoint& entry : facts.entry_points) {
    if (entry.target == "main") with_main.insert(entry.at.file);
  }
  size_t read = 0;
  for (const SourceFile& file : facts.files) {
    const bool cmake = file_name(file.path) == "CMakeLists.txt";
    const bool make = file.language == Language::kMake && !file.path.ends_with(".mk");
    if ((!cmake && !make) || file.origin != Origin::kOwn || !file.skipped.empty()) continue;
    if (file.size > kMaxBytes || read++ == kMaxBuildFiles) continue;
    const Result<std::string> text = read_source_text(repository.root / file.path);
    if (!text.ok()) continue;
    const std::string folder(folder_of_path(file.path));
    for (const BuildTarget& target :
         cmake ? cmake_targets(text.value()) : make_targets(text.value(), {})) {
      const std::string name(file_name(target.output.empty() ? target.name : target.output));
      if (name.empty() || out.contains(name)) continue;
      for (const std::string& source : target.sources) {
        const auto found =
            by_path.find(normal_path(folder.empty() ? source : folder + "/" + source));
        if (found == by_path.end()) continue;
        const auto known = out.try_emplace(name, found->second);
        if (with_main.contains(found->second)) known.first->second = found->second;
      }
    }
  }
  return out;
}

class CommandReader {
 public:
  CommandReader(const Repository& repository, const CodeFacts& facts)
      : programs_(repository.root.string(), facts),
        built_(built_programs(repository, facts)),
        facts_(facts) {
    for (uint32_t i = 0; i < facts.files.size(); ++i) by_path_.emplace(facts.files[i].path, i);
    for (const EntryPoint& entry : facts.entry_points) {
      if (entry.kind == EntryKind::kConsoleScript) scripts_.emplace(entry.name, started_by(entry));
      // A program is often called like its source.
      const std::string_view name = file_name(facts.files[entry.at.file].path);
      if (entry.kind == EntryKind::kCppMain)
        scripts_.emplace(std::string(name.substr(0, name.rfind('.'))), entry.at);
    }
  }

  // The commands of a document's code blocks, or those between backticks in its text.
  void read(std::string_view text, uint32_t file, bool between_backticks) {
    const bool markdown = facts_.files[file].language != Language::kRestructuredText;
    for (const DocLine& line : read_doc(text, markdown)) {
      if (line.code == between_backticks || line.text.size() > 2000) continue;
      if (out_.size() == kMaxCommands) break;
      std::vector<std::string> codes;
      if (between_backticks) {
        codes = code_spans(line.text);
      } else if (is_shell(line.language) && !is_output(line.text)) {
        codes = {line.text};
      }
      for (const std::string& code : codes) {
        for (const std::vector<std::string>& words : shell_commands(code))
          if (!between_backticks || words.size() > 1) add(words, {file, line.line});
      }
    }
  }
  bool found() const { return !out_.empty(); }
  std::vector<StartCommand> take() { return std::move(out_); }

 private:
  // A program of Cargo.toml is its package's main.rs.
  CodePlace started_by(const EntryPoint& entry) const {
    const std::string& path = facts_.files[entry.at.file].path;
    if (file_name(path) != "Cargo.toml") return entry.at;
    const std::string folder(folder_of_path(path));
    const auto found = by_path_.find(folder.empty() ? "src/main.rs" : folder + "/src/main.rs");
    return found == by_path_.end() ? entry.at : CodePlace{found->second, 1};
  }

  void add(std::vector<std::string> words, CodePlace at) {
    // "user@host:~/thing$ ./run": the prompt is no part of it.
    if (!words.empty() && words[0].size() > 1 && words[0].ends_with('$'))
      words.erase(words.begin());
    // "Command: ./run", "Usage: ./run"
    if (words.size() > 1 && words[0].size() > 1 && words[0].ends_with(':'))
      words.erase(words.begin());
    StartCommand command;
    command.at = at;
    if (!find_program(words, command)) return;
    for (const std::string& word : words) {
      if (!command.text.empty()) command.text += ' ';
      // What needs quotes was in quotes.
      const bool quoted = word.find_first_of(" \t*?(){}&;|") != std::string::npos;
      command.text += quoted ? "'" + word + "'" : word;
    }
    command.text = shortened_text(std::move(command.text), kMaxCommand);
    if (seen_.insert(command.text).second) out_.push_back(std::move(command));
  }

  bool find_program(const std::vector<std::string>& words, StartCommand& command) const {
    // ".. literalinclude:: train.py" is a directive of reStructuredText.
    if (words.empty() || is_other_tool(words[0]) || words[0] == "..") return false;
    for (const std::string& word : words) {
      if (word == "pytest" || word == "pip" || word == "install" || word == "uninstall")
        return false;
    }
    for (size_t i = 0; i < words.size(); ++i) {
      std::string_view name = file_name(words[i]);
      if (name.ends_with(".exe")) name.remove_suffix(4);
      // A program that is built is run by its path, or alone where it is installed.
      const bool run = i == 0 || words[i].starts_with("./") || words[i].starts_with("build/") ||
                       words[i - 1].find('=') != std::string::npos;
      const auto built = run ? built_.find(name) : built_.end();
      if (built != built_.end() && !prepares(name)) {
        command.program = name;
        command.file = built->second;
        return true;
      }
    }
    if (const auto end = programs_.own_program(words, "")) {
      const std::string& program = words[*end - 1];
      if (prepares(program) || tends(normal_path(program))) return false;
      command.program = program;
      command.file = file_of(program);
      return true;
    }
    // "bash runs/train.sh": a script of the repository that a shell is given.
    for (size_t i = 1; i < words.size(); ++i) {
      const std::string script = normal_path(words[i]);
      const bool given = words[i - 1] == "bash" || words[i - 1] == "sh" || words[i - 1] == "zsh";
      if (!given || !by_path_.contains(script)) continue;
      if (prepares(script) || tends(script)) return false;
      command.program = script;
      command.file = file_of(script);
      return true;
    }
    // ./build/program: a path below the checkout is the repository's own, whoever builds it.
    const size_t relative = static_cast<size_t>(
        std::ranges::find_if(words, [](const std::string& w) { return w.starts_with("./"); }) -
        words.begin());
    if (relative == words.size() || prepares(words[relative]) ||
        tends(normal_path(words[relative])))
      return false;
    if (relative > 0 && (words[relative].size() < 4 || words[relative].ends_with('/') ||
                         words[relative - 1].starts_with('-') || !starts_others(words, relative)))
      return false;
    command.program = file_name(words[relative]);
    if (command.program.empty() || command.program == ".") return false;
    command.file = file_of(words[relative]);
    return true;
  }

  std::optional<uint32_t> file_of(const std::string& program) const {
    if (const auto found = by_path_.find(normal_path(program)); found != by_path_.end())
      return found->second;
    // Installed under the repository's name is what its package manager builds at the root.
    if (small_letters(program) == small_letters(facts_.repository)) {
      for (const std::string_view main : {"src/main.rs", "main.go"}) {
        if (const auto found = by_path_.find(main); found != by_path_.end()) return found->second;
      }
    }
    if (const auto found = scripts_.find(program); found != scripts_.end())
      return found->second.file;
    // A module, "package.tool": its file, or its __main__.
    std::string path = program;
    std::ranges::replace(path, '.', '/');
    for (const std::string_view end : {".py", "/__main__.py"}) {
      for (const std::string_view root : {"", "src/", "python/"}) {
        const auto found = by_path_.find(std::string(root) + path + std::string(end));
        if (found != by_path_.end()) return found->second;
      }
    }
    return std::nullopt;
  }

  const DocPrograms programs_;
  const std::map<std::string, uint32_t, std::less<>> built_;
  const CodeFacts& facts_;
  std::map<std::string, uint32_t, std::less<>> by_path_;
  std::map<std::string, CodePlace, std::less<>> scripts_;
  std::set<std::string> seen_;
  std::vector<StartCommand> out_;
};

std::optional<std::string> text_of(const Repository& repository, const SourceFile& file) {
  if (file.size > kMaxBytes || !file.skipped.empty()) return std::nullopt;
  Result<std::string> text = read_source_text(repository.root / file.path);
  return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
}

std::optional<std::string> readme_text(const Repository& repository, const CodeFacts& facts) {
  return facts.readme ? text_of(repository, facts.files[facts.readme->file]) : std::nullopt;
}

// Documents that say how to begin, those first that are called so.
std::vector<uint32_t> guides(const CodeFacts& facts) {
  constexpr size_t kMost = 12;
  constexpr std::array<std::string_view, 6> words = {"quick",   "start",    "usage",
                                                     "install", "tutorial", "deploy"};
  std::vector<std::pair<size_t, uint32_t>> found;
  for (uint32_t i = 0; i < facts.files.size(); ++i) {
    const SourceFile& file = facts.files[i];
    const bool prose =
        file.language == Language::kMarkdown || file.language == Language::kRestructuredText;
    if (!prose || file.origin != Origin::kOwn || purpose_of(file.path) != CodePurpose::kDocument)
      continue;
    const std::string path = small_letters(file.path);
    const auto word =
        std::ranges::find_if(words, [&](std::string_view one) { return holds(path, one); });
    const bool translated = holds(path, "/cn/") || holds(path, "/zh");
    if (word != words.end() && !translated)
      found.emplace_back(static_cast<size_t>(word - words.begin()), i);
  }
  std::ranges::sort(found);
  if (found.size() > kMost) found.resize(kMost);
  std::vector<uint32_t> out;
  for (const auto& [rank, file] : found) out.push_back(file);
  return out;
}

}  // namespace

std::vector<StartCommand> find_start_commands(const Repository& repository,
                                              const CodeFacts& facts) {
  CommandReader reader(repository, facts);
  if (const auto text = readme_text(repository, facts)) {
    reader.read(*text, facts.readme->file, false);
    if (!reader.found()) reader.read(*text, facts.readme->file, true);
  }
  for (const uint32_t file : reader.found() ? std::vector<uint32_t>() : guides(facts)) {
    if (const auto text = text_of(repository, facts.files[file])) reader.read(*text, file, false);
    if (reader.found()) break;
  }
  return reader.take();
}

namespace {

// Which options the README's own commands give: those of the program that a command runs, in its
// file or on its way to kernels, else in code of its language. "-i" of one program says nothing of
// another's.
class CommandOptions {
 public:
  explicit CommandOptions(const CodeFacts& facts) : facts_(facts) {
    for (uint32_t i = 0; i < facts.options.size(); ++i) {
      by_name_[facts.options[i].name].push_back(i);
      for (const std::string& name : facts.options[i].other_names) by_name_[name].push_back(i);
    }
    for (const RequestPath& path : facts.request_paths) {
      if (path.hops.empty()) continue;
      std::set<uint32_t>& files = near_[path.hops[0].at.file];
      for (const RequestHop& hop : path.hops) files.insert(hop.at.file);
    }
    for (const StartCommand& command : facts.start_commands) {
      if (!facts.readme || command.at.file != facts.readme->file || !command.file) continue;
      lines_.insert(command.at.line);
      for (const std::vector<std::string>& words : shell_commands(command.text)) {
        for (const std::string& word : words) note(word.substr(0, word.find('=')), *command.file);
      }
    }
  }
  bool reads(uint32_t line) const { return lines_.contains(line); }
  bool gives(uint32_t option) const { return given_.contains(option); }

 private:
  void note(const std::string& name, uint32_t program) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    const std::set<uint32_t>& files = near_[program];
    const auto file_of = [&](uint32_t i) { return facts_.options[i].at.file; };
    const auto is_near = [&](uint32_t i) {
      return file_of(i) == program || files.contains(file_of(i));
    };
    const bool any = std::ranges::any_of(found->second, is_near);
    const Language language = facts_.files[program].language;
    const bool manifest = !is_program_code(language);
    for (const uint32_t i : found->second) {
      const bool same = manifest || facts_.files[file_of(i)].language == language;
      if (any ? is_near(i) : same) given_.insert(i);
    }
  }

  const CodeFacts& facts_;
  std::map<std::string, std::vector<uint32_t>, std::less<>> by_name_;
  std::map<uint32_t, std::set<uint32_t>> near_;  // files on the ways of a program
  std::set<uint32_t> lines_, given_;
};

// "-i" means something else in each program.
bool is_letter_option(std::string_view name) {
  return name.size() == 2 && name[0] == '-' && name[1] != '-';
}

}  // namespace

void note_readme_names(const Repository& repository, CodeFacts& facts) {
  const auto text = readme_text(repository, facts);
  if (!text) return;
  const bool markdown = facts.files[facts.readme->file].language != Language::kRestructuredText;
  const CommandOptions commands(facts);
  std::set<std::string, std::less<>> words, beside;  // of all code, and of what is no own command
  const auto add = [&](std::string_view code, bool own_command) {
    for (const std::vector<std::string>& command : shell_commands(code)) {
      const auto tool =
          std::ranges::find_if(command, [](const std::string& word) { return !holds(word, '='); });
      const bool other = tool != command.end() && is_other_tool(*tool);
      for (const std::string& word : command) {
        const bool own = !other || !word.starts_with('-') || word.starts_with("-D");
        if (own) words.insert(word.substr(0, word.find('=')));
        if (own && !own_command) beside.insert(word.substr(0, word.find('=')));
      }
    }
  };
  for (const DocLine& line : read_doc(*text, markdown)) {
    if (line.text.size() > 4000) continue;
    if (line.code) add(line.text, commands.reads(line.line));
    for (const std::string& span : code_spans(line.text)) add(span, false);
  }
  // gemm_{nt,nn} stands for all that begin so.
  std::vector<std::string_view> begins;
  std::set<std::string_view> called;
  for (const std::string& word : words) {
    const size_t name = std::min(word.find_first_of("({"), word.size());
    if (name < word.size() && word[name] == '{' && name >= 4 && begins.size() < 50)
      begins.push_back(std::string_view(word).substr(0, name));
    std::string_view plain = last_name(std::string_view(word).substr(0, name));
    if (const size_t dot = plain.rfind('.'); dot != std::string_view::npos)
      plain.remove_prefix(dot + 1);
    if (plain.size() >= 4) called.insert(plain);
  }
  for (ApiFacts& api : facts.api) {
    const std::string_view name = last_name(last_part(api.name));
    api.in_readme = called.contains(name) || starts_with_any(name, begins);
  }
  const auto named = [&](const std::string& name) {
    return !is_letter_option(name) && beside.contains(name);
  };
  for (uint32_t i = 0; i < facts.options.size(); ++i) {
    OptionFacts& option = facts.options[i];
    if (option.kind == OptionKind::kConfig) continue;
    option.in_readme =
        commands.gives(i) || named(option.name) || std::ranges::any_of(option.other_names, named);
  }
}

}  // namespace fathom
