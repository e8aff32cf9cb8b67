#include "scan/link/module_graph.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_map>

#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

constexpr size_t kMaxParts = 18;
constexpr size_t kMaxSplit = 9;      // parts that one is replaced by, where there are others
constexpr size_t kMaxModules = 200;  // more are not ranked apart
constexpr int kRounds = 30;
constexpr double kFollowed = 0.85;  // of a rank is handed on along imports; PageRank's usual value

struct FileEdge {
  uint32_t to;
  uint32_t line;
};

bool is_code(Language language) {
  return language == Language::kCpp || language == Language::kCuda || language == Language::kHip ||
         language == Language::kMusa || language == Language::kPython ||
         language == Language::kJinja;
}

std::string_view head_of(std::string_view callee) {
  return callee.substr(0, std::min(callee.find_first_of(".[("), callee.size()));
}

class ModuleLinker {
 public:
  ModuleLinker(const Readings& readings, const PythonNames& names, const IncludeGraph& includes,
               const std::vector<KernelFacts>& kernels)
      : readings_(readings), names_(names), includes_(includes), kernels_(kernels) {
    const size_t count = readings.files.size();
    edges_.resize(count);
    calls_into_.resize(count);
    is_module_.resize(count);
    for (size_t file = 0; file < count; ++file) {
      const SourceFile& source = readings.files[file];
      is_module_[file] = source.origin == Origin::kOwn && is_code(source.language) &&
                         source.skipped.empty() && !is_test_or_example(source.path);
    }
  }

  ModuleGraph run() {
    for (uint32_t file = 0; file < edges_.size(); ++file) {
      if (is_module_[file]) link_file(file);
    }
    rank_modules();
    add_folders();
    add_parts();
    return std::move(out_);
  }

 private:
  void link_file(uint32_t file) {
    std::set<uint32_t> seen;
    const auto add = [&](uint32_t to, uint32_t line) {
      if (to == file || !is_module_[to] || !seen.insert(to).second) return;
      edges_[file].push_back({to, line});
      out_.imported.insert(to);
      ++out_.edges;
    };
    for (const IncludeGraph::Include& include : includes_.includes_of(file))
      add(include.file, include.line);
    const python::PythonFile& python = readings_.readings[file].python;
    std::unordered_map<std::string_view, uint32_t>
        bound;  // an imported name → the file that defines it
    for (const python::Import& import : python.imports) {
      const auto home = home_of(import, file);
      if (!home) continue;
      add(*home, import.line);
      if (*home != file && !import.bound_to.empty()) bound.emplace(import.bound_to, *home);
    }
    if (bound.empty()) return;
    const auto count = [&](const std::vector<python::Call>& calls) {
      for (const python::Call& call : calls) {
        const auto found = bound.find(head_of(call.callee));
        if (found != bound.end()) ++calls_into_[found->second];
      }
    };
    count(python.module_calls);
    for (const python::Function& function : python.functions) count(function.calls);
  }

  // The file that defines what is imported: a package that only hands a name on is passed through.
  std::optional<uint32_t> home_of(const python::Import& import, uint32_t file) const {
    if (import.name.empty() || import.name == "*") return names_.find_module(import.module, file);
    const auto module = names_.find_module(import.module, file);
    if (module) {
      if (const auto found = names_.resolve(import.name, *module)) return found->file;
      const auto inner = names_.find_module(
          import.module + (import.module.ends_with('.') ? "" : ".") + import.name, file);
      return inner ? inner : module;
    }
    if (!import.module.starts_with('.')) return std::nullopt;
    return names_.find_module(
        import.module + (import.module.ends_with('.') ? "" : ".") + import.name, file);
  }

  std::vector<double> page_rank() const {
    size_t modules = 0;
    for (const bool is : is_module_) modules += is;
    const double start = modules == 0 ? 0 : 1.0 / static_cast<double>(modules);
    std::vector<double> rank(edges_.size()), next(edges_.size());
    for (size_t i = 0; i < rank.size(); ++i) rank[i] = is_module_[i] ? start : 0;
    for (int round = 0; round < kRounds; ++round) {
      double loose = 0;  // of files that import nothing: shared by all
      std::fill(next.begin(), next.end(), 0.0);
      for (size_t i = 0; i < rank.size(); ++i) {
        if (!is_module_[i]) continue;
        if (edges_[i].empty()) loose += rank[i];
        for (const FileEdge& edge : edges_[i])
          next[edge.to] += kFollowed * rank[i] / static_cast<double>(edges_[i].size());
      }
      for (size_t i = 0; i < rank.size(); ++i) {
        if (is_module_[i]) next[i] += start * (1 - kFollowed + kFollowed * loose);
      }
      rank.swap(next);
    }
    return rank;
  }

