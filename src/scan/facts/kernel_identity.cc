#include "scan/facts/kernel_identity.h"

#include <algorithm>

#include "base/kernel_name.h"
#include "scan/facts/code_names.h"

namespace fathom {
namespace {

void erase_all(std::string& text, std::string_view what) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.erase(at, what.size());
}

// Where the first bracket outside template arguments opens the parameters; size(): nowhere.
size_t parameters_begin(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && (i == 0 || text[i - 1] != '-')) --depth;
    if (text[i] == '(' && depth == 0) return i;
  }
  return text.size();
}

// Where the last part begins: behind the last `wanted` outside template arguments; npos: nowhere.
size_t last_outside_arguments(std::string_view text, char wanted) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == '>') ++depth;
    if (text[i] == '<') --depth;
    if (text[i] == wanted && depth == 0) return i;
  }
  return std::string_view::npos;
}

// "ns::Class<int>" → "Class": a template argument's own last name.
std::string first_argument_class(std::string_view arguments) {
  int depth = 0;
  size_t end = arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == '<') ++depth;
    if (arguments[i] == '>') --depth;
    if (arguments[i] == ',' && depth == 0) {
      end = i;
      break;
    }
  }
  return parse_profiler_name(arguments.substr(0, end)).name;
}

// The scope of the code ends with the profiler's scope or the other way round: a profile's name has
// every namespace, code may be scanned from within a macro's namespace and miss one.
bool scopes_agree(std::string_view code, std::string_view profile) {
  const std::string_view longer = code.size() > profile.size() ? code : profile;
  const std::string_view shorter = code.size() > profile.size() ? profile : code;
  if (shorter.empty()) return true;
  return ends_with_name(longer, shorter);
}

// "scale_{{ name }}" of a template → "scale_*".
std::string name_pattern(std::string_view name) {
  std::string out(name);
  for (size_t open; (open = out.find("{{")) != std::string::npos;) {
    const size_t close = out.find("}}", open);
    out.replace(open, close == std::string::npos ? std::string::npos : close + 2 - open, "*");
  }
  return out;
}

// More say no more than "several".
constexpr size_t kMostDefinitions = 64;

// Languages whose profilers show a kernel by its name alone.
bool has_plain_name(KernelKind kind) {
  return kind == KernelKind::kOpenCl || kind == KernelKind::kMetal || kind == KernelKind::kWgsl ||
         kind == KernelKind::kGlsl || kind == KernelKind::kHlsl;
}

}  // namespace

ProfilerName parse_profiler_name(std::string_view text) {
  std::string name = demangled(text);
  erase_all(name, "(anonymous namespace)::");
  erase_all(name, "<unnamed>::");
  name.resize(parameters_begin(name));
  while (name.ends_with(' ')) name.pop_back();
  if (const size_t space = last_outside_arguments(name, ' '); space != std::string::npos) {
    name.erase(0, space + 1);  // the return type
  }
  ProfilerName out;
  if (name.ends_with('>')) {
    const size_t open =
        name.find('<', std::min(last_outside_arguments(name, ':') + 1, name.size()));
    if (open != std::string::npos) {
      out.template_arguments = name.substr(open + 1, name.size() - open - 2);
      name.resize(open);
    }
  }
  const size_t colon = last_outside_arguments(name, ':');
  if (colon != std::string::npos) {
    out.scope = name.substr(0, colon == 0 ? 0 : colon - 1);
    name.erase(0, colon + 1);
  }
  out.name = std::move(name);
  return out;
}

std::string profiler_pattern(const KernelFacts& kernel) {
  // Helion writes a Triton kernel of this name.
  if (kernel.kind == KernelKind::kHelion) return "_helion_" + kernel.name + "*";
  // Numba mangles the name, with its module before it.
  if (kernel.kind == KernelKind::kNumba) return "*" + kernel.name + "*";
  if (is_python_kernel(kernel.kind)) return kernel.name + "*";
  if (has_plain_name(kernel.kind)) return kernel.name;
  const std::string name = name_pattern(kernel.name);
  const std::string full = kernel.scope.empty() ? name : kernel.scope + "::" + name;
  if (kernel.kind == KernelKind::kDeviceKernel) return "*device_kernel<*" + full + "<*>*>(*)";
  return "*" + full + (kernel.template_parameters.empty() ? "(*)" : "<*>(*)");
}

KernelIdentity::KernelIdentity(const CodeFacts& facts) : facts_(facts) {
  for (size_t i = 0; i < facts.kernels.size(); ++i) {
    const KernelFacts& kernel = facts.kernels[i];
    by_name_[kernel.name].push_back(i);
    by_scope_[{kernel.name, std::string(last_name(kernel.scope))}].push_back(i);
  }
}

std::vector<size_t> KernelIdentity::find(std::string_view profiler_name) const {
  ProfilerName wanted = parse_profiler_name(profiler_name);
  constexpr std::string_view kHelion = "_helion_";
  if (wanted.name.starts_with(kHelion)) wanted.name.erase(0, kHelion.size());
  if (wanted.name == "device_kernel" || wanted.name == "Kernel" || wanted.name == "Kernel2") {
    // CUTLASS wraps a class: the class is what the repository has.
    const ProfilerName wrapped = parse_profiler_name(wanted.template_arguments);
    std::vector<size_t> found = named({wrapped.scope, wrapped.name, ""});
    if (!found.empty()) return found;
    return named({"", first_argument_class(wanted.template_arguments), ""});
  }
  std::vector<size_t> found = named(wanted);
  if (!found.empty() || !wanted.scope.empty()) return found;
  // Triton appends what it specialised on: name_0d1d2de, name.kd.
  for (std::string shorter = wanted.name; found.empty();) {
    const size_t cut = shorter.find_last_of("_.");
    if (cut == std::string::npos || cut == 0) break;
    shorter.resize(cut);
    for (const size_t i : named({"", shorter, ""})) {
      if (is_python_kernel(facts_.kernels[i].kind)) found.push_back(i);
    }
  }
  return found;
}

// Those of the name in such a scope, and those of the name without any.
std::vector<size_t> KernelIdentity::candidates(const ProfilerName& wanted) const {
  const auto all = by_name_.find(wanted.name);
  if (all == by_name_.end()) return {};
  if (wanted.scope.empty()) {
    constexpr size_t kLookedAt = 16 * kMostDefinitions;
    const size_t count = std::min(all->second.size(), kLookedAt);
    return {all->second.begin(), all->second.begin() + static_cast<ptrdiff_t>(count)};
  }
  std::vector<size_t> out;
  for (const std::string& scope : {std::string(last_name(wanted.scope)), std::string()}) {
    const auto found = by_scope_.find({wanted.name, scope});
    if (found != by_scope_.end()) out.insert(out.end(), found->second.begin(), found->second.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<size_t> KernelIdentity::named(const ProfilerName& wanted) const {
  std::vector<size_t> out, alive;
  for (const size_t i : candidates(wanted)) {
    if (out.size() == kMostDefinitions) break;
    const KernelFacts& kernel = facts_.kernels[i];
    const bool python = is_python_kernel(kernel.kind);
    if (!python && !scopes_agree(kernel.scope, wanted.scope)) continue;
    if (python && !wanted.scope.empty()) continue;
    const bool template_differs =
        !python && kernel.kind != KernelKind::kDeviceKernel &&
        kernel.template_parameters.empty() != wanted.template_arguments.empty();
    if (template_differs) continue;
    out.push_back(i);
    if (!kernel.dead) alive.push_back(i);
  }
  return alive.empty() ? out : alive;
}

}  // namespace fathom
