#pragma once

#include "base/utf8.h"
#include "story/run/phase_profile.h"

// The parts of a story, each made from the profiles.
namespace fathom {

std::string phase_title(const Phase& phase);
StoryTopic topic_of(IdleCause cause);
// Names in lines stay short enough to read.
inline constexpr size_t kTextBytes = 400;
inline std::string cut_text(std::string_view text) { return cut_to_bytes(text, kTextBytes); }

// Lines and events of one phase; at most `events` of them.
StoryPhase tell_phase(const RunFacts& facts, const WorkLabels& labels,
                      const HardwareIndex& hardware, const PhaseProfile& profile,
                      const std::vector<Nanos>& owned, Nanos total, size_t events);

// What shifts from one phase to the next, and why; at most `lines`.
std::vector<StoryLine> tell_transition(const RunFacts& facts, const HardwareIndex& hardware,
                                       const PhaseProfile& from, const PhaseProfile& to,
                                       const IdleTimes* between, size_t lines);

std::vector<StoryLine> tell_configuration(const RunFacts& facts, const WorkLabels& labels,
                                          const PhaseProfiles& profiles);

// Hotspots, bottlenecks, insight, actions and what is missing.
void tell_summary(const RunFacts& facts, const WorkLabels& labels, const HardwareIndex& hardware,
                  const PhaseProfiles& profiles, const WorkFilter& is_told, RunStory& story);

}  // namespace fathom
