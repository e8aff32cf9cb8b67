#include "scan/cpp/kernel_handles.h"

#include <algorithm>

#include "base/glob.h"
#include "base/tsv.h"
#include "scan/cpp/kernel_choice.h"

extern const std::string_view kernel_lookups_tsv;

namespace fathom::cpp {
namespace {

constexpr size_t kMostNames = 64;         // of one handle
constexpr size_t kMostLooks = 256;        // at what a function may have put into it
constexpr size_t kLongestStatement = 64;  // tokens that are looked at before a call
constexpr size_t kLongestHandle = 24;     // tokens

struct LookupCalls {
  std::vector<std::string_view> names, objects;  // objects: without their namespace
};

const LookupCalls& lookup_calls() {
  static const LookupCalls calls = [] {
    LookupCalls read;
    for (const auto& row : read_tsv(kernel_lookups_tsv, 1)) {
      const size_t qualifier = row[0].find("::");
      if (qualifier == std::string_view::npos) read.names.push_back(row[0]);
      if (qualifier != std::string_view::npos) read.objects.push_back(row[0].substr(qualifier + 2));
    }
    return read;
  }();
  return calls;
}

bool is_lookup(std::string_view name) {
  return std::ranges::any_of(lookup_calls().names,
                             [name](std::string_view call) { return glob_matches(call, name); });
}

bool is_object(std::string_view name) { return contains(lookup_calls().objects, name); }

void add_name(std::vector<std::string>& list, const std::string& name) {
  if (list.size() < kMostNames && !name.empty() && !contains(list, name)) list.push_back(name);
}

// "name" without its quotes; empty: no such literal.
std::string text_within(std::string_view token) {
  return token.size() > 2 && token.starts_with('"') ? std::string(token.substr(1, token.size() - 2))
                                                    : std::string();
}

// fns[i] and fns[0] are parts of fns[].
std::string any_entry(std::string_view handle) {
  if (!handle.ends_with(']')) return {};
  return std::string(handle.substr(0, handle.rfind('['))) + "[]";
}

// ctx->scale is the scale of some object.
std::string any_object(std::string_view handle) {
  const size_t dot = handle.rfind('.');
  return dot == std::string_view::npos ? std::string() : "*" + std::string(handle.substr(dot));
}

}  // namespace

bool KernelHandles::gives_by_name(std::string_view function) {
  if (is_lookup(function) || is_object(function)) return true;
  read();
  return helpers_.contains(function);
}

std::vector<std::string> KernelHandles::held_in_function(Range expression, size_t at, size_t from) {
  std::vector<std::string> names;
  const Held* held = of(expression);
  if (held == nullptr) return names;
  const std::vector<Lookup>& all = held->lookups;
  auto last = std::ranges::lower_bound(all, at, {}, &Lookup::at);
  for (size_t looks = 0; looks < kMostLooks && last != all.begin(); ++looks) {
    --last;
    if (last->at < from) break;
    for (const std::string& name : last->names) add_name(names, name);
    if (last->is_certain && code_.brackets.visible(last->at, at)) break;
  }
  return names;
}

std::vector<std::string> KernelHandles::held_in_file(Range expression) {
  const Held* held = of(expression);
  return held == nullptr ? std::vector<std::string>() : held->names;
}

// Of the expression itself, of its table, or of its member in other objects.
const KernelHandles::Held* KernelHandles::of(Range expression) {
  read();
  if (held_.empty()) return nullptr;
  const std::string handle = text_of(expression);
  for (const std::string& known : {handle, any_entry(handle), any_object(handle)}) {
    const auto found = known.empty() ? held_.end() : held_.find(known);
    if (found != held_.end()) return &found->second;
  }
  return nullptr;
}

void KernelHandles::read() {
  if (is_read_) return;
  is_read_ = true;
  const auto is_named = [this](std::string_view call) {
    return holds(code_.source.text, call.substr(call.starts_with('*') ? 1 : 0));
  };
  if (std::ranges::none_of(lookup_calls().names, is_named) &&
      std::ranges::none_of(lookup_calls().objects, is_named))
    return;
  find_lists();
  find_helpers();
  for (size_t i = 0; i + 1 < code_.source.size(); ++i) {
    if (!code_.source.is_name(i)) continue;
    const std::string_view name = code_.source.at(i);
    if (is_object(name) && i > 1 && code_.is(i - 1, "::") && code_.is(i - 2, "cl")) {
      read_object(i);
    } else if (code_.is(i + 1, "(") && code_.brackets.closed(i + 1) &&
               (is_lookup(name) || helpers_.contains(name))) {
      read_call(i, i + 1);
    }
  }
}

// const char* names[] = {"a", "b"};
void KernelHandles::find_lists() {
  for (size_t i = 1; i + 2 < code_.source.size(); ++i) {
    if (!code_.is(i, "{") || !code_.brackets.closed(i) ||
        code_.source.tokens[i + 1].kind != TokenKind::kString)
      continue;
    size_t variable = code_.is(i - 1, "=") ? i - 1 : i;
    if (variable > 0 && code_.is(variable - 1, "]") && code_.brackets.closed(variable - 1))
      variable = code_.brackets.partner(variable - 1);
    if (variable == 0 || !code_.source.is_name(variable - 1)) continue;
    std::vector<std::string>& names = lists_[std::string(code_.source.at(variable - 1))];
    for (const Range& one : arguments_of(code_, i)) {
      if (names.size() == kMostNames) break;
      if (!one.empty()) names.push_back(text_within(code_.source.at(one.first)));
    }
  }
}

// CUfunction get(CUmodule module, const char* name) { …GetFunction(&kernel, module, name); … }
void KernelHandles::find_helpers() {
  const std::vector<Function>& functions = definitions_.functions;
  for (size_t i = 0; i + 1 < code_.source.size(); ++i) {
    if (!code_.source.is_name(i) || !code_.is(i + 1, "(") || !is_lookup(code_.source.at(i)))
      continue;
    if (!names_of(i + 1).empty()) continue;
    const auto after = std::ranges::upper_bound(functions, i, {}, [](const Function& function) {
      return static_cast<size_t>(function.body_first);
    });
    if (after == functions.begin()) continue;
    const Function& around = *(after - 1);
    if (around.body_last <= i) continue;
    const std::vector<std::string> parameters = parameter_names(around.parameters);
    for (const Range& argument : arguments_of(code_, i + 1)) {
      if (argument.empty()) continue;
      const std::string_view word = code_.source.at(argument.first);  // name, name.c_str()
      const auto found = std::ranges::find(parameters, word);
      if (!code_.source.is_name(argument.first) || found == parameters.end()) continue;
      helpers_.insert(around.name);
    }
  }
  std::erase_if(helpers_, [](const std::string& helper) { return is_lookup(helper); });
}

// The literals that a call asks for: its own, or those of a list that it goes through.
std::vector<std::string> KernelHandles::names_of(size_t open) const {
  const std::vector<Range> arguments = arguments_of(code_, open);
  for (const Range& argument : arguments) {
    if (argument.empty() || code_.source.tokens[argument.first].kind != TokenKind::kString)
      continue;
    if (std::string name = text_within(code_.source.at(argument.first)); !name.empty())
      return {name};
  }
  for (const Range& argument : arguments) {  // names[i]
    if (argument.last - argument.first < 4 || !code_.source.is_name(argument.first) ||
        !code_.is(argument.first + 1, "["))
      continue;
    const auto list = lists_.find(code_.source.at(argument.first));
    if (list != lists_.end()) return list->second;
  }
  return {};
}

// f(&handle, …, "name"), handle = f(…, "name")
void KernelHandles::read_call(size_t name, size_t open) {
  const Lookup lookup{name, names_of(open), !is_in_branch(name)};
  const std::vector<Range> arguments = arguments_of(code_, open);
  std::optional<Range> handle = assigned_by(name);
  if (!arguments.empty()) {
    Range first = arguments.front();
    if (code_.is(first.first, "(") && code_.brackets.closed(first.first))
      first.first = code_.brackets.partner(first.first) + 1;  // (void**)&kernel
    // What such a call gives back is a status.
    if (code_.is(first.first, "&")) handle = {first.first + 1, first.last};
  }
  if (handle) hold(*handle, lookup);
}

// cl::Kernel scale(program, "scale");
void KernelHandles::read_object(size_t name) {
  size_t variable = name + 1;
  if (code_.is(variable, "<") && code_.brackets.closed(variable)) variable = code_.past(variable);
  if (!code_.source.is_name(variable)) {
    if (!code_.is(variable, "(") || !code_.brackets.closed(variable)) return;
    const auto handle = assigned_by(name);  // scale = cl::Kernel(program, "scale")
    if (handle) hold(*handle, {name, names_of(variable), !is_in_branch(name)});
    return;
  }
  const size_t open = variable + 1;
  if ((!code_.is(open, "(") && !code_.is(open, "{")) || !code_.brackets.closed(open)) return;
  hold({variable, variable + 1}, {name, names_of(open), true});
}

void KernelHandles::hold(Range handle, const Lookup& lookup) {
  const std::string text = text_of(handle);
  for (const std::string& known : {text, any_entry(text), any_object(text)}) {
    if (known.empty()) continue;
    Held& held = held_[known];
    held.lookups.push_back(lookup);
    held.lookups.back().is_certain &= known == text;
    for (const std::string& name : lookup.names) add_name(held.names, name);
  }
}

// As it is written, but without spaces and this->.
std::string KernelHandles::text_of(Range handle) const {
  if (handle.empty() || handle.last - handle.first > kLongestHandle) return {};
  std::string text;
  for (size_t i = handle.first; i < handle.last; ++i) {
    if (code_.is(i, "this") && code_.is(i + 1, "->")) {
      ++i;
    } else {
      text += code_.is(i, "->") ? "." : code_.source.at(i);
    }
  }
  return text;
}

// What the result of a call is assigned to: the expression before the =.
std::optional<Range> KernelHandles::assigned_by(size_t callee) const {
  size_t begin = path_before(code_, callee + 1).all.first;
  while (begin > 1 && (code_.is(begin - 1, ".") || code_.is(begin - 1, "->")) &&
         code_.source.is_name(begin - 2))
    begin -= 2;  // module.get("name")
  if (begin < 2 || !code_.is(begin - 1, "=")) return std::nullopt;
  const size_t last = begin - 1;
  size_t first = last;
  while (first > 0 && last - first < kLongestHandle) {
    if (code_.is(first - 1, "]") && code_.brackets.closed(first - 1)) {
      first = code_.brackets.partner(first - 1);
      continue;
    }
    if (!code_.source.is_name(first - 1)) break;
    --first;
    if (first == 0 || !code_.is_any(first - 1, {".", "->", "::"})) break;
    --first;
  }
  return first < last ? std::optional(Range{first, last}) : std::nullopt;
}

// Whether a condition decides if a statement runs that has no braces of its own.
bool KernelHandles::is_in_branch(size_t at) const {
  const size_t limit = at > kLongestStatement ? at - kLongestStatement : 0;
  for (size_t i = at; i > limit; --i) {
    size_t before = i - 1;
    if (code_.is_any(before, {";", "{", "}"})) return false;
    if (code_.is_any(before, {"else", "?", ":", "&&", "||"})) return true;
    if (!code_.is(before, ")") || !code_.brackets.closed(before)) continue;
    before = code_.brackets.partner(before);
    if (before > 0 && code_.is_any(before - 1, {"if", "for", "while"})) return true;
    i = before + 1;
  }
  return false;
}

}  // namespace fathom::cpp
