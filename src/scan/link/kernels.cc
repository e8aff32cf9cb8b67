#include "scan/link/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "scan/accesses/code_tree.h"
#include "scan/facts/code_names.h"
#include "scan/link/code_purpose.h"
#include "scan/link/device_kernels.h"
#include "scan/link/triton_kernels.h"

namespace fathom {
namespace {

std::string qualified(std::string_view scope, std::string_view name) {
  return scope.empty() ? std::string(name) : std::string(scope) + "::" + std::string(name);
}

std::string_view folder_or_file(std::string_view path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

// What a kernel can be written as: its name, and that with more and more of its scope before it.
std::vector<std::string> spellings(const KernelFacts& kernel) {
  constexpr size_t kMaxParts = 8;
  const std::string full = qualified(kernel.scope, kernel.name);
  std::vector<std::string> out;
  const size_t name = kernel.scope.empty() ? 0 : kernel.scope.size() + 2;
  out.push_back(full.substr(name));
  for (size_t at = name; at > 0 && out.size() < kMaxParts;) {
    const size_t colons = at < 3 ? std::string::npos : full.rfind("::", at - 3);
    at = colons == std::string::npos ? 0 : colons + 2;
    out.push_back(full.substr(at));
  }
  return out;
}

// More kernels than this of one name are not told apart.
constexpr size_t kMostCandidates = 24;

class KernelLinker {
 public:
  explicit KernelLinker(const Readings& readings) : readings_(readings) {}

  std::vector<KernelFacts> run(const PythonNames& names) {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) defined_in(file);
    for (KernelFacts& kernel : device_kernel_classes(readings_)) out_.push_back(std::move(kernel));
    for (size_t i = 0; i < out_.size(); ++i) {
      const uint32_t file = out_[i].at.file;
      const std::string_view folder = folder_or_file(readings_.files[file].path);
      for (std::string& written : spellings(out_[i])) {
        in_file_[{written, file}].push_back(i);
        in_folder_[{written, folder}].push_back(i);
        anywhere_[std::move(written)].push_back(i);
      }
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const FileReading& reading = readings_.readings[file];
      for (size_t i = 0; i < reading.usage.launches.size(); ++i) attach(i, file);
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) find_names(file);
    for (auto& [kernel, launcher] : named_) out_[kernel].launchers.push_back(std::move(launcher));
    mark_dead();
    for (KernelFacts& kernel : triton_kernels(readings_, names)) out_.push_back(std::move(kernel));
    for (KernelFacts& kernel : out_) sort_launchers(kernel.launchers);
    std::sort(out_.begin(), out_.end(), [](const KernelFacts& a, const KernelFacts& b) {
      return std::tie(a.at, a.line_name, a.name) < std::tie(b.at, b.line_name, b.name);
    });
    return std::move(out_);
  }

 private:
  void defined_in(uint32_t file) {
    const FileReading& reading = readings_.readings[file];
    for (const cpp::Function& function : reading.cpp.functions) {
      if (function.kind != cpp::FunctionKind::kKernel || !function.defined) continue;
      KernelFacts kernel;
      kernel.name = function.name;
      kernel.scope = function.scope;
      kernel.kind = kind_of(function, readings_.files[file].language);
      kernel.at = {file, function.line_first};
      kernel.line_name = function.line_name;
      kernel.line_last = function.line_last;
      kernel.template_parameters = function.template_parameters;
      kernel.parameters = function.parameters;
      kernel.attributes = function.attributes;
      kernel.condition = function.condition;
      out_.push_back(std::move(kernel));
    }
  }

  static KernelKind kind_of(const cpp::Function& function, Language language) {
    if (!function.made_by.empty()) return KernelKind::kMacro;
    if (language == Language::kJinja) return KernelKind::kJinja;
    return language == Language::kPython ? KernelKind::kString : KernelKind::kCuda;
  }

  void attach(size_t index, uint32_t file) {
    const FileReading& reading = readings_.readings[file];
    const cpp::Launch& launch = reading.usage.launches[index];
    for (const std::string& written : launch.kernels) {
      const std::vector<size_t>& named = candidates(written, file);
      const bool too_many = named.size() > kMostCandidates;
      // One launch stands for all: a list of every launch at every kernel would be their product.
      if (too_many && !ambiguous_.insert(&named).second) continue;
      const auto meant = too_many ? named : meanings(written, launch.expression, file);
      for (const size_t kernel : meant) {
        KernelLauncher launcher = launcher_of(launch, file);
        if (index < reading.launch_conditions.size())
          launcher.conditions = reading.launch_conditions[index];
        if (index < reading.launch_values.size()) {
          for (const cpp::LocalValue& value : reading.launch_values[index]) {
            launcher.values.push_back({value.name, value.text, {file, value.line}});
          }
          add_arguments(index, file, out_[kernel], launcher);
        }
        if (too_many) launcher.via = fmt::format("a name that {} kernels have", meant.size());
        if (too_many || (meant.size() > 1 && !alternatives(meant)))
          launcher.certainty = Certainty::kUnsure;
        out_[kernel].launchers.push_back(std::move(launcher));
      }
    }
  }

  // get_function("name"), cuLibraryGetKernel(&kernel, library, "name"): nothing else launches the
  // kernel, and here it is taken by its name. How it is launched is not known.
  void find_names(uint32_t file) {
    if (is_test_path(readings_.files[file].path)) return;
    for (const auto& [name, line] : readings_.readings[file].kernels_by_name) {
      const std::vector<size_t>& meant = candidates(name, file);
      if (meant.size() != 1 || !out_[meant[0]].launchers.empty()) continue;
      KernelLauncher launcher;
      launcher.at = {file, line};
      launcher.line_last = line;
      launcher.function = function_at(file, line);
      launcher.via = "its name in a string";
      launcher.certainty = Certainty::kUnsure;
      named_.push_back({meant[0], std::move(launcher)});
    }
  }

  std::string function_at(uint32_t file, uint32_t line) const {
    const FileReading& reading = readings_.readings[file];
    std::string inner;  // the last that begins before the line and is still open there
    for (const python::Function& function : reading.python.functions) {
      if (function.line_first > line || function.line_last < line) continue;
      inner = function.scope.empty() ? function.name : function.scope + "." + function.name;
    }
    if (!inner.empty()) return inner;
    for (const cpp::Function& function : reading.cpp.functions) {
      if (function.defined && function.line_first <= line && function.line_last >= line)
        inner = qualified(function.scope, function.name);
    }
    return inner;
  }

  void add_arguments(size_t index, uint32_t file, const KernelFacts& kernel,
                     KernelLauncher& launcher) const {
    const FileReading& reading = readings_.readings[file];
    const cpp::Launch& launch = reading.usage.launches[index];
    const std::vector<CodeParameter> parameters = code_parameters(kernel.parameters);
    for (size_t i = 0; i < launch.arguments.size() && i < parameters.size(); ++i) {
      launcher.arguments.push_back(
          {parameters[i].name, launch.arguments[i], {file, launch.line_first}});
    }
    for (const cpp::LocalValue& value : reading.argument_values[index]) {
      launcher.argument_values.push_back({value.name, value.text, {file, value.line}});
    }
  }

  // What a launch's kernel can be. Its name may be an alias in one branch of an #if, and a kernel
  // of the file in the other.
  std::vector<size_t> meanings(std::string_view written, std::string_view expression,
                               uint32_t file) const {
    std::vector<size_t> meant = candidates(written, file);
    if (last_name(written) == expression) return meant;
    const std::vector<size_t>& others = candidates(expression, file);
    if (others.size() > kMostCandidates) return meant;
    for (const size_t i : others) {
      const bool branch = out_[i].at.file == file && !out_[i].condition.empty();
      if (branch && std::find(meant.begin(), meant.end(), i) == meant.end()) meant.push_back(i);
    }
    return meant;
  }

  // The kernels that a name can mean in a file: those of the same file before those of the same
  // folder before all.
  const std::vector<size_t>& candidates(std::string_view written, uint32_t file) const {
    static const std::vector<size_t> none;
    if (written.starts_with("::")) written.remove_prefix(2);
    const std::string name(written);
    if (const auto found = in_file_.find({name, file}); found != in_file_.end())
      return found->second;
    const std::string_view folder = folder_or_file(readings_.files[file].path);
    if (const auto found = in_folder_.find({name, folder}); found != in_folder_.end())
      return found->second;
    const auto found = anywhere_.find(name);
    return found == anywhere_.end() ? none : found->second;
  }

  // One kernel defined several times in a file, behind #if or as overloads.
  bool alternatives(const std::vector<size_t>& kernels) const {
    return std::all_of(kernels.begin(), kernels.end(),
                       [&](size_t i) { return out_[i].at.file == out_[kernels.front()].at.file; });
  }

  KernelLauncher launcher_of(const cpp::Launch& launch, uint32_t file) const {
    KernelLauncher launcher;
    launcher.at = {file, launch.line_first};
    launcher.line_last = launch.line_last;
    if (launch.function) {
      const cpp::Function& around = readings_.readings[file].cpp.functions[*launch.function];
      launcher.function = qualified(around.scope, around.name);
    }
    launcher.via = launch.via;
    launcher.grid = launch.grid;
    launcher.block = launch.block;
    launcher.shared_memory = launch.shared_memory;
    launcher.stream = launch.stream;
    launcher.attributes = launch.attributes;
    launcher.template_arguments = launch.template_arguments;
    if (launch.kernels.size() > 1) launcher.certainty = Certainty::kLikely;
    return launcher;
  }

  // A kernel is dead when no launch means it and no code names it: a name may be handed on in ways
  // that cannot be followed. A file that has a kernel of this name itself means its own.
  void mark_dead() {
    std::map<std::string_view, std::vector<uint32_t>> named;
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const std::string& name : readings_.readings[file].usage.kernels_named) {
        named[name].push_back(file);
      }
    }
    for (KernelFacts& kernel : out_) {
      if (!kernel.launchers.empty()) continue;
      const std::vector<uint32_t>& files = named[kernel.name];
      kernel.dead = std::none_of(files.begin(), files.end(), [&](uint32_t file) {
        return file == kernel.at.file || !defines(file, kernel.name);
      });
    }
  }

