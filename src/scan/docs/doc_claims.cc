#include "scan/docs/doc_claims.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "scan/docs/doc_programs.h"
#include "scan/docs/doc_text.h"
#include "scan/docs/doc_values.h"
#include "scan/docs/names_in_code.h"
#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/code_purpose.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

constexpr size_t kMaxDocBytes = 1 << 20;

bool is_test_data(std::string_view path) { return holds(path, "test") && holds(path, "data"); }

// History tells of what was, and licences and test data of nothing here.
bool is_history(std::string_view path) {
  const std::string name = small_letters(file_name(path));
  return name.starts_with("change") || name.starts_with("history") || name.starts_with("release") ||
         name.starts_with("news") || name.starts_with("licen") || is_test_data(path);
}

// --max_batch and --max-batch are one option to most parsers; --no-x is x.
std::string option_key(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  name = name.substr(0, name.find_first_of("=.,:;)`'\"]"));
  std::string out = small_letters(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

bool is_long_option(std::string_view word) {
  if (!word.starts_with("--") || word.size() < 4 ||
      !std::isalpha(static_cast<unsigned char>(word[2])))
    return false;
  const std::string_view name = word.substr(0, word.find('='));
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

bool is_shell(const DocLine& line) {
  const std::string language = small_letters(line.language);
  return language.empty() ||
         is_one_of(language, {"bash", "sh", "shell", "console", "zsh", "shell-session"});
}

class DocReader {
 public:
  DocReader(const Repository& repository, const CodeFacts& facts)
      : repository_(repository), facts_(facts), programs_(repository.root.string(), facts) {
    for (const OptionFacts& option : facts.options) {
      if (option.kind == OptionKind::kEnvironment) {
        ++prefixes_[option.name.substr(0, option.name.find('_') + 1)];
        variables_.insert(option.name);
        for (const std::string& other : option.other_names) variables_.insert(other);
        continue;
      }
      add_option(option_key(option.name), option);
      for (const std::string& other : option.other_names) add_option(option_key(other), option);
    }
    for (const SourceFile& file : facts.files) {
      const std::string_view name = file_name(file.path);
      has_site_ |= name == "mkdocs.yml" || name == "mkdocs.yaml" || name == "conf.py";
    }
    note_composed_names();
    lacks_submodule_ = lacks_a_submodule();
    if (Result<std::string> text = read_source_text(repository.root / ".gitignore"); text.ok()) {
      for (const DocLine& line : read_doc(text.value(), true))
        ignored_.insert(normal_path(line.text));
    }
  }

  std::vector<DocClaim> run() {
    for (uint32_t file = 0; file < facts_.files.size(); ++file) {
      const SourceFile& source = facts_.files[file];
      const bool markdown = source.language == Language::kMarkdown;
      if ((!markdown && source.language != Language::kRestructuredText) ||
          source.origin != Origin::kOwn || !source.skipped.empty() || source.size > kMaxDocBytes ||
          is_history(source.path))
        continue;
      Result<std::string> text = read_source_text(repository_.root / source.path);
      if (text.ok()) read(file, read_doc(text.value(), markdown));
    }
    drop_what_the_code_names(repository_, facts_.files, out_);
    return std::move(out_);
  }

 private:
  void add_option(const std::string& key, const OptionFacts& option) {
    options_[key].push_back(&option);
    if (!is_test_or_example(facts_.files[option.at.file].path))
      product_options_.emplace(key, &option);
  }

  // A submodule that was not fetched has an empty folder.
  bool lacks_a_submodule() const {
    std::set<std::string_view> fetched;  // names of folders
    for (const SourceFile& file : facts_.files) {
      if (file.origin != Origin::kSubmodule) continue;
      for (std::string_view rest = file.path; !rest.empty();) {
        const size_t end = std::min(rest.find('/'), rest.size());
        fetched.insert(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return std::ranges::any_of(facts_.dependencies, [&](const DependencyFacts& dependency) {
      return dependency.kind == DependencyKind::kSubmodule &&
             !fetched.contains(file_name(dependency.name));
    });
  }

  // Options whose names the code composes, "--{name}", by what stands before the first part.
  void note_composed_names() {
    std::set<std::string> all;
    for (const auto& [key, options] : options_) {
      const size_t brace = key.find('{');
      if (brace != std::string::npos && brace > 0) all.insert(key.substr(0, brace));
    }
    // In order, one that begins as the last one kept does adds nothing.
    for (const std::string& begin : all) {
      if (composed_.empty() || !begin.starts_with(*composed_.rbegin())) composed_.insert(begin);
    }
  }

  struct Table {
    bool open = false;
    size_t defaults = SIZE_MAX;  // the column that has them
  };

  void read(uint32_t file, const std::vector<DocLine>& lines) {
    doc_ = file;
    folder_ = std::string(folder_of_path(facts_.files[file].path));
    said_.clear();
    checked_.clear();
    shell_variables_.clear();
    for (const DocLine& line : lines) note_shell_variables(line.text);
    Table table;
    for (const DocLine& line : lines) {
      if (line.code) {
        if (is_shell(line)) read_commands(line);
        continue;
      }
      read_variables(line);
      read_links(line);
      read_path_spans(line);
      const std::vector<std::string> cells = table_cells(line.text);
      if (cells.empty()) {
        table = {};
        read_default_sentence(line);
      } else {
        read_table_row(line, cells, table);
      }
    }
  }

  // $NAME: the reader's own variable, which the document sets before it uses it.
  void note_shell_variables(const std::string& text) {
    for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
      size_t begin = at + 1;
      if (begin < text.size() && text[begin] == '{') ++begin;
      size_t end = begin;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      if (end > begin) shell_variables_.insert(text.substr(begin, end - begin));
    }
  }

  // A sentence about what was, will be or might be.
  static bool is_of_other_times(std::string_view text) {
    constexpr std::string_view words[] = {"deprecated", "no longer", "removed", "replace",
                                          "previously", "formerly",  "old ",    "before ",
                                          "generated",  "create",    "write ",  "will "};
    const std::string plain = small_letters(text);
    return std::any_of(std::begin(words), std::end(words),
                       [&](std::string_view word) { return holds(plain, word); });
  }

  // new_op.cu, my_model.py: an example of what the reader would write.
  static bool is_made_up(std::string_view path) {
    constexpr std::string_view words[] = {"new_", "my_",     "your_", "some_",
                                          "foo",  "example", "xxx",   "path/to"};
    const std::string plain = small_letters(path);
    return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
      const size_t at = plain.find(word);
      return at != std::string::npos && (at == 0 || plain[at - 1] == '/' || plain[at - 1] == '_');
    });
  }

  void read_commands(const DocLine& line) {
    read_variables(line);
    for (const std::vector<std::string>& words : shell_commands(line.text)) {
      const auto missing = programs_.missing_script(words, folder_);
      if (missing && !is_made_up(*missing))
        claim(ClaimKind::kPathAbsent, *missing, "run by a command", "no such file", line.line,
              Certainty::kLikely);
      const auto arguments = programs_.own_program(words, folder_);
      if (!arguments) continue;
      for (size_t i = *arguments; i < words.size() && words[i] != "--"; ++i) {
        if (is_long_option(words[i])) check_option(words[i], line.line);
      }
    }
  }

  void check_option(std::string_view written, uint32_t line) {
    const std::string key = option_key(written);
    const std::string name(written.substr(0, written.find_first_of("=.")));
    if (!checked_.insert(name).second) return;  // what is said of it is said once
    if (knows(key) || key == "help" || key == "version") return;
    if (options_.empty()) return;  // its options are read in a way that the scanner does not know
    // argparse takes a beginning for the option, as long as only one begins so.
    std::set<const OptionFacts*> begun;
    for (auto at = product_options_.lower_bound(key);
         at != product_options_.end() && at->first.starts_with(key) && begun.size() < 2; ++at) {
      begun.insert(at->second);
    }
    if (begun.size() == 1) {
      const OptionFacts& option = **begun.begin();
      claim(ClaimKind::kOptionAbbreviated, name, "used in a command",
            "the full option is " + spelled(option, key), line, Certainty::kLikely, option.at);
      return;
    }
    if (begun.empty())
      claim(ClaimKind::kOptionAbsent, name, "used in a command of this repository",
            "not declared or referenced in the code", line, Certainty::kLikely);
  }

  // Which of an option's names begins so.
  static std::string spelled(const OptionFacts& option, const std::string& key) {
    for (const std::string& other : option.other_names) {
      if (option_key(other).starts_with(key)) return other;
    }
    return option.name;
  }

  bool knows(const std::string& key) const {
    if (options_.contains(key)) return true;
    if (key.starts_with("no-") && options_.contains(key.substr(3))) return true;
    // No two of them begin alike: only the last one before the key can be its beginning.
    const auto after = composed_.upper_bound(key);
    return after != composed_.begin() && key.starts_with(*std::prev(after));
  }

  // A variable is this repository's where it begins as several of its own do and as its name does.
  void read_variables(const DocLine& line) {
    const std::string& text = line.text;
    std::optional<bool> of_other_times;  // of the line, which may name many
    for (size_t at = 0; at < text.size();) {
      if (!std::isupper(static_cast<unsigned char>(text[at])) ||
          (at > 0 &&
           (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'))) {
        ++at;
        continue;
      }
      size_t end = at;
      while (end < text.size() &&
             (std::isupper(static_cast<unsigned char>(text[end])) ||
              std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      const bool whole = end == text.size() || !std::isalnum(static_cast<unsigned char>(text[end]));
      const std::string name = text.substr(at, end - at);
      const bool open =
          name.ends_with('_') ||
          (end < text.size() && std::string_view("*<{[").find(text[end]) != std::string_view::npos);
      at = end;
      if (!whole || open || !is_own_variable(name)) continue;
      if (!of_other_times) of_other_times = is_of_other_times(text);
      if (*of_other_times) continue;
      claim(ClaimKind::kVariableAbsent, name, "documented", "not referenced in the code", line.line,
            Certainty::kLikely);
    }
  }

  bool is_own_variable(const std::string& name) const {
    const size_t underscore = name.find('_');
    if (variables_.contains(name) || shell_variables_.contains(name)) return false;
    if (underscore == std::string::npos || underscore < 3) return false;
    const auto prefix = prefixes_.find(name.substr(0, underscore + 1));
    if (prefix == prefixes_.end() || prefix->second < 3) return false;
    std::string own = small_letters(facts_.repository);
    std::erase_if(own, [](char c) { return c == '-' || c == '_' || c == '.'; });
    return holds(own, small_letters(name.substr(0, underscore)));
  }

  // [text](path): a path from the document's folder.
  void read_links(const DocLine& line) {
    const std::string& text = line.text;
    for (size_t at = text.find("]("), next = 0; at != std::string::npos; at = next) {
      next = text.find("](", at + 2);
      const size_t end = text.find_first_of(") \t](", at + 2);
      if (end == std::string::npos) return;
      if (text[end] == ']' || text[end] == '(') continue;
      std::string path = text.substr(at + 2, end - at - 2);
      path = path.substr(0, path.find_first_of("#?"));
      if (path.empty() || holds(path, ':') ||
          path.find_first_of("<>{}$*|\\") != std::string::npos || path.starts_with('/') ||
          path.starts_with("www.") || path.ends_with(".html"))
        continue;
      // A site generator may put it there.
      if (has_site_ && (folder_.starts_with("docs") || folder_.starts_with("doc/"))) continue;
      if (programs_.exists_from(path, folder_) || programs_.exists_from(path, "")) continue;
      claim(ClaimKind::kPathAbsent, path, "target of a link", "no such file or folder", line.line,
            Certainty::kLikely);
    }
  }

  // `csrc/x.cu` in running text, where the repository has the folder.
  void read_path_spans(const DocLine& line) {
    if (is_of_other_times(line.text) || folder_.starts_with('.')) return;
    for (const std::string& span : code_spans(line.text)) {
      const size_t slash = span.find('/'), dot = span.rfind('.');
      if (slash == std::string::npos || slash == 0 || dot == std::string::npos ||
          dot < span.rfind('/') || span.size() > 120)
        continue;
      if (span.find_first_of(" <>{}$*~,:;()=|\\\"'@#?&") != std::string::npos ||
          holds(span, "...") || is_made_up(span) || !is_code_file(span.substr(dot)))
        continue;
      const std::string plain = normal_path(span);
      if (ignored_.contains(plain) || ignored_.contains(file_name(plain))) continue;
      const std::string first = plain.substr(0, plain.find('/'));
      const bool here = programs_.is_folder(first) ||
                        (!folder_.empty() && programs_.is_folder(folder_ + "/" + first));
      if (here && !programs_.exists(span, folder_))
        claim(ClaimKind::kPathAbsent, span, "mentioned", "no such file", line.line,
              Certainty::kLikely);
    }
  }

  static bool is_code_file(std::string_view ending) {
    constexpr std::string_view known[] = {".py", ".cu", ".cuh", ".h",   ".hpp",  ".cc",    ".cpp",
                                          ".c",  ".sh", ".md",  ".rst", ".toml", ".jinja", ".pyi"};
    return std::find(std::begin(known), std::end(known), ending) != std::end(known);
  }

  // The options that a text names, if it names one alone.
  const std::vector<const OptionFacts*>* only_option(std::string_view text) const {
    const std::vector<const OptionFacts*>* found = nullptr;
    for (size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at + 2)) {
      if (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '-'))
        continue;
      const size_t end = std::min(text.find_first_of(" `,=)|\t/].:;'\"", at), text.size());
      const auto option = options_.find(option_key(text.substr(at, end - at)));
      if (option == options_.end()) return nullptr;
      if (found != nullptr && found != &option->second) return nullptr;
      found = &option->second;
    }
    return found;
  }

  void read_table_row(const DocLine& line, const std::vector<std::string>& cells, Table& table) {
    if (!table.open) {
      table.open = true;
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string title = small_letters(cells[i]);
        if (title == "default" || title == "default value" || title == "defaults")  // source text
          table.defaults = i;
      }
      return;
    }
    if (table.defaults >= cells.size() || table.defaults == 0) return;
    if (const auto* options = only_option(cells[0]))
      check_default(*options, cells[table.defaults], line.line);
  }

  void read_default_sentence(const DocLine& line) {
    const std::string text = small_letters(line.text);
    if (!holds(text, "--")) return;
    const auto* options = only_option(line.text);
    if (options == nullptr) return;
    for (const std::string_view phrase :
         {"default: ", "defaults to ", "default is ", "default value is ", "(default "}) {
      const size_t at = text.find(phrase);
      if (at == std::string::npos || text.find(phrase, at + 1) != std::string::npos) continue;
      std::string_view value = std::string_view(line.text).substr(at + phrase.size());
      const size_t end = value.starts_with('`')
                             ? std::min(value.find('`', 1), value.size() - 1) + 1
                             : std::min(value.find_first_of(" ,;)"), value.size());
      check_default(*options, std::string(value.substr(0, end)), line.line);
      return;
    }
  }

  // Says so only where every declaration of the option has a plain default, and none this one.
  void check_default(const std::vector<const OptionFacts*>& options, const std::string& documented,
                     uint32_t line) {
    const auto said = plain_value(documented);
    if (!said || *said == "none" || *said == "-" || *said == "n/a" || *said == "required") return;
    const OptionFacts* first = nullptr;
    // What lies with a program is about that program.
    const bool about_all = folder_.empty() || folder_.starts_with("doc");
    for (const OptionFacts* option : options) {
      if (!about_all && !facts_.files[option->at.file].path.starts_with(folder_ + "/")) return;
      if (!option->default_value) return;
      const auto is = plain_value(*option->default_value);
      if (!is || same_value(*said, *is)) return;
      // None, and what is a name, are decided later.
      if (*is == "none" || (std::isalpha(static_cast<unsigned char>((*is)[0])) &&
                            is->find('.') != std::string::npos))
        return;
      if (first == nullptr) first = option;
    }
    if (first != nullptr)
      claim(ClaimKind::kDefaultDiffers, first->name, documented, *first->default_value, line,
            first->certainty, first->at);
  }

  void claim(ClaimKind kind, std::string what, std::string said, std::string is, uint32_t line,
             Certainty certainty, std::optional<CodePlace> code = std::nullopt) {
    if (!said_.emplace(kind, what).second) return;  // once for each document
    if (lacks_submodule_ &&
        (kind == ClaimKind::kOptionAbsent || kind == ClaimKind::kVariableAbsent)) {
      is += "; may be in a submodule that was not fetched";
      certainty = Certainty::kUnsure;
    }
    out_.push_back(
        {kind, std::move(what), std::move(said), std::move(is), {doc_, line}, code, certainty});
  }

  const Repository& repository_;
  const CodeFacts& facts_;
  const DocPrograms programs_;
  std::map<std::string, std::vector<const OptionFacts*>> options_;  // by option_key
  std::multimap<std::string, const OptionFacts*> product_options_;  // of no test or example
  std::set<std::string> composed_;  // beginnings of composed names, none the beginning of another
  std::map<std::string, size_t> prefixes_;  // of environment variables: "VLLM_" → how many
  std::set<std::string> variables_, shell_variables_;
  std::set<std::string, std::less<>> ignored_;  // plain lines of .gitignore
  bool has_site_ = false, lacks_submodule_ = false;
  uint32_t doc_ = 0;
  std::string folder_;
  std::set<std::pair<ClaimKind, std::string>> said_;
  std::set<std::string> checked_;
  std::vector<DocClaim> out_;
};

}  // namespace

std::vector<DocClaim> find_doc_claims(const Repository& repository, const CodeFacts& facts,
                                      std::vector<DocClaim> of_usage) {
  std::vector<DocClaim> claims = DocReader(repository, facts).run();
  claims.insert(claims.end(), std::make_move_iterator(of_usage.begin()),
                std::make_move_iterator(of_usage.end()));
  std::sort(claims.begin(), claims.end(), [](const DocClaim& a, const DocClaim& b) {
    return std::tie(a.kind, a.doc, a.what) < std::tie(b.kind, b.doc, b.what);
  });
  return claims;
}

}  // namespace fathom
