// Words are for the reader: a program with other words in its sentences gives the same results.
// The other program is a copy of the whole one in which the letters of sentences are exchanged, in
// its string literals and in the texts of data/. Whatever reads a sentence back, sorts by it or
// measures it by its letters writes something else then.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/utf8.h"
#include "checks.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;
using TextSet = std::set<std::string, std::less<>>;

char swapped(char c) {
  if (c >= 'a' && c <= 'z') return static_cast<char>('a' + (c - 'a' + 13) % 26);
  if (c >= 'A' && c <= 'Z') return static_cast<char>('A' + (c - 'A' + 13) % 26);
  return c;
}

// What stands in braces is a format or a word that the program looks up.
void swap_letters(char* text, size_t size) {
  for (size_t i = 0, depth = 0; i < size; ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && depth > 0) --depth;
    if (depth == 0) text[i] = swapped(text[i]);
  }
}

bool is_small_word(std::string_view word) {
  while (!word.empty() && std::string_view(".,:;").find(word.back()) != word.npos)
    word.remove_suffix(1);
  return word.size() > 1 &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
}

// Three words in a row. Not lines of scripts ("# …"), nor the names with units that captures have.
bool is_sentence(std::string_view text) {
  if (text.size() < 12 || text.front() == '#' || text.back() == ')') return false;
  int row = 0;
  for (size_t at = 0; at <= text.size() && row < 3;) {
    const size_t end = std::min(text.find(' ', at), text.size());
    row = is_small_word(text.substr(at, end - at)) ? row + 1 : 0;
    at = end + 1;
  }
  // Else a number stands before it, without a zero between.
  const auto is_control = [](unsigned char c) { return c < ' ' && c != '\n'; };
  return row == 3 && !std::ranges::any_of(text, is_control) && with_valid_utf8(text) == text;
}

// The linker lets a literal of one word share the end of a longer one: the last word stays.
size_t swap_sentences(char* text, size_t size, const TextSet& kept) {
  size_t count = 0;
  for (size_t at = 0; at < size;) {
    const std::string_view one(text + at, strnlen(text + at, size - at));
    if (is_sentence(one) && !kept.contains(one)) {
      const size_t last = one.find_last_not_of(" \n");
      swap_letters(text + at, one.rfind(' ', last));
      ++count;
    }
    at += one.size() + 1;
  }
  return count;
}

// Sentences in the program's constants; nothing where it is no ELF file of 64 bits.
size_t swap_literals(std::string& program, const TextSet& kept) {
  Elf64_Ehdr header = {};
  if (program.size() < sizeof(header)) return 0;
  std::memcpy(&header, program.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  const auto section = [&](size_t index) {
    Elf64_Shdr out = {};
    const size_t at = header.e_shoff + index * sizeof(out);
    if (at + sizeof(out) <= program.size()) std::memcpy(&out, program.data() + at, sizeof(out));
    return out;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  size_t count = 0;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    const std::string_view name(program.data() + names.sh_offset + one.sh_name);
    if (name.starts_with(".rodata") && one.sh_offset + one.sh_size <= program.size())
      count += swap_sentences(program.data() + one.sh_offset, one.sh_size, kept);
  }
  return count;
}

// A column of a table in data/ that the program holds where `original` does.
bool swap_column(std::string& program, std::string_view original, const fs::path& table,
                 size_t column) {
  const std::string text = read_file(source_dir() / "data" / table);
  const size_t begin = original.find(text);
  if (begin == program.npos) return false;
  bool is_header = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    size_t cell = at;
    for (size_t i = 0; i < column; ++i) {
      const size_t tab = text.find('\t', cell);
      cell = tab < end ? tab + 1 : end;
    }
    if (text[at] != '#' && cell < end && !std::exchange(is_header, false))
      swap_letters(program.data() + begin + cell, std::min(text.find('\t', cell), end) - cell);
    at = end + 1;
  }
  return true;
}

// The columns of tables in data/ that hold sentences and titles for the reader.
struct SentenceColumn {
  const char* table;
  size_t column;
};
constexpr SentenceColumn kSentenceColumns[] = {
    {"analysis/advice.tsv", 5},
    {"analysis/tools.tsv", 2},
    {"hypotheses/derived.tsv", 2},
    {"hypotheses/hypotheses.tsv", 1},
    {"hypotheses/hypotheses.tsv", 9},
    {"stories/phrases.tsv", 1},
    {"stories/step_words.tsv", 2},
    {"stories/surprises.tsv", 3},
    {"stories/compared.tsv", 1},
    {"stories/kernel_models.tsv", 1},
    {"features/features.tsv", 1},
    {"features/features.tsv", 6},
    {"features/features.tsv", 7},
    {"features/metrics.tsv", 1},
    {"features/metrics.tsv", 6},
    {"features/kernel_purposes.tsv", 1},
    {"plan/asked.tsv", 3},
    {"plan/features.tsv", 1},
    {"plan/features.tsv", 2},
    {"plan/features.tsv", 6},
    {"plan/metrics.tsv", 1},
    {"plan/metrics.tsv", 6},
    {"plan/patterns.tsv", 2},
    {"plan/phases.tsv", 2},
    {"plan/ranks.tsv", 3},
    {"hypotheses/hypotheses.tsv", 10},
    {"features/metrics.tsv", 8},
    {"plan/probes.tsv", 3},
};

