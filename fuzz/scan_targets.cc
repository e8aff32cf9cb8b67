// The readers of `fathom scan`: each on its own, then a whole scan of a repository that holds the
// input, down to the pages of the report.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "report/scan/scan_report.h"
#include "scan/cpp/cpp_file.h"
#include "scan/docs/doc_examples.h"
#include "scan/docs/doc_text.h"
#include "scan/docs/readme.h"
#include "scan/docs/readme_mentions.h"
#include "scan/files/git_files.h"
#include "scan/files/ignore_rules.h"
#include "scan/manifests/dependencies.h"
#include "scan/python/python_file.h"
#include "scan/scan_repository.h"
#include "story/source_outlines.h"
#include "story/tell_stories.h"
#include "targets.h"

namespace fathom::fuzz {
namespace {

namespace fs = std::filesystem;

struct NamedText {
  std::string path;
  std::string_view text;
};

// A folder in memory where there is such a thing: a fuzzer makes thousands in a minute.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    const fs::path memory = "/dev/shm";
    const bool usable = access(memory.c_str(), W_OK) == 0;
    std::string form =
        ((usable ? memory : fs::temp_directory_path(error)) / "fathom_fuzz_XXXXXX").string();
    CHECK(mkdtemp(form.data()) != nullptr);
    path_ = form;
  }
  ~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A name that stays inside the folder and that a file system takes; empty: there is none in it.
std::string safe_path(std::string_view wanted) {
  constexpr size_t kMaxName = 200, kMaxDepth = 12;
  std::string out;
  for (size_t depth = 0; !wanted.empty() && depth < kMaxDepth;) {
    const size_t end = std::min(wanted.find('/'), wanted.size());
    std::string_view part = wanted.substr(0, std::min(end, kMaxName));
    part = part.substr(0, part.find('\0'));
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
    if (part.empty() || part == "." || part == "..") continue;
    (out += out.empty() ? "" : "/") += part;
    ++depth;
  }
  return out;
}

// Lists, reads, links and reports, as the command does.
void scan_files(const std::vector<NamedText>& files) {
  const ScratchFolder folder;
  for (const NamedText& file : files) {
    const std::string safe = safe_path(file.path);
    if (safe.empty()) continue;
    const fs::path path = folder.path() / safe;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!error) std::ofstream(path, std::ios::binary) << file.text;
  }
  const Result<Repository> repository = list_repository(folder.path(), 1);
  if (!repository.ok()) return;
  ScanOptions options;
  options.threads = 1;
  ScanReport report;
  report.facts = scan_repository(repository.value(), options);
  static const Result<Platform> platform = open_platform("h200");
  StoryContext context;
  if (platform.ok()) context.platform = &platform.value();
  SourceOutlines sources(repository.value().root, report.facts.files);
  report.stories = tell_stories(report.facts, context, &sources);
  (void)scan_json(report);
  (void)scan_lines(report.facts, {std::begin(kScanParts), std::end(kScanParts)});
  (void)scan_pages(report);
  (void)scan_text(report, {true, true, 80});
}

// "=== name" begins a file; what is before the first one is a.cu.
std::vector<NamedText> split_files(std::string_view text) {
  constexpr std::string_view kMark = "=== ";
  constexpr size_t kMaxFiles = 24;
  std::vector<NamedText> files = {{"a.cu", text.substr(0, 0)}};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    if (line.starts_with(kMark) && files.size() < kMaxFiles) {
      line.remove_prefix(kMark.size());
      if (line.ends_with('\n')) line.remove_suffix(1);
      files.push_back({std::string(line), text.substr(end, 0)});
    } else {
      files.back().text = {files.back().text.empty() ? text.data() : files.back().text.data(),
                           files.back().text.size() + end};
    }
    text.remove_prefix(end);
  }
  std::erase_if(files,
                [](const NamedText& file) { return file.path == "a.cu" && file.text.empty(); });
  return files;
}

// No line lies before the first or after the last one.
void check_lines(const python::PythonFile& file, std::string_view text) {
  const auto last = static_cast<uint32_t>(
      1 + std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }));
  const auto check = [&](uint32_t line_first, uint32_t line_last) {
    CHECK(line_first >= 1 && line_first <= line_last && line_last <= last);
  };
  for (const python::Function& function : file.functions) {
    check(function.line_first, function.line_last);
    for (const python::Call& call : function.calls) check(call.line_first, call.line_last);
  }
  for (const python::Class& found : file.classes) check(found.line_first, found.line_last);
  for (const python::Option& option : file.options) check(option.line, option.line);
  for (const python::CudaText& cuda : file.cuda_texts) check(cuda.line, cuda.line);
}

