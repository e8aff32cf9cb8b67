#include "scan/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "scan/file_measures.h"
#include "scan/git_files.h"
#include "scan/ignore_rules.h"
#include "scan/origin.h"
#include "scan/source_text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxIgnoreBytes = 1u << 20;

// A .gitignore and those of the folders around it. Paths are from the checkout's root.
struct IgnoreChain {
  std::shared_ptr<const IgnoreChain> around;
  size_t folder_length;  // of "src/kernels/": what the file's patterns do not see of a path
  IgnoreRules rules;
};
using IgnoreChainPointer = std::shared_ptr<const IgnoreChain>;

bool is_ignored(const IgnoreChain* chain, std::string_view path, bool is_folder) {
  for (; chain != nullptr; chain = chain->around.get()) {
    const auto verdict = chain->rules.ignores(path.substr(chain->folder_length), is_folder);
    if (verdict) return *verdict;
  }
  return false;
}

// Paths of one kind, told as one note.
struct Passed {
  size_t count = 0;
  std::set<std::string> first;  // by name, so that the order of the walk does not show

  void add(const std::string& path) {
    constexpr size_t kNamed = 3;
    ++count;
    first.insert(path);
    if (first.size() > kNamed) first.erase(std::prev(first.end()));
  }
  void tell(std::string_view one, std::string_view several, std::vector<std::string>& notes) const {
    if (count == 0) return;
    notes.push_back(fmt::format("{} {}: {}{}", count, count == 1 ? one : several,
                                fmt::join(first, ", "), count > first.size() ? " …" : ""));
  }
};

class Walk {
 public:
  Walk(const fs::path& root, Repository& repository) : root_(root), repository_(repository) {}

  void run() {
    enter_git();
    folders_.push_back({"", around_, Origin::kOwn, false});
    while (!folders_.empty()) {
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
      load_rules(git->common / "info/exclude", "", around_);
      enter_part_of_checkout(git->root);
      const Result<std::string> index = read_source_text(git->directory / "index", 1u << 30);
      if (index.ok()) tracked_ = tracked_paths(index.value()).value_or(std::vector<std::string>());
    }
    const Result<std::string> modules = read_source_text(root_ / ".gitmodules", kMaxIgnoreBytes);
    if (!modules.ok()) return;
    for (Submodule& module : read_gitmodules(modules.value())) {
      submodules_.insert(std::move(module.path));
    }
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
      if (!is_ignored(around_.get(), std::string_view(in_checkout_).substr(0, next), true))
        continue;
      around_.reset();
      in_checkout_.clear();
      return;
    }
  }

  void load_rules(const fs::path& file, const std::string& folder, IgnoreChainPointer& chain) {
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error))) return;
    const Result<std::string> text = read_source_text(file, kMaxIgnoreBytes);
    if (!text.ok()) {
      repository_.notes.push_back(text.error().message);
      return;
    }
    chain =
        std::make_shared<IgnoreChain>(IgnoreChain{chain, folder.size(), IgnoreRules(text.value())});
    if (chain->rules.too_many()) {
      repository_.notes.push_back(fmt::format("{}: only the first {} patterns are used",
                                              file.string(), IgnoreRules::kMaxPatterns));
    }
  }

  bool is_tracked(const std::string& path, bool is_folder) const {
    const auto found = std::ranges::lower_bound(tracked_, path);
    if (found == tracked_.end()) return false;
    return is_folder ? found->starts_with(path) : *found == path;
  }

  struct Entry {
    std::string name;
    fs::file_type type;
  };

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
    if (error) {
      repository_.notes.push_back(
          fmt::format("the folder {} cannot be read: {}", folder.path, error.message()));
    }
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
    if (folder.origin == Origin::kOwn && !is_root && has("pyvenv.cfg")) {
      folder.origin = Origin::kVendored;
    }
    if (has(".gitignore")) {
      load_rules(root_ / folder.path / ".gitignore", in_checkout_ + folder.path, folder.rules);
    }
    for (const Entry& entry : entries) take(entry, folder);
  }

  void take(const Entry& entry, const Folder& folder) {
    if (entry.name == ".git") return;
    const std::string path = folder.path + entry.name, in_checkout = in_checkout_ + path;
    const bool is_folder = entry.type == fs::file_type::directory;
    const bool ignored =
        folder.only_tracked || is_ignored(folder.rules.get(), in_checkout, is_folder);
    if (ignored && !is_tracked(is_folder ? in_checkout + "/" : in_checkout, is_folder)) {
      // Below a folder that is left out nothing more is to be told.
      if (!folder.only_tracked) (is_folder ? ignored_folders_ : ignored_files_).add(path);
      return;
    }
    switch (entry.type) {
      case fs::file_type::directory:
        enter(path, entry.name, {path + "/", folder.rules, folder.origin, ignored});
        break;
      case fs::file_type::regular:
        repository_.files.push_back({path, Language::kNone, folder.origin, 0, 0, ""});
        break;
      case fs::file_type::symlink:
        links_.add(path);
        break;
      default:
        special_.add(path);
    }
  }

  void enter(const std::string& path, const std::string& name, Folder folder) {
    if (submodules_.contains(path)) {
      folder.origin = Origin::kSubmodule;
    } else if (folder.origin == Origin::kOwn && is_vendored_folder(name)) {
      folder.origin = Origin::kVendored;
    }
    folders_.push_back(std::move(folder));
  }

  void tell() {
    std::vector<std::string>& notes = repository_.notes;
    std::ranges::sort(notes);
    ignored_folders_.tell("folder is left out, as .gitignore says",
                          "folders are left out, as .gitignore says", notes);
    ignored_files_.tell("file is left out, as .gitignore says",
                        "files are left out, as .gitignore says", notes);
    links_.tell("symbolic link is not followed", "symbolic links are not followed", notes);
    special_.tell("FIFO, socket or device is passed over",
                  "FIFOs, sockets or devices are passed over", notes);
    for (const auto& [why, passed] : unknown_) {
      passed.tell("path cannot be opened (" + why + ")", "paths cannot be opened (" + why + ")",
                  notes);
    }
    reports_.tell("folder is a report of Fathom's", "folders are reports of Fathom's", notes);
  }

  const fs::path& root_;
  Repository& repository_;
  IgnoreChainPointer around_;
  std::string in_checkout_;  // where the root lies in the checkout: "" or "part/of/it/"
  std::vector<std::string> tracked_;
  std::set<std::string> submodules_;
  std::vector<Folder> folders_;
  Passed ignored_folders_, ignored_files_, links_, special_, reports_;
  std::map<std::string, Passed> unknown_;  // by why
};

void note_skipped(Repository& repository) {
  Passed unreadable, large;
  for (const SourceFile& file : repository.files) {
    if (file.skipped.starts_with("cannot be read")) unreadable.add(file.path);
    if (file.skipped.starts_with("over")) large.add(file.path);
  }
  unreadable.tell("file cannot be read", "files cannot be read", repository.notes);
  const std::string over = fmt::format("over {} MB", kMaxSourceBytes >> 20);
  large.tell("file is not read, being " + over, "files are not read, being " + over,
             repository.notes);
}

}  // namespace

Result<Repository> list_repository(const fs::path& root, size_t threads) {
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
  const fs::directory_iterator readable(root, error);
  if (error) return Error{fmt::format("cannot read {}: {}", root.string(), error.message())};
  Repository repository;
  repository.root = fs::canonical(root, error);
  if (error) return Error{fmt::format("cannot open {}: {}", root.string(), error.message())};
  repository.name = repository.root.filename().string();
  Walk(repository.root, repository).run();
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