struct SwapJob {
  const char* name;
  const char* arguments;  // {} is the checkout
};
constexpr SwapJob kSwapJobs[] = {
    {"analyze", "analyze {}/examples/llama-stacks-h200.json.gz -o out"},
    {"counters",
     "analyze {}/examples/captures/tiny-engine-h200.capture --repo {}/examples/tiny-engine -o out"},
    {"story", "story {}/examples/train-h200.json.gz"},
    {"diff", "diff {}/examples/llama-h200.json.gz {}/examples/llama-compiled-h200.json.gz -o out"},
    {"together",
     "analyze --together {}/examples/ddp-rank0-h200.json.gz "
     "{}/examples/ddp-rank1-h200.json.gz -o out"},
    {"scan", "scan {}/examples/tiny-engine -o out"},
    {"plan", "plan 'why is decode slow with long prompts' --repo {}/examples/tiny-engine -o out"},
    {"run",
     "run {}/examples/run/serving/plan.toml --replay {}/examples/run/serving/recorded "
     "-o out"},
    {"platforms", "platforms"},
    {"ablate", "ablate {}/kernels/rows/suite.toml --replay {}/kernels/rows/ablation -o out"},
};

// What the jobs print and write, by file. Not what is compressed, nor the hashes of files.
std::map<std::string, std::string> run_jobs(const fs::path& program, const fs::path& place) {
  std::map<std::string, std::string> out;
  for (const SwapJob& job : kSwapJobs) {
    std::string command = "'" + program.string() + "' " + job.arguments;
    for (size_t at; (at = command.find("{}")) != command.npos;)
      command.replace(at, 2, source_dir().string());
    const fs::path folder = place / job.name;
    fs::create_directories(folder);
    const CommandResult done = run_command(command, folder);
    const std::string name = std::string(job.name) + "/";
    out[name + "exit code"] = std::to_string(done.exit_code);
    out[name + "output"] = done.output;
    out[name + "errors"] = done.errors;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string kind = entry.path().extension();
      if (entry.is_regular_file() &&
          (kind == ".md" || kind == ".csv" || kind == ".json" || kind == ".toml" || kind == ".svg"))
        out[fs::relative(entry.path(), place)] = read_file(entry.path());
    }
  }
  return out;
}

// A table's columns are known by their names, to SQL and to those who read CSV.
TextSet column_names(const std::map<std::string, std::string>& files) {
  TextSet out;
  for (const auto& [name, text] : files) {
    if (!name.ends_with(".csv")) continue;
    std::istringstream header(text.substr(0, text.find('\n')));
    for (std::string cell; std::getline(header, cell, ',');) out.insert(cell);
  }
  return out;
}

// Where a letter is neither what it was nor the one that stands for it; npos: nowhere.
size_t where_it_differs(std::string_view ours, std::string_view other) {
  for (size_t i = 0; i < std::min(ours.size(), other.size()); ++i) {
    if (other[i] != ours[i] && other[i] != swapped(ours[i])) return i;
  }
  return ours.size() == other.size() ? ours.npos : std::min(ours.size(), other.size());
}

TEST(SwappedWords, ChangeNoResult) {
  const fs::path whole = fathom_binary() + "-code";
  const TemporaryDirectory place;
  const auto ours = run_jobs(whole, place.path() / "1");
  const std::string original = read_file(whole);
  std::string program = original;
  if (swap_literals(program, column_names(ours)) < 1000)
    GTEST_SKIP() << "sentences of this program are not where they are looked for";
  for (const SentenceColumn& one : kSentenceColumns)
    EXPECT_TRUE(swap_column(program, original, one.table, one.column)) << one.table;
  write_file(place.path() / "other", program);
  fs::permissions(place.path() / "other", fs::perms::owner_all);
  const auto others = run_jobs(place.path() / "other", place.path() / "2");

  std::map<std::string, size_t> changed;  // by job
  for (const auto& [name, text] : ours) {
    const auto other = others.find(name);
    ASSERT_NE(other, others.end()) << name << " is missing";
    const size_t at = where_it_differs(text, other->second);
    EXPECT_EQ(at, text.npos) << name << ":\n"
                             << text.substr(at < 80 ? 0 : at - 80, 160) << "\nwith other words:\n"
                             << other->second.substr(at < 80 ? 0 : at - 80, 160);
    changed[name.substr(0, name.find('/'))] += text != other->second;
  }
  EXPECT_EQ(others.size(), ours.size());
  for (const SwapJob& job : kSwapJobs) {
    EXPECT_EQ(ours.at(std::string(job.name) + "/exit code"), "0") << job.name;
    EXPECT_GT(changed[job.name], 0u) << job.name << " says nothing";
  }
}

}  // namespace
}  // namespace fathom::test
