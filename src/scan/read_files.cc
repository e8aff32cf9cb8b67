#include "scan/read_files.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "base/threads.h"
#include "scan/accesses/triton_walk.h"
#include "scan/cpp/autograd_calls.h"
#include "scan/cpp/go_options.h"
#include "scan/cpp/launch_conditions.h"
#include "scan/cpp/plain_spelling.h"
#include "scan/cpp/rust_options.h"
#include "scan/facts/code_names.h"
#include "scan/facts/passed_paths.h"
#include "scan/features/file_weight.h"
#include "scan/files/code_purpose.h"
#include "scan/files/source_text.h"
#include "scan/names_in_strings.h"
#include "scan/python/body_outline.h"

namespace fathom {
namespace {

bool is_c_family(Language language) {
  return language == Language::kCpp || language == Language::kCuda || language == Language::kHip ||
         language == Language::kMusa;
}

bool is_shader(Language language) {
  return language == Language::kOpenCl || language == Language::kMetal ||
         language == Language::kShader;
}

// Only templates of C++ matter here, and they say so by what they are templates of.
bool is_cpp_template(Language language, std::string_view text) {
  return language == Language::kJinja && (holds(text, "__global__") || holds(text, "#include"));
}

// Languages of programs that start kernels of others.
bool is_host(Language language) {
  return language == Language::kRust || language == Language::kGo || language == Language::kZig;
}

bool is_read(Language language) {
  return is_c_family(language) || is_shader(language) || language == Language::kJinja ||
         language == Language::kPython || is_host(language) || language == Language::kJulia;
}

cpp::PatternScope scope_of(cpp::FunctionKind kind) {
  return kind == cpp::FunctionKind::kHost ? cpp::PatternScope::kHost : cpp::PatternScope::kDevice;
}

// Whose patterns a kernel of Python is searched for.
std::optional<cpp::PatternScope> scope_of(const std::optional<python::KernelMark>& kernel) {
  if (!kernel || kernel->rule->told_as == KernelVoice::kNone) return std::nullopt;
  const bool triton = kernel->rule->told_as == KernelVoice::kTriton;
  return triton ? cpp::PatternScope::kTriton : cpp::PatternScope::kCute;
}

std::vector<cpp::PatternHit> patterns_of(cpp::BodyTrees& trees, const cpp::Definitions& definitions,
                                         size_t number) {
  const cpp::Function& function = definitions.functions[number];
  if (!function.defined) return {};
  const cpp::PatternScope scope = scope_of(function.kind);
  std::vector<cpp::PatternHit> hits =
      cpp::find_attribute_patterns(function.attributes, function.line_name, scope);
  if (function.body_last > function.body_first) {
    const auto body =
        cpp::find_patterns(trees.code().source, function.body_first, function.body_last, scope,
                           {.parameters = function.parameters,
                            .is_kernel = function.kind == cpp::FunctionKind::kKernel,
                            .tree = &trees.of(number)});
    hits.insert(hits.end(), body.begin(), body.end());
  }
  return cpp::first_of_each(std::move(hits));
}

// A text by its lines: a file may have thousands of kernels.
class LinesOfText {
 public:
  explicit LinesOfText(std::string_view text) : text_(text), begins_({0}) {
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      begins_.push_back(at + 1);
  }
  // The text of the lines from first to last, counted from 1.
  std::string_view lines(uint32_t first, uint32_t last) const {
    const size_t begin = begin_of(std::max(first, 1u));
    return text_.substr(begin, std::max(begin_of(size_t{last} + 1), begin) - begin);
  }

 private:
  size_t begin_of(size_t line) const {
    return line <= begins_.size() ? begins_[line - 1] : text_.size();
  }
  std::string_view text_;
  std::vector<size_t> begins_;
};

class FileReader {
 public:
  FileReader(const Repository& repository, size_t threads, const ProgressCallback& progress)
      : repository_(repository), progress_(progress) {
    const size_t available = std::max(1u, std::thread::hardware_concurrency());
    threads_ = threads == 0 ? available : threads;
    readings_.files = repository.files;
    readings_.readings.resize(repository.files.size());
    shader_macros_.resize(repository.files.size());
    unread_.resize(repository.files.size());
    // The largest first, so that no thread is left alone with one at the end.
    for (uint32_t i = 0; i < repository.files.size(); ++i) {
      if (repository.files[i].skipped.empty() && is_read(repository.files[i].language)) {
        order_.push_back(i);
      }
    }
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      return repository.files[a].size > repository.files[b].size;
    });
  }

