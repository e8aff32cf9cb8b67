// The calls of AccessWalker.
#include <algorithm>

#include "scan/accesses/access_walker.h"
#include "scan/cpp/tree/code_reader.h"
#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

constexpr size_t kMaxInside = 8;

bool is_load(std::string_view name) {
  return is_one_of(name, {"__ldg", "__ldcs", "__ldca", "__ldcg", "__ldlu", "__ldcv",
                          "__builtin_nontemporal_load"});
}

bool is_store(std::string_view name) {
  return is_one_of(name, {"__stcs", "__stcg", "__stwt", "__stwb"});
}

// Operations on real numbers that code calls by name, and how many each counts for.
int operations_of(std::string_view name) {
  if (name == "fmaf" || name == "__fmaf_rn" || name == "fma" || name == "__hfma2") return 2;
  return is_one_of(name, {"expf",       "exp",    "__expf", "exp2f",     "exp2",   "logf",
                          "log",        "__logf", "log2f",  "sqrtf",     "sqrt",   "rsqrtf",
                          "rsqrt",      "tanhf",  "tanh",   "powf",      "pow",    "fmaxf",
                          "fminf",      "coshf",  "sinf",   "cosf",      "fabsf",  "fmax",
                          "__fdividef", "erff",   "sinhf",  "__frcp_rn", "log1pf", "fmin"})
             ? 1
             : 0;
}

// Whether a function that is not known may read or write what its pointer points to.
bool may_touch_memory(std::string_view name) {
  return !is_one_of(last_name(name), {"assert", "printf", "__cvta_generic_to_shared",
                                      "__cvta_generic_to_global", "__builtin_assume", "__isGlobal",
                                      "__isShared", "sizeof", "__builtin_assume_aligned"}) &&
         !holds(name, "prefetch");
}

}  // namespace

AccessWalker::Value AccessWalker::call_value(uint32_t id) {
  const CodeNode& at = node(id);
  if (at.children.empty()) return {};
  const CodeNode callee = node(at.children[0]);
  const std::string_view name = last_name(callee.text);
  if (callee.kind == CodeKind::kName && name == "sizeof" && at.children.size() == 2) {
    const std::string type = resolved_type(source(at.children[1]));
    const auto bytes = bytes_of(type);
    Value out;
    out.number = bytes ? Polynomial::constant(*bytes)
                       : Polynomial::symbol(space_.uniform("sizeof(" + type + ")"));
    return out;
  }
  if (callee.kind == CodeKind::kName) {
    if (auto memory = memory_call(id, name)) return *memory;
  } else if (callee.kind == CodeKind::kMember) {
    if (auto group = group_call(id)) return *group;
  }
  std::vector<Value> arguments;
  for (size_t i = 1; i < at.children.size(); ++i) {
    // A local object handed on by reference is no number that an index could be made of.
    arguments.push_back(value(at.children[i]));
  }
  if (callee.kind == CodeKind::kMember) {
    // A method may change what its object refers to.
    if (const Pointer* reference = referred(callee.children[0])) unresolved(id, *reference);
    const Value object = value(callee.children[0]);
    if (object.real) return real_number();
    arguments.push_back(object);
    return unknown_call(id, callee.text, arguments);
  }
  if (callee.kind != CodeKind::kName) return unknown_call(id, "", arguments);
  if (const auto known = frame_->names.find(callee.text);
      known != frame_->names.end() && known->second.lambda) {
    return called(*known->second.lambda, std::move(arguments));
  }
  if (operations_of(name) > 0 || name == "min" || name == "max")
    return math_call(id, name, arguments);
  const bool again = contains(inside_, name);
  const DeviceFunction* function = again || inside_.size() > kMaxInside
                                       ? nullptr
                                       : around_.find(called_name(callee.text), arguments.size());
  if (function == nullptr) return unknown_call(id, callee.text, arguments);
  return inlined(*function, id, std::move(arguments));
}

// Layout::column, where Layout stands for PlainLayout<64> here.
std::string AccessWalker::called_name(const std::string& written) const {
  const size_t colons = written.find("::");
  if (colons == std::string::npos) return written;
  const auto type = frame_->types.find(written.substr(0, colons));
  return type == frame_->types.end() ? written : type->second + written.substr(colons);
}

