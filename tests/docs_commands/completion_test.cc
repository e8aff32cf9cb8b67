#include <algorithm>

#include "checks.h"
#include "docs_commands/help_text.h"
#include "test_files.h"

namespace fathom::test {
namespace {

using Words = std::vector<std::string>;

std::string script(const std::string& shell) {
  const CommandResult result =
      run_command("'" + fathom_binary() + "' completion " + shell, source_dir());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return result.output;
}

// The part of a script from one text to another.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  if (begin == std::string::npos) return "(no " + from + ")";
  return text.substr(begin, text.find(to, begin + from.size()) - begin);
}

// Whether the text has the word between one of these characters and one of those.
bool has_word(const std::string& text, const std::string& word, const std::string& before,
              const std::string& after) {
  for (size_t at = text.find(word, 1); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (before.find(text[at - 1]) != std::string::npos && end < text.size() &&
        after.find(text[end]) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// A directory to complete in: a script for the shell, two files and a directory.
class CompletionPlace {
 public:
  explicit CompletionPlace(const std::string& shell) {
    write_file(directory_.path() / "script", script(shell));
    write_file(directory_.path() / "trace.json", "");
    write_file(directory_.path() / "--trace.json", "");
    write_file(directory_.path() / "traces here/one.json", "");
  }

  Words run(const std::string& command) const {
    const CommandResult result =
        run_command("export LC_ALL=C HOME=$PWD; " + command, directory_.path());
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_EQ(result.errors, "") << command;
    return lines_of(result.output);
  }

  // `words` as bash cuts them; the last one is completed.
  Words bash(const std::string& words) const {
    return run("bash --norc --noprofile -c 'source ./script; COMP_WORDS=(" + words +
               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fathom; "
               R"([[ ${#COMPREPLY[@]} == 0 ]] || printf "%s\n" "${COMPREPLY[@]}" | sort')");
  }

  Words fish(const std::string& line) const {
    return run("fish --no-config -c 'source ./script; complete -C \"" + line +
               "\"' | cut -f 1 | tr -d '\\\\' | sort");  // a newer fish escapes blanks
  }

 private:
  TemporaryDirectory directory_;
};

TEST(Completion, HasEveryOption) {
  const std::string bash = script("bash"), zsh = script("zsh"), fish = script("fish");
  for (const HelpCommand& command : read_help()) {
    SCOPED_TRACE(command.path);
    const std::string path = command.path.substr(std::string("fathom").size());
    std::string function = "_" + command.path;
    std::ranges::replace(function, ' ', '_');
    const std::string in_bash = between(bash, "'" + path + "') words=", "\n"),
                      in_zsh = between(zsh, "\n" + function + "() {", "\n}");
    for (const HelpOption& option : command.options) {
      for (const std::string& name : option.names) {
        EXPECT_TRUE(has_word(in_bash, name, " '", " '")) << name << " in bash\n" << in_bash;
        EXPECT_TRUE(has_word(in_zsh, name, "')", "[=+")) << name << " in zsh\n" << in_zsh;
        const bool is_long = name.starts_with("--");
        const std::string flag = (is_long ? "-l " : "-s ") + name.substr(is_long ? 2 : 1);
        const Words lines = lines_of(fish);
        EXPECT_TRUE(std::ranges::any_of(lines,
                                        [&](const std::string& line) {
                                          return line.find("_at \\'" + path + "\\''") !=
                                                     std::string::npos &&
                                                 has_word(line, flag, " ", " ");
                                        }))
            << name << " in fish";
      }
    }
  }
}

TEST(Completion, HidesWhatHelpHides) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(script(shell).find("man-page"), std::string::npos) << shell;
  }
}

TEST(Completion, OfBash) {
  const CompletionPlace place("bash");
  EXPECT_EQ(place.bash("fathom an"), (Words{"analyze"}));
  EXPECT_EQ(place.bash("fathom analyze --st"), (Words{"--step-pattern", "--steps"}));
  EXPECT_EQ(place.bash("fathom --v"), (Words{"--version"}));
  EXPECT_EQ(place.bash("fathom completion z"), (Words{"zsh"}));
  EXPECT_EQ(place.bash("fathom help an"), (Words{"analyze"}));
  EXPECT_EQ(place.bash("fathom analyze --color a"), (Words{"always", "auto"}));
  EXPECT_EQ(place.bash("fathom replay pack --color n"), (Words{"never"}));
  Words commands = read_help().front().commands;
  std::ranges::sort(commands);
  EXPECT_EQ(place.bash("fathom \"\""), commands);
}

TEST(Completion, OfBashValues) {
  const CompletionPlace place("bash");
  EXPECT_EQ(place.bash("fathom analyze tr"), (Words{"trace.json", "traces here"}));
  EXPECT_EQ(place.bash("fathom analyze --json tr"), (Words{"trace.json", "traces here"}));
  EXPECT_EQ(place.bash("fathom analyze -- --tr"), (Words{"--trace.json"}));
  EXPECT_EQ(place.bash("fathom analyze --out tr"), (Words{"traces here"}));
  EXPECT_EQ(place.bash("fathom analyze -o tr"), (Words{"traces here"}));
  // Readline cuts --out=tr so.
  EXPECT_EQ(place.bash("fathom analyze --out = tr"), (Words{"traces here"}));
  EXPECT_EQ(place.bash("fathom analyze --out ="), (Words{"traces here"}));
  EXPECT_EQ(place.bash("fathom analyze --steps tr"), Words{});
  EXPECT_EQ(place.bash("fathom analyze --steps \"\""), Words{});
}

TEST(Completion, OfFish) {
  if (run_command("command -v fish", "/").exit_code != 0) GTEST_SKIP() << "no fish here";
  const CompletionPlace place("fish");
  EXPECT_EQ(place.fish("fathom an"), (Words{"analyze"}));
  EXPECT_EQ(place.fish("fathom analyze --st"), (Words{"--step-pattern", "--steps"}));
  EXPECT_EQ(place.fish("fathom completion z"), (Words{"zsh"}));
  EXPECT_EQ(place.fish("fathom analyze tr"), (Words{"trace.json", "traces here/"}));
  EXPECT_EQ(place.fish("fathom analyze --out tr"), (Words{"traces here/"}));
  EXPECT_EQ(place.fish("fathom analyze --steps tr"), Words{});
}

TEST(Completion, OfZshIsValid) {
  if (run_command("command -v zsh", "/").exit_code != 0) GTEST_SKIP() << "no zsh here";
  EXPECT_EQ(CompletionPlace("zsh").run("zsh -f -n script"), Words{});
}

TEST(Completion, OfAnotherShellIsRefused) {
  const CommandResult result =
      run_command("'" + fathom_binary() + "' completion csh", source_dir());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(lines_of(result.errors).front(),
            "fathom: SHELL: 'csh' is none of bash, zsh, fish; did you mean 'zsh'?");
}

TEST(Completion, ThatCannotBeWrittenFails) {
  if (run_command("test -c /dev/full", "/").exit_code != 0) GTEST_SKIP() << "no /dev/full here";
  const CommandResult result =
      run_command("'" + fathom_binary() + "' completion bash >/dev/full", source_dir());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("No space left"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace fathom::test
