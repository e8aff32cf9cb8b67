#include "scan/link/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "scan/cpp/tree/code_tree.h"
#include "scan/cpp/vocabulary.h"
#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/device_kernels.h"
#include "scan/link/found_kernels.h"
#include "scan/link/python_kernels.h"

namespace fathom {
namespace {

// Launches of a name that more kernels of one file and scope have are listed once.
constexpr size_t kMostTwins = 24;

class KernelLinker {
 public:
  KernelLinker(const Readings& readings, const SymbolIndex& index, KernelGraph& graph)
      : readings_(readings), index_(index), languages_(readings), graph_(graph) {}

  void run() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) defined_in(file);
    for (auto& [symbol, kernel] : device_kernel_classes(readings_, index_))
      add(symbol, std::move(kernel));
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const FileReading& reading = readings_.readings[file];
      for (size_t i = 0; i < reading.usage.launches.size(); ++i) attach(i, file);
    }
  }

  // get_function("name"), cuLibraryGetKernel(&kernel, library, "name"), clCreateKernel(program,
  // "name", …), TritonJITFunction::get_instance("file.py", "name").
  void take_names() {
    constexpr size_t kShortest = 4;  // "f" in a string may mean anything
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (is_test_path(readings_.files[file].path)) continue;
      const bool python = readings_.files[file].language == Language::kPython;
      for (const auto& [name, line] : readings_.readings[file].kernels_by_name) {
        take(kernel_taken(name, file), {file, line});
        if (name.size() < kShortest) continue;
        take(graph_.only(name, KernelFamily::kByPlace), {file, line});
        if (!python) take(graph_.only(name, KernelFamily::kPython), {file, line});
      }
    }
  }

  // kernel((blocks,), (threads,), …) of kernel = cupy.RawKernel(source, "name"); launches in C++ of
  // what a text defines.
  void launch_named() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const cpp::Launch& launch : readings_.readings[file].usage.launches) {
        for (const std::string& written : launch.kernels) {
          const KernelGraph::Kernel* kernel = graph_.only(written, KernelFamily::kByPlace);
          if (kernel == nullptr || !candidates(written, launch, file).empty()) continue;
          KernelLauncher launcher = launcher_of(launch, file);
          if (graph_.facts(*kernel).at.file != file) launcher.certainty = Certainty::kLikely;
          graph_.launch(*kernel, std::move(launcher));
        }
      }
      for (const python::Launch& launch : readings_.readings[file].python.launches) {
        for (const std::string& name : launch.named) launch_named(name, launch, file);
      }
    }
  }

  // Kept in a member, returned, or handed to what is not followed. Only of kernels that nothing is
  // seen to launch: code names the others often.
  void take_addresses() {
    std::vector<std::pair<KernelGraph::Kernel, CodePlace>> taken;
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (is_test_path(readings_.files[file].path)) continue;
      for (const cpp::TakenKernel& one : readings_.readings[file].usage.kernels_taken) {
        const std::vector<Candidate>& meant = index_.resolve(one.name, {file}, SymbolKind::kKernel);
        for (size_t i = 0; i < meant.size() && meant.size() <= kMostTwins; ++i) {
          const auto kernel = kernel_of_.find(meant[i].symbol.value);
          // What the file does not see, it cannot mean: a variable is called so.
          if (kernel != kernel_of_.end() && meant[i].sight != Sight::kUnseen &&
              graph_.edges_to(kernel->second).empty())
            taken.push_back({kernel->second, {file, one.line}});
        }
      }
    }
    for (const auto& [kernel, at] : taken) graph_.take(kernel, at, "its address");
  }

  // A kernel of a file that another file reads as text is looked up when the program runs.
  void leave_texts_open() {
    std::map<std::string_view, std::vector<uint32_t>> named;
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const std::string& name : readings_.readings[file].usage.kernels_named)
        named[name].push_back(file);
    }
    for (const auto& [symbol, kernel] : kernel_of_) {
      const uint32_t home = graph_.facts(kernel).at.file;
      const auto text = named.find(file_name(readings_.files[home].path));
      if (text != named.end() && text->second != std::vector{home}) graph_.leave_open(kernel);
    }
  }

  void note_names() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      const FileReading& reading = readings_.readings[file];
      const bool python = readings_.files[file].language == Language::kPython;
      for (const std::string& name : reading.usage.kernels_named) {
        graph_.name(name, KernelFamily::kCpp, file);
        if (!python) graph_.name(name, KernelFamily::kPython, file);
      }
      for (const std::string& name : reading.python.names_used)
        graph_.name(name, KernelFamily::kPython, file);
    }
  }

 private:
  // Of kernels of one name in a file's texts the last one that stands before a launch, in its
  // function: each has a text of its own, and compiles it before it launches.
  const KernelGraph::Kernel* last_before(const std::string& name, const python::Launch& launch,
                                         uint32_t file) {
    constexpr size_t kMostTexts = 256, kMostFunctions = 2000;
    const std::vector<python::Function>& functions = readings_.readings[file].python.functions;
    const std::vector<Candidate>& texts = index_.resolve(name, {file}, SymbolKind::kKernel);
    if (texts.size() > kMostTexts || functions.size() > kMostFunctions) return nullptr;
    uint32_t begin = 0;
    for (const python::Function& function : functions) {
      const bool around =
          function.line_first <= launch.line_first && launch.line_first <= function.line_last;
      if (around) begin = std::max(begin, function.line_first);
    }
    const KernelGraph::Kernel* last = nullptr;
    for (const Candidate& text : texts) {
      const auto kernel = kernel_of_.find(text.symbol.value);
      if (kernel == kernel_of_.end()) continue;
      const KernelFacts& facts = graph_.facts(kernel->second);
      if (facts.at.file != file || facts.line_name > launch.line_first || facts.line_name < begin)
        continue;
      if (last == nullptr || graph_.facts(*last).line_name < facts.line_name)
        last = &kernel->second;
    }
    return last;
  }

  void launch_named(const std::string& name, const python::Launch& launch, uint32_t file) {
    const KernelGraph::Kernel* kernel = kernel_taken(name, file);
    if (kernel == nullptr) kernel = graph_.only(name, KernelFamily::kByPlace);
    const bool has_twins = kernel == nullptr;
    if (has_twins) kernel = last_before(name, launch, file);
    if (kernel == nullptr) return;
    KernelLauncher launcher =
        launcher_at({file, launch.line_first}, launch.line_last, launch.function, "its name");
    launcher.grid = launch.grid_value.empty() ? launch.grid : launch.grid_value;
    launcher.block = launch.block;
    launcher.shared_memory = launch.shared_memory;
    launcher.stream = launch.stream;
    if (has_twins || launch.named.size() > 1 || launch.named_by_module ||
        graph_.facts(*kernel).at.file != file)
      launcher.certainty = Certainty::kLikely;
    graph_.launch(*kernel, std::move(launcher));
  }

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
    kernel_of_.emplace(symbol.value, graph_.add(symbol, std::move(kernel)));
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
            return kernel != kernel_of_.end() && takes(graph_.facts(kernel->second), launch);
          });
      for (const Candidate& one : meant) {
        const auto kernel = kernel_of_.find(one.symbol.value);
        if (kernel == kernel_of_.end()) continue;
        if (told_apart && !takes(graph_.facts(kernel->second), launch)) continue;
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
    if (launch.arguments.empty() || holds(list, "...")) return true;
    const bool packed = std::any_of(launch.arguments.begin(), launch.arguments.end(),
                                    [](const std::string& one) { return holds(one, "..."); });
    if (packed || holds(list, '(')) return true;
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
      const KernelFacts& facts = graph_.facts(kernel->second);
      if (facts.at.file == file && !facts.condition.empty())
        attach_to(kernel->second, index, file, one.certainty);
    }
  }

  KernelLauncher& attach_to(KernelGraph::Kernel kernel, size_t index, uint32_t file,
                            Certainty certainty) {
    const FileReading& reading = readings_.readings[file];
    KernelLauncher launcher = launcher_of(reading.usage.launches[index], file);
    launcher.certainty = std::max(launcher.certainty, certainty);
    if (index < reading.launch_conditions.size())
      launcher.conditions = reading.launch_conditions[index];
    if (index < reading.launch_values.size()) {
      for (const cpp::LocalValue& value : reading.launch_values[index])
        launcher.values.push_back({value.name, value.text, {file, value.line}});
      add_arguments(index, file, graph_.facts(kernel), launcher);
    }
    return graph_.launch(kernel, std::move(launcher));
  }

  // The kernel of C++ that a string means. Generated code includes the file that has it, so it may
  // be static there.
  const KernelGraph::Kernel* kernel_taken(std::string_view name, uint32_t file) const {
    const std::vector<Candidate>& meant = index_.resolve(name, {file}, SymbolKind::kKernel);
    if (meant.empty()) return graph_.only(name, KernelFamily::kCpp);
    const auto kernel = kernel_of_.find(meant[0].symbol.value);
    return meant.size() == 1 && kernel != kernel_of_.end() ? &kernel->second : nullptr;
  }

  void take(const KernelGraph::Kernel* kernel, const CodePlace& at) {
    if (kernel != nullptr) graph_.take(*kernel, at, "its name in a string");
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
      launcher.function = qualified_name(around);
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

  const Readings& readings_;
  const SymbolIndex& index_;
  const KernelLanguages languages_;
  KernelGraph& graph_;
  std::unordered_map<uint32_t, KernelGraph::Kernel> kernel_of_;  // by symbol
  std::unordered_set<uint32_t> ambiguous_;  // the first of too many that have a launch
};

}  // namespace

Kernels link_kernels(const Readings& readings, const SymbolIndex& index,
                     const FunctionPlaces& places, const PythonNames& names,
                     const PythonTypes& types) {
  KernelGraph graph(places);
  KernelLinker linker(readings, index, graph);
  linker.run();
  add_python_kernels(readings, names, types, places, graph);
  add_found_kernels(readings, graph);
  linker.launch_named();
  linker.take_addresses();
  linker.take_names();
  linker.note_names();
  linker.leave_texts_open();
  return std::move(graph).all();
}

}  // namespace fathom
