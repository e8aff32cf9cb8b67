#include "session/code/ablate_trees.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/content_hash.h"
#include "base/content_stamp.h"
#include "base/count_text.h"
#include "base/file_descriptor.h"
#include "base/text_parts.h"
#include "plan/ablate/line_diff.h"
#include "scan/files/repository.h"
#include "trial/command.h"

namespace fathom::ablate {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestPatch = 16 << 20, kLargestCompared = 256 << 10;
constexpr size_t kMostSourceFiles = 100'000, kMostDiffLines = 60;

bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

Error cannot(std::string_view what, const fs::path& path, const std::error_code& error) {
  return Error{fmt::format("cannot {} {}: {}", what, path.string(), error.message())};
}

// A new file in the tree. Links on the way would lead out of it, and are refused.
Result<std::string> put_file(const fs::path& tree, const std::string& name,
                             std::string_view content, mode_t mode = 0644) {
  std::error_code error;
  const fs::path target = tree / name;
  if (leads_out(tree, name)) return fmt::format("{} leads out of the tree", name);
  fs::create_directories(target.parent_path(), error);
  if (error) return fmt::format("cannot make the folder of {}: {}", name, error.message());
  if (fs::is_directory(fs::symlink_status(target, error)))
    return fmt::format("{} is a folder", name);
  fs::remove(target, error);
  const FileDescriptor file(
      ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.ok()) return fmt::format("cannot write {}", name);
  while (!content.empty()) {
    const ssize_t wrote = write(file.get(), content.data(), content.size());
    if (wrote <= 0) return fmt::format("cannot write {}", name);
    content.remove_prefix(static_cast<size_t>(wrote));
  }
  return std::string();
}

Result<std::string> copy_source(const SourceTree& source, const fs::path& tree) {
  std::error_code error;
  for (const std::string& file : source.files) {
    const fs::path from = source.folder / file, to = tree / file;
    fs::create_directories(to.parent_path(), error);
    if (error) return cannot("make", to.parent_path(), error);
    if (!fs::is_regular_file(fs::symlink_status(from, error))) continue;  // gone, or a link by now
    fs::copy_file(from, to, error);
    if (error) return cannot("copy", from, error);
  }
  return std::string();
}

std::string first_line(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  return std::string(text.substr(0, std::min(text.find('\n'), size_t{300})));
}

std::vector<std::string> lines_of_pairs(const Pairs& pairs, std::string_view before) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : pairs)
    lines.push_back(fmt::format("{}{}{}{}", before, name, value.empty() ? "" : "=", value));
  return lines;
}

void add_changed(const std::vector<std::string>& before, const std::vector<std::string>& after,
                 std::string& out) {
  if (before == after) return;
  for (const std::string& line : before) {
    if (!line.empty() && !contains(after, line)) out += "-" + line + "\n";
  }
  for (const std::string& line : after) {
    if (!line.empty() && !contains(before, line)) out += "+" + line + "\n";
  }
}

std::set<std::string, std::less<>> lines_of(std::string_view text) {
  std::set<std::string, std::less<>> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::map<std::string, std::string> small_files(const fs::path& tree, std::string_view listing) {
  const auto listed = lines_of(listing);
  std::map<std::string, std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(tree, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end && files.size() < 5000;
       at.increment(error)) {
    if (at->path().filename() == ".git") {
      at.disable_recursion_pending();
      continue;
    }
    if (!fs::is_regular_file(at->symlink_status(error))) continue;
    std::string name = at->path().lexically_relative(tree).generic_string();
    if (!listed.empty() && !listed.contains(name)) continue;  // a build made it
    auto text = read_plain_file(at->path(), kLargestCompared);
    if (text && text->find('\0') == std::string::npos)
      files.emplace(std::move(name), std::move(*text));
  }
  return files;
}

std::string tree_difference(const fs::path& before, const fs::path& after,
                            const std::pair<std::string, std::string>& listings) {
  if (before == after) return {};
  const auto a = small_files(before, listings.first), b = small_files(after, listings.second);
  std::map<std::string, int> names;
  for (const auto& [name, text] : a) names[name] |= 1;
  for (const auto& [name, text] : b) names[name] |= 2;
  std::string out;
  size_t shown = 0;
  for (const auto& [name, sides] : names) {
    if (sides == 3 && a.at(name) == b.at(name)) continue;
    if (++shown > 10) continue;
    out += fmt::format("--- {}\n", name) +
           line_diff(sides & 1 ? std::string_view(a.at(name)) : std::string_view(),
                     sides & 2 ? std::string_view(b.at(name)) : std::string_view(), kMostDiffLines);
  }
  if (shown > 10) out += fmt::format("… {}\n", counted(shown - 10, "more file"));
  return out;
}

}  // namespace

