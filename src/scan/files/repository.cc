#include "scan/files/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/passed_paths.h"
#include "scan/facts/text_lines.h"
#include "scan/files/file_measures.h"
#include "scan/files/git_files.h"
#include "scan/files/ignore_rules.h"
#include "scan/files/language.h"
#include "scan/files/origin.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxIgnoreBytes = 1u << 20;
// An index takes about a hundred bytes for a file: beyond this it is none of a checkout.
constexpr uint64_t kMaxIndexBytes = 256u << 20;

// A .gitignore and those of the folders around it. Paths are from the checkout's root.
struct IgnoreChain {
  std::shared_ptr<const IgnoreChain> around;
  size_t folder_length;  // of "src/kernels/": what the file's patterns do not see of a path
  IgnoreRules rules;
};
using IgnoreChainPointer = std::shared_ptr<const IgnoreChain>;

bool is_ignored(const IgnoreChain* chain, std::string_view path, bool is_folder,
                MatchBudget& budget) {
  for (; chain != nullptr; chain = chain->around.get()) {
    const auto verdict = chain->rules.ignores(path.substr(chain->folder_length), is_folder, budget);
    if (verdict) return *verdict;
    budget.spend(1);
    if (budget.is_spent()) return false;
  }
  return false;
}

class Walk {
 public:
  Walk(const fs::path& root, Repository& repository, const ListLimits& limits)
      : root_(root), repository_(repository), limits_(limits) {}

  void run() {
    enter_git();
    folders_.push_back({"", around_, Origin::kOwn, false});
    while (!folders_.empty() && !repository_.is_cut) {
      Folder folder = std::move(folders_.back());
      folders_.pop_back();
      list(std::move(folder));
    }
    std::ranges::sort(repository_.files, {}, &SourceFile::path);
    tell();
  }

 private:
  struct Folder {
    std::string path;  // "" or "src/kernels/"
    IgnoreChainPointer rules;
    Origin origin = Origin::kOwn;
    bool only_tracked = false;  // it is ignored; what git tracks in it counts all the same
  };

  // The rules and the index of the checkout that the repository is, or is a part of.
  void enter_git() {
    if (const auto git = find_git(root_)) {
      const std::string below = root_.lexically_relative(git->root).generic_string();
      in_checkout_ = below == "." ? "" : below + "/";
      in_git_ = true;
      load_rules(git->common / "info/exclude", "", around_);
      enter_part_of_checkout(git->root);
      if (in_git_) read_index(git->directory / "index");
    }
    const Result<std::string> modules = read_source_text(root_ / ".gitmodules", kMaxIgnoreBytes);
    if (!modules.ok()) return;
    for (Submodule& module : read_gitmodules(modules.value())) {
      submodules_.insert(std::move(module.path));
    }
  }