// memcpy_async(to, from, …), perhaps with a group before: reads the one and writes the other.
bool AccessWalker::copy_call(uint32_t id, std::string_view name) {
  if (name != "memcpy_async" && name != "__pipeline_memcpy_async") return false;
  const std::vector<uint32_t> parts = node(id).children;
  std::vector<std::pair<uint32_t, Pointer>> ends;
  for (size_t i = 1; i < parts.size(); ++i) {
    const Value one = value(parts[i]);
    if (one.pointer && ends.size() < 2) ends.emplace_back(parts[i], *one.pointer);
  }
  if (ends.size() < 2) return false;
  access(ends[1].second, AccessKind::kRead, ends[1].first);
  access(ends[0].second, AccessKind::kWrite, ends[0].first);
  return true;
}

std::optional<AccessWalker::Value> AccessWalker::memory_call(uint32_t id, std::string_view name) {
  if (copy_call(id, name)) return Value();
  const CodeNode& at = node(id);
  const bool atomic = name.starts_with("atomic") && at.children.size() > 2;
  if (at.children.size() < 2 || (!is_load(name) && !is_store(name) && !atomic)) return std::nullopt;
  const Value where = value(at.children[1]);
  for (size_t i = 2; i < at.children.size(); ++i) value(at.children[i]);
  if (where.pointer) {
    access(*where.pointer,
           atomic          ? AccessKind::kAtomic
           : is_load(name) ? AccessKind::kRead
                           : AccessKind::kWrite,
           at.children[1]);
    if (is_real_type(where.pointer->type)) return real_number();
    Value place_of;
    place_of.number = where.pointer->offset + where.pointer->more;
    return computed(source(id), {&place_of}, true);
  }
  unresolved(id);
  return Value();
}

// cooperative_groups: ranks and sizes of blocks and warps.
std::optional<AccessWalker::Value> AccessWalker::group_call(uint32_t id) {
  const CodeNode& callee = node(node(id).children[0]);
  if (!is_one_of(callee.text,
                 {"thread_rank", "meta_group_rank", "meta_group_size", "size", "num_threads"}))
    return std::nullopt;
  const Value object = value(callee.children[0]);
  const bool warp = holds(object.type, "tile");
  const bool block = holds(object.type, "thread_block") && !warp;
  if (!warp && !block) return std::nullopt;
  const Polynomial lanes = Polynomial::constant(32);
  const Polynomial threads = Polynomial::symbol(space_.uniform("blockDim.x"));
  const Polynomial thread = Polynomial::symbol(space_.base("threadIdx.x", threads));
  Value out;
  if (callee.text == "thread_rank") {
    out.number = warp ? space_.remainder(thread, lanes) : thread;
  } else if (callee.text == "meta_group_rank") {
    out.number = space_.divided(thread, lanes);
  } else if (callee.text == "meta_group_size") {
    out.number = space_.divided(threads, lanes);
  } else {
    out.number = warp ? lanes : threads;
  }
  return out;
}

AccessWalker::Value AccessWalker::math_call(uint32_t id, std::string_view name,
                                            const std::vector<Value>& arguments) {
  const int count = operations_of(name);
  if (count > 0) {
    count_operations(count);
    return real_number();
  }
  const bool real =
      std::any_of(arguments.begin(), arguments.end(), [](const Value& one) { return one.real; });
  if (real) {
    count_operations(1);
    return real_number();
  }
  if (name == "min" && arguments.size() == 2 && arguments[0].number && arguments[1].number) {
    const auto a = space_.upper_bound(*arguments[0].number),
               b = space_.upper_bound(*arguments[1].number);
    if (!(a && b && space_.is_uniform(*arguments[0].number) &&
          space_.is_uniform(*arguments[1].number))) {
      return computed(source(id), {&arguments[0], &arguments[1]}, false, a ? a : b);
    }
  }
  return unknown_call(id, name, arguments);
}

