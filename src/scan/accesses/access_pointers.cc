// The pointers that AccessWalker follows.
#include "base/text_parts.h"
#include "scan/accesses/access_walker.h"

namespace fathom {
namespace {

// "places.from[t]" → "places.from": what an array is called where only an expression names it.
std::string array_name(std::string text) {
  if (const size_t open = text.find('['); open != std::string::npos) text.resize(open);
  constexpr size_t kLongest = 60;
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

}  // namespace

// A pointer that nothing but its use shows to be one.
AccessWalker::Value AccessWalker::pointer_from(uint32_t id, const Value& base,
                                               const std::string& type) {
  Value out;
  Pointer pointer;
  pointer.array = array_name(node(id).kind == CodeKind::kDeclarator ? node(id).text : source(id));
  pointer.type = pointer.unit = resolved_type(type);
  if (base.number && !space_.is_uniform(*base.number)) pointer.offset = *base.number;
  // &row[0] of an array of the thread's own is in no other memory, whatever the row's values are.
  const std::string written = source(id);
  const bool address = written.starts_with('&') || written.starts_with("(&");
  const bool own = (base.object && !base.number) || (address && (base.object || base.real));
  pointer.space = own ? Space::kLocal : Space::kGlobal;
  pointer.sure = false;
  out.pointer = std::move(pointer);
  out.local = true;
  return out;
}

AccessWalker::Pointer AccessWalker::moved(Pointer pointer, const Polynomial& by) {
  (pointer.type == pointer.unit ? pointer.offset : pointer.more) =
      (pointer.type == pointer.unit ? pointer.offset : pointer.more) + by;
  return pointer;
}

// Whether an expression a[i] is of an array that is declared in shared memory, and so no pointer
// that is read.
bool AccessWalker::is_of_shared(uint32_t id) const {
  while (node(id).kind == CodeKind::kSubscript) id = node(id).children[0];
  const auto known =
      node(id).kind == CodeKind::kName ? frame_->names.find(node(id).text) : frame_->names.end();
  return known != frame_->names.end() && known->second.extents.size() > 1;
}

// Elements of a row of float x[4][8][16], whose extents these are: 8 * 16.
Polynomial AccessWalker::row_length(const std::vector<std::string>& extents) {
  Polynomial out = Polynomial::constant(1);
  for (size_t i = 1; i < extents.size(); ++i) {
    const auto number = value_of_text(extents[i]).number;
    out = out * (number ? *number : Polynomial::symbol(space_.uniform(extents[i])));
    if (out.terms().size() > 4) return Polynomial::symbol(space_.uniform(extents[i]));
  }
  return out;
}

AccessWalker::Value AccessWalker::subscript_value(uint32_t id, bool for_address) {
  const std::vector<uint32_t> parts = node(id).children;
  Value base =
      node(parts[0]).kind != CodeKind::kSubscript || (for_address && !is_of_shared(parts[0]))
          ? value(parts[0])
          : subscript_value(parts[0], true);
  const Value index = value(parts[1]);
  const Value& where = index;
  if (!base.pointer && !base.object && !base.real && node(parts[0]).kind == CodeKind::kMember &&
      base.number && space_.is_uniform(*base.number)) {
    base = pointer_from(parts[0], base, "");  // params.lengths[i]
  }
  if (base.pointer) {
    Polynomial by;
    if (where.number) {
      by = *where.number;
    } else if (where.real) {
      // A template's type that was taken for a real number: it may be any index.
      const Symbol any = space_.loop(source(parts[1]), {}, {}, {});
      by = Polynomial::symbol(space_.computed(source(parts[1]), {any}, true));
    } else {
      by = *computed(source(parts[1]), {&where}, false).number;
    }
    Value out;
    // Rows of an array of arrays: the first index leaves a pointer.
    if (base.extents.size() > 1) {
      by = by * row_length(base.extents);
      out.extents = {base.extents.begin() + 1, base.extents.end()};
    }
    out.pointer = moved(*base.pointer, by);
    if (for_address) return out;
    access(*out.pointer, AccessKind::kRead, id);
    const bool real = is_real_type(out.pointer->type);
    if (real || out.pointer->space == Space::kLocal) {
      Value read;
      read.real = real;
      return read;
    }
    Value place_of;
    place_of.number = out.pointer->offset + out.pointer->more;
    Value loaded = computed(source(id), {&place_of}, out.pointer->space == Space::kGlobal);
    loaded.type = out.pointer->type;
    return loaded;
  }
  if (base.object || base.real) {
    Value out;
    out.real = base.real || is_real_type(base.type);
    out.object = !out.real || base.extents.size() > 1;
    if (base.extents.size() > 1) out.extents = {base.extents.begin() + 1, base.extents.end()};
    if (!out.real && out.extents.empty()) {
      out = computed(source(id), {&base, &where}, false);
      // What was put into an array of the thread's own is not followed: it may be any index.
      if (!base.extents.empty())
        out.number = Polynomial::symbol(space_.loop(source(id), {}, {}, {}));
      out.object = true;
    }
    return out;
  }
  return computed(source(id), {&base, &where}, false);
}

AccessWalker::Value AccessWalker::cast_value(uint32_t id) {
  const CodeNode& at = node(id);
  Value inner = at.children.empty() ? Value() : value(at.children[0]);
  const bool to_pointer = holds(at.text, '*');
  const std::string type = resolved_type(at.text);
  if (!to_pointer) {
    if (inner.pointer) return {};
    if (is_real_type(at.text)) return real_number();
    if (inner.real) {
      inner = {};
      inner.real = false;
    }
    return inner;
  }
  if (!inner.pointer) return pointer_from(at.children.empty() ? id : at.children[0], inner, type);
  Pointer& pointer = *inner.pointer;
  if (type == "void" || type == "char" || type == "unsigned char") return inner;  // source text
  pointer.type = type;
  if (pointer.offset.is_zero() || pointer.unit.empty() || pointer.unit == "void")
    pointer.unit = type;
  return inner;
}

}  // namespace fathom
