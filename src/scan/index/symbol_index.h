#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scan/index/file_code.h"
#include "scan/index/include_graph.h"

namespace fathom {

// A function, kernel, class or alias of the repository.
struct SymbolId {
  uint32_t value = 0;
  friend auto operator<=>(const SymbolId&, const SymbolId&) = default;
};

enum class SymbolKind : uint8_t { kHostFunction, kDeviceFunction, kKernel, kClass, kAlias };

struct Symbol {
  SymbolKind kind = SymbolKind::kHostFunction;
  bool defined = true;      // false: a declaration, which says that the name is known there
  bool file_local = false;  // no other source means it, unless it includes the file
  uint32_t file = 0;
  uint32_t index = 0;  // in the file's functions, classes or aliases
  std::string_view name, scope;
  std::optional<SymbolId> owner =
      {};  // the class that it is part of; of a local alias the function
};

// Where a name stands.
struct NameScope {
  uint32_t file = 0;
  std::string_view inside = {};  // namespaces and classes around it, joined with "::"
  // Sources that are compiled together with the file, in order of file: what they see can define
  // what the file only declares. Null: not known.
  const std::vector<uint32_t>* unit = nullptr;
};

// How a symbol's scope fits a name where it stands: through the scopes around it or what a `using
// namespace` opens, by the end of the qualified name, by a part of it, by the last name alone.
enum class ScopeFit : uint8_t { kAround, kByEnd, kByPart, kByName };
// Where the symbol stands: in the file or what it includes, in what stands before it where it is
// included, in a file that is not seen to be included.
enum class Sight : uint8_t { kSeen, kThroughIncluder, kUnseen };

struct Candidate {
  SymbolId symbol;
  Certainty certainty = Certainty::kCertain;
  ScopeFit fit = ScopeFit::kAround;
  Sight sight = Sight::kSeen;
};

// The symbols of C++ by name and file, and what a name means where it stands. Filled once. Views
// point into the files' definitions, which must outlive it.
class SymbolIndex {
 public:
  SymbolIndex(const std::vector<FileCode>& files, const IncludeGraph& includes);

  // What a name can mean, as far as the index lives. kCertain: one definition is visible there and
  // fits; its twins in #if branches and its overloads count as it. kLikely: one alone fits, but how
  // it becomes visible is not seen. kUnsure: one of a few. Where more fit, none is named.
  const std::vector<Candidate>& resolve(std::string_view path, const NameScope& at,
                                        SymbolKind wanted) const;

  const Symbol& symbol(SymbolId id) const { return symbols_[id.value]; }
  SymbolId function(uint32_t file, uint32_t index) const { return {first_[file] + index}; }
  SymbolId type(uint32_t file, uint32_t index) const {
    return {first_[file] + static_cast<uint32_t>(files_[file].cpp->functions.size()) + index};
  }
  SymbolId alias(uint32_t file, uint32_t index) const {
    return {type(file, static_cast<uint32_t>(files_[file].cpp->classes.size())).value + index};
  }
  // The functions that a class has by a name, in order of file; by the class's qualified name.
  const std::vector<SymbolId>& methods(std::string_view scope, std::string_view name) const;
  // All symbols of a kind that have a name, in order of file.
  const std::vector<SymbolId>& named(std::string_view name, SymbolKind kind) const;
  bool has_name(std::string_view name) const;
  std::string qualified_name(SymbolId id) const;
  std::string_view template_parameters(SymbolId id) const;
  const IncludeGraph& includes() const { return includes_; }
  const FileCode& code(uint32_t file) const { return files_[file]; }
  size_t size() const { return symbols_.size(); }

 private:
  using Ids = std::vector<SymbolId>;  // in order of file
  struct Fitting {
    SymbolId symbol;
    uint32_t misfit;  // 0: by the scopes around the name; more: by weaker reasons
    uint32_t distance;
  };

  void add(const Symbol& symbol);
  void group_namesakes();
  void find_owners();
  void own_local_aliases();
  // Of very many that have a name, those that can be meant by the scope that is written or around.
  const Ids& narrowed(const Ids& named, std::string_view qualifier, const NameScope& at) const;
  void add_scope(std::string_view scope);
  // How badly a symbol's scope fits what is written; none: it is another one's.
  std::optional<uint32_t> misfit(const Symbol& symbol, std::string_view qualifier,
                                 const NameScope& at) const;
  std::string renamed(std::string_view qualifier, uint32_t file) const;
  bool opens(uint32_t file, std::string_view scope) const;
  void gather(const Ids& named, const std::vector<uint32_t>& files, std::string_view qualifier,
              const NameScope& at, uint32_t distance, std::vector<Fitting>& out) const;
  void gather_file(const Ids& named, uint32_t file, std::string_view qualifier, const NameScope& at,
                   uint32_t distance, std::vector<Fitting>& out) const;
  std::vector<Fitting> visible(const Ids& named, std::string_view qualifier,
                               const NameScope& at) const;
  std::vector<Candidate> chosen(const std::vector<Fitting>& fitting) const;
  const Ids& shared(SymbolKind kind, const Ids& named, std::string_view qualifier) const;
  std::vector<Candidate> elsewhere(const Ids& named, std::string_view qualifier,
                                   const NameScope& at) const;
  std::vector<Candidate> defined_as(const Ids& named, const Symbol& declared,
                                    const NameScope& at) const;
  std::vector<Candidate> nearest(Ids found, Certainty of_one, const NameScope& at,
                                 Sight sight) const;

  const std::vector<FileCode>& files_;
  const IncludeGraph& includes_;
  std::vector<Symbol> symbols_;
  std::vector<uint32_t> first_;  // of each file, in symbols_: its functions, classes, aliases
  std::unordered_map<std::string_view, Ids> by_name_[5];  // by kind
  // Names that very many have: by kind, name and the last part of their scope.
  std::unordered_map<std::string_view, std::unordered_map<std::string_view, Ids>> grouped_[5];
  std::map<std::pair<std::string_view, std::string_view>, Ids> methods_;  // by scope and name
  std::unordered_set<std::string_view> scopes_;  // each namespace and class by its own name
  mutable std::unordered_map<std::string, std::vector<Candidate>> known_;
  mutable std::unordered_map<std::string, Ids> shared_;
};

}  // namespace fathom
