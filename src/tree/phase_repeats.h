#pragma once

#include "tree/attention_lengths.h"
#include "tree/phase_runs.h"
#include "tree/repetition.h"

namespace fathom {

// Finds repeats among items that no name tells of, and the steps of text generation among those.
class PhaseRepeats {
 public:
  PhaseRepeats(const EventStore& store, const CallTree& tree, std::vector<PhaseItem>& items)
      : store_(store), items_(items), attention_(store, tree) {}

  // Labels what repeats among the items from begin to before end, which are of one device.
  void search(size_t begin, size_t end) { search(begin, end, 0, 0); }
  // Whether these have several steps of text generation, by their attention.
  bool may_generate(size_t begin, size_t end) const;
  // After all searches: decode steps among the repeats, and prefills beside them.
  void label_generation();

 private:
  // Items that may be one step of text generation.
  struct Stretch {
    size_t begin = 0, end = 0;
    size_t prompts = 0, tokens = 0;  // attention of either use
    size_t first = 0, layer = 0;     // the place of the first, the distance to the next
    EventId example;
    bool is_decode = false;

    bool is_prefill() const { return !is_decode && tokens == 0 && prompts >= 2; }
    void append(const Stretch& next);
  };

  void search(size_t begin, size_t end, size_t least, int depth);
  void search_rest(size_t begin, size_t end, const std::vector<RepeatedPart>& parts, int depth);
  WorkSequence sequence_of(size_t begin, size_t end) const;
  std::vector<RepeatedPart> parts_by_step(size_t begin, size_t end) const;
  Stretch look_for_attention(size_t begin, size_t end) const;
  std::vector<Stretch> find_stretches() const;
  void label(const Stretch& stretch, size_t lead);

  const EventStore& store_;
  std::vector<PhaseItem>& items_;
  AttentionLengths attention_;
  uint32_t parts_ = 0, repetitions_ = 0;
};

}  // namespace fathom
