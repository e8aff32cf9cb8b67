#include "scan/cpp/references.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "scan/cpp/token_pattern.h"
#include "scan/cpp/words.h"

namespace fathom::cpp {
namespace {

// What stands where a name could, and is none of the repository's.
bool is_statement_word(std::string_view name) {
  constexpr auto others = std::to_array<std::string_view>(
      {"__attribute__", "defined", "false", "nullptr", "this", "true", "volatile"});
  return is_keyword(name) || is_builtin_type(name) || is_specifier(name) ||
         std::ranges::find(others, name) != others.end();
}

// A path of names joined with ::, template arguments between them left out.
struct NamePath {
  std::string name;
  size_t last = 0;  // the token of its last name
  size_t end = 0;   // after it and its template arguments
  bool has_arguments = false;
};

NamePath read_path(const TokenList& source, size_t at);

// What each template argument of a path begins with, where that is a name.
std::vector<std::string> argument_names(const TokenList& source, const NamePath& path) {
  std::vector<std::string> names;
  if (!path.has_arguments) return names;
  bool begins = true;
  for (size_t i = path.last + 2; i + 1 < path.end; ++i) {
    if (begins) names.emplace_back();
    if (source.is(i, "typename") || source.is(i, "const")) continue;
    if (begins && source.is_name(i)) names.back() = read_path(source, i).name;
    begins = source.is(i, ",");
    if (source.is(i, "<")) i = closing_angle_near(source, i).value_or(path.end);
    if (source.is(i, "(") || source.is(i, "{")) i = closing_near(source, i).value_or(path.end);
  }
  return names;
}

NamePath read_path(const TokenList& source, size_t at) {
  NamePath path;
  while (true) {
    path.name += source.at(at);
    path.last = at;
    path.end = at + 1;
    path.has_arguments = false;
    if (source.is(path.end, "<")) {
      if (const auto close = closing_angle_near(source, path.end)) {
        path.end = *close + 1;
        path.has_arguments = true;
      }
    }
    if (!source.is(path.end, "::")) return path;
    size_t next = path.end + 1;
    if (source.is(next, "template")) ++next;
    if (!source.is_name(next)) return path;
    path.name += "::";
    at = next;
  }
}

class ReferenceFinder {
 public:
  ReferenceFinder(const TokenList& source, size_t first, size_t last)
      : source_(source), first_(first), last_(std::min(last, source.size())) {}

  void declare_parameters(std::string_view text) {
    const TokenList list = lex(text);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!list.is_name(i) || is_statement_word(list.at(i)) || list.at(i).starts_with("__"))
        continue;
      const NamePath type = read_path(list, i);
      size_t name = type.end;
      while (list.is(name, "*") || list.is(name, "&") || list.is(name, "&&") ||
             list.is(name, "const") || list.is(name, "__restrict__")) {
        ++name;
      }
      if (list.is_name(name)) objects_[std::string(list.at(name))] = type.name;
      i = std::max(name, type.end) - 1;
      while (i < list.size() && !list.is(i, ",")) ++i;
    }
  }

  std::vector<Reference> run() {
    for (size_t i = first_; i < last_;) {
      if (!source_.is_name(i) || is_statement_word(source_.at(i))) {
        ++i;
        continue;
      }
      i = path_at(i);
    }
    return std::move(references_);
  }

 private:
  bool is_member(size_t at) const {
    return at > first_ && (source_.is(at - 1, ".") || source_.is(at - 1, "->") ||
                           (source_.is(at - 1, "template") && at > first_ + 1));
  }

  size_t path_at(size_t at) {
    const NamePath path = read_path(source_, at);
    const uint32_t line = source_.tokens[path.last].line;
    const bool called = source_.is(path.end, "(");
    if (is_member(at)) {
      if (called) member_call(at, path, line);
    } else if (called && !is_declared_name(at)) {
      add({path.name, {}, ReferenceKind::kCall, line, argument_names(source_, path)});
    } else {
      if (path.has_arguments) {
        add({path.name, {}, ReferenceKind::kType, line, argument_names(source_, path)});
      }
      declaration(path);
    }
    // Template arguments hold references of their own.
    return path.has_arguments ? std::min(path.last + 2, last_) : std::max(path.end, at + 1);
  }

  // `Type name(…)`: the name of a variable, not a call.
  bool is_declared_name(size_t at) const {
    if (at == first_) return false;
    if (source_.is_name(at - 1))
      return !is_statement_word(source_.at(at - 1)) || source_.is(at - 1, "auto");
    return source_.is(at - 1, ">") && objects_.contains(std::string(source_.at(at)));
  }

  void declaration(const NamePath& type) {
    size_t name = type.end;
    while (source_.is(name, "*") || source_.is(name, "&") || source_.is(name, "const")) ++name;
    if (name >= last_ || !source_.is_name(name) || is_statement_word(source_.at(name))) return;
    const bool ends = source_.is(name + 1, "=") || source_.is(name + 1, ";") ||
                      source_.is(name + 1, "(") || source_.is(name + 1, "{") ||
                      source_.is(name + 1, ",") || source_.is(name + 1, ":");
    if (!ends) return;
    objects_[std::string(source_.at(name))] = type.name;
    if (type.has_arguments) return;  // a reference already
    add({type.name, {}, ReferenceKind::kType, source_.tokens[type.last].line});
  }

