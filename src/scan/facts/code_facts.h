#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scan/facts/code_place.h"
#include "scan/facts/kernel_kind.h"
#include "scan/facts/structure_facts.h"

namespace fathom {

// What the scanner knows of a repository before anything runs. Every fact says where it stands in
// the code and how sure the scanner is; lists are in order of file and line, so that the same
// repository gives the same facts.

// What data/features/languages.tsv tells apart; scan/files/language.h has their names.
enum class Language : uint8_t {
  kNone,
  kCpp,  // C too: a header does not say which it is
  kCuda,
  kHip,
  kMusa,
  kPython,
  kCython,
  kJinja,
  kRust,
  kGo,
  kZig,
  kJava,
  kJavaScript,
  kSwift,
  kJulia,
  kFortran,
  kAssembly,
  kOpenCl,
  kMetal,
  kShader,
  kMlir,
  kPerl,
  kRuby,
  kShell,
  kCMake,
  kMake,
  kBazel,
  kMeson,
  kDocker,
  kProtobuf,
  kSql,
  kToml,
  kYaml,
  kJson,
  kIni,
  kXml,
  kHtml,
  kMarkdown,
  kRestructuredText,
  kTex,
  kText,
  kCsv
};

// Who wrote a file: the repository's own people, or somebody whose code lies in it.
enum class Origin : uint8_t { kOwn, kVendored, kSubmodule, kGenerated };

enum class SkipReason : uint8_t {
  kNone,
  kUnreadable,
  kNoFile,
  kTooLarge,
  kUtf16,
  kBinary,
  kLfs,
  kNoNotebook
};

struct SourceFile {
  std::string path;  // relative to the repository, '/' between folders
  Language language = Language::kNone;
  Origin origin = Origin::kOwn;
  uint64_t size = 0;
  uint32_t lines = 0;
  std::string skipped;  // why its content was not read; empty: it was
  uint64_t content_hash = 0;
  SkipReason skip_reason = SkipReason::kNone;  // the same as a kind
};

// A name and what the code gives it: part of how a launch is computed.
struct NamedValue {
  std::string name;  // "num_blocks"; of a function with its parameters, "blocks(rows)"
  std::string text;
  CodePlace at;
};

// How a launch differs from a plain one.
struct LaunchAttribute {
  enum class Kind : uint8_t { kPdl, kCluster, kCooperative, kOther };
  Kind kind = Kind::kOther;
  std::string value = {};      // kCluster: "(2, 1, 1)"; kOther: "num_stages 3"
  std::string condition = {};  // the expression that decides; empty: always so
  friend bool operator==(const LaunchAttribute&, const LaunchAttribute&) = default;
};

// One place that puts a kernel on the GPU; the expressions are as the code writes them.
struct KernelLauncher {
  CodePlace at;
  uint32_t line_last = 0;
  std::string function;  // the host function around it
  std::string via;       // "<<<>>>", "cudaLaunchKernelEx", a helper's or a macro's name
  std::string grid, block, shared_memory, stream;  // empty: not said there
  std::vector<LaunchAttribute> attributes;
  std::string template_arguments;  // what it fills in; empty: none
  // What must hold in its function for it to be reached, the outermost first; of C++ alone.
  std::vector<std::string> conditions = {};
  std::vector<NamedValue> values;  // what grid, block and shared memory are made of
  // The kernel's parameters as this launch fills them, by their position, and what the names in
  // them are made of.
  std::vector<NamedValue> arguments, argument_values;
  Certainty certainty = Certainty::kCertain;
};

// One of which no more is known.
inline KernelLauncher launcher_at(const CodePlace& at, uint32_t line_last, std::string function,
                                  std::string via, Certainty certainty = Certainty::kCertain) {
  KernelLauncher launcher;
  launcher.at = at;
  launcher.line_last = line_last;
  launcher.function = std::move(function);
  launcher.via = std::move(via);
  launcher.certainty = certainty;
  return launcher;
}

// Something that a kernel's code does (`what` is a row of data/features/code_patterns.tsv), and the
// line that shows it: in the kernel itself or in a device function that it reaches.
struct CodeEvidence {
  std::string what;
  std::string detail;  // "16 bytes", "m64n128k16": what the line adds; may be empty
  CodePlace at;
  std::string function;  // where the line stands; the kernel itself or what it calls
  Certainty certainty = Certainty::kCertain;
  // The array that is gathered from or scattered to; the step of a loop that goes by blocks; what
  // is copied into a collective's buffer.
  std::string subject = {};
  std::optional<uint32_t> bytes = {};  // vector_access: what one instruction of a thread moves
};

// One hop on the way from the Python API down to the kernel, the outermost first.
enum class PathHopKind : uint8_t { kPython, kCpp, kJitGenerator, kBinding };
struct PathHop {
  PathHopKind kind = PathHopKind::kPython;
  std::string name;  // of the function; of a binding the name outside, of a generator what it fills
  CodePlace at;
  Certainty certainty = Certainty::kCertain;
  std::string via = {};  // of a binding: what exports it
};

enum class AccessKind : uint8_t { kRead, kWrite, kAtomic };

// How the threads of a launch share an array out.
enum class AccessPattern : uint8_t {
  kNone,
  kUnknown,
  kThroughIndex,
  kSameForAll,
  kSameForWarp,
  kColumnsOfRow,
  kNeighboursByRound,
  kOnePerThread,
  kStrided,
  kOnePerProgram,
  kTilePerProgram
};

// One place where a kernel's code reads or writes an array, in the kernel or in what it calls. The
// formulas are of the code's own names and count all threads of a launch together.
struct ArrayAccess {
  std::string array;  // the kernel's parameter; "params.x", or what the pointer was made from
  std::string type;   // of an element as the code says it; empty: it does not
  std::optional<uint32_t> element_bytes;  // of that type, where it is no template's parameter
  std::optional<uint32_t> access_bytes;   // of one access of a thread: 16 for a float4
  AccessKind kind = AccessKind::kRead;
  bool shared = false;       // in shared memory
  bool conditional = false;  // only where something that is not a bound holds
  // Of what is the same for all threads: the test that decides ("HAS_BIAS && !CAUSAL"). Empty:
  // none, or something else decides too.
  std::string condition = {};
  std::string index;  // as written
  AccessPattern pattern = AccessPattern::kNone;
  bool again_in_loop = false;  // the same elements in each round of a loop
  std::string elements;        // formula: how many different elements; empty: unknown
  std::string times;           // formula: how many accesses; empty: unknown
  std::string rounds = {};     // formula: how many of them one thread makes; empty: unknown
  uint32_t loop = 0;           // line of the innermost loop around it; 0: none
  // Formula of threadIdx.x: where a warp's threads access it, in elements; empty: unknown.
  std::string lane_index;
  CodePlace at;
  std::string function;  // where the line stands
  Certainty certainty = Certainty::kLikely;
};

// What all accesses of one kind to one array come to.
struct ArrayTraffic {
  // Those that one test decides which is the same for all threads.
  struct Flagged {
    std::string condition, elements;
  };
  std::string array, type;
  std::optional<uint32_t> element_bytes;
  AccessKind kind = AccessKind::kRead;
  std::string elements;  // formula: different elements, if all tests hold; empty: unknown
  std::string times;     // formula: elements asked for, with those asked for again; empty: unknown
  CodePlace at;          // the first of them; where `elements` is unknown, one that is
  std::string least = {};             // formula: those that no test decides; "0": all are tested
  std::vector<Flagged> flagged = {};  // the tested ones, as far as a flag alone decides
};

// An access of global memory whose array or index is not known: `what` is the call or the pointer
// as written.
struct UnresolvedAccess {
  std::string what;
  CodePlace at;
};

struct KernelFacts {
  std::string name;   // without scope; a macro's kernels have their expanded names
  std::string scope;  // namespaces and classes around it, joined with "::"; for Triton the module
  KernelKind kind = KernelKind::kCuda;
  CodePlace at;  // its first line: the template or decorator that opens it
  uint32_t line_name = 0, line_last = 0;
  std::string template_parameters, parameters;
  std::vector<std::string> attributes;  // "__launch_bounds__(128, 2)"
  std::string condition;                // the #if around it that decides between definitions
  bool dead = false;                    // nothing in the repository launches or names it
  bool body_read = true;                // false: only its place is known, not what it does
  std::vector<KernelLauncher> launchers;
  std::vector<PathHop> path;     // from Python, or from the outermost host function known
  std::vector<PathHop> callers;  // functions of the repository that call the path's first hop
  std::vector<PathHop> way_up;   // above an only caller, the nearest first, each with one caller
  std::vector<CodeEvidence> evidence;
  std::vector<ArrayAccess> accesses;
  std::vector<ArrayTraffic> traffic;              // of global memory
  std::vector<UnresolvedAccess> unresolved = {};  // what `traffic` does not count
  std::string arithmetic;     // formula: its operations on real numbers; empty: not counted
  std::string profiler_name;  // pattern of the demangled name in a profile: '*' any text
  std::string doc;            // of Python: the first paragraph of its docstring
  Certainty certainty = Certainty::kCertain;
};

enum class OptionKind : uint8_t { kCli, kEnvironment, kConfig };

struct OptionFacts {
  std::string name;  // "--max-batch", "FATHOM_X", "server.port"; composed names with "{part}"
  std::vector<std::string> other_names;  // "-m", "--model"
  OptionKind kind = OptionKind::kCli;
  std::string type;                          // as the code's language says it; empty: not said
  std::optional<std::string> default_value;  // resolved, as text; none: none is given
  std::string default_from;  // where a resolved default came from; empty: it stands there
  std::string help;
  std::vector<std::string> choices;
  CodePlace at;
  std::vector<CodePlace> read_at;  // where its value is used; of the environment all readings
  std::string component;           // the folder or module that reads it
  Certainty certainty = Certainty::kCertain;
  std::string effect = {};    // what giving it does, where the name does not say it
  bool read_by_name = false;  // read_at is known by equal names alone
  bool in_readme = false;     // the README writes it in code
  bool joined = false;        // given as --name=value only
  // Of the environment: what other readings default to, where that differs.
  std::vector<std::string> other_defaults = {};
};

// A command of the README that runs a program of the repository.
struct StartCommand {
  std::string text;              // on one line
  std::string program;           // the word that names it
  std::optional<uint32_t> file;  // what it runs: position in CodeFacts::files; none: not known
  CodePlace at;                  // in the README
};

// What the person who builds can choose: an option of CMake.
struct BuildSwitch {
  std::string name, default_value, help;  // default as written; help may be empty
  CodePlace at;
};

struct EntryPoint {
  EntryKind kind = EntryKind::kMain;
  std::string name;     // "POST /v1/completions", "minisgl"
  std::string target;   // the function that runs
  std::string command;  // how to start it; empty: not known
  CodePlace at;
  Certainty certainty = Certainty::kCertain;
  // A module of kernels that other modules import: its main guard tries it out.
  bool tries_module = false;
  std::optional<uint32_t> kernels_reached = {};  // none: its way was not followed
};

enum class DependencyKind : uint8_t { kPython, kConda, kCMake, kSubmodule, kNpm, kCargo, kSystem };
struct DependencyFacts {
  std::string name;         // as declared
  std::string requirement;  // ">=2.4"; empty: any
  DependencyKind kind = DependencyKind::kPython;
  std::string group;  // "dev", "test": an optional group; empty: always
  CodePlace at;       // where it is declared; line 0: it is used, and nowhere declared
  std::vector<CodePlace> used_at;
  Certainty certainty = Certainty::kCertain;
  std::string folder = {};  // of a submodule
};

// A function of the host that matters to a GPU program: a prefix compare, a collective call.
struct HostFacts {
  std::string name, scope;
  CodePlace at;
  uint32_t line_last = 0;
  std::vector<CodeEvidence> evidence;
  std::vector<PathHop> path;
  std::vector<PathHop> callers = {}, way_up = {};  // as of a kernel
  Certainty certainty = Certainty::kCertain;
};

// What the repository says of itself in the README nearest to its root.
struct ReadmeFacts {
  struct Heading {
    std::string text;
    int level = 1;
    uint32_t line = 0;
  };