  Readings run(std::vector<std::string>& notes) {
    for_each_file([this](uint32_t file, size_t) { read_definitions(file); });
    learn_names();
    learn_kernel_words();
    if (!kernel_words_.empty())
      for_each_file([this](uint32_t file, size_t) { read_shader_again(file); });
    if (!known_.kernel_macros.empty() || !known_.other_macros.empty()) {
      // Macros of other files define kernels, which the launches in further files must know of.
      for_each_file([this](uint32_t file, size_t) { read_macro_definitions(file); });
      learn_names();
    }
    // Python comes when the kernels of C++ are known, so that it is lexed only once. Its own
    // literals may define more of them.
    std::vector<SignalFinder> finders(threads_, SignalFinder(SignalTable::built_in()));
    const Names of_files = known_.kernels;
    want_names();
    for_each_file([&](uint32_t file, size_t thread) { read_python_file(file, finders[thread]); });
    learn_names();
    std::set_difference(known_.kernels.begin(), known_.kernels.end(), of_files.begin(),
                        of_files.end(), std::inserter(of_literals_, of_literals_.end()));
    want_names();
    for_each_file([&](uint32_t file, size_t thread) { read_usage(file, finders[thread]); });
    leave_unused(of_literals_);
    if (!of_literals_.empty()) {
      const WantedNames wanted(of_literals_);
      for_each_file([&](uint32_t file, size_t) { find_names_of_literals(file, wanted); });
    }
    PassedPaths unread;
    for (size_t i = 0; i < unread_.size(); ++i) {
      if (unread_[i] != 0) unread.add(readings_.files[i].path);
    }
    unread.tell("file changed while it was scanned and is not read",
                "files changed while they were scanned and are not read", notes);
    return std::move(readings_);
  }

 private:
  template <typename Work>
  void for_each_file(Work work) {
    const auto count = static_cast<uint32_t>(order_.size());
    std::atomic<uint32_t> next = 0;
    const auto take_files = [&](size_t thread) {
      for (uint32_t i; (i = next++) < count;) {
        work(order_[i], thread);
        report(count);
      }
    };
    Threads others;
    for (size_t i = 1; i < std::min<size_t>(threads_, count); ++i) {
      if (!others.start([&take_files, i] { take_files(i); })) break;
    }
    take_files(0);
    others.join();
  }

  void report(uint32_t count) {
    const uint32_t done = ++done_;
    if (!progress_ || done % 64 != 0) return;
    const std::lock_guard lock(progress_mutex_);
    constexpr double kReadings = 4;  // of each file, at most
    progress_(static_cast<double>(done) / (kReadings * count));
  }

  std::string text_of(uint32_t file) {
    Result<std::string> text = read_source_text(repository_.root / repository_.files[file].path);
    if (text.ok()) return text.take();
    unread_[file] = 1;
    return "";
  }

  void read_definitions(uint32_t file) {
    const Language language = readings_.files[file].language;
    if (is_shader(language)) return read_shader(file);
    if (language == Language::kJulia) {
      readings_.readings[file].found_kernels = cpp::find_julia_kernels(text_of(file));
      return;
    }
    FileReading& reading = readings_.readings[file];
    if (language == Language::kRust) {
      cpp::RustKernels found = cpp::find_rust_kernels(text_of(file));
      reading.found_kernels = std::move(found.kernels);
      reading.found_launches = std::move(found.launches);
      return;
    }
    if (!is_c_family(language) && language != Language::kJinja) return;
    const std::string text = cpp_text(file);
    const cpp::TokenList source = tokens_of(file, text);
    reading.cpp = cpp::find_definitions(source, {});
    reading.found_kernels = cpp::find_sycl_kernels(source, reading.cpp);
    add_found(cpp::find_kernels_in_strings(source), reading);
  }

  void read_shader(uint32_t file) {
    const std::string_view path = readings_.files[file].path;
    const ShaderRule* rule = shader_rule_of(path);
    if (rule == nullptr) return;
    const std::string text = cpp::plain_spelling(text_of(file));
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const cpp::TokenList source = cpp::lex(text);
    FileReading& reading = readings_.readings[file];
    reading.found_kernels = cpp::find_shader_kernels(
        source, *rule, name.substr(0, name.find('.')),
        name.substr(std::min(name.rfind('.'), name.size() - 1) + 1), kernel_words_);
    shader_macros_[file] = cpp::macros_of(source);
    // Some wrap the whole file into a literal, for a program to include.
    if (reading.found_kernels.empty()) add_found(cpp::find_kernels_in_strings(source), reading);
  }

