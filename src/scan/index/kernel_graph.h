#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/index/function_places.h"
#include "scan/index/symbol_index.h"

namespace fathom {

// How code leads to a kernel.
enum class KernelEdgeKind : uint8_t {
  kLaunches,
  kTakes  // a string is its name, or its address is taken: how it is launched is not followed
};

// With its place, its certainty and what it says of the launch.
struct KernelEdge {
  KernelEdgeKind kind = KernelEdgeKind::kLaunches;
  KernelLauncher launch;
};

// Where the name of a kernel is looked for: what a string means to a program of C++ or OpenCL is no
// Triton kernel of the same name.
enum class KernelFamily : uint8_t { kCpp, kPython, kByPlace };

// Kernels, and what each is in the index, of those that C++ defines.
struct Kernels {
  std::vector<KernelFacts> facts;
  std::vector<std::optional<SymbolId>> symbols;
};

// The kernels of a repository and what leads to them. Launchers and dead kernels are questions to
// it.
class KernelGraph {
 public:
  using Kernel = uint32_t;

  explicit KernelGraph(const FunctionPlaces& places) : places_(places) {}

  // `followed`: every way to launch it would be seen; of others nothing is said to be dead.
  Kernel add(KernelFamily family, KernelFacts facts, bool followed);
  Kernel add(SymbolId symbol, KernelFacts facts);  // one that C++ defines
  // It may be launched in ways that are not seen.
  void leave_open(Kernel kernel) { nodes_[kernel].followed = false; }
  KernelLauncher& launch(Kernel kernel, KernelLauncher launcher);
  // Code takes the kernel: by what, in words.
  void take(Kernel kernel, const CodePlace& at, std::string_view by);
  // Code of a file has a name, after all kernels were added. Where the file has kernels of that
  // name, it means these.
  void name(std::string_view name, KernelFamily family, uint32_t file);

  KernelFacts& facts(Kernel kernel) { return nodes_[kernel].facts; }
  const std::vector<KernelEdge>& edges_to(Kernel kernel) const { return nodes_[kernel].edges; }
  // The kernel that is the only one of its name in a family; none: null.
  const Kernel* only(std::string_view name, KernelFamily family) const;
  // Each place once, in order. What takes its name counts where nothing is seen to launch it.
  std::vector<KernelLauncher> launchers(Kernel kernel) const;
  // Nothing launches it, takes it or has its name. A C name is there to be looked up when the
  // program runs, by a name that it may put together.
  bool is_dead(Kernel kernel) const;

  // All of them with their launchers, in order of file and line.
  Kernels all() &&;

 private:
  struct Node {
    KernelFacts facts;
    KernelFamily family;
    bool followed;
    std::optional<SymbolId> symbol = {};
    std::vector<KernelEdge> edges = {};
  };
  struct Namesakes {
    std::vector<Kernel> kernels;
    std::set<uint32_t> homes, named_in;  // files: that define one, that have the name
    bool named_elsewhere = false;        // in a file that defines none
  };

  const FunctionPlaces& places_;
  std::deque<Node> nodes_;                                      // their names are kept as views
  std::unordered_map<std::string_view, Namesakes> by_name_[3];  // by family
};

}  // namespace fathom
