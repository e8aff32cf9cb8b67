#include "scan/link/persistence.h"

#include <algorithm>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/pattern_ids.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// NUM_SMS, multiProcessorCount, sm_count, blocks that fit on an SM.
bool counts_sms(std::string_view name) {
  std::string plain = small_letters(name);
  std::erase(plain, '_');
  return plain == "sms" ||
         holds_any(plain, {"numsm", "smcount", "multiprocessor", "nsms", "maxactiveblocks",
                           "blockspersm", "ctaspersm", "numcus", "cucount"});
}

// Whether the grid, or a value that it is made of, counts SMs.
bool grid_follows_sms(const KernelLauncher& launcher) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> wanted = code_words(launcher.grid);
  while (!wanted.empty()) {
    const std::string_view name = wanted.back();
    wanted.pop_back();
    if (!seen.insert(name).second) continue;
    if (counts_sms(name)) return true;
    for (const NamedValue& value : launcher.values) {
      if (value.name.substr(0, value.name.find('(')) != name) continue;
      for (const std::string_view more : code_words(value.text)) wanted.push_back(more);
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
