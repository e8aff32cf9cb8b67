#include "story/kernel_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/count_text.h"
#include "base/text_parts.h"
#include "scan/facts/pattern_ids.h"
#include "story/access_model.h"

namespace fathom {
namespace {

const CodeEvidence* find(const KernelFacts& kernel, std::string_view what) {
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what == what && evidence.certainty != Certainty::kUnsure) return &evidence;
  }
  return nullptr;
}

void note_small_grid(const Expectation& expected, const Platform* platform,
                     std::vector<KernelNote>& out) {
  if (!expected.launch || !expected.launch->blocks || platform == nullptr ||
      !platform->compute_units)
    return;
  const double blocks = *expected.launch->blocks;
  const auto units = static_cast<double>(*platform->compute_units);
  if (blocks >= units || blocks <= 0) return;
  out.push_back(
      {fmt::format(
           "Small grid: {:.0f} blocks on {:.0f} {}s, so at most {:.0f} % of them have work.",
           blocks, units, platform->unit_name, 100 * blocks / units),
       expected.launch->launcher->at, "derived"});
}

// The first access of each array that fits, with how many more there are.
template <typename Fits, typename Say>
void note_accesses(const KernelFacts& kernel, Fits fits, Say say, std::vector<KernelNote>& out) {
  constexpr size_t kShown = 3;
  std::vector<const ArrayAccess*> found;
  for (const ArrayAccess& access : kernel.accesses) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const ArrayAccess* other) {
      return other->array == access.array && other->kind == access.kind;
    });
    if (!known && fits(access)) found.push_back(&access);
  }
  for (size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    std::string text = say(*found[i]);
    if (i + 1 == kShown && found.size() > kShown)
      text += fmt::format(" {} more arrays have the same pattern.", found.size() - kShown);
    out.push_back({std::move(text), found[i]->at, "derived"});
  }
}

bool is_python(const KernelFacts& kernel) { return is_python_kernel(kernel.kind); }

void note_strides(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  note_accesses(
      kernel,
      [](const ArrayAccess& access) {
        return !access.shared && access.pattern == AccessPattern::kStrided;
      },
      [](const ArrayAccess& access) {
        return fmt::format(
            "Uncoalesced access to {} ({}): a warp touches more 32-byte sectors than it uses, "
            "unless "
            "later iterations hit the rest in L1.",
            access.array, access.index);
      },
      out);
}

// Whether a thread may make both: not in the two branches of one if. What else decides is not
// known.
bool may_both_run(const ArrayAccess& one, const ArrayAccess& other) {
  if (!one.conditional || !other.conditional) return true;
  if (one.condition.empty() || other.condition.empty()) return false;
  const auto excludes = [](const std::string& a, const std::string& b) {
    return holds(b, "!(" + a + ")");
  };
  return !excludes(one.condition, other.condition) && !excludes(other.condition, one.condition);
}

// x[i] and x[n + i] are two halves.
bool asks_for_each_once(const KernelFacts& kernel, std::string_view array) {
  return std::ranges::any_of(kernel.traffic, [&](const ArrayTraffic& total) {
    return total.array == array && total.kind == AccessKind::kRead && !total.elements.empty() &&
           total.elements == total.times;
  });
}

// Read in several places, or again in each round of a loop, and not a constant for the warp.
void note_rereads(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  std::map<std::string_view, std::vector<const ArrayAccess*>> reads;
  for (const ArrayAccess& access : kernel.accesses) {
    const bool shared_out = access.pattern == AccessPattern::kColumnsOfRow ||
                            access.pattern == AccessPattern::kOnePerThread ||
                            access.pattern == AccessPattern::kOnePerProgram ||
                            access.pattern == AccessPattern::kNeighboursByRound;
    if (access.shared || access.kind != AccessKind::kRead || !shared_out) continue;
    auto& list = reads[access.array];
    const bool same = std::any_of(list.begin(), list.end(), [&](const ArrayAccess* other) {
      return other->at.line != access.at.line && other->elements == access.elements &&
             other->lane_index == access.lane_index && may_both_run(*other, access);
    });
    if (list.empty() || same) list.push_back(&access);
  }
  for (const auto& [array, list] : reads) {
    if (list.size() < 2 || asks_for_each_once(kernel, array)) continue;
    std::string lines;
    for (const ArrayAccess* access : list)
      lines += (lines.empty() ? "" : ", ") + std::to_string(access->at.line);
    out.push_back(
        {fmt::format("{} is read {} times (lines {}). Keep it in registers or shared memory "
                     "to read it once.",
                     array, list.size(), lines),
         list[1]->at, "derived"});
  }
}

