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
#include "scan/link/readings.h"

namespace fathom {

// Walks through kernels and the device functions that they call, across files. The trees of
// functions are made when the first kernel needs them.
class AccessLinker {
 public:
  explicit AccessLinker(const Readings& readings);

  using FunctionAt = std::pair<uint32_t, uint32_t>;  // file, number in its definitions
  // `reached` are the functions that the kernel reaches, itself first, the surest and nearest next.
  void add_to(KernelFacts& kernel, const std::vector<FunctionAt>& reached);

 private:
  // None where its code is larger than `most_bytes`.
  const DeviceFunction* function(FunctionAt at, size_t most_bytes = SIZE_MAX);
  std::optional<uint32_t> bytes_of(std::string_view type, uint32_t file);
  void share_work();
  void add_members(const FileReading& reading);
  const std::set<uint32_t>& sizes_of(const std::string& type, int depth = 0);
  std::optional<std::string> member(std::string_view name, int depth = 0) const;
  std::optional<double> constant(std::string_view name, uint32_t file, int depth = 0) const;

  const Readings& readings_;
  size_t work_of_one_ = 0, sites_of_one_ = 0;  // of one kernel's walk
  std::map<FunctionAt, std::unique_ptr<DeviceFunction>> functions_;
  size_t bytes_read_ = 0;                            // the code of those
  std::map<std::string, std::set<uint32_t>> sizes_;  // of types, as far as they were asked for
  struct Member {
    std::string text;
    std::vector<std::string> template_parameters;
  };
  std::map<std::string, Member, std::less<>> members_;  // "Layout::pitch"
  // Name → file and what it stands for, in order of file.
  std::map<std::string, uint32_t, std::less<>> vectors_;  // bytes of classes that are vectors
  std::multimap<std::string, std::pair<uint32_t, std::string>, std::less<>> aliases_, constants_;
};

}  // namespace fathom