  void rank_modules() {
    std::vector<ModuleFacts> all(edges_.size());
    std::vector<std::set<std::string_view>> folders(edges_.size());
    for (uint32_t file = 0; file < edges_.size(); ++file) {
      all[file].file = file;
      all[file].calls_into = calls_into_[file];
      for (const FileEdge& edge : edges_[file]) {
        ModuleFacts& to = all[edge.to];
        if (to.imported_by++ == 0) to.first_import = {file, edge.line};
        folders[edge.to].insert(folder_of_path(readings_.files[file].path));
      }
    }
    for (uint32_t i = 0; i < all.size(); ++i)
      all[i].imported_by_folders = static_cast<uint32_t>(folders[i].size());
    for (const KernelFacts& kernel : kernels_) {
      std::set<uint32_t> on_path;
      for (const PathHop& hop : kernel.path) {
        if (hop.certainty != Certainty::kUnsure) on_path.insert(hop.at.file);
      }
      for (const KernelLauncher& launcher : kernel.launchers) {
        if (launcher.certainty == Certainty::kCertain) on_path.insert(launcher.at.file);
      }
      for (const uint32_t file : on_path) ++all[file].kernels_on_path;
      ++all[kernel.at.file].kernels;
    }
    score(all);
    std::erase_if(all,
                  [this](const ModuleFacts& m) { return !is_module_[m.file] || m.score == 0; });
    std::stable_sort(all.begin(), all.end(),
                     [](const ModuleFacts& a, const ModuleFacts& b) { return a.score > b.score; });
    if (all.size() > kMaxModules) all.resize(kMaxModules);
    out_.modules = std::move(all);
  }

  // Half for who imports it, directly or through others, a quarter each for the calls into it and
  // for the kernels that it defines, launches or leads to.
  void score(std::vector<ModuleFacts>& all) const {
    const std::vector<double> rank = page_rank();
    double most_rank = 0, most_calls = 0, most_kernels = 0, best = 0;
    const auto kernels = [](const ModuleFacts& m) {
      return static_cast<double>(m.kernels + m.kernels_on_path);
    };
    for (const ModuleFacts& m : all) {
      if (!is_module_[m.file]) continue;
      most_rank = std::max(most_rank, rank[m.file]);
      most_calls = std::max(most_calls, static_cast<double>(m.calls_into));
      most_kernels = std::max(most_kernels, kernels(m));
    }
    const auto share = [](double value, double most) { return most == 0 ? 0 : value / most; };
    for (ModuleFacts& m : all) {
      if (!is_module_[m.file] || (m.imported_by == 0 && kernels(m) == 0)) continue;
      // To a thousandth, so that the order does not hang on the last bit.
      const double sum = 0.5 * share(rank[m.file], most_rank) +
                         0.25 * share(m.calls_into, most_calls) +
                         0.25 * share(kernels(m), most_kernels);
      m.score = std::round(sum * 1000) / 1000;
      best = std::max(best, m.score);
    }
    for (ModuleFacts& m : all) m.score = std::round(share(m.score, best) * 1000) / 1000;
  }

  // Adds up files by the folder, or part, that `name_of` says they are in.
  template <typename NameOf>
  std::vector<FolderFacts> group(NameOf name_of) const {
    std::map<std::string, uint32_t, std::less<>> ids;
    std::vector<uint32_t> of_file(edges_.size(), UINT32_MAX);
    for (uint32_t file = 0; file < edges_.size(); ++file) {
      if (is_module_[file]) ids.emplace(name_of(file), 0);
    }
    std::vector<FolderFacts> out;
    for (auto& [name, id] : ids) {
      id = static_cast<uint32_t>(out.size());
      out.push_back({});
      out.back().path = name;
    }
    for (uint32_t file = 0; file < edges_.size(); ++file) {
      if (!is_module_[file]) continue;
      of_file[file] = ids.find(name_of(file))->second;
      FolderFacts& folder = out[of_file[file]];
      ++folder.files;
      folder.lines += readings_.files[file].lines;
      const FileReading& reading = readings_.readings[file];
      folder.functions +=
          static_cast<uint32_t>(reading.python.functions.size() + reading.cpp.functions.size());
      folder.classes +=
          static_cast<uint32_t>(reading.python.classes.size() + reading.cpp.classes.size());
    }
    for (const KernelFacts& kernel : kernels_) {
      if (is_module_[kernel.at.file]) ++out[of_file[kernel.at.file]].kernels;
    }
    for (uint32_t i = 0; i < out_.modules.size(); ++i)
      out[of_file[out_.modules[i].file]].modules.push_back(i);
    add_edges(of_file, out);
    return out;
  }