// A parameter like `float4* out`: the accesses are wide without a cast that would say so.
bool takes_vectors(std::string_view parameters) {
  return holds_any(parameters, {"float4", "uint4", "int4", "double2", "float2", "x128"});
}

void note_narrow_access(const KernelFacts& kernel, const Expectation& expected,
                        std::vector<KernelNote>& out) {
  const bool moves_data = expected.model && expected.model->id != "matmul";
  if (!moves_data || is_python(kernel) || find(kernel, pattern_id::kTmaLoad) ||
      find(kernel, pattern_id::kCpAsync))
    return;
  if (kernel.accesses.empty()) {  // they could not be followed; then its patterns must do
    const bool wide = find(kernel, pattern_id::kVectorAccess) || takes_vectors(kernel.parameters);
    if (wide || kernel.evidence.empty()) return;
    out.push_back(
        {"No vector access found: each thread moves one element at a time. 16-byte accesses need "
         "fewer instructions and fewer dependent loads.",
         {kernel.at.file, kernel.line_name},
         "derived"});
    return;
  }
  note_accesses(
      kernel,
      [](const ArrayAccess& access) {
        const bool row = access.pattern == AccessPattern::kColumnsOfRow ||
                         access.pattern == AccessPattern::kOnePerThread;
        return !access.shared && row && access.access_bytes && *access.access_bytes < 16;
      },
      [](const ArrayAccess& access) {
        return fmt::format(
            "{} is {} {} at a time. Use 16-byte accesses where rows are aligned: they need fewer "
            "instructions.",
            access.array, access.kind == AccessKind::kRead ? "read" : "written",
            counted(static_cast<uint64_t>(*access.access_bytes), "byte"));
      },
      out);
}

void note_bank_conflicts(const KernelFacts& kernel, const Expectation& expected,
                         const Parameters& parameters, std::vector<KernelNote>& out) {
  const KernelValues values(expected.launch, parameters);
  const auto work = load_store_work(kernel, values);
  if (!work || work->conflict == nullptr || work->most_conflicts < 2) return;
  out.push_back({fmt::format("{}-way bank conflict on {} in shared memory: {} threads of a warp "
                             "access the same bank.",
                             work->most_conflicts, work->conflict->index, work->most_conflicts),
                 work->conflict->at, "derived"});
}

void note_pdl(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  const CodeEvidence* wait = find(kernel, pattern_id::kPdlWait);
  if (wait == nullptr) return;
  for (const KernelLauncher& launcher : kernel.launchers) {
    for (const NamedValue& value : launcher.values) {
      if (!holds(value.name, "pdl") || value.text != "false") continue;
      out.push_back({"Programmatic dependent launch (PDL) is supported but off by default (" +
                         value.name + " = false).",
                     value.at, "code fact"});
      return;
    }
  }
}

void note_scatter(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  std::vector<const CodeEvidence*> scatters;
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what == pattern_id::kScatter) scatters.push_back(&evidence);
  }
  if (scatters.size() < 2) return;
  out.push_back({fmt::format("The same warp writes {} arrays in sequence. Issue all their loads "
                             "before the first store.",
                             scatters.size()),
                 scatters[1]->at, "derived"});
}

void note_launch_bounds(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  const CodeEvidence* bounds = find(kernel, pattern_id::kLaunchBounds);
  if (bounds == nullptr) return;
  for (const KernelLauncher& launcher : kernel.launchers) {
    for (const NamedValue& value : launcher.values) {
      const bool minimum = holds(value.name, "concurrency") || holds(value.name, "occupancy");
      if (!minimum || value.text != "1") continue;
      out.push_back({"Launch bounds request only one block per SM (" + value.name +
                         " = 1): the compiler may use so many registers that no second block fits.",
                     value.at, "code fact"});
      return;
    }
  }
}

}  // namespace

std::vector<KernelNote> notes_on(const KernelFacts& kernel, const Expectation& expected,
                                 const Parameters& parameters, const Platform* platform) {
  std::vector<KernelNote> out;
  if (kernel.dead)
    out.push_back(
        {"Not launched anywhere: delete it, or add the missing launch.", kernel.at, "code fact"});
  note_small_grid(expected, platform, out);
  note_strides(kernel, out);
  note_bank_conflicts(kernel, expected, parameters, out);
  note_rereads(kernel, out);
  note_narrow_access(kernel, expected, out);
  note_pdl(kernel, out);
  note_launch_bounds(kernel, out);
  note_scatter(kernel, out);
  return out;
}

}  // namespace fathom
