#include "run/plan_run.h"

#include <fcntl.h>
#include <unistd.h>

#include "trial/journal.h"

namespace fathom {

namespace fs = std::filesystem;

void RunPlan::write_plan(const std::string& experiments) {
  test::write_file(directory_.path() / "plan.toml", "format = 1\n" + experiments);
}

test::CommandResult RunPlan::run(const std::string& arguments) {
  return test::run_command(test::fathom_binary() + " run " + arguments, directory_.path());
}

std::string RunPlan::text(const fs::path& name) {
  return test::read_file(directory_.path() / name);
}

pid_t RunPlan::start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {test::fathom_binary(), "run"});
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    if (chdir(directory_.path().c_str()) != 0) _exit(126);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  return child;
}

std::vector<std::string> RunPlan::finished(const fs::path& out) {
  size_t good = 0, damaged = 0;
  std::vector<std::string> names;
  for (const JournalRecord& record : parse_journal(text(out / "journal"), good, damaged)) {
    if (record.kind == "finished") names.emplace_back(record.get("run"));
  }
  EXPECT_EQ(damaged, 0u);
  return names;
}

}  // namespace fathom
