#include "scan/link/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "scan/cpp/tree/code_tree.h"
#include "scan/cpp/vocabulary.h"
#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/device_kernels.h"
#include "scan/link/found_kernels.h"
#include "scan/link/triton_kernels.h"

namespace fathom {
namespace {

std::string qualified(std::string_view scope, std::string_view name) {
  return scope.empty() ? std::string(name) : std::string(scope) + "::" + std::string(name);
}

// Launches of a name that more kernels of one file and scope have are listed once.
constexpr size_t kMostTwins = 24;

class KernelLinker {
 public:
  KernelLinker(const Readings& readings, const SymbolIndex& index)
      : readings_(readings), index_(index), languages_(readings) {}

  std::vector<KernelFacts> run(const PythonNames& names, const PythonTypes& types) {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) defined_in(file);
    for (auto& [symbol, kernel] : device_kernel_classes(readings_, index_))
      add(symbol, std::move(kernel));
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const FileReading& reading = readings_.readings[file];
      for (size_t i = 0; i < reading.usage.launches.size(); ++i) attach(i, file);
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) find_names(file);
    for (auto& [kernel, launcher] : named_) out_[kernel].launchers.push_back(std::move(launcher));
    mark_dead();
    for (KernelFacts& kernel : triton_kernels(readings_, names, types))
      out_.push_back(std::move(kernel));
    for (KernelFacts& kernel : found_kernels(readings_)) out_.push_back(std::move(kernel));
    for (KernelFacts& kernel : out_) sort_launchers(kernel.launchers);
    std::sort(out_.begin(), out_.end(), [](const KernelFacts& a, const KernelFacts& b) {
      return std::tie(a.at, a.line_name, a.name) < std::tie(b.at, b.line_name, b.name);
    });
    return std::move(out_);
  }