bool leads_out(const fs::path& tree, const std::string& name) {
  std::error_code error;
  const fs::path root = fs::canonical(tree, error);
  if (error) return true;
  // What is not there yet cannot be a link.
  const fs::path folder = fs::weakly_canonical((tree / name).parent_path(), error);
  return error || !is_within(folder / "x", root);
}

std::optional<std::string> read_plain_file(const fs::path& path, uint64_t limit) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts = {};
  if (!file.ok() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  if (static_cast<uint64_t>(facts.st_size) > limit) return std::nullopt;
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(file.get(), text.data() + have, text.size() - have);
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  return text;
}

Result<SourceTree> list_source(const Suite& suite, const fs::path& out) {
  SourceTree source;
  std::error_code error;
  source.folder = fs::canonical(suite.folder / suite.source, error);
  if (error) return cannot("read", suite.folder / suite.source, error);
  for (fs::path folder = source.folder;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) {
      source.git_root = folder;
      source.below_root = source.folder.lexically_relative(folder).generic_string();
      if (source.below_root == ".") source.below_root.clear();
      break;
    }
    if (folder == folder.parent_path()) break;
  }
  const auto too_large = [&] {
    return Error{
        fmt::format("{} has over {} files or {} MB; name a smaller folder as source in "
                    "[tree], or raise max_mb there",
                    source.folder.string(), number_text(kMostSourceFiles), suite.most_source_mb)};
  };
  if (source.folder == source.folder.root_path())
    return Error{fmt::format("{} is the whole file system; name a folder as source in [tree]",
                             source.folder.string())};
  const ListLimits limits{kMostSourceFiles, suite.most_source_mb << 20, out};
  const Repository repository = TRY(list_repository(source.folder, 0, limits));
  if (repository.is_cut) return too_large();
  ContentHash hash;
  uint64_t& bytes = source.bytes;
  for (const SourceFile& file : repository.files) {
    if (is_within(source.folder / file.path, out)) continue;
    bytes += file.size;
    source.files.push_back(file.path);
    if (source.files.size() > kMostSourceFiles || bytes > suite.most_source_mb << 20)
      return too_large();
  }
  // The suite's words do not change what is built, and its patches are hashed by themselves.
  std::set<fs::path> apart = {fs::canonical(suite.file, error)};
  for (const Variant& variant : suite.variants) {
    for (const std::string& patch : variant.changes.patches)
      apart.insert((suite.folder / patch).lexically_normal());
    for (const auto& [to, from] : variant.changes.files)
      apart.insert((suite.folder / from).lexically_normal());
  }
  for (const std::string& file : source.files) {
    if (apart.contains((source.folder / file).lexically_normal())) continue;
    hash.add(file);
    const auto stamp = stamp_of(source.folder / file);
    hash.add(fmt::format(" {} ", stamp ? stamp->content : 0));
  }
  source.hash = hash.value();
  return source;
}

Result<std::vector<uint64_t>> change_hashes(const Suite& suite) {
  std::vector<uint64_t> hashes;
  for (const Variant& variant : suite.variants) {
    ContentHash hash;
    hash.add(variant.changes.commit);
    std::vector<std::string> files = variant.changes.patches;
    for (const auto& [to, from] : variant.changes.files) files.push_back(from);
    for (const std::string& file : files) {
      const auto text = read_plain_file(suite.folder / file, kLargestPatch);
      if (!text)
        return Error{fmt::format("{}: variant '{}' uses {}, which cannot be read",
                                 suite.file.string(), variant.name, file)};
      hash.add(file);
      hash.add(*text);
    }
    hashes.push_back(hash.value());
  }
  return hashes;
}

std::vector<std::string> without_git(std::vector<std::string> environment) {
  std::erase_if(environment, [](const std::string& line) { return line.starts_with("GIT_"); });
  return environment;
}

std::vector<TreeCommand> tree_commands(const Suite& suite, const SourceTree& source,
                                       const BuildPlan& build, const fs::path& tree) {
  std::vector<TreeCommand> commands;
  const Changes& changes = *build.changes;
  if (!changes.commit.empty()) {
    commands.push_back({{"git", "clone", "--quiet", "--shared", "--no-checkout",
                         source.git_root.string(), tree.string()},
                        {"GIT_TERMINAL_PROMPT=0"}});
    commands.push_back({{"git", "-c", "core.hooksPath=/dev/null", "-C", tree.string(), "checkout",
                         "--quiet", "--detach", changes.commit, "--"},
                        {"GIT_TERMINAL_PROMPT=0"}});
  }
  for (const std::string& patch : changes.patches) {
    std::error_code error;
    // Without the ceiling git would find a repository around the out folder and skip the files.
    commands.push_back(
        {{"git", "-C", build.tree, "apply", "--whitespace=nowarn",
          fs::absolute(suite.folder / patch, error).lexically_normal().string()},
         {"GIT_CEILING_DIRECTORIES=" + fs::path(build.tree).parent_path().string()}});
  }
  return commands;
}