  // Macros that mark kernels are often defined in a header of C, beside those for other languages.
  void learn_kernel_words() {
    for (const FileReading& reading : readings_.readings)
      cpp::add_kernel_words(reading.cpp.macros, kernel_words_);
    for (const std::vector<cpp::Macro>& macros : shader_macros_)
      cpp::add_kernel_words(macros, kernel_words_);
  }

  void read_shader_again(uint32_t file) {
    const ShaderRule* rule = is_shader(readings_.files[file].language)
                                 ? shader_rule_of(readings_.files[file].path)
                                 : nullptr;
    if (rule == nullptr || !kernel_words_.contains(rule->kind)) return;
    readings_.readings[file].found_kernels.clear();
    read_shader(file);
  }

  static void add_found(std::vector<cpp::FoundKernel> kernels, FileReading& reading) {
    for (cpp::FoundKernel& kernel : kernels) reading.found_kernels.push_back(std::move(kernel));
  }

  static bool defines_kernels(const FileReading& reading) {
    const auto is_kernel = [](const cpp::Function& function) {
      return function.kind == cpp::FunctionKind::kKernel;
    };
    return std::any_of(reading.cpp.functions.begin(), reading.cpp.functions.end(), is_kernel);
  }

  // Kernels that a program may ask for by name, and files of kernels that it may compile.
  void want_names() {
    wanted_names_ = known_.kernels;
    for (uint32_t file = 0; file < readings_.readings.size(); ++file) {
      const FileReading& reading = readings_.readings[file];
      if (defines_kernels(reading)) wanted_names_.emplace(file_name(readings_.files[file].path));
      for (const cpp::FoundKernel& kernel : reading.found_kernels)
        wanted_names_.insert(kernel.name);
      // Programs in C++ compile kernels of Python by their names.
      for (const python::Function& function : reading.python.functions) {
        if (function.kernel) wanted_names_.insert(function.name);
      }
    }
    wanted_.emplace(wanted_names_);
  }

  void learn_names() {
    std::vector<const cpp::Definitions*> all;
    for (const FileReading& reading : readings_.readings) all.push_back(&reading.cpp);
    known_ = cpp::known_names(all);
  }

  void read_macro_definitions(uint32_t file) {
    if (!is_c_family(readings_.files[file].language)) return;
    FileReading& reading = readings_.readings[file];
    const bool misread = cpp::misreads_macros(reading.cpp, known_);
    const std::string text = cpp_text(file);
    const auto named = [&](const auto& macro) { return holds(text, macro.first); };
    const auto& macros = known_.kernel_macros;
    if (!misread && std::none_of(macros.begin(), macros.end(), named)) return;
    const cpp::TokenList source = cpp::lex(text);
    if (!misread && !cpp::needs_known_macros(source, reading.cpp, known_)) return;
    reading.cpp = cpp::find_definitions(source, known_);
  }

  // C++ source as the C++ reader takes it; empty: the file holds none.
  std::string cpp_text(uint32_t file) {
    std::string text = text_of(file);
    const Language language = readings_.files[file].language;
    if (is_c_family(language)) return cpp::plain_spelling(std::move(text));
    return is_cpp_template(language, text) ? text : "";
  }

  cpp::TokenList tokens_of(uint32_t file, std::string_view text) const {
    const bool jinja = readings_.files[file].language == Language::kJinja;
    return jinja ? cpp::lex_jinja(text) : cpp::lex(text);
  }

