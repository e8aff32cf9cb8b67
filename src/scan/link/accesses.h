#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scan/accesses/access_walk.h"
#include "scan/index/function_places.h"
#include "scan/index/seen_texts.h"
#include "scan/link/readings.h"

namespace fathom {

// Walks through kernels and the device functions that they call, across files. The trees of
// functions are made when the first kernel needs them.
class AccessLinker {
 public:
  AccessLinker(const Readings& readings, const IncludeGraph& includes,
               const FunctionPlaces& places);

  using FunctionAt = std::pair<uint32_t, uint32_t>;  // file, number in its definitions
  // `reached` are the functions that the kernel reaches, itself first, the surest and nearest next.
  void add_to(KernelFacts& kernel, const std::vector<FunctionAt>& reached);

 private:
  // None where its code is larger than `most_bytes`.
  const DeviceFunction* function(FunctionAt at, size_t most_bytes = SIZE_MAX);
  std::optional<uint32_t> bytes_of(std::string_view type, uint32_t file);
  void share_work();
  std::set<const cpp::LocalValue*> add_members(const FileReading& reading);
  const std::set<uint32_t>& sizes_of(const std::string& type, uint32_t file, int depth = 0);
  std::optional<std::string> member(std::string_view name, uint32_t file, int depth = 0) const;
  std::vector<std::optional<double>> arguments_of_launches(const KernelFacts& kernel) const;
  template <typename Lookup>
  static std::optional<double> whole_number(std::string_view text, Lookup constant);
  std::optional<double> constant_at(std::string_view name, const CodePlace& at,
                                    int depth = 0) const;
  std::optional<double> constant(std::string_view name, uint32_t file,
                                 Sight farthest = Sight::kUnseen, int depth = 0) const;

  const Readings& readings_;
  const FunctionPlaces& places_;
  size_t work_of_one_ = 0, sites_of_one_ = 0;  // of one kernel's walk
  std::map<FunctionAt, std::unique_ptr<DeviceFunction>> functions_;
  size_t bytes_read_ = 0;  // the code of those
  // Of types where they stand in a file, as far as they were asked for.
  std::map<std::pair<std::string, uint32_t>, std::set<uint32_t>> sizes_;
  struct Member {
    std::string text;
    std::vector<std::string> template_parameters;
  };
  std::map<std::string, Member, std::less<>> members_;    // "Layout::pitch"
  std::map<std::string, uint32_t, std::less<>> vectors_;  // bytes of classes that are vectors
  SeenTexts aliases_, constants_;
  std::multimap<std::pair<FunctionNode, std::string>, std::string> locals_;  // constants
};

}  // namespace fathom