AccessWalker::Value AccessWalker::unknown_call(uint32_t id, std::string_view name,
                                               const std::vector<Value>& arguments) {
  std::vector<const Value*> inputs;
  bool uniform = true, real = false;
  const Value* pointer = nullptr;
  std::string text(name);
  for (const Value& argument : arguments) {
    inputs.push_back(&argument);
    const bool known = argument.number && !argument.pointer;
    uniform = uniform && known && space_.is_uniform(*argument.number);
    text += (text.size() == name.size() ? "(" : ", ") +
            (known ? space_.text(*argument.number) : std::string("…"));
    real = real || argument.real;
    if (argument.pointer && pointer == nullptr) pointer = &argument;
  }
  text += text.size() == name.size() ? "()" : ")";
  if (pointer != nullptr) {
    if (holds(name, "align")) return *pointer;
    // Something like pointer::offset(base, i): an address in the same array.
    const bool address = holds(name, "offset") || holds(name, "advance") || holds(name, "ptr");
    if (!address) {
      if (may_touch_memory(name)) unresolved(id, *pointer->pointer);
      return {};
    }
    Value out = *pointer;
    const Value by = computed(source(id), inputs, false);
    out.pointer->offset = *by.number;
    return out;
  }
  if (real) return real_number();
  if (uniform && text.size() < 120) {
    Value out;
    out.number = Polynomial::symbol(space_.uniform(text));
    return out;
  }
  Value out = computed(source(id), inputs, false);
  // tiled_partition<32>(block) and this_thread_block() say what they are by their name.
  if (holds(name, "tiled_partition")) out.type = "tile";
  if (holds(name, "this_thread_block")) out.type = "thread_block";
  return out;
}

AccessWalker::Value AccessWalker::inlined(const DeviceFunction& function, uint32_t call,
                                          std::vector<Value> given) {
  constexpr size_t kFewNodes = 40;
  const CodeNode& callee = node(node(call).children[0]);
  Frame frame;
  frame.caller = frame_;
  frame.call = call;
  frame.way =
      frame_->way + std::to_string(node(call).line) + "." + std::to_string(node(call).first) + " ";
  frame.only_loads = function.tree.nodes.size() <= kFewNodes;
  frame.tree = &function.tree;
  frame.of = &function;
  // Explicit template arguments, as far as they are written at the call.
  const std::vector<std::string_view> arguments = split_list(callee.extra);
  for (size_t i = 0; i < std::min(arguments.size(), function.template_parameters.size()); ++i) {
    std::string argument = resolved_type(arguments[i]);
    // What the caller computed has a name there only.
    if (const auto own = frame_->names.find(argument); own != frame_->names.end())
      frame.names[function.template_parameters[i]] = own->second;
    else
      frame.types[function.template_parameters[i]] = std::move(argument);
  }
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const CodeParameter& parameter = function.parameters[i];
    Value value = i < given.size() ? std::move(given[i]) : Value();
    value.loops = static_cast<int>(loops_.size());
    const std::string type = plain_type(parameter.type);
    if (value.pointer && parameter.pointers > 0) {
      // What a template calls T is here the type of what it was given.
      if (function.is_template_parameter(type)) frame.types.emplace(type, value.pointer->type);
    }
    // float (&values)[kCount]: what is handed on says what kCount is.
    if (!parameter.extent.empty() && !value.extents.empty())
      frame.types.emplace(parameter.extent, value.extents.front());
    if (!value.pointer && is_real_type(type) && parameter.pointers == 0 && !value.object &&
        !function.is_template_parameter(type)) {
      value.real = true;
    }
    frame.names[parameter.name] = std::move(value);
  }
  Frame* const outer = frame_;
  frame_ = &frame;
  inside_.push_back(function.name);
  const size_t tests = conditions_.size();  // its returns end it, and not its caller
  block(function.tree.root);
  conditions_.resize(tests);
  inside_.pop_back();
  frame_ = outer;
  return frame.returned.value_or(Value());
}

AccessWalker::Value AccessWalker::called(const Lambda& lambda, std::vector<Value> given) {
  if (inside_.size() > kMaxInside) return {};
  Frame frame = *frame_;
  frame.tree = lambda.tree;
  frame.returned.reset();
  frame.names = lambda.names;
  frame.types = lambda.types;
  for (size_t i = 0; i < lambda.parameters.size() && i < given.size(); ++i) {
    frame.names[lambda.parameters[i].name] = std::move(given[i]);
  }
  Frame* const outer = frame_;
  frame_ = &frame;
  inside_.emplace_back();
  const size_t tests = conditions_.size();
  block(lambda.body);
  conditions_.resize(tests);
  inside_.pop_back();
  frame_ = outer;
  return frame.returned.value_or(Value());
}

}  // namespace fathom