  void read_python_file(uint32_t file, SignalFinder& finder) {
    if (readings_.files[file].language != Language::kPython) return;
    FileReading& reading = readings_.readings[file];
    const std::string text = text_of(file);
    const python::Tree tree = python::parse(text);
    reading.python = python::read_python(tree);
    // What tests do with objects tells nothing of the program, and would double the memory. Only
    // the kernels that they make of texts are launched by what holds them.
    if (is_test_or_example(readings_.files[file].path) && reading.python.named_kernels.empty())
      reading.python.flows = {};
    note_names_in_strings(tree.tokens, *wanted_, reading);
    reading.python_patterns.resize(reading.python.functions.size());
    const LinesOfText by_line(text);
    std::map<uint32_t, python::NodeId> nodes;
    for (size_t i = 0; i < reading.python.functions.size(); ++i) {
      const python::Function& function = reading.python.functions[i];
      const auto scope = scope_of(function.kernel);
      if (!scope) continue;
      const std::string_view lines = by_line.lines(function.line_first, function.line_last);
      if (*scope == cpp::PatternScope::kTriton) {
        if (nodes.empty()) nodes = python::functions_by_line(tree);
        const auto node = nodes.find(function.line_name);
        if (node != nodes.end()) reading.triton_accesses[i] = walk_triton(tree, node->second);
      }
      reading.python_patterns[i] =
          cpp::first_of_each(cpp::find_python_patterns(lines, function.line_first, *scope));
    }
    for (const python::CudaText& literal : reading.python.cuda_texts) {
      if (literal.kind == python::CudaTextKind::kShader) {
        const auto line = [&](uint32_t at) {
          to_file_line(literal, at);
          return at;
        };
        add_found(cpp::find_kernels_in_text(literal.text, line, false), reading);
      }
      if (!holds_code(literal)) continue;
      const std::string code = cpp::plain_spelling(literal.text);
      const cpp::Definitions found = cpp::find_definitions(cpp::lex_filled(code), known_);
      add_functions(found, literal, reading);
    }
    if (carries_weight(readings_.files[file])) reading.signals = finder.find(tree.tokens);
    const auto fills_template = [](const python::CudaText& literal) {
      return literal.kind == python::CudaTextKind::kInstantiation;
    };
    const auto& literals = reading.python.cuda_texts;
    if (std::any_of(literals.begin(), literals.end(), fills_template) ||
        !reading.python.launches.empty()) {
      reading.python_values = python::assigned_values(tree);
    }
  }

  template <typename TokenList>
  static void note_names_in_strings(const TokenList& tokens, const WantedNames& wanted,
                                    FileReading& reading) {
    NamesInStrings found;
    find_names_in_strings(tokens, wanted, found);
    reading.usage.kernels_named.merge(found.names);
    reading.kernels_by_name.merge(found.alone);
  }

  static bool holds_code(const python::CudaText& literal) {
    return literal.kind == python::CudaTextKind::kSource ||
           literal.kind == python::CudaTextKind::kCode;
  }

  // A line of a literal's text → the line of the Python file that it stands in.
  static void to_file_line(const python::CudaText& literal, uint32_t& line) {
    line = line == 0 || line > literal.lines.size() ? literal.line : literal.lines[line - 1];
  }

  static void add_functions(const cpp::Definitions& found, const python::CudaText& literal,
                            FileReading& reading) {
    for (cpp::Function function : found.functions) {
      to_file_line(literal, function.line_first);
      to_file_line(literal, function.line_name);
      to_file_line(literal, function.line_last);
      reading.cpp.functions.push_back(std::move(function));
    }
  }

  // The second reading of a Python file: what its CUDA literals do.
  void read_python_usage(uint32_t file) {
    FileReading& reading = readings_.readings[file];
    reading.cpp.functions.clear();
    for (const python::CudaText& literal : reading.python.cuda_texts) {
      if (holds_code(literal)) read_literal_usage(literal, reading);
    }
    for (const python::InlineExport& one : reading.python.inline_exports)
      reading.usage.bindings.push_back({one.name, one.name, "load_inline", one.line});
  }

  // Takes out the kernels that something launches or names.
  void leave_unused(Names& kernels) const {
    for (const FileReading& reading : readings_.readings) {
      if (kernels.empty()) return;
      for (const std::string& name : reading.usage.kernels_named) kernels.erase(name);
      for (const cpp::Launch& launch : reading.usage.launches) {
        for (const std::string& name : launch.kernels) kernels.erase(std::string(last_name(name)));
      }
    }
  }

  // Kernels of Python literals were not known yet when Python's strings were read.
  void find_names_of_literals(uint32_t file, const WantedNames& wanted) {
    if (readings_.files[file].language != Language::kPython) return;
    const std::string text = text_of(file);
    const auto stands_there = [&](const std::string& name) { return holds(text, name); };
    if (std::none_of(of_literals_.begin(), of_literals_.end(), stands_there)) return;
    note_names_in_strings(python::lex(text), wanted, readings_.readings[file]);
  }