  void add_edges(const std::vector<uint32_t>& of_file, std::vector<FolderFacts>& out) const {
    std::map<std::pair<uint32_t, uint32_t>, ModuleEdge> edges;
    for (uint32_t file = 0; file < edges_.size(); ++file) {
      for (const FileEdge& edge : edges_[file]) {
        const uint32_t from = of_file[file], to = of_file[edge.to];
        if (from == to) continue;
        ModuleEdge& sum = edges[{from, to}];
        if (sum.count++ == 0) sum = {to, 1, {file, edge.line}};
      }
    }
    for (const auto& [ends, edge] : edges) {
      out[ends.first].imports.push_back(edge);
      ++out[ends.second].imported_by;
    }
  }

  void add_folders() {
    out_.folders = group(
        [this](uint32_t file) { return std::string(folder_of_path(readings_.files[file].path)); });
  }

  // The folders right below one with all that they hold, in lines; under its own name what lies in
  // none of them.
  std::map<std::string, uint64_t> inner_folders(std::string_view folder) const {
    std::map<std::string, uint64_t> inner;
    for (const FolderFacts& f : out_.folders) {
      std::string_view rest = f.path;
      if (!folder.empty()) {
        if (!rest.starts_with(folder) ||
            (rest.size() > folder.size() && rest[folder.size()] != '/'))
          continue;
        rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
      }
      const std::string_view first = rest.substr(0, std::min(rest.find('/'), rest.size()));
      std::string path(folder);
      if (!first.empty()) path += (path.empty() ? "" : "/") + std::string(first);
      inner[path] += f.lines;
    }
    return inner;
  }

  // The root's folders; the largest is replaced by its own largest ones as long as there is room.
  void add_parts() {
    std::map<std::string, uint64_t> open = inner_folders("");
    std::set<std::string, std::less<>> whole = {""};
    while (open.size() < kMaxParts) {
      const std::string* largest = nullptr;
      uint64_t lines = 0;
      for (const auto& [path, size] : open) {
        if (!whole.contains(path) && size > lines)
          std::tie(largest, lines) = std::tuple(&path, size);
      }
      if (largest == nullptr) break;
      const std::string path = *largest;
      whole.insert(path);
      std::vector<std::pair<uint64_t, std::string>> inner;
      for (const auto& [name, size] : inner_folders(path)) {
        if (name != path) inner.emplace_back(size, name);
      }
      std::sort(inner.begin(), inner.end(), [](const auto& a, const auto& b) {
        return std::tie(b.first, a.second) < std::tie(a.first, b.second);
      });
      const size_t room = kMaxParts - open.size();
      const size_t taken = std::min({inner.size(), room, open.size() == 1 ? room : kMaxSplit});
      for (size_t i = 0; i < taken; ++i) {
        open[inner[i].second] = inner[i].first;
        open[path] -= std::min(open[path], inner[i].first);
      }
      if (open[path] == 0) open.erase(path);
    }
    out_.parts = group([&](uint32_t file) {
      std::string_view folder = folder_of_path(readings_.files[file].path);
      while (!open.contains(std::string(folder)) && !folder.empty())
        folder = folder_of_path(folder);
      return std::string(folder);
    });
  }

  const Readings& readings_;
  const PythonNames& names_;
  const IncludeGraph& includes_;
  const std::vector<KernelFacts>& kernels_;
  std::vector<std::vector<FileEdge>> edges_;
  std::vector<uint32_t> calls_into_;
  std::vector<bool> is_module_;
  ModuleGraph out_;
};

}  // namespace

ModuleGraph link_modules(const Readings& readings, const PythonNames& names,
                         const IncludeGraph& includes, const std::vector<KernelFacts>& kernels) {
  return ModuleLinker(readings, names, includes, kernels).run();
}

}  // namespace fathom