  void read_index(const fs::path& file) {
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error))) return;  // nothing was added yet
    const Result<std::string> index = read_source_text(file, kMaxIndexBytes);
    if (index.ok()) tracked_ = TrackedPaths::read(index.value());
    if (tracked_) return;
    repository_.notes.push_back(fmt::format(
        "tracked files unknown, so only .gitignore applies: {}",
        index.ok() ? ".git/index is damaged or of an unknown version" : index.error().message));
  }

  // The .gitignore files above the folder that was asked for. A folder that they leave out was
  // asked for all the same: then they say nothing.
  void enter_part_of_checkout(const fs::path& checkout) {
    for (size_t slash = 0; slash < in_checkout_.size(); ++slash) {
      if (slash != 0 && in_checkout_[slash] != '/') continue;
      const std::string folder = slash == 0 ? "" : in_checkout_.substr(0, slash + 1);
      load_rules(checkout / folder / ".gitignore", folder, around_);
      const size_t next = in_checkout_.find('/', slash + 1);
      if (next == std::string::npos) return;
      if (!is_ignored(around_.get(), std::string_view(in_checkout_).substr(0, next), true, budget_))
        continue;
      around_.reset();
      in_checkout_.clear();
      in_git_ = false;
      return;
    }
  }

  void load_rules(const fs::path& file, const std::string& folder, IgnoreChainPointer& chain) {
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error))) return;
    const Result<std::string> text = read_source_text(file, kMaxIgnoreBytes);
    if (!text.ok()) {
      unread_rules_.add(folder + std::string(file_name(file.native())));
      return;
    }
    chain =
        std::make_shared<IgnoreChain>(IgnoreChain{chain, folder.size(), IgnoreRules(text.value())});
    if (chain->rules.too_many() || chain->rules.too_long()) {
      unused_rules_.add(folder + std::string(file_name(file.native())));
    }
  }

  bool is_tracked(const std::string& path, bool is_folder) const {
    return tracked_ && (is_folder ? tracked_->has_folder(path) : tracked_->has_file(path));
  }

  struct Entry {
    std::string name;
    fs::file_type type;
  };

  // A folder without git is mostly an archive of a commit: its files were tracked, whatever a
  // pattern for files says. Ignored folders stay out: copies of a working tree have build folders.
  bool is_code_of_an_archive(const Entry& entry) const {
    return !in_git_ && entry.type == fs::file_type::regular &&
           is_program_code(language_of(entry.name, ""));
  }

  std::vector<Entry> entries_of(const Folder& folder) {
    std::vector<Entry> entries;
    std::error_code error;
    fs::directory_iterator at(root_ / folder.path, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      std::error_code unknown;
      const fs::file_type type = at->symlink_status(unknown).type();
      const std::string name = at->path().filename().string();
      if (unknown) {  // a path that is too long for the system, say
        unknown_[unknown.message()].add(folder.path + name);
      } else {
        entries.push_back({name, type});
      }
    }
    if (error) unread_folders_.add(folder.path);
    // What is left out must not depend on the order in which the file system lists them.
    std::ranges::sort(entries, {}, &Entry::name);
    return entries;
  }

  void list(Folder folder) {
    const std::vector<Entry> entries = entries_of(folder);
    const auto has = [&entries](std::string_view name) {
      return std::ranges::find(entries, name, &Entry::name) != entries.end();
    };
    const bool is_root = folder.path.empty();
    if (!is_root && has(".fathom-report")) {
      reports_.add(folder.path);
      return;
    }
    if (!is_root && has(".git")) folder.origin = Origin::kSubmodule;
    if (folder.origin == Origin::kOwn && !is_root) {
      std::vector<std::string_view> names;
      for (const Entry& entry : entries) names.push_back(entry.name);
      if (has("pyvenv.cfg") || is_copied_repository(names)) folder.origin = Origin::kVendored;
    }
    if (has(".gitignore")) {
      load_rules(root_ / folder.path / ".gitignore", in_checkout_ + folder.path, folder.rules);
    }
    for (const Entry& entry : entries) {
      take(entry, folder);
      if (repository_.is_cut) return;
    }
  }

  void take(const Entry& entry, const Folder& folder) {
    if (entry.name == ".git") return;
    const std::string path = folder.path + entry.name, in_checkout = in_checkout_ + path;
    const bool is_folder = entry.type == fs::file_type::directory;
    budget_.add_path();
    const bool ignored =
        (folder.only_tracked || is_ignored(folder.rules.get(), in_checkout, is_folder, budget_)) &&
        !is_code_of_an_archive(entry);
    if (ignored && !is_tracked(in_checkout, is_folder)) {
      // Below a folder that is left out nothing more is to be told.
      if (!folder.only_tracked) (is_folder ? ignored_folders_ : ignored_files_).add(path);
      return;
    }
    switch (entry.type) {
      case fs::file_type::directory:
        if (limits_.except == root_ / path) break;
        count(0);
        enter(path, {path + "/", folder.rules, folder.origin, ignored});
        break;
      case fs::file_type::regular:
        if (limits_.bytes != UINT64_MAX) {
          std::error_code error;
          const uint64_t size = fs::file_size(root_ / path, error);
          count(error ? 0 : size);
        } else {
          count(0);
        }
        repository_.files.push_back({path, Language::kNone, folder.origin, 0, 0, ""});
        break;
      case fs::file_type::symlink:
        links_.add(path);
        break;
      default:
        special_.add(path);
    }
  }

  void count(uint64_t bytes) {
    ++counted_;
    counted_bytes_ += bytes;
    if (counted_ > limits_.files || counted_bytes_ > limits_.bytes) repository_.is_cut = true;
  }

  void enter(const std::string& path, Folder folder) {
    if (submodules_.contains(path)) {
      folder.origin = Origin::kSubmodule;
    } else if (folder.origin == Origin::kOwn && is_vendored_folder(path)) {
      folder.origin = Origin::kVendored;
    }
    folders_.push_back(std::move(folder));
  }

  void tell() {
    std::vector<std::string>& notes = repository_.notes;
    std::ranges::sort(notes);
    ignored_folders_.tell("folder is ignored by .gitignore", "folders are ignored by .gitignore",
                          notes);
    ignored_files_.tell("file is ignored by .gitignore", "files are ignored by .gitignore", notes);
    links_.tell("symbolic link is not followed", "symbolic links are not followed", notes);
    special_.tell("FIFO, socket or device is skipped", "FIFOs, sockets or devices are skipped",
                  notes);
    for (const auto& [why, passed] : unknown_) {
      passed.tell("path cannot be opened (" + why + ")", "paths cannot be opened (" + why + ")",
                  notes);
    }
    reports_.tell("folder is a Fathom report", "folders are Fathom reports", notes);
    unread_folders_.tell("folder cannot be read", "folders cannot be read", notes);
    unread_rules_.tell("list of ignored files cannot be read, or is over 1 MB",
                       "lists of ignored files cannot be read, or are over 1 MB", notes);
    const std::string limits =
        fmt::format("only the first {} patterns of up to {} bytes are used",
                    IgnoreRules::kMaxPatterns, IgnoreRules::kMaxPatternBytes);
    unused_rules_.tell("list of ignored files is long: " + limits,
                       "lists of ignored files are long: " + limits, notes);
    if (budget_.is_spent()) {
      notes.emplace_back(
          "the .gitignore patterns take too long to match: wildcard patterns were not applied to "
          "all "
          "files");
    }
  }

  const fs::path& root_;
  Repository& repository_;
  const ListLimits& limits_;
  size_t counted_ = 0;
  uint64_t counted_bytes_ = 0;
  IgnoreChainPointer around_;
  std::string in_checkout_;  // where the root lies in the checkout: "" or "part/of/it/"
  bool in_git_ = false;      // what git tracks and leaves out is known
  std::optional<TrackedPaths> tracked_;
  std::set<std::string> submodules_;
  std::vector<Folder> folders_;
  MatchBudget budget_;
  PassedPaths ignored_folders_, ignored_files_, links_, special_, reports_, unread_folders_,
      unread_rules_, unused_rules_;
  std::map<std::string, PassedPaths> unknown_;  // by why
};