  void read_literal_usage(const python::CudaText& literal, FileReading& reading) {
    const std::string code = cpp::plain_spelling(literal.text);
    const cpp::TokenList source = cpp::lex_filled(code);
    const cpp::Definitions found = cpp::find_definitions(source, known_);
    const cpp::Brackets brackets(source);
    cpp::BodyTrees trees({source, brackets}, found);
    cpp::Usage usage = cpp::find_usage(trees.code(), found, known_);
    const size_t before = reading.cpp.functions.size();
    add_functions(found, literal, reading);
    for (size_t i = 0; i < found.functions.size(); ++i) {
      reading.literal_patterns.push_back(patterns_of(trees, found, i));
      for (cpp::PatternHit& hit : reading.literal_patterns.back()) to_file_line(literal, hit.line);
    }
    for (std::vector<cpp::Reference>& references : usage.references) {
      for (cpp::Reference& one : references) to_file_line(literal, one.line);
      reading.usage.references.push_back(std::move(references));
    }
    for (cpp::Launch& launch : usage.launches) {
      to_file_line(literal, launch.line_first);
      to_file_line(literal, launch.line_last);
      if (launch.function) *launch.function += before;
      reading.usage.launches.push_back(std::move(launch));
    }
    for (cpp::Binding& binding : usage.bindings) {
      to_file_line(literal, binding.line);
      reading.usage.bindings.push_back(std::move(binding));
    }
    reading.usage.kernels_named.merge(usage.kernels_named);
  }

  void read_host(uint32_t file, SignalFinder& finder) {
    const Language language = readings_.files[file].language;
    const std::string text = text_of(file);
    FileReading& reading = readings_.readings[file];
    const std::string spelling = cpp::host_spelling(text);
    const cpp::TokenList source = cpp::lex(spelling);
    if (language == Language::kRust) {
      reading.cpp_options = cpp::find_clap_options(text);
      reading.host_main = cpp::line_of_rust_main(text);
    } else if (language == Language::kGo) {
      reading.cpp_options = cpp::find_go_options(source);
      reading.host_main = cpp::line_of_go_main(source);
    } else {
      reading.host_main = cpp::line_of_zig_main(text);
    }
    if (carries_weight(readings_.files[file])) reading.signals = finder.find(source);
    NamesInStrings found;
    find_names_in_rust_strings(text, *wanted_, found);
    reading.usage.kernels_named.merge(found.names);
    reading.kernels_by_name.merge(found.alone);
  }

  void read_usage(uint32_t file, SignalFinder& finder) {
    const Language language = readings_.files[file].language;
    FileReading& reading = readings_.readings[file];
    if (language == Language::kPython) return read_python_usage(file);
    if (is_host(language)) return read_host(file, finder);
    if (!is_c_family(language) && language != Language::kJinja) return;
    const std::string text = cpp_text(file);
    if (text.empty()) return;
    const cpp::TokenList source = tokens_of(file, text);
    const cpp::Brackets brackets(source);
    cpp::BodyTrees trees({source, brackets}, reading.cpp);
    reading.usage = cpp::find_usage(trees.code(), reading.cpp, known_);
    cpp::follow_autograd(source, reading.usage);
    note_names_in_strings(source, *wanted_, reading);
    reading.constants = cpp::file_constants(source);
    reading.cpp_options = cpp::find_options(source);
    const auto compares_argv = [](const cpp::Option& option) {
      return option.source == cpp::Option::Source::kArgv;
    };
    if (std::any_of(reading.cpp_options.begin(), reading.cpp_options.end(), compares_argv)) {
      reading.usage_lines = cpp::find_usage_lines(source);
    }
    reading.units = cpp::find_units(trees, reading.cpp);
    reading.device_code =
        keep_device_code(source, reading.cpp, readings_.files[file].origin == Origin::kOwn);
    reading.launch_conditions = cpp::launch_conditions(source, reading.usage.launches);
    cpp::LaunchValues values(trees, reading.cpp, reading.constants);
    for (const cpp::Launch& launch : reading.usage.launches) {
      reading.launch_values.push_back(values.behind(launch));
      reading.argument_values.push_back(values.behind_arguments(launch));
    }
    if (carries_weight(readings_.files[file])) reading.signals = finder.find(source);
  }

  const Repository& repository_;
  const ProgressCallback& progress_;
  size_t threads_;
  std::atomic<uint32_t> done_ = 0;
  std::mutex progress_mutex_;
  Readings readings_;
  std::vector<uint32_t> order_;  // of the files to read
  cpp::KnownNames known_;
  cpp::KernelWords kernel_words_;
  std::vector<std::vector<cpp::Macro>> shader_macros_;  // by file
  Names wanted_names_;                                  // kernels
  std::optional<WantedNames> wanted_;                   // the same, ready for searching
  Names of_literals_;                                   // kernels that no C++ file defines
  std::vector<char> unread_;  // whether a file that was listed could not be read
};

}  // namespace

Readings read_files(const Repository& repository, size_t threads, const ProgressCallback& progress,
                    std::vector<std::string>& notes) {
  return FileReader(repository, threads, progress).run(notes);
}

}  // namespace fathom
