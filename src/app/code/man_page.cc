#include "app/code/man_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/command_tree.h"

namespace fathom {
namespace {

// The next character of one of our own texts, which are valid UTF-8.
char32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (first < 0x80) return first;
  char32_t code = first & (first < 0xe0 ? 0x1fU : first < 0xf0 ? 0x0fU : 0x07U);
  for (; !text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0U) == 0x80U;
       text.remove_prefix(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(text.front()) & 0x3fU);
  }
  return code;
}

// groff reads Latin-1, and turns quotes and dashes into typographic ones that nobody can paste.
std::string escape(std::string_view text) {
  std::string out;
  bool line_begins = true;
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";  // would be a request
    line_begins = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        if (c < 0x80) {
          out += static_cast<char>(c);
        } else {
          out += fmt::format("\\[u{:04X}]", static_cast<uint32_t>(c));
        }
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escape(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Its text comes from the formatter that prints --help, so the two cannot disagree.
class ManPage {
 public:
  explicit ManPage(const CLI::Formatter& formatter) : formatter_(formatter) {}

  std::string write(const CLI::App& app, std::string_view version) {
    const std::string& name = app.get_name();
    std::string description = app.get_description();
    if (description.ends_with('.')) description.pop_back();
    out_ = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", escape(upper(name)),
                       escape(name), escape(version));
    out_ += ".nh\n.ad l\n";  // no word cut, no gaps: both would spoil what is copied from it
    out_ += fmt::format(".SH NAME\n{} \\- {}\n", escape(name), escape(description));
    out_ += ".SH SYNOPSIS\n" + usage(app, name);
    write_options(app, [](const std::string& title) { return ".SH " + escape(upper(title)); });
    if (!visible_commands(app).empty()) out_ += ".SH COMMANDS\n";
    write_commands(app, name);
    const std::string footer = app.get_footer();
    const size_t exit_codes = std::min(footer.find("Exit codes"), footer.size());
    if (exit_codes > 0) out_ += ".SH EXAMPLES\n" + verbatim(footer.substr(0, exit_codes));
    if (exit_codes < footer.size())
      out_ += ".SH EXIT STATUS\n" + verbatim(footer.substr(exit_codes));
    return out_;
  }

 private:
  void write_commands(const CLI::App& parent, const std::string& path) {
    for (const CLI::App* command : visible_commands(parent)) {
      const std::string name = path + " " + command->get_name();
      out_ += fmt::format(".SS {}\n{}\n.PP\n{}", escape(name), escape(command->get_description()),
                          usage(*command, name));
      write_options(*command,
                    [](const std::string& title) { return ".PP\n" + escape(title) + ":"; });
      if (!command->get_footer().empty()) out_ += ".PP\n" + verbatim(command->get_footer());
      write_commands(*command, name);
    }
  }

  template <typename Heading>
  void write_options(const CLI::App& app, Heading heading) {
    std::string group;
    const auto write_one = [&](const CLI::Option* option, const std::string& title,
                               bool positional) {
      if (title != group) out_ += heading(title) + "\n";
      group = title;
      out_ += fmt::format(".TP\n{}{}\n{}\n", bold(formatter_.make_option_name(option, positional)),
                          escape(formatter_.make_option_opts(option)),
                          escape(formatter_.make_option_desc(option)));
    };
    const std::string positionals = formatter_.get_label("Positionals");
    for (const CLI::Option* option : visible_positionals(app)) {
      write_one(option, positionals, true);
    }
    for (const CLI::Option* option : visible_options(app)) {
      write_one(option, option->get_group(), false);
    }
  }

  // What --help prints after "Usage: ".
  std::string usage(const CLI::App& app, const std::string& name) const {
    const std::string line = formatter_.make_usage(&app, name);
    const size_t begin = line.find(name);
    return bold(name) + escape(line.substr(begin + name.size()));
  }

  static std::string verbatim(const std::string& text) {
    return ".nf\n" + escape(text) + "\n.fi\n";
  }

  const CLI::Formatter& formatter_;
  std::string out_;
};

}  // namespace

std::string man_page(const CLI::App& app, std::string_view version) {
  const CLI::Formatter standard;
  const std::shared_ptr<CLI::FormatterBase> own = app.get_formatter();
  const auto* formatter = dynamic_cast<const CLI::Formatter*>(own.get());
  return ManPage(formatter == nullptr ? standard : *formatter).write(app, version);
}

}  // namespace fathom