void note_skipped(Repository& repository) {
  PassedPaths unreadable, large, wide, binary, no_notebooks;
  for (const SourceFile& file : repository.files) {
    if (file.skip_reason == SkipReason::kUnreadable) unreadable.add(file.path);
    if (file.skip_reason == SkipReason::kTooLarge) large.add(file.path);
    if (file.skip_reason == SkipReason::kNoNotebook) no_notebooks.add(file.path);
    if (file.skip_reason == SkipReason::kUtf16 && file.language != Language::kNone)
      wide.add(file.path);
    if (file.skip_reason == SkipReason::kBinary && is_program_code(file.language))
      binary.add(file.path);
  }
  unreadable.tell("file cannot be read", "files cannot be read", repository.notes);
  no_notebooks.tell("notebook has no list of cells and was not read",
                    "notebooks have no list of cells and were not read", repository.notes);
  const std::string over = fmt::format("over {} MB", kMaxSourceBytes >> 20);
  large.tell("file " + over + " was not read", "files " + over + " were not read",
             repository.notes);
  wide.tell("UTF-16 file was not read (only UTF-8 is supported)",
            "UTF-16 files were not read (only UTF-8 is supported)", repository.notes);
  binary.tell("source file with NUL bytes was not read",
              "source files with NUL bytes were not read", repository.notes);
}

}  // namespace

Result<Repository> list_repository(const fs::path& root, size_t threads, const ListLimits& limits) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (!fs::exists(status)) {
    return Error{fmt::format("cannot open {}: {}", root.string(),
                             error ? error.message() : "No such file or directory")};
  }
  if (!fs::is_directory(status)) {
    return Error{
        fmt::format("{} is no directory; a repository is a folder of source code", root.string())};
  }
  if (fs::directory_iterator(root, error); error)
    return Error{fmt::format("cannot read {}: {}", root.string(), error.message())};
  Repository repository;
  repository.root = fs::canonical(root, error);
  if (error) return Error{fmt::format("cannot open {}: {}", root.string(), error.message())};
  repository.name = repository.root.filename().string();
  Walk(repository.root, repository, limits).run();
  if (repository.is_cut) return repository;
  if (repository.files.empty()) {
    return Error{fmt::format("{} holds no files to read{}{}", root.string(),
                             repository.notes.empty() ? "" : "; ",
                             fmt::join(repository.notes, "; "))};
  }
  measure_files(repository.root, repository.files, threads);
  note_skipped(repository);
  return repository;
}

}  // namespace fathom
