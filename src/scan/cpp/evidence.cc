#include "scan/cpp/evidence.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text_parts.h"
#include "scan/cpp/pointer_names.h"

namespace fathom::cpp {
namespace {

void append(std::vector<PatternHit>& to, std::vector<PatternHit> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Which class each place of a file stands in, the innermost one. Bodies are in order of their {.
class ClassesByPlace {
 public:
  explicit ClassesByPlace(const std::vector<Class>& classes) {
    std::vector<const Class*> open;
    const auto close_before = [&](size_t place) {
      while (!open.empty() && open.back()->body_last < place) {
        const size_t after = open.back()->body_last + 1;
        open.pop_back();
        changes_.push_back({after, open.empty() ? nullptr : open.back()});
      }
    };
    for (const Class& body : classes) {
      close_before(body.body_first);
      open.push_back(&body);
      changes_.push_back({body.body_first, &body});
    }
    close_before(SIZE_MAX);
  }

  const Class* at(size_t place) const {
    const auto next = std::ranges::upper_bound(changes_, place, {}, &Change::from);
    return next == changes_.begin() ? nullptr : std::prev(next)->body;
  }

 private:
  struct Change {
    size_t from;
    const Class* body;  // null: outside of all
  };
  std::vector<Change> changes_;
};

// The pointers among the fields of each class that has methods, read once.
using FieldsOfClasses = std::map<const Class*, DeclaredPointers>;

TokenRange::Surroundings surroundings_of(const Function& function, const ClassesByPlace& classes,
                                         const Code& code, const CodeTree& tree,
                                         FieldsOfClasses& fields) {
  TokenRange::Surroundings around{.parameters = function.parameters,
                                  .is_kernel = function.kind == FunctionKind::kKernel,
                                  .tree = &tree};
  if (const Class* const body = classes.at(function.body_first)) {
    const auto [known, fresh] = fields.try_emplace(body);
    if (fresh) known->second = field_pointers(code, body->body_first, body->body_last);
    around.fields = &known->second;
  }
  return around;
}

// What a macro makes of a function, all of it on the line that uses the macro.
void read_expansion(const Function& function, CodeUnit& unit, std::vector<PatternHit>& hits) {
  const TokenList list = lex(function.expansion);
  const Brackets brackets(list);
  const CodeTree tree = read_statements({list, brackets}, 0, list.size());
  unit.references = find_references(function.expansion, function.line_name, function.parameters);
  std::vector<PatternHit> found =
      find_patterns(list, 0, list.size(), PatternScope::kDevice,
                    {.parameters = function.parameters,
                     .is_kernel = function.kind == FunctionKind::kKernel,
                     .tree = &tree});
  for (PatternHit& hit : found) hit.line = function.line_name;
  append(hits, std::move(found));
}

void add_functions(BodyTrees& trees, const Definitions& definitions, const ClassesByPlace& classes,
                   FileUnits& out) {
  const TokenList& source = trees.code().source;
  FieldsOfClasses fields;
  for (size_t i = 0; i < definitions.functions.size(); ++i) {
    const Function& function = definitions.functions[i];
    if (!function.defined) continue;
    CodeUnit unit;
    unit.index = static_cast<uint32_t>(i);
    unit.line = function.line_name;
    std::vector<PatternHit> host_hits;
    std::vector<PatternHit> hits =
        find_attribute_patterns(function.attributes, function.line_name, PatternScope::kDevice);
    if (function.body_last > function.body_first) {
      const size_t first = function.body_first, last = function.body_last + 1;
      const CodeTree& tree = trees.of(i);
      append(hits, find_patterns(source, first, last, PatternScope::kDevice,
                                 surroundings_of(function, classes, trees.code(), tree, fields)));
      if (function.kind == FunctionKind::kHost) {
        host_hits = find_patterns(source, first, last, PatternScope::kHost, {.tree = &tree});
      }
    }
    if (!function.expansion.empty()) read_expansion(function, unit, hits);
    if (holds(function.template_parameters, '=')) {
      for (Reference& one : find_references(function.template_parameters, function.line_first))
        unit.references.push_back(std::move(one));
    }
    out.units.push_back(std::move(unit));
    out.hits.push_back(std::move(hits));
    out.host_hits.push_back(std::move(host_hits));
  }
}

void add_aliases(const Code& code, const Definitions& definitions, FileUnits& out) {
  for (size_t i = 0; i < definitions.aliases.size(); ++i) {
    const Alias& alias = definitions.aliases[i];
    out.units.push_back({UnitKind::kAlias, static_cast<uint32_t>(i), alias.line,
                         find_type_references(code, {alias.first, alias.last})});
    out.hits.push_back(find_patterns(code.source, alias.first, alias.last, PatternScope::kDevice));
  }
}

// A class without the bodies of its functions and nested classes, which are units of their own.
void add_classes(const Code& code, const Definitions& definitions, FileUnits& out) {
  const std::vector<Class>& classes = definitions.classes;
  std::vector<std::pair<size_t, size_t>> inner;
  for (const Function& function : definitions.functions) {
    if (function.body_last > function.body_first) {
      inner.emplace_back(function.body_first, function.body_last);
    }
  }
  for (const Class& body : classes) inner.emplace_back(body.body_first, body.body_last);
  std::sort(inner.begin(), inner.end());
  for (size_t i = 0; i < classes.size(); ++i) {
    const Class& body = classes[i];
    CodeUnit unit{UnitKind::kClass, static_cast<uint32_t>(i), body.line_name, {}};
    std::vector<PatternHit> hits;
    size_t at = body.body_first + 1;
    auto next = std::upper_bound(inner.begin(), inner.end(), std::pair(body.body_first, SIZE_MAX));
    const size_t last = body.body_last;
    while (at < last) {
      const size_t end = next != inner.end() && next->first < last ? next->first : last;
      for (Reference& one : find_references(code, {at, end})) {
        const bool type = one.kind == ReferenceKind::kType || one.kind == ReferenceKind::kMade;
        if (type) unit.references.push_back(std::move(one));
      }
      append(hits, find_patterns(code.source, at, end, PatternScope::kDevice));
      if (end == last) break;
      at = next->second + 1;
      next = std::lower_bound(next, inner.end(), std::pair(at, size_t{0}));
    }
    out.units.push_back(std::move(unit));
    out.hits.push_back(std::move(hits));
  }
}

}  // namespace

FileUnits find_units(BodyTrees& trees, const Definitions& definitions) {
  FileUnits out;
  add_functions(trees, definitions, ClassesByPlace(definitions.classes), out);
  add_aliases(trees.code(), definitions, out);
  add_classes(trees.code(), definitions, out);
  out.host_hits.resize(out.units.size());
  return out;
}

}  // namespace fathom::cpp