  bool defines(uint32_t file, std::string_view name) const {
    return in_file_.contains({std::string(name), file});
  }

  static void sort_launchers(std::vector<KernelLauncher>& launchers) {
    std::sort(
        launchers.begin(), launchers.end(), [](const KernelLauncher& a, const KernelLauncher& b) {
          return std::tie(a.at, a.line_last, a.template_arguments, a.grid, a.block, a.shared_memory,
                          a.stream) < std::tie(b.at, b.line_last, b.template_arguments, b.grid,
                                               b.block, b.shared_memory, b.stream);
        });
    // A line may launch a kernel twice, in different ways.
    const auto same = [](const KernelLauncher& a, const KernelLauncher& b) {
      return std::tie(a.at, a.template_arguments, a.grid, a.block, a.shared_memory, a.stream) ==
             std::tie(b.at, b.template_arguments, b.grid, b.block, b.shared_memory, b.stream);
    };
    launchers.erase(std::unique(launchers.begin(), launchers.end(), same), launchers.end());
  }

  const Readings& readings_;
  std::vector<KernelFacts> out_;
  std::vector<std::pair<size_t, KernelLauncher>> named_;  // places that take a kernel by its name
  // Kernels by what they can be written as.
  std::map<std::pair<std::string, uint32_t>, std::vector<size_t>> in_file_;
  std::map<std::pair<std::string, std::string_view>, std::vector<size_t>> in_folder_;
  std::map<std::string, std::vector<size_t>> anywhere_;
  std::set<const std::vector<size_t>*> ambiguous_;  // of those, too many that have a launch
};

}  // namespace

std::vector<KernelFacts> link_kernels(const Readings& readings, const PythonNames& names) {
  return KernelLinker(readings).run(names);
}

}  // namespace fathom
