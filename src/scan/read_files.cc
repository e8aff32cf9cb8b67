#include "scan/read_files.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "scan/link/triton_kernels.h"
#include "scan/source_text.h"

namespace fathom {
namespace {

bool is_c_family(Language language) {
  return language == Language::kCpp || language == Language::kCuda || language == Language::kHip;
}

// Only templates of C++ matter here, and they say so by what they are templates of.
bool is_cpp_template(Language language, std::string_view text) {
  return language == Language::kJinja && (text.find("__global__") != std::string_view::npos ||
                                          text.find("#include") != std::string_view::npos);
}

cpp::PatternScope scope_of(cpp::FunctionKind kind) {
  return kind == cpp::FunctionKind::kHost ? cpp::PatternScope::kHost : cpp::PatternScope::kDevice;
}

std::vector<cpp::PatternHit> patterns_of(const cpp::TokenList& source,
                                         const cpp::Function& function) {
  if (!function.defined) return {};
  const cpp::PatternScope scope = scope_of(function.kind);
  std::vector<cpp::PatternHit> hits =
      cpp::find_attribute_patterns(function.attributes, function.line_name, scope);
  if (function.body_last > function.body_first) {
    const auto body = cpp::find_patterns(source, function.body_first, function.body_last, scope);
    hits.insert(hits.end(), body.begin(), body.end());
  }
  return cpp::first_of_each(std::move(hits));
}

// The text of the lines from first to last.
std::string_view lines_of(std::string_view text, uint32_t first, uint32_t last) {
  size_t begin = 0;
  for (uint32_t line = 1; line < first && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  size_t end = begin;
  for (uint32_t line = first; line <= last && end < text.size(); ++line) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return text.substr(begin, end - begin);
}

class FileReader {
 public:
  FileReader(const Repository& repository, size_t threads, const ProgressCallback& progress)
      : repository_(repository), progress_(progress) {
    const size_t available = std::max(1u, std::thread::hardware_concurrency());
    threads_ = threads == 0 ? available : threads;
    readings_.files = repository.files;
    readings_.readings.resize(repository.files.size());
    unread_.resize(repository.files.size());
  }

  Readings run(std::vector<std::string>& notes) {
    for_each_file([this](uint32_t file) { read_definitions(file); });
    std::vector<const cpp::Definitions*> all;
    for (const FileReading& reading : readings_.readings) all.push_back(&reading.cpp);
    known_ = cpp::known_names(all);
    for_each_file([this](uint32_t file) { read_usage(file); });
    for (size_t i = 0; i < unread_.size(); ++i) {
      if (!unread_[i].empty()) notes.push_back(unread_[i]);
    }
    return std::move(readings_);
  }

 private:
  template <typename Work>
  void for_each_file(Work work) {
    const auto count = static_cast<uint32_t>(readings_.files.size());
    std::atomic<uint32_t> next = 0;
    const auto take_files = [&] {
      for (uint32_t file; (file = next++) < count;) {
        if (readings_.files[file].skipped.empty()) work(file);
        report(count);
      }
    };
    std::vector<std::thread> others;
    for (size_t i = 1; i < std::min<size_t>(threads_, count); ++i) others.emplace_back(take_files);
    take_files();
    for (std::thread& thread : others) thread.join();
  }

  void report(uint32_t count) {
    const uint32_t done = ++done_;
    if (!progress_ || done % 64 != 0) return;
    const std::lock_guard lock(progress_mutex_);
    progress_(static_cast<double>(done) / (2.0 * count));
  }

  std::string text_of(uint32_t file) {
    Result<std::string> text = read_source_text(repository_.root / repository_.files[file].path);
    if (text.ok()) return text.take();
    unread_[file] = text.error().message;
    return "";
  }

  void read_definitions(uint32_t file) {
    const Language language = readings_.files[file].language;
    FileReading& reading = readings_.readings[file];
    if (language == Language::kPython) {
      read_python_file(text_of(file), reading);
    } else if (is_c_family(language) || language == Language::kJinja) {
      const std::string text = cpp_text(file);
      reading.cpp = cpp::find_definitions(cpp::lex(text), {});
    }
  }

  // C++ source as the C++ reader takes it; empty: the file holds none.
  std::string cpp_text(uint32_t file) {
    std::string text = text_of(file);
    const Language language = readings_.files[file].language;
    if (is_c_family(language)) return text;
    return is_cpp_template(language, text) ? cpp::blank_jinja(text) : "";
  }

  static void read_python_file(const std::string& text, FileReading& reading) {
    reading.python = python::read_python(text);
    reading.python_patterns.resize(reading.python.functions.size());
    for (size_t i = 0; i < reading.python.functions.size(); ++i) {
      const python::Function& function = reading.python.functions[i];
      const auto scope = python_kernel_scope(function, reading.python);
      if (!scope) continue;
      reading.python_patterns[i] = cpp::first_of_each(cpp::find_python_patterns(
          lines_of(text, function.line_first, function.line_last), function.line_first, *scope));
    }
    for (const python::CudaText& literal : reading.python.cuda_texts) {
      if (literal.kind == python::CudaTextKind::kSource) add_cuda_string(literal, reading);
    }
  }

  static void add_cuda_string(const python::CudaText& literal, FileReading& reading) {
    const cpp::TokenList source = cpp::lex(literal.text);
    const cpp::Definitions found = cpp::find_definitions(source, {});
    const auto file_line = [&](uint32_t line) {
      return line == 0 || line > literal.lines.size() ? literal.line : literal.lines[line - 1];
    };
    for (cpp::Function function : found.functions) {
      std::vector<cpp::PatternHit> hits = patterns_of(source, function);
      for (cpp::PatternHit& hit : hits) hit.line = file_line(hit.line);
      function.line_first = file_line(function.line_first);
      function.line_name = file_line(function.line_name);
      function.line_last = file_line(function.line_last);
      reading.cpp.functions.push_back(std::move(function));
      reading.patterns.push_back(std::move(hits));
    }
  }

  void read_usage(uint32_t file) {
    const Language language = readings_.files[file].language;
    FileReading& reading = readings_.readings[file];
    if (!is_c_family(language) && language != Language::kJinja) return;
    const std::string text = cpp_text(file);
    if (text.empty()) return;
    const cpp::TokenList source = cpp::lex(text);
    if (cpp::needs_known_macros(source, reading.cpp, known_)) {
      reading.cpp = cpp::find_definitions(source, known_);
    }
    reading.usage = cpp::find_usage(source, reading.cpp, known_);
    reading.constants = cpp::file_constants(source);
    reading.cpp_options = cpp::find_options(source);
    reading.patterns.reserve(reading.cpp.functions.size());
    for (const cpp::Function& function : reading.cpp.functions) {
      reading.patterns.push_back(patterns_of(source, function));
    }
  }

  const Repository& repository_;
  const ProgressCallback& progress_;
  size_t threads_;
  std::atomic<uint32_t> done_ = 0;
  std::mutex progress_mutex_;
  Readings readings_;
  cpp::KnownNames known_;
  std::vector<std::string> unread_;  // of each file, why it could not be read
};

}  // namespace

Readings read_files(const Repository& repository, size_t threads, const ProgressCallback& progress,
                    std::vector<std::string>& notes) {
  return FileReader(repository, threads, progress).run(notes);
}

}  // namespace fathom
