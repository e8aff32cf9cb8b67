#include "scan/facts/fact_names.h"

#include <fmt/format.h>

namespace fathom {

std::string_view access_kind_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "read";
    case AccessKind::kWrite:
      return "written";
    case AccessKind::kAtomic:
      return "atomically changed";
  }
  return "";
}

std::string access_pattern_text(const ArrayAccess& access) {
  const auto name = [&]() -> std::string_view {
    switch (access.pattern) {
      case AccessPattern::kNone:
        return "";
      case AccessPattern::kUnknown:
        return "unknown";
      case AccessPattern::kThroughIndex:
        return "through an index";
      case AccessPattern::kSameForAll:
        return "the same element for all threads";
      case AccessPattern::kSameForWarp:
        return "the same element for a warp's threads";
      case AccessPattern::kColumnsOfRow:
        return "columns of a row shared out over threads";
      case AccessPattern::kNeighboursByRound:
        return "neighbouring elements, once per round of a loop";
      case AccessPattern::kOnePerThread:
        return "one element per thread";
      case AccessPattern::kStrided:
        return "a stride between threads";
      case AccessPattern::kOnePerProgram:
        return "one element per program";
      case AccessPattern::kTilePerProgram:
        return "a tile per program";
    }
    return "";
  };
  return std::string(name()) + (access.again_in_loop ? ", again in each round of a loop" : "");
}

std::string attribute_text(const LaunchAttribute& attribute) {
  std::string text = attribute.value;
  switch (attribute.kind) {
    case LaunchAttribute::Kind::kPdl:
      text = "PDL";
      break;
    case LaunchAttribute::Kind::kCluster:
      text = "cluster " + attribute.value;
      break;
    case LaunchAttribute::Kind::kCooperative:
      text = "cooperative";
      break;
    case LaunchAttribute::Kind::kOther:
      break;
  }
  if (!attribute.condition.empty()) text += " if " + attribute.condition;
  return text;
}

std::string hop_text(const PathHop& hop) {
  switch (hop.kind) {
    case PathHopKind::kPython:
      return "Python " + hop.name;
    case PathHopKind::kCpp:
      return "C++ " + hop.name;
    case PathHopKind::kJitGenerator:
      return "JIT template " + hop.name;
    case PathHopKind::kBinding:
      return "exported by " + hop.via + " as " + hop.name;
  }
  return "";
}

namespace {

// "A, B or C"
std::string any_of_names(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return out;
}

std::string reach_itself(const CodeFacts& facts, const Reach& reach) {
  switch (reach.kind) {
    case ReachKind::kNone:
      return "";
    case ReachKind::kEntry:
      return "entry point";
    case ReachKind::kCalls:
      return "calls it";
    case ReachKind::kCallsInterface:
      return fmt::format("calls {}.{}, which this implements", reach.owner, reach.name);
    case ReachKind::kCallsObject:
      return "calls the object";
    case ReachKind::kCallsOnlyMethod:
      return "calls it, the only method of that name";
    case ReachKind::kCallsSomeMethod:
      return "calls one of several methods of that name";
    case ReachKind::kCallsSpecialised:
      return fmt::format("calls it or another of {} specialisations", reach.count);
    case ReachKind::kCallsBinding:
      return fmt::format("calls it through a binding ({}, {})", reach.owner,
                         place_text(facts, reach.at));
    case ReachKind::kCallsBuilt:
      return fmt::format("calls {} of the module built by {} (bound at {})", reach.name,
                         reach.owner, place_text(facts, reach.at));
    case ReachKind::kCallsLibrary:
      return "calls " + reach.name;
    case ReachKind::kMakes:
      return "constructs " + reach.name;
    case ReachKind::kNamesInString:
      return "refers to it by name in a string";
    case ReachKind::kCompiles:
      return "compiles it with cute.compile";
    case ReachKind::kStarts:
      return "starts it via " + reach.name;
    case ReachKind::kSends:
      return fmt::format("sends {}, which this reads from a queue{}", any_of_names(reach.messages),
                         reach.owner.empty() ? "" : " and passes to " + reach.owner);
    case ReachKind::kPutsInto:
      return fmt::format("puts into {}, which this reads", reach.name);
    case ReachKind::kDefines:
      return "defines it and passes it on";
    case ReachKind::kBinds:
      return "binds it";
    case ReachKind::kLaunches:
      return "launches it";
  }
  return "";
}

}  // namespace

std::string reach_text(const CodeFacts& facts, const Reach& reach) {
  const std::string text = reach_itself(facts, reach);
  return reach.then.empty() ? text : text + "; this calls " + reach.then;
}

std::string_view option_kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::kCli:
      return "cli";
    case OptionKind::kEnvironment:
      return "env";
    case OptionKind::kConfig:
      return "config";
  }
  return "";
}

std::string_view entry_kind_name(EntryKind kind) {
  switch (kind) {
    case EntryKind::kConsoleScript:
      return "console script";
    case EntryKind::kMain:
      return "main";
    case EntryKind::kHttpRoute:
      return "http route";
    case EntryKind::kBenchmark:
      return "benchmark";
    case EntryKind::kTest:
      return "test";
    case EntryKind::kExample:
      return "example";
    case EntryKind::kCppMain:
      return "c++ main";
    case EntryKind::kFunction:
      return "function";
    case EntryKind::kMethod:
      return "method";
    case EntryKind::kClass:
      return "class";
    case EntryKind::kBinding:
      return "binding";
    case EntryKind::kCommand:
      return "command";
    case EntryKind::kHeaderFunction:
      return "header function";
  }
  return "";
}

std::string_view dependency_kind_name(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::kPython:
      return "python";
    case DependencyKind::kConda:
      return "conda";
    case DependencyKind::kCMake:
      return "cmake";
    case DependencyKind::kSubmodule:
      return "submodule";
    case DependencyKind::kNpm:
      return "npm";
    case DependencyKind::kCargo:
      return "cargo";
    case DependencyKind::kSystem:
      return "system";
  }
  return "";
}

std::string_view claim_kind_name(ClaimKind kind) {
  switch (kind) {
    case ClaimKind::kDefaultDiffers:
      return "default differs";
    case ClaimKind::kOptionAbbreviated:
      return "option abbreviated";
    case ClaimKind::kOptionAbsent:
      return "option absent";
    case ClaimKind::kOptionNotInUsage:
      return "option not in the usage text";
    case ClaimKind::kPathAbsent:
      return "path absent";
    case ClaimKind::kVariableAbsent:
      return "variable absent";
  }
  return "";
}

std::string_view certainty_name(Certainty certainty) {
  switch (certainty) {
    case Certainty::kCertain:
      return "certain";
    case Certainty::kLikely:
      return "likely";
    case Certainty::kUnsure:
      return "unsure";
  }
  return "";
}

std::string place_text(const CodeFacts& facts, const CodePlace& place) {
  const std::string& path = facts.files[place.file].path;
  return place.line == 0 ? path : fmt::format("{}:{}", path, place.line);
}

std::string full_name(const KernelFacts& kernel) {
  if (kernel.scope.empty()) return kernel.name;
  return kernel.scope + (is_python_kernel(kernel.kind) ? "." : "::") + kernel.name;
}

}  // namespace fathom
