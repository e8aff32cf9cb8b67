#include "scan/link/persistence.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/pattern_ids.h"

namespace fathom {
namespace {

std::vector<std::string> names_in(std::string_view expression) {
  std::vector<std::string> out;
  for (size_t at = 0; at < expression.size();) {
    const auto is_part = [&](size_t i) {
      return std::isalnum(static_cast<unsigned char>(expression[i])) != 0 || expression[i] == '_';
    };
    size_t end = at;
    while (end < expression.size() && is_part(end)) ++end;
    if (end > at) out.emplace_back(expression.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// NUM_SMS, multiProcessorCount, sm_count, blocks that fit on an SM.
bool counts_sms(const std::string& name) {
  std::string plain = lower(name);
  std::erase(plain, '_');
  constexpr auto words = std::to_array<std::string_view>({"numsm", "smcount", "multiprocessor",
                                                          "nsms", "maxactiveblocks", "blockspersm",
                                                          "ctaspersm", "numcus", "cucount"});
  return plain == "sms" || std::any_of(words.begin(), words.end(), [&](std::string_view word) {
           return plain.find(word) != std::string::npos;
         });
}

// Whether the grid, or a value that it is made of, counts SMs.
bool grid_follows_sms(const KernelLauncher& launcher) {
  std::set<std::string> seen;
  std::vector<std::string> wanted = names_in(launcher.grid);
  while (!wanted.empty()) {
    const std::string name = wanted.back();
    wanted.pop_back();
    if (!seen.insert(name).second) continue;
    if (counts_sms(name)) return true;
    for (const NamedValue& value : launcher.values) {
      if (value.name.substr(0, value.name.find('(')) != name) continue;
      for (std::string& more : names_in(value.text)) wanted.push_back(std::move(more));
    }
  }
  return false;
}

bool steps_by_blocks(const CodeEvidence& evidence) {
  return evidence.what == pattern_id::kLaunchGridStride && !evidence.subject.empty();
}

}  // namespace

void recognise_persistence(std::vector<KernelFacts>& kernels) {
  for (KernelFacts& kernel : kernels) {
    const auto loop = std::find_if(kernel.evidence.begin(), kernel.evidence.end(), steps_by_blocks);
    if (loop == kernel.evidence.end()) continue;
    const auto launcher =
        std::find_if(kernel.launchers.begin(), kernel.launchers.end(), grid_follows_sms);
    if (launcher == kernel.launchers.end()) continue;
    CodeEvidence found = *loop;
    found.what = pattern_id::kPersistent;
    // From the step on: a condition may follow it.
    found.detail = loop->detail.substr(loop->detail.find(loop->subject)) +
                   "; the grid follows the number of SMs";
    found.certainty = std::max(Certainty::kLikely, loop->certainty);
    kernel.evidence.insert(loop + 1, std::move(found));
  }
}

}  // namespace fathom