  uint32_t file = 0;
  std::string title;
  std::string first_paragraph;  // plain text: images, badges, HTML and markup left out
  uint32_t paragraph_line = 0;
  // The file of that line where the README does not say what it is: a manifest.
  std::optional<uint32_t> manifest;
  std::vector<Heading> headings;
};

// What made a rule fire: a name in the code, with the place where it is used most.
struct RuleEvidence {
  std::string what;  // "class RadixCache", "call torch.cuda.graph", "kernel merge_states"
  CodePlace at;
  uint32_t files = 0;  // how many files show it
};

// Something to watch while the program runs, with its names on each platform.
struct MetricFacts {
  std::string id, title, level;           // level: hardware, process, application
  std::vector<std::string> nvidia, amd;   // counters; empty: none is known
  std::vector<std::string> nvidia_chips;  // those that have all of them
  std::string how;                        // what to do with them, or where the number comes from
};

// A part of the program by what it is for (data/features/components.tsv).
struct ComponentFacts {
  std::string id, title, purpose;
  std::vector<RuleEvidence> evidence;
  std::vector<uint32_t> files;       // positions in CodeFacts::files
  std::vector<std::string> folders;  // those that belong to it mostly
  std::vector<uint32_t> kernels;     // positions in CodeFacts::kernels
  Certainty certainty = Certainty::kLikely;
};

// A technique that the code uses and the hardware notices (data/features/features.tsv), the most
// certain and most used first.
struct FeatureFacts {
  std::string id, title, area;
  std::vector<RuleEvidence> evidence;
  uint32_t files = 0;  // that show it
  std::string concern, implication;
  std::vector<MetricFacts> metrics;
  std::vector<uint32_t> options;  // positions in CodeFacts::options that affect it
  std::vector<uint32_t> kernels;  // positions in CodeFacts::kernels that show it
  Certainty certainty = Certainty::kLikely;
};

// A call between functions that stories open: kernels and what they reach, launchers, host
// functions.
struct FunctionCall {
  CodePlace at, to;  // the line that calls, and the line of the name in the called definition
  Certainty certainty = Certainty::kCertain;
  friend auto operator<=>(const FunctionCall&, const FunctionCall&) = default;
};

// Files with GPU code that was compiled before (data/kernels/prebuilt.tsv): not read.
struct PrebuiltCode {
  std::string ending;  // "co"
  size_t files = 0;
  CodePlace first;
};

struct CodeFacts {
  std::string repository;  // the folder's name
  std::optional<ReadmeFacts> readme;
  std::vector<SourceFile> files;
  std::vector<KernelFacts> kernels;
  std::vector<PrebuiltCode> prebuilt;
  std::vector<HostFacts> host_functions;
  std::vector<FunctionCall> calls;  // in order of place
  std::vector<OptionFacts> options;
  std::vector<EntryPoint> entry_points;
  std::vector<StartCommand> start_commands;  // in the order of the README
  std::vector<BuildSwitch> build_switches;   // in order of file and line
  std::vector<DependencyFacts> dependencies;
  std::vector<ComponentFacts> components;
  std::vector<FeatureFacts> features;
  ModuleGraph modules;
  std::vector<ApiFacts> api;
  std::vector<RequestPath> request_paths;
  std::vector<DocClaim> doc_claims;
  std::vector<ReadmeClaim> readme_claims;  // in order of line
  std::vector<std::string> notes;          // what could not be read or followed
};

}  // namespace fathom
