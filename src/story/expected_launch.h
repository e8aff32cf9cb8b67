#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scan/facts/code_facts.h"
#include "story/parameters.h"

namespace fathom {

// A launch with numbers in place of names, as far as the parameters say.
struct ExpectedLaunch {
  struct Dimension {
    std::string text;  // as the code writes it
    std::optional<double> value;
  };
  const KernelLauncher* launcher = nullptr;
  std::vector<Dimension> grid, block;
  std::optional<double> blocks, threads, shared_bytes;
};

ExpectedLaunch expect_launch(const KernelLauncher& launcher, const Parameters& parameters);

// The numbers of a kernel's own names: what a measured launch tells of them (`own`), what the user
// says of them, what the launch gives it, gridDim and blockDim of that launch.
class KernelValues {
 public:
  using Own = std::map<std::string, double, std::less<>>;

  KernelValues(const std::optional<ExpectedLaunch>& launch, const Parameters& parameters,
               const Own* own = nullptr)
      : launch_(launch), parameters_(parameters), own_(own) {}

  std::optional<double> evaluate(std::string_view formula) const;
  std::optional<double> named(std::string_view name) const;
  // Of a test in the code; pointers that the launch fills with null are given as 0.
  std::optional<bool> flag(std::string_view condition) const;
  // The names of a formula that nothing gives a number: what --param would have to say.
  std::vector<std::string> missing(std::string_view formula) const;

  // Of one of its types where the code does not say it: --param dtype.
  void set_element_bytes(double bytes) { element_bytes_ = bytes; }
  std::optional<double> element_bytes() const;

 private:
  std::optional<double> dimension(std::string_view name) const;
  std::optional<double> argument(std::string_view name) const;
  bool given_as_null(std::string_view name) const;

  const std::optional<ExpectedLaunch>& launch_;
  const Parameters& parameters_;
  const Own* own_;
  std::optional<double> element_bytes_;
};

}  // namespace fathom