 private:
  void defined_in(uint32_t file) {
    const std::vector<cpp::Function>& functions = readings_.readings[file].cpp.functions;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      const cpp::Function& function = functions[i];
      if (function.kind != cpp::FunctionKind::kKernel || !function.defined) continue;
      KernelFacts kernel;
      kernel.name = function.name;
      kernel.scope = function.scope;
      kernel.kind = kind_of(function, file);
      kernel.at = {file, function.line_first};
      kernel.line_name = function.line_name;
      kernel.line_last = function.line_last;
      kernel.template_parameters = function.template_parameters;
      kernel.parameters = function.parameters;
      kernel.attributes = function.attributes;
      kernel.condition = function.condition;
      const bool guessed =
          !function.marked_by.empty() && !cpp::library_kernel_macro(function.marked_by);
      if (guessed) kernel.certainty = Certainty::kLikely;
      add(index_.function(file, i), std::move(kernel));
    }
  }

  void add(SymbolId symbol, KernelFacts kernel) {
    kernel_of_.emplace(symbol.value, out_.size());
    out_.push_back(std::move(kernel));
  }

  KernelKind kind_of(const cpp::Function& function, uint32_t file) const {
    const Language language = readings_.files[file].language;
    if (!function.made_by.empty()) return KernelKind::kMacro;
    if (language == Language::kJinja) return KernelKind::kJinja;
    return language == Language::kPython ? KernelKind::kString : languages_.of(file);
  }

  void attach(size_t index, uint32_t file) {
    const FileReading& reading = readings_.readings[file];
    const cpp::Launch& launch = reading.usage.launches[index];
    for (const std::string& written : launch.kernels) {
      const std::vector<Candidate>& meant = candidates(written, launch, file);
      const bool too_many = meant.size() > kMostTwins;
      // One launch stands for all: a list of every launch at every kernel would be their product.
      if (too_many && !ambiguous_.insert(meant[0].symbol.value).second) continue;
      const bool told_apart =
          meant.size() > 1 && std::any_of(meant.begin(), meant.end(), [&](const Candidate& one) {
            const auto kernel = kernel_of_.find(one.symbol.value);
            return kernel != kernel_of_.end() && takes(out_[kernel->second], launch);
          });
      for (const Candidate& one : meant) {
        const auto kernel = kernel_of_.find(one.symbol.value);
        if (kernel == kernel_of_.end()) continue;
        if (told_apart && !takes(out_[kernel->second], launch)) continue;
        KernelLauncher& launcher = attach_to(kernel->second, index, file, one.certainty);
        if (too_many) launcher.via = fmt::format("a name that {} kernels have", meant.size());
      }
      if (last_name(written) != launch.expression) attach_branches(index, file, meant);
    }
  }

  // Whether a kernel can be given as many arguments as a launch writes, which tells overloads
  // apart. What is not written, or a pack, says nothing.
  static bool takes(const KernelFacts& kernel, const cpp::Launch& launch) {
    const std::string_view list = kernel.parameters;
    if (launch.arguments.empty() || list.find("...") != std::string_view::npos) return true;
    const bool packed =
        std::any_of(launch.arguments.begin(), launch.arguments.end(),
                    [](const std::string& one) { return one.find("...") != std::string::npos; });
    if (packed || list.find('(') != std::string_view::npos) return true;
    const size_t most = code_parameters(kernel.parameters).size();
    const auto defaults = static_cast<size_t>(std::count(list.begin(), list.end(), '='));
    const size_t given = launch.arguments.size();
    return given <= most && given + std::min(defaults, most) >= most;
  }

  // The name of a launch may be an alias in one branch of an #if, and a kernel of the file in the
  // other.
  void attach_branches(size_t index, uint32_t file, const std::vector<Candidate>& known) {
    const cpp::Launch& launch = readings_.readings[file].usage.launches[index];
    const std::vector<Candidate>& others = candidates(launch.expression, launch, file);
    if (others.size() > kMostTwins) return;
    for (const Candidate& one : others) {
      const auto same = [&](const Candidate& other) { return other.symbol == one.symbol; };
      const auto kernel = kernel_of_.find(one.symbol.value);
      if (kernel == kernel_of_.end() || std::any_of(known.begin(), known.end(), same)) continue;
      const KernelFacts& facts = out_[kernel->second];
      if (facts.at.file == file && !facts.condition.empty())
        attach_to(kernel->second, index, file, one.certainty);
    }
  }

  KernelLauncher& attach_to(size_t kernel, size_t index, uint32_t file, Certainty certainty) {
    const FileReading& reading = readings_.readings[file];
    KernelLauncher launcher = launcher_of(reading.usage.launches[index], file);
    launcher.certainty = std::max(launcher.certainty, certainty);
    if (index < reading.launch_conditions.size())
      launcher.conditions = reading.launch_conditions[index];
    if (index < reading.launch_values.size()) {
      for (const cpp::LocalValue& value : reading.launch_values[index])
        launcher.values.push_back({value.name, value.text, {file, value.line}});
      add_arguments(index, file, out_[kernel], launcher);
    }
    return out_[kernel].launchers.emplace_back(std::move(launcher));
  }

  // get_function("name"), cuLibraryGetKernel(&kernel, library, "name"): nothing else launches the
  // kernel, and here it is taken by its name. How it is launched is not known.
  void find_names(uint32_t file) {
    if (is_test_path(readings_.files[file].path)) return;
    for (const auto& [name, line] : readings_.readings[file].kernels_by_name) {
      const std::vector<Candidate>& meant = index_.resolve(name, {file}, SymbolKind::kKernel);
      // Generated code includes the file that has it, so it may be static there.
      const auto kernel = meant.size() == 1 ? kernel_of_.find(meant[0].symbol.value)
                          : meant.empty()   ? only_kernel(name)
                                            : kernel_of_.end();
      if (kernel == kernel_of_.end() || !out_[kernel->second].launchers.empty()) continue;
      named_.push_back({kernel->second, named_launcher(readings_.readings[file], file, line)});
    }
  }

  // The kernel that is the only one of its name.
  std::unordered_map<uint32_t, size_t>::const_iterator only_kernel(std::string_view name) {
    if (by_name_.empty()) {
      for (auto one = kernel_of_.begin(); one != kernel_of_.end(); ++one) {
        const auto [known, fresh] = by_name_.emplace(out_[one->second].name, one);
        if (!fresh) known->second = kernel_of_.end();
      }
    }
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? kernel_of_.end() : found->second;
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

  const std::vector<Candidate>& candidates(std::string_view written, const cpp::Launch& launch,
                                           uint32_t file) const {
    std::string_view inside;
    if (launch.function) inside = readings_.readings[file].cpp.functions[*launch.function].scope;
    return index_.resolve(written, {file, inside},
                          launch.device_kernel ? SymbolKind::kClass : SymbolKind::kKernel);
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
  // that cannot be followed. A file that has a kernel of this name itself means its own. A C name
  // is there to be looked up when the program runs, by a name that it may put together; so is a
  // kernel of a file that another file reads as text.
  void mark_dead() {
    std::map<std::string_view, std::vector<uint32_t>> named;
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const std::string& name : readings_.readings[file].usage.kernels_named) {
        named[name].push_back(file);
      }
    }
    std::set<std::pair<std::string_view, uint32_t>> own;  // a kernel's name, and its file
    for (const KernelFacts& kernel : out_) own.emplace(kernel.name, kernel.at.file);
    std::map<std::string_view, bool> in_others;  // named where no kernel of the name is defined
    for (const auto& [name, files] : named) {
      in_others[name] = std::any_of(files.begin(), files.end(),
                                    [&](uint32_t file) { return !own.contains({name, file}); });
    }
    for (KernelFacts& kernel : out_) {
      const auto& attributes = kernel.attributes;
      const bool c_name =
          std::find(attributes.begin(), attributes.end(), "extern \"C\"") != attributes.end();
      if (!kernel.launchers.empty() || c_name) continue;
      const auto text = named.find(file_name(readings_.files[kernel.at.file].path));
      if (text != named.end() && text->second != std::vector{kernel.at.file}) continue;
      const std::vector<uint32_t>& files = named[kernel.name];
      kernel.dead = !in_others[kernel.name] &&
                    !std::binary_search(files.begin(), files.end(), kernel.at.file);
    }
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
  const SymbolIndex& index_;
  const KernelLanguages languages_;
  std::vector<KernelFacts> out_;
  std::vector<std::pair<size_t, KernelLauncher>> named_;  // places that take a kernel by its name
  std::unordered_map<uint32_t, size_t> kernel_of_;        // by symbol
  std::map<std::string, std::unordered_map<uint32_t, size_t>::const_iterator, std::less<>> by_name_;
  std::unordered_set<uint32_t> ambiguous_;  // the first of too many that have a launch
};

}  // namespace

std::vector<KernelFacts> link_kernels(const Readings& readings, const SymbolIndex& index,
                                      const PythonNames& names, const PythonTypes& types) {
  return KernelLinker(readings, index).run(names, types);
}

}  // namespace fathom
