#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scan/facts/code_place.h"

namespace fathom {

// How the files of a repository hang together: imports and includes among them, what they offer to
// others, the way of a request through them, and what their documentation says of them.

// Imports and includes from one part into another.
struct ModuleEdge {
  uint32_t to = 0;     // position in the list that the edge stands in
  uint32_t count = 0;  // import and include lines
  CodePlace first;     // the first of them
};

// A folder that holds code of the repository's own, tests and examples left out; or several with
// all below them, where it is a part.
struct FolderFacts {
  std::string path;  // "python/minisgl/engine"; "": the root
  uint32_t files = 0;
  uint64_t lines = 0;
  uint32_t functions = 0, classes = 0, kernels = 0;
  std::vector<ModuleEdge> imports;
  uint32_t imported_by = 0;       // folders, or parts
  std::vector<uint32_t> modules;  // positions in ModuleGraph::modules, the first ones its best
};

// A source file and why it matters. Counts are of files and calls outside it; tests, benchmarks and
// examples are left out.
struct ModuleFacts {
  uint32_t file = 0;
  double score = 0;  // 0 to 1, the best is 1
  uint32_t imported_by = 0, imported_by_folders = 0;
  CodePlace first_import;
  uint32_t calls_into = 0;                    // calls of what it defines
  uint32_t kernels = 0, kernels_on_path = 0;  // defined here; whose way from the API leads through
};

struct ModuleGraph {
  std::vector<FolderFacts> folders;  // in order of path
  std::vector<FolderFacts> parts;    // at most some 14 that cover the folders, in order of path
  std::vector<ModuleFacts> modules;  // the best first
  uint32_t edges = 0;                // between files
  std::set<uint32_t> imported;       // files that others import
};

// How others get at what the repository has: programs and routes, then parts of an API. In order of
// entry_kind_name, which lists in order of place and kind show.
enum class EntryKind : uint8_t {
  kBenchmark,
  kCppMain,
  kCommand,
  kConsoleScript,
  kExample,
  kHttpRoute,
  kMain,
  kTest,
  kBinding,
  kClass,
  kFunction,
  kHeaderFunction,
  kMethod
};

// Something that others can call or import.
struct ApiFacts {
  EntryKind kind = EntryKind::kFunction;
  std::string name;  // as users write it: "flashinfer.norm.rmsnorm", "POST /generate"
  std::string signature;
  std::string doc;         // the first sentence of its documentation; may be empty
  CodePlace at;            // where it is defined
  CodePlace exported_at;   // the line that makes it public; the same as `at` where that does
  uint32_t used_in = 0;    // files of the repository that import it
  bool in_readme = false;  // the README writes its name in code
  Certainty certainty = Certainty::kCertain;
};

enum class ReachKind : uint8_t {
  kNone,
  kEntry,
  kCalls,
  kCallsInterface,    // `owner`.`name`, which this implements
  kCallsObject,       // its __call__ or forward
  kCallsOnlyMethod,   // the one method of that name
  kCallsSomeMethod,   // one of several methods of that name
  kCallsSpecialised,  // one of `count` specialisations
  kCallsBinding,      // that `owner` makes at `at`
  kCallsBuilt,        // `name` of the module that `owner` builds, bound at `at`
  kCallsLibrary,      // `name`
  kMakes,             // an object of `name`
  kNamesInString,
  kCompiles,
  kStarts,    // as a process or thread, with `name`
  kSends,     // one of `messages`, which this takes from a queue and gives to `owner`
  kPutsInto,  // the queue `name`, which this takes from
  kDefines,   // and hands it on
  kBinds,
  kLaunches
};
// How a step of a request is reached from the one before.
struct Reach {
  ReachKind kind = ReachKind::kNone;
  std::string name = {}, owner = {};
  std::vector<std::string> messages = {};
  uint32_t count = 0;
  CodePlace at = {};
  std::string then = {};  // what is called once it was taken; empty: nothing more

  bool is(ReachKind other) const { return kind == other; }
};

// One step of a request: what runs, and how the step before gets there.
struct RequestHop {
  std::string function;  // "Scheduler.overlap_loop"; of a kernel its name
  Reach how;
  CodePlace at;    // where it is defined
  CodePlace from;  // the line of the step before that leads here; line 0: the entry
  Certainty certainty = Certainty::kCertain;
};

// The way from an entry point to a kernel, or as far as it can be followed.
struct RequestPath {
  EntryKind entry_kind = EntryKind::kMain;
  std::string entry;  // "POST /generate"
  std::string why;    // this entry point was chosen
  std::vector<RequestHop> hops;
  std::optional<uint32_t> kernel;  // position in CodeFacts::kernels; none: it stopped
  std::string stopped;             // why, where no kernel is reached
  uint32_t kernels_reached = 0;    // from this entry, in all
};

// What the README says that the program has, held against the code.
enum class ClaimVerdict : uint8_t {
  kFound,       // the code shows it
  kDependency,  // a package that the code imports brings it along
  kHinted,      // names of it are used, fewer than its rule needs
  kAbsent,      // nothing that was read shows it
  kUnknown,     // no rule knows what is meant
};
struct ReadmeClaim {
  std::string rule, title;  // the feature's or component's; empty where no rule knows it
  std::string said;         // the line of the README, as plain text
  CodePlace doc;
  ClaimVerdict verdict = ClaimVerdict::kUnknown;
  std::string what;             // what shows it: "class RadixCache"
  std::optional<CodePlace> at;  // where
  std::string package;          // what brings it or its kernels along; empty: none does
  std::optional<CodePlace> package_at;
};

// A statement of the documentation that the code does not bear out.
enum class ClaimKind : uint8_t {  // in the order that they are listed in
  kDefaultDiffers,
  kOptionAbbreviated,
  kOptionAbsent,
  kOptionNotInUsage,
  kPathAbsent,
  kVariableAbsent
};
struct DocClaim {
  ClaimKind kind = ClaimKind::kOptionAbsent;
  std::string what;      // "--tp", "docs/x.md"
  std::string said, is;  // what the documentation says, and what the code
  CodePlace doc;
  std::optional<CodePlace> code;  // where the code says otherwise; none: it says nothing of it
  Certainty certainty = Certainty::kLikely;
};

}  // namespace fathom
