#pragma once

#include "report/scan/fact_writer.h"
#include "story/story.h"

namespace fathom {

// Keys of scan.json that say what stories are told for: docs/scan_json.md.
void write_told_for(FactWriter& w, const Stories& stories);
// The keys of a kernel or host function that its story gives.
void write_story(FactWriter& w, const KernelStory& told);
void write_story(FactWriter& w, const HostStory& told);

}  // namespace fathom