  void member_call(size_t at, const NamePath& path, uint32_t line) {
    size_t dot = at - 1;
    if (source_.is(dot, "template")) --dot;
    std::string type;
    if (dot > first_ && source_.is(dot - 1, "this")) {
      add({path.name, {}, ReferenceKind::kCall, line});
      return;
    }
    if (dot > first_ && source_.is_name(dot - 1) && !is_member(dot - 1)) {
      const auto found = objects_.find(source_.at(dot - 1));
      if (found != objects_.end()) type = found->second;
    }
    if (type.empty() && dot > first_) type = type_made_before(dot);
    add({path.name, type, ReferenceKind::kMember, line});
  }

  // Consumer<T, P>(arguments).run() and Producer<P>{arguments}.run(): an object without a name. A
  // call in round brackets is taken for one where its name begins as types do.
  std::string type_made_before(size_t dot) const {
    const bool braces = source_.is(dot - 1, "}");
    if (!braces && !source_.is(dot - 1, ")")) return "";
    const auto open = opening_near(dot - 1, braces ? "{" : "(", braces ? "}" : ")");
    if (!open || *open <= first_) return "";
    size_t name = *open - 1;
    if (source_.is(name, ">")) {
      const auto angle = opening_near(name, "<", ">");
      if (!angle || *angle <= first_) return "";
      name = *angle - 1;
    }
    if (!source_.is_name(name)) return "";
    const bool capital = source_.at(name)[0] >= 'A' && source_.at(name)[0] <= 'Z';
    return braces || capital ? std::string(source_.at(name)) : "";
  }

  std::optional<size_t> opening_near(size_t close, std::string_view open_word,
                                     std::string_view close_word) const {
    constexpr size_t kLongest = 200;
    int depth = 0;
    for (size_t i = close; i > first_ && close - i < kLongest; --i) {
      if (source_.is(i, close_word)) ++depth;
      if (source_.is(i, open_word) && --depth == 0) return i;
    }
    return std::nullopt;
  }

  void add(Reference reference) {
    auto key = std::tuple(reference.name, reference.type, reference.kind, reference.arguments);
    if (seen_.insert(std::move(key)).second) references_.push_back(std::move(reference));
  }

  const TokenList& source_;
  const size_t first_, last_;
  std::map<std::string, std::string, std::less<>> objects_;  // name → type
  std::set<std::tuple<std::string, std::string, ReferenceKind, std::vector<std::string>>> seen_;
  std::vector<Reference> references_;
};

}  // namespace

std::vector<Reference> find_references(const TokenList& source, size_t first, size_t last,
                                       std::string_view parameters) {
  ReferenceFinder finder(source, first, last);
  finder.declare_parameters(parameters);
  return finder.run();
}

std::vector<Reference> find_type_references(const TokenList& source, size_t first, size_t last) {
  std::vector<Reference> references;
  for (size_t i = first; i < std::min(last, source.size());) {
    if (!source.is_name(i) || is_statement_word(source.at(i))) {
      ++i;
      continue;
    }
    const NamePath path = read_path(source, i);
    const bool called = source.is(path.end, "(");
    references.push_back({path.name,
                          {},
                          called ? ReferenceKind::kCall : ReferenceKind::kType,
                          source.tokens[i].line,
                          argument_names(source, path)});
    i = std::max(path.has_arguments ? path.last + 2 : path.end, i + 1);
  }
  return references;
}

std::vector<Reference> find_default_references(std::string_view template_parameters,
                                               uint32_t line) {
  if (template_parameters.find('=') == std::string_view::npos) return {};
  const TokenList list = lex(template_parameters);
  std::vector<Reference> references = find_references(list, 0, list.size());
  for (Reference& reference : references) reference.line = line;
  return references;
}

std::vector<std::string> template_parameter_names(std::string_view template_parameters) {
  const TokenList list = lex(template_parameters);
  std::vector<std::string> names;
  std::string name;
  bool value = false;  // after =, where a default stands
  size_t i = 0;
  if (list.is(0, "template")) i = list.is(1, "<") ? 2 : 1;
  for (; i < list.size(); ++i) {
    if (list.is(i, "<")) {
      i = closing_angle_near(list, i).value_or(list.size());
    } else if (list.is(i, "(") || list.is(i, "{") || list.is(i, "[")) {
      i = closing_near(list, i).value_or(list.size());
    } else if (list.is(i, ",") || list.is(i, ">")) {
      if (!name.empty()) names.push_back(std::move(name));
      name.clear();
      value = false;
    } else if (list.is(i, "=")) {
      value = true;
    } else if (list.is_name(i) && !value) {
      name = list.at(i);
    }
  }
  if (!name.empty()) names.push_back(std::move(name));
  return names;
}

}  // namespace fathom::cpp
