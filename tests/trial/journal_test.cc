#include "trial/journal.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "checks.h"
#include "doctor/examine.h"
#include "trial/machine_state.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("fathom-journal-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    path_ = folder_ / "journal";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void write(std::string_view content) const { std::ofstream(path_, std::ios::binary) << content; }
  fs::path folder_, path_;
};

JournalRecord run_record(int number) {
  JournalRecord record("run");
  record.put("id", "E1/" + std::to_string(number)).put("wall", "1.5").put("note", "a\tb\n=c\\n");
  return record;
}

TEST_F(JournalTest, WhatWasAppendedIsFoundAgain) {
  {
    Result<Journal> journal = Journal::open(path_);
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    Journal open = journal.take();
    EXPECT_TRUE(open.records().empty());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(open.append(run_record(i)).ok());
    // One process at a time.
    EXPECT_FALSE(Journal::open(path_).ok());
  }
  const Result<Journal> again = Journal::open(path_);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again.value().records().size(), 3u);
  const JournalRecord& last = again.value().records()[2];
  EXPECT_EQ(last.kind, "run");
  EXPECT_EQ(last.get("id"), "E1/2");
  EXPECT_EQ(last.get("note"), "a\tb\n=c\\n");
  EXPECT_EQ(last.number("wall"), 1.5);
  EXPECT_FALSE(last.number("id"));
  EXPECT_EQ(last.get("absent"), "");
}

// Cut at each byte: the records before the cut are there, and what is appended after it too.
TEST_F(JournalTest, ALineWrittenInPartIsCutOff) {
  {
    Journal journal = Journal::open(path_).take();
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(journal.append(run_record(i)).ok());
  }
  const std::string whole = text();
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    write(whole.substr(0, cut));
    size_t lines = 0;
    for (size_t i = 0; i < cut; ++i) lines += whole[i] == '\n';
    {
      Result<Journal> journal = Journal::open(path_);
      ASSERT_TRUE(journal.ok()) << cut << journal.error().message;
      Journal open = journal.take();
      EXPECT_EQ(open.records().size(), lines == 0 ? 0 : lines - 1) << cut;
      EXPECT_EQ(open.damaged_lines(), 0u);
      ASSERT_TRUE(open.append(run_record(7)).ok());
    }
    const Result<Journal> again = Journal::open(path_);
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(again.value().records().size(), lines == 0 ? 1 : lines) << cut;
    EXPECT_EQ(again.value().records().back().get("id"), "E1/7");
  }
}

TEST_F(JournalTest, DamagedLinesAreLeftOutAndCounted) {
  {
    Journal journal = Journal::open(path_).take();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(journal.append(run_record(i)).ok());
  }
  std::string damaged = text();
  damaged[damaged.find("E1/1")] = 'F';
  write(damaged);
  const Result<Journal> journal = Journal::open(path_);
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal.value().records().size(), 2u);
  EXPECT_EQ(journal.value().damaged_lines(), 1u);
}

TEST_F(JournalTest, OtherFilesAreLeftAlone) {
  write("notes of somebody\n");
  EXPECT_FALSE(Journal::open(path_).ok());
  EXPECT_EQ(text(), "notes of somebody\n");
  fs::remove(path_);
  write("target");
  fs::rename(path_, folder_ / "target");
  fs::create_symlink(folder_ / "target", path_);
  EXPECT_FALSE(Journal::open(path_).ok());
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_FALSE(Journal::open(path_).ok());
}

TEST(MachineStateTest, HoldsWhatTimesDependOn) {
  Machine machine;
  machine.root = fs::temp_directory_path() / ("fathom-state-" + std::to_string(getpid()));
  fs::create_directories(machine.root / "proc");
  std::ofstream(machine.root / "proc/cpuinfo")
      << "processor\t: 0\nmodel name\t: Test CPU\nprocessor\t: 1\nmodel name\t: Test CPU\n";
  std::ofstream(machine.root / "proc/loadavg") << "1.25 0.5 0.2 1/100 1\n";
  Environment environment;
  environment.nvidia_gpus.emplace_back();
  environment.nvidia_gpus[0].name = "GPU X";
  environment.nvidia_gpus[0].sm_clock_mhz = 1200;
  environment.nvidia_gpus[0].max_sm_clock_mhz = 1980;
  environment.nvidia_gpus[0].power_limit_watts = 700;
  const MachineState wanted = {{"processor", "Test CPU"},
                               {"logical processors", "2"},
                               {"load average, 1 min", "1.25"},
                               {"GPU 0", "GPU X, SM clock at most 1980 MHz, power limit 700 W"},
                               {"SM clock of GPU 0", "1200 MHz"}};
  EXPECT_EQ(machine_state(machine, environment), wanted);
  // A resumed run tells of a changed power limit, not of another clock or load.
  for (const auto& [name, value] : wanted)
    EXPECT_EQ(is_momentary(name), value == "1200 MHz" || value == "1.25") << name;
  fs::remove_all(machine.root);
}

}  // namespace
}  // namespace fathom