void read_cpp(const cpp::TokenList& source) {
  const cpp::Definitions first = cpp::find_definitions(source, {});
  const cpp::KnownNames known = cpp::known_names({&first});
  const cpp::Definitions again = cpp::find_definitions(source, known);
  (void)cpp::find_usage(source, again, known);
}

}  // namespace

void cpp_source(const uint8_t* data, size_t size) {
  const std::string_view text = text_of(data, size);
  read_cpp(cpp::lex(text));
  if (runs_whole(text)) scan_files({{"a.cu", text}});
}

void jinja_source(const uint8_t* data, size_t size) {
  const std::string_view text = text_of(data, size);
  read_cpp(cpp::lex_jinja(text));
  CHECK(cpp::blank_jinja(text).size() == text.size());
  // Only templates that say what they are templates of are read.
  const std::string named = "#include <a>\n" + std::string(text);
  if (runs_whole(text)) scan_files({{"a.cuh.jinja", named}, {"chat.jinja", text}});
}

void python_source(const uint8_t* data, size_t size) {
  const std::string_view text = text_of(data, size);
  check_lines(python::read_python(text), text);
  if (runs_whole(text)) scan_files({{"a.py", text}});
}

void ignore_rules(const uint8_t* data, size_t size) {
  // The patterns, an empty line, then paths to try them on.
  const std::string_view text = text_of(data, size);
  const size_t end = std::min(text.find("\n\n"), text.size());
  const IgnoreRules rules(text.substr(0, end));
  std::string_view paths = text.substr(std::min(end + 2, text.size()));
  for (size_t count = 0; !paths.empty() && count < 32; ++count) {
    const size_t line = std::min(paths.find('\n'), paths.size());
    for (const bool is_folder : {false, true}) {
      (void)rules.ignores(paths.substr(0, line), is_folder);
    }
    paths.remove_prefix(std::min(line + 1, paths.size()));
  }
  if (runs_whole(text))
    scan_files({{".gitignore", text}, {"src/deep/a.cu", "int x;\n"}, {"src/.gitignore", text}});
}

void git_index(const uint8_t* data, size_t size) {
  const std::string_view text = text_of(data, size);
  const auto tracked = TrackedPaths::read(text);
  CHECK(!tracked || tracked->size() <= text.size());
  (void)read_gitmodules(text);
  if (runs_whole(text))
    scan_files({{".git/HEAD", ""},
                {".git/index", text},
                {".git/info/exclude", "*.cu\n"},
                {".gitmodules", text},
                {"src/a.cu", "int x;\n"},
                {"b.py", "x = 1\n"}});
}

void manifests(const uint8_t* data, size_t size) {
  const std::string_view text = text_of(data, size);
  std::vector<NamedText> files;
  for (const char* name :
       {"pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", "environment.yml",
        "CMakeLists.txt", "package.json", "Cargo.toml", ".gitmodules"}) {
    const Declarations declared = read_declarations(name, text);
    // A declaration takes some text: more of them than bytes would be one counted twice.
    CHECK(declared.dependencies.size() <= text.size());
    files.push_back({name, text});
  }
  if (runs_whole(text)) scan_files(files);
}

void markdown(const uint8_t* data, size_t size) {
  const std::string_view text = text_of(data, size);
  (void)read_readme(text);
  for (const bool is_markdown : {true, false}) {
    for (const DocLine& line : read_doc(text, is_markdown)) {
      (void)shell_commands(line.text);
      (void)table_cells(line.text);
      (void)code_spans(line.text);
      (void)plain_text(line.text);
    }
    (void)find_mentions(text, is_markdown, "engine");
    (void)read_doc_examples(text, is_markdown);
  }
  if (runs_whole(text))
    scan_files({{"README.md", text},
                {"docs/usage.rst", text},
                {"engine/serve.py",
                 "import argparse, os\np = argparse.ArgumentParser()\n"
                 "p.add_argument('--port', default=80)\np.add_argument('--max-batch', default=4)\n"
                 "os.getenv('ENGINE_A'); os.getenv('ENGINE_B'); os.getenv('ENGINE_C')\n"}});
}

void repository(const uint8_t* data, size_t size) { scan_files(split_files(text_of(data, size))); }

}  // namespace fathom::fuzz
