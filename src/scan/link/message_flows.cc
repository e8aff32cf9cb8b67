#include "scan/link/message_flows.h"

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/request_words.h"

namespace fathom {
namespace {

constexpr size_t kFunctionsBefore = 3;
constexpr size_t kMostLoops = 24;  // a name that more functions call says little

// The object that a method is called of: "input_queue" of self.input_queue.get.
std::string_view object_name(std::string_view callee) {
  const size_t dot = callee.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : last_part(callee.substr(0, dot));
}

bool is_queue_name(std::string_view name) {
  return holds_request_word(RequestRole::kQueue, small_letters(name));
}

bool is_send(std::string_view callee) {
  const std::string_view name = last_part(callee);
  return name.size() < callee.size() && is_request_word(RequestRole::kSend, name);
}

bool is_receive(std::string_view callee) {
  const std::string_view name = last_part(callee);
  if (name.starts_with("recv") || name.starts_with("receive") || name == "dequeue") return true;
  return is_request_word(RequestRole::kReceive, name) && is_queue_name(object_name(callee));
}

}  // namespace

MessageFlows::MessageFlows(const Readings& readings, const PythonCalls& graph)
    : graph_(graph), types_(graph.types()) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const SourceFile& source = readings.files[file];
    if (source.origin != Origin::kOwn || is_test_or_example(source.path)) continue;
    const python::PythonFile& python = readings.readings[file].python;
    for (const python::ValueFlow& flow : python.flows) {
      const bool decodes = flow.kind == python::FlowKind::kHand && flow.target.ends_with("Decoder");
      if ((flow.kind != python::FlowKind::kCheck && !decodes) ||
          flow.function == kPythonModuleLevel)
        continue;
      for (const PythonRef& type : types_.classes().classes_in(flow.value, file))
        checks_[type].push_back({{file, flow.function}, flow.line});
    }
    for (uint32_t i = 0; i < python.functions.size(); ++i) {
      note_helper(python.functions[i]);
      for (const python::Call& call : python.functions[i].calls) {
        if (!is_receive(call.callee)) continue;
        const std::string_view object = object_name(call.callee);
        if (holds(object, "queue")) takers_[{file, std::string(object)}].push_back({file, i});
      }
    }
  }
}

// def sock_send(socket, message): socket.send_pyobj(message): who calls it sends.
void MessageFlows::note_helper(const python::Function& function) {
  if (!function.scope.empty()) return;
  const auto is_given = [&function](std::string_view object) {
    return std::ranges::find(function.parameters, object, &python::Argument::name) !=
           function.parameters.end();
  };
  for (const python::Call& call : function.calls) {
    if (!is_given(object_name(call.callee))) continue;
    if (is_send(call.callee)) sending_.insert(function.name);
    if (is_receive(call.callee)) receiving_.insert(function.name);
  }
}

bool MessageFlows::sends(const python::Call& call) const {
  return is_send(call.callee) || sending_.contains(last_part(call.callee));
}

bool MessageFlows::receives(const python::Call& call) const {
  return is_receive(call.callee) || receiving_.contains(last_part(call.callee));
}

std::vector<PythonRef> MessageFlows::made_in(const PythonRef& function) const {
  std::vector<PythonRef> out;
  for (const python::Call& call : types_.classes().function(function).calls) {
    for (const PythonValue& value : types_.evaluate(call.callee, function.file, function.index)) {
      if (value.kind == PythonValue::Kind::kClass && checks_.contains(value.ref))
        out.push_back(value.ref);
    }
  }
  return out;
}

// Itself, or by another method of its object.
bool MessageFlows::receives(const PythonRef& function) const {
  const python::Function& own = types_.classes().function(function);
  if (own.name == "__init__") return false;  // it waits for a greeting
  const auto receives_itself = [this](const python::Function& by) {
    return std::ranges::any_of(by.calls,
                               [this](const python::Call& call) { return receives(call); });
  };
  if (receives_itself(own)) return true;
  const auto object = types_.classes().class_of(function);
  return object && std::ranges::any_of(own.calls, [&](const python::Call& call) {
           if (call.callee.size() < 6 || !call.callee.starts_with("self.") ||
               call.callee.find('.', 5) != std::string::npos)
             return false;
           const auto method = types_.classes().find_method(*object, call.callee.substr(5));
           return method && receives_itself(types_.classes().function(*method));
         });
}

// What a function can send: messages it makes, and those that its callers make and its parameters
// can be.
std::vector<PythonRef> MessageFlows::sendable(const PythonRef& sender,
                                              const std::vector<PythonRef>& before) const {
  std::vector<PythonRef> out = made_in(sender);
  // What it sends can come from its callers only where it is given something.
  const auto& parameters = types_.classes().function(sender).parameters;
  const bool has_self = !parameters.empty() && parameters[0].name == "self";
  if (parameters.size() <= (has_self ? 1u : 0u)) return out;
  std::vector<PythonRef> accepted;
  for (const std::string& annotation : types_.classes().function(sender).annotations) {
    for (const PythonRef& type : types_.classes().classes_in(annotation, sender.file))
      accepted.push_back(type);
  }
  for (size_t i = 0; i < std::min(before.size(), kFunctionsBefore); ++i) {
    for (const PythonRef& made : made_in(before[i])) {
      const bool fits = accepted.empty() ||
                        std::any_of(accepted.begin(), accepted.end(), [&](const PythonRef& a) {
                          return types_.classes().inherits(made, a);
                        });
      if (fits && !contains(out, made)) out.push_back(made);
    }
    for (const std::string& annotation : types_.classes().function(before[i]).annotations) {
      for (const PythonRef& type : types_.classes().classes_in(annotation, before[i].file)) {
        if (checks_.contains(type) && accepted.empty() && !contains(out, type)) out.push_back(type);
      }
    }
  }
  return out;
}

