#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "scan/link/python_calls.h"

namespace fathom {

// Where a message sent from one function is taken by another: through a queue or a socket, whose
// code shows only what classes go in and what classes are asked for at the other end.
class MessageFlows {
 public:
  MessageFlows(const Readings& readings, const PythonCalls& graph);

  // The functions that take what `sender` sends. `before` are the functions on the way to it, the
  // nearest first: what it is given to send is made there.
  std::vector<CallStep> receivers_of(const PythonRef& sender,
                                     const std::vector<PythonRef>& before) const;

  // The line that sends something; 0: it sends nothing.
  uint32_t lost_at(const PythonRef& sender) const;

 private:
  struct Check {
    PythonRef function;
    uint32_t line;
  };

  std::vector<PythonRef> sendable(const PythonRef& sender,
                                  const std::vector<PythonRef>& before) const;
  std::vector<PythonRef> made_in(const PythonRef& function) const;
  bool is_made(std::string_view message, const PythonRef& sender,
               const std::vector<PythonRef>& before) const;
  void note_helper(const python::Function& function);
  bool sends(const python::Call& call) const;
  bool receives(const python::Call& call) const;
  bool receives(const PythonRef& function) const;
  // Who takes messages and the handler it gives them to → the messages.
  using Takers = std::map<std::pair<PythonRef, std::string>, std::vector<std::string>>;
  void add_takers(const PythonRef& message, const PythonRef& sender, Takers& out) const;
  uint32_t send_line(const PythonRef& sender, std::string_view message) const;
  void add_loops(std::vector<CallStep>& out) const;
  void add_same_queue(const PythonRef& sender, std::vector<CallStep>& out) const;

  const PythonCalls& graph_;
  const PythonTypes& types_;
  std::map<PythonRef, std::vector<Check>> checks_;  // by class: who asks whether a value is of it
  // By file and attribute: who takes from a queue of this name.
  std::map<std::pair<uint32_t, std::string>, std::vector<PythonRef>> takers_;
  // Functions that send or receive through a socket that they are given.
  std::set<std::string, std::less<>> sending_, receiving_;
};

}  // namespace fathom
