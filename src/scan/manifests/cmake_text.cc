#include "scan/manifests/cmake_text.h"

#include <algorithm>

#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// name(word "quoted word" [[bracketed]] …), comments left out.
class CMakeReader {
 public:
  explicit CMakeReader(std::string_view text) : text_(text) {}

  std::vector<CMakeCommand> commands() {
    std::vector<CMakeCommand> all;
    while (skip_blanks(), at_ < text_.size()) {
      const size_t begin = at_;
      while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
      CMakeCommand command{std::string(text_.substr(begin, at_ - begin)), {}, line_};
      for (char& c : command.name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      skip_blanks();
      if (command.name.empty() || at_ >= text_.size() || text_[at_] != '(') {
        if (begin == at_ && at_ < text_.size()) step();
        continue;
      }
      step();
      words(command.words);
      all.push_back(std::move(command));
    }
    return all;
  }

 private:
  void step() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  void skip_to(size_t end) {
    for (end = std::min(end, text_.size()); at_ < end;) step();
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (text_.substr(at_).starts_with("#[[")) {
        skip_to(std::min(text_.find("]]", at_), text_.size() - 2) + 2);
      } else if (c == '#') {
        skip_to(text_.find('\n', at_));
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        step();
      } else {
        return;
      }
    }
  }

  void words(std::vector<CMakeWord>& out) {
    int depth = 1;
    while (skip_blanks(), at_ < text_.size()) {
      const char c = text_[at_];
      const uint32_t line = line_;
      if (c == '(' || c == ')') {
        step();
        depth += c == '(' ? 1 : -1;
        if (depth == 0) return;
      } else if (c == '"') {
        std::string word;
        for (step(); at_ < text_.size() && text_[at_] != '"'; step()) {
          if (text_[at_] == '\\' && at_ + 1 < text_.size()) step();
          word += text_[at_];
        }
        if (at_ < text_.size()) step();
        out.push_back({std::move(word), line});
      } else {
        const size_t begin = at_;
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n()\"").find(text_[at_]) == std::string_view::npos) {
          step();
        }
        out.push_back({std::string(text_.substr(begin, at_ - begin)), line});
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::vector<CMakeCommand> cmake_commands(std::string_view text) {
  return CMakeReader(text).commands();
}

}  // namespace fathom