bool MessageFlows::is_made(std::string_view message, const PythonRef& sender,
                           const std::vector<PythonRef>& before) const {
  const auto makes = [&](const PythonRef& function) {
    const std::vector<PythonRef> made = made_in(function);
    return std::any_of(made.begin(), made.end(), [&](const PythonRef& of) {
      return types_.classes().type(of).name == message;
    });
  };
  return makes(sender) || std::any_of(before.begin(), before.end(), makes);
}

void MessageFlows::add_takers(const PythonRef& message, const PythonRef& sender,
                              Takers& out) const {
  const std::string& name = types_.classes().type(message).name;
  for (const Check& check : checks_.find(message)->second) {
    if (check.function == sender) continue;
    if (receives(check.function)) {
      out[{check.function, ""}].push_back(name);
      continue;
    }
    // A handler: the loop that calls it takes the message, and goes on with it.
    const std::string& handler = types_.classes().function(check.function).name;
    for (const PythonRef& caller : graph_.callers_by_name(handler)) {
      if (caller == check.function || caller == sender || !receives(caller)) continue;
      const auto& steps = graph_.calls_of(caller).steps;
      const bool calls = std::any_of(steps.begin(), steps.end(), [&](const CallStep& step) {
        return step.to == check.function;
      });
      if (calls) out[{caller, handler}].push_back(name);
    }
  }
}

// The first line that sends after the message was made; else the first that sends.
uint32_t MessageFlows::send_line(const PythonRef& sender, std::string_view message) const {
  uint32_t made = 0, first = 0, after = 0;
  for (const python::Call& call : types_.classes().function(sender).calls) {
    if (last_part(call.callee) == message && made == 0) made = call.line_first;
  }
  for (const python::Call& call : types_.classes().function(sender).calls) {
    if (!sends(call)) continue;
    if (first == 0) first = call.line_first;
    if (made != 0 && call.line_first >= made && (after == 0 || call.line_first < after))
      after = call.line_first;
  }
  return after != 0 ? after : first;
}

// self.requests.put(x) here, self.requests.get() in another function of the file.
void MessageFlows::add_same_queue(const PythonRef& sender, std::vector<CallStep>& out) const {
  for (const python::Call& call : types_.classes().function(sender).calls) {
    if (!is_send(call.callee) || holds_request_word(RequestRole::kAside, call.callee)) continue;
    const auto found = takers_.find({sender.file, std::string(object_name(call.callee))});
    if (found == takers_.end()) continue;
    for (const PythonRef& taker : found->second) {
      if (taker == sender) continue;
      out.push_back({taker,
                     {ReachKind::kPutsInto, found->first.second},
                     call.line_first,
                     false,
                     Certainty::kLikely});
    }
  }
}

std::vector<CallStep> MessageFlows::receivers_of(const PythonRef& sender,
                                                 const std::vector<PythonRef>& before) const {
  std::vector<CallStep> out;
  if (send_line(sender, "") == 0) return out;
  Takers takers;
  const std::vector<PythonRef> messages_sent = sendable(sender, before);
  for (const PythonRef& message : messages_sent) add_takers(message, sender, takers);
  for (auto& [taker, messages] : takers) {
    std::sort(messages.begin(), messages.end());
    messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
    const Reach how{.kind = ReachKind::kSends, .owner = taker.second, .messages = messages};
    // What is only handed through may be something else by the time that it is sent.
    const bool made = std::any_of(messages.begin(), messages.end(), [&](const std::string& name) {
      return is_made(name, sender, before);
    });
    out.push_back({taker.first, how, send_line(sender, messages.back()), false,
                   made ? Certainty::kLikely : Certainty::kUnsure});
  }
  add_same_queue(sender, out);
  add_loops(out);
  return out;
}

// Who calls the function that takes a message does so again and again, and goes on with it.
void MessageFlows::add_loops(std::vector<CallStep>& out) const {
  const size_t count = out.size();
  for (size_t i = 0; i < count; ++i) {
    const CallStep taken = out[i];
    const std::string& name = types_.classes().function(taken.to).name;
    const auto& callers = graph_.callers_by_name(name);
    if (callers.size() > kMostLoops) continue;
    for (const PythonRef& caller : callers) {
      if (caller == taken.to || types_.classes().function(caller).name == "__init__") continue;
      const auto& steps = graph_.calls_of(caller).steps;
      if (std::none_of(steps.begin(), steps.end(),
                       [&](const CallStep& s) { return s.to == taken.to; }))
        continue;
      Reach how = taken.how;
      how.then = name;
      out.push_back({caller, std::move(how), taken.line, true, Certainty::kLikely});
    }
  }
}

uint32_t MessageFlows::lost_at(const PythonRef& sender) const {
  for (const python::Call& call : types_.classes().function(sender).calls) {
    if (is_send(call.callee) &&
        (is_queue_name(object_name(call.callee)) || last_part(call.callee) != "send"))
      return call.line_first;
  }
  return 0;
}

}  // namespace fathom