Result<std::string> make_tree(const Suite& suite, const SourceTree& source, const BuildPlan& build,
                              const fs::path& tree, const std::vector<std::string>& environment,
                              const fs::path& log) {
  std::error_code error;
  fs::remove_all(tree, error);
  if (error) return cannot("remove", tree, error);
  const Changes& changes = *build.changes;
  if (changes.commit.empty()) {
    fs::create_directories(tree, error);
    if (error) return cannot("make", tree, error);
    const std::string problem = TRY(copy_source(source, tree));
    if (!problem.empty()) return problem;
  } else if (source.git_root.empty()) {
    return fmt::format("{} is in no git repository", source.folder.string());
  }
  const std::vector<TreeCommand> commands = tree_commands(suite, source, build, tree);
  // The source in the tree may be a link of the commit's or of a patch's.
  const std::string below = fs::path(build.tree).lexically_relative(tree).generic_string();
  const auto is_outside = [&] {
    return fs::exists(fs::symlink_status(build.tree, error)) && leads_out(tree, below + "/x");
  };
  for (const TreeCommand& one : commands) {
    if (is_outside()) return fmt::format("{} leads out of the tree", below);
    TrialCommand command;
    command.words = one.words;
    command.environment = changed_environment(without_git(environment), one.environment);
    command.limit_s = 300;
    command.log = log;
    const TrialEnd end = TRY(run_command(command));
    if (end.kind == EndKind::kInterrupted) return Error{"interrupted"};
    if (end.ok()) continue;
    const std::string text = read_plain_file(log, 1 << 20).value_or("");
    return fmt::format("git: {}: {}", end_text(end, command.limit_s), first_line(text));
  }
  if (is_outside()) return fmt::format("{} leads out of the tree", below);
  for (const auto& [to, from] : changes.files) {
    const auto text = read_plain_file(suite.folder / from, kLargestPatch);
    if (!text) return fmt::format("{} cannot be read", from);
    const bool runs = access((suite.folder / from).c_str(), X_OK) == 0;
    const std::string problem = TRY(put_file(build.tree, to, *text, runs ? 0755 : 0644));
    if (!problem.empty()) return problem;
  }
  return std::string();
}

std::string tree_listing(const fs::path& tree) {
  constexpr size_t kMostListed = 200'000;
  std::string out;
  size_t count = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(tree, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end && count < kMostListed;
       at.increment(error)) {
    if (at->path().filename() == ".git") {
      at.disable_recursion_pending();
    } else if (fs::is_regular_file(at->symlink_status(error))) {
      out += at->path().lexically_relative(tree).generic_string() + "\n";
      ++count;
    }
  }
  return out;
}

std::string change_text(const Suite& suite, const SuitePlan& plan, size_t p, size_t i,
                        const std::pair<std::string, std::string>& listings) {
  const Variant &variant = suite.variants[i], *parent = &suite.variants[p];
  if (parent == &variant) return {};
  const Changes &before = parent->changes, &after = variant.changes;
  std::string out;
  if (before.commit != after.commit) add_changed({before.commit}, {after.commit}, out);
  add_changed(lines_of_pairs(before.macros, "-D"), lines_of_pairs(after.macros, "-D"), out);
  add_changed(before.flags, after.flags, out);
  add_changed(lines_of_pairs(before.environment, ""), lines_of_pairs(after.environment, ""), out);
  add_changed({shell_text(before.run.words)}, {shell_text(after.run.words)}, out);
  add_changed({shell_text(before.build.words)}, {shell_text(after.build.words)}, out);
  const fs::path old_tree = plan.builds[plan.variants[p].build].tree;
  const fs::path new_tree = plan.builds[plan.variants[i].build].tree;
  // Files that hold the two variants, such as rungs of a ladder beside each other.
  for (size_t n = 0; n < std::min(parent->sources.size(), variant.sources.size()); ++n) {
    const auto text = [&](const std::string& file, const fs::path& tree) {
      return read_plain_file(tree / file, kLargestCompared).value_or("");
    };
    const std::string difference = line_diff(text(parent->sources[n], old_tree),
                                             text(variant.sources[n], new_tree), kMostDiffLines);
    if (!difference.empty())
      out += fmt::format("--- {}\n+++ {}\n{}", parent->sources[n], variant.sources[n], difference);
  }
  // Trees of the same source differ in nothing else.
  const bool same = before.commit == after.commit && before.patches == after.patches &&
                    before.files == after.files;
  return same ? out : out + tree_difference(old_tree, new_tree, listings);
}

}  // namespace fathom::ablate
