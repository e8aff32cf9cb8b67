// What AccessWalker makes of assignments and references.
#include <utility>

#include "scan/accesses/access_walker.h"

namespace fathom {

AccessWalker::Value AccessWalker::place(uint32_t id) {
  const CodeNode& at = node(id);
  if (at.kind == CodeKind::kSubscript) return subscript_value(id, true);
  if (at.kind == CodeKind::kUnary && at.text == "*") return value(at.children[0]);
  if (at.kind == CodeKind::kCast) {
    Value inner = place(at.children[0]);
    return inner;
  }
  if (at.kind == CodeKind::kName) {
    Value out = name_value(at);
    if (out.refers) out.pointer = std::exchange(out.refers, std::nullopt);
    if (out.pointer) return out;  // &array, or a reference to it
    Pointer local;
    local.space = Space::kLocal;
    local.array = at.text;
    local.type = local.unit = out.type;
    out.pointer = std::move(local);
    return out;
  }
  if (at.kind == CodeKind::kMember) return place(at.children[0]);
  return value(id);
}

// Only what lies in memory that counts; anything else is read where it is declared.
std::optional<AccessWalker::Value> AccessWalker::bound_to(uint32_t id) {
  const CodeNode& at = node(id);
  const bool lies = at.kind == CodeKind::kSubscript || at.kind == CodeKind::kMember ||
                    (at.kind == CodeKind::kUnary && at.text == "*");
  if (!lies) return std::nullopt;
  flush_operations();
  ++quiet_;
  const std::optional<Pointer> found = place(id).pointer;
  flush_operations();
  --quiet_;
  if (!found || found->space == Space::kLocal) return std::nullopt;
  return place(id);
}

const AccessWalker::Pointer* AccessWalker::referred(uint32_t id) const {
  while (node(id).kind == CodeKind::kMember || node(id).kind == CodeKind::kSubscript)
    id = node(id).children[0];
  if (node(id).kind != CodeKind::kName) return nullptr;
  const auto known = frame_->names.find(node(id).text);
  const bool refers = known != frame_->names.end() && known->second.refers;
  return refers ? &*known->second.refers : nullptr;
}

AccessWalker::Value AccessWalker::read_through(const Pointer& pointer, uint32_t id) {
  access(pointer, AccessKind::kRead, id);
  if (is_real_type(pointer.type)) return real_number();
  Value where;
  where.number = pointer.offset + pointer.more;
  Value out = computed(source(id), {&where}, pointer.space == Space::kGlobal);
  out.type = pointer.type;
  return out;
}

void AccessWalker::store(uint32_t target, const Value& stored, bool reads_too) {
  const CodeNode& at = node(target);
  if (const Pointer* reference = referred(target)) {
    const Pointer pointer = *reference;
    if (reads_too) access(pointer, AccessKind::kRead, target);
    return access(pointer, AccessKind::kWrite, target);
  }
  if (at.kind == CodeKind::kName) {
    rename(at.text, stored, reads_too);
    return;
  }
  if (at.kind == CodeKind::kMember) {
    const CodeNode& object = node(at.children[0]);
    if (object.kind == CodeKind::kName || object.kind == CodeKind::kMember) return;
  }
  const Value where = place(target);
  if (!where.pointer) return;
  if (reads_too) access(*where.pointer, AccessKind::kRead, target);
  access(*where.pointer, AccessKind::kWrite, target);
}

// A variable gets a new value. What a loop changes in every round depends on the round.
void AccessWalker::rename(const std::string& name, Value stored, bool compound) {
  if (quiet_ > 0) return;
  const auto known = frame_->names.find(name);
  if (known == frame_->names.end()) return;
  Value& variable = known->second;
  if (variable.real || variable.object) return;
  const bool in_loop = static_cast<int>(loops_.size()) > variable.loops;
  if (in_loop && compound && !moved_.contains(name)) {
    Value round;
    round.number = Polynomial::symbol(loops_.back());
    const Value mixed = computed(name, {&variable, &round}, false);
    if (variable.pointer) {
      *variable.pointer = moved(*variable.pointer, *mixed.number);
    } else {
      variable.number = mixed.number;
    }
    return;
  }
  if (stored.pointer) {
    const std::string type = variable.pointer ? variable.pointer->type : stored.pointer->type;
    variable.pointer = stored.pointer;
    if (variable.pointer->type.empty()) variable.pointer->type = type;
  } else if (stored.number && !variable.pointer) {
    const bool plain = stored.number->as_symbol() || space_.is_uniform(*stored.number);
    variable.number =
        plain ? *stored.number : Polynomial::symbol(space_.variable(name, *stored.number));
  } else if (!variable.pointer) {
    variable.number = computed(name, {&variable, &stored}, false).number;
  }
}

AccessWalker::Value AccessWalker::assign_value(uint32_t id) {
  const CodeNode& at = node(id);
  Value right = value(at.children[1]);
  if (at.text == "=") {
    store(at.children[0], right, false);
    return right;
  }
  flush_operations();
  ++quiet_;
  const Value left = value(at.children[0]);
  flush_operations();
  --quiet_;
  CodeNode operation = at;
  operation.text = at.text.substr(0, at.text.size() - 1);
  const Value result = arithmetic_value(operation, left, right);
  store(at.children[0], result, true);
  return result;
}

}  // namespace fathom
