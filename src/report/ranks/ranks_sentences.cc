#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/finding_parts.h"
#include "base/count_text.h"
#include "report/ranks/ranks_report.h"

namespace fathom {
namespace {

constexpr size_t kListed = 8;

std::string plain_words(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string listed(const std::vector<std::string>& items, size_t all) {
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), kListed); ++i)
    text += (i > 0 ? ", " : "") + items[i];
  if (all > kListed) text += fmt::format(" and {} more", number_text(all - kListed));
  return text;
}

class Sentences {
 public:
  explicit Sentences(const RanksView& view) : c_(view.comparison), view_(view) {}

  RankSentences take() {
    if (!c_.ranks.empty()) {
      say_verdict();
      say_why();
      say_clocks();
      say_balance();
      say_overlap();
      say_path();
      say_patterns();
    }
    say_notes();
    return std::move(out_);
  }

 private:
  const LateRank& late() const { return c_.late[c_.straggler]; }
  bool has_gpu_work() const { return std::ranges::any_of(c_.ranks, &RankFacts::has_gpu_work); }

  void say_verdict() {
    const std::string who = c_.rank_name(c_.straggler);
    switch (c_.verdict) {
      case RankVerdict::kNoCollectives:
        out_.verdict =
            c_.matches.all.empty()
                ? "No collective is in more than one trace: waiting cannot be separated from "
                  "transfer."
                : "No collective that ends on all its ranks together is in more than one trace: "
                  "waiting cannot be separated from transfer.";
        return;
      case RankVerdict::kEven:
        out_.verdict =
            fmt::format("No straggler: ranks begin collectives within {} of the wall time.",
                        percent_text(ratio(c_.lateness, c_.wall)));
        return;
      case RankVerdict::kMoving:
        out_.verdict = fmt::format(
            "No single straggler: other ranks are late at other times. Lateness adds up to {}, {} "
            "of the wall time; {} has the largest share, {}.",
            micros_text(c_.lateness), percent_text(ratio(c_.lateness, c_.wall)), who,
            percent_text(c_.straggler_share));
        return;
      case RankVerdict::kTogether:
        say_together();
        return;
      case RankVerdict::kStraggler:
        break;
    }
    const Nanos each{late().late_by.count /
                     static_cast<int64_t>(std::max<size_t>(1, late().collectives))};
    out_.verdict = fmt::format(
        "Straggler: {} begins last in {} of {} collectives, {} late on average: {} in all, {} of "
        "all lateness and {} of the wall time. The other ranks wait {} for it in total.",
        who, number_text(late().collectives), number_text(c_.waits.size()), micros_text(each),
        micros_text(late().late_by), percent_text(c_.straggler_share),
        percent_text(ratio(late().late_by, c_.wall)), micros_text(late().caused));
    out_.verdict += since_text("It is");
  }

  std::string since_text(std::string_view they_are) const {
    if (!c_.since || c_.steps.size() < 2) return {};
    return *c_.since == c_.steps.front().number
               ? fmt::format(" {} late from the first recorded step on.", they_are)
               : fmt::format(" {} late from step {} on.", they_are, *c_.since);
  }

  void say_together() {
    Nanos by, caused;
    size_t collectives = 0;
    std::vector<std::string> names;
    for (const uint32_t r : c_.late_ranks) {
      names.push_back(c_.rank_name(r));
      by += c_.late[r].late_by;
      caused += c_.late[r].caused;
      collectives += c_.late[r].collectives;
    }
    const Nanos each{by.count / static_cast<int64_t>(std::max<size_t>(1, collectives))};
    out_.verdict = fmt::format(
        "{} ranks are late together, as those of one machine would be: {}. They begin {} of {} "
        "collectives last, {} late on average: {} in all, {} of the wall time. The other ranks "
        "wait {} for them in total.{}",
        names.size(), listed(names, names.size()), number_text(collectives),
        number_text(c_.waits.size()), micros_text(each), micros_text(by),
        percent_text(ratio(by, c_.wall)), micros_text(caused), since_text("They are"));
  }

  void say_why() {
    if (c_.late_ranks.empty()) return;
    const LateRank& l = late();
    const std::string other_gpu = other_gpu_text();
    if (l.reason == LateReason::kUnknown) {
      out_.why.emplace_back(
          "Unknown: before these collectives the ranks have none in common to compare from.");
      return;
    }
    Nanos more;
    for (const Nanos time : l.excess) more += std::max(Nanos{}, time);
    const Nanos part = l.excess[l.part];
    if (!c_.ranks[l.rank].has_gpu_work) {
      out_.why.push_back(
          fmt::format("Since the collective before: {} more time outside of collectives than on "
                      "the other ranks. Its trace has no GPU work that would tell more.",
                      micros_text(part)));
      return;
    }
    out_.why.push_back(
        fmt::format("{}: {} more {} than on the other ranks ({} of what it does longer).",
                    c_.late_ranks.size() > 1
                        ? fmt::format("The latest of them, {}, since the collective before",
                                      c_.rank_name(c_.straggler))
                        : "Since the collective before",
                    micros_text(part), rank_part_words(l.part), percent_text(ratio(part, more))));
    if (l.reason == LateReason::kSlowerKernels && !l.ops.empty()) {
      const LateWork& op = l.ops[0];
      out_.why.push_back(fmt::format(
          "The same kernels take longer: {} of {} take {}, {} on the others ({:.2f} ×). {}",
          counted(op.own_count, "kernel"), op.name, micros_text(op.own), micros_text(op.others),
          op.others.count > 0 ? ratio(op.own, op.others) : 0.0,
          other_gpu.empty() ? "Compare clocks, power and temperature of its GPU with the others'."
                            : other_gpu));
    } else if (l.reason == LateReason::kMoreWork && !l.ops.empty()) {
      const LateWork& op = l.ops[0];
      out_.why.push_back(fmt::format(
          "It has more work: {} of {} in {}, {} in {} on the others. Check how the input and the "
          "layers are split among ranks.",
          counted(op.own_count, "kernel"), op.name, micros_text(op.own),
          number_text(op.other_count), micros_text(op.others)));
    } else if (l.reason == LateReason::kIdle && !l.idle.empty()) {
      const LateWork& idle = l.idle[0];
      std::string who = idle.name.empty() ? "no recorded call" : idle.name;
      if (!idle.place.empty()) who += " at " + idle.place;
      out_.why.push_back(fmt::format("Its GPU is idle ({}): {} in {}, {} on the others.",
                                     plain_words(idle_cause_name(idle.cause)),
                                     micros_text(idle.own), who, micros_text(idle.others)));
    } else if (l.reason == LateReason::kCommunication) {
      out_.why.emplace_back(
          "It comes late out of collectives of another group: see rank_lateness.csv "
          "for the ranks that are late there.");
    }
    if (l.explained * 10 < l.collectives * 9)
      out_.why.push_back(
          fmt::format("{} of its {} late collectives follow none in common and are "
                      "not explained.",
                      number_text(l.collectives - l.explained), number_text(l.collectives)));
  }

  // Where the GPU is another than that of most ranks that are not late; else empty.
  std::string other_gpu_text() const {
    const std::string& own = c_.ranks[c_.straggler].gpu;
    std::string usual;  // of those that are not late
    std::map<std::string, size_t> counts;
    for (uint32_t r = 0; r < c_.ranks.size(); ++r) {
      if (std::ranges::binary_search(c_.late_ranks, r) || c_.ranks[r].gpu.empty()) continue;
      if (++counts[c_.ranks[r].gpu] > counts[usual]) usual = c_.ranks[r].gpu;
    }
    if (own.empty() || usual.empty() || own == usual) return {};
    return fmt::format("Its GPU is {}, that of most others {}.", own, usual);
  }

  std::string refusal_text(uint32_t rank) const {
    const RankClock& clock = c_.clocks.ranks[rank];
    switch (clock.refusal) {
      case ClockRefusal::kNothingShared:
        return "it shares no synchronizing collective with an aligned rank";
      case ClockRefusal::kTooFew:
        return fmt::format("only {} in common; 3 are needed",
                           counted(clock.collectives, "collective"));
      case ClockRefusal::kDrift:
        return fmt::format("the clock would drift by {:.0f} ppm, more than any clock does",
                           std::abs(clock.drift) * 1e6);
      case ClockRefusal::kResiduals:
        return fmt::format(
            "ends of collectives differ by {} after the fit (90 %), more than the "
            "collectives take",
            micros_text(clock.residual_p90));
      case ClockRefusal::kContradiction:
        return "collectives would end on other ranks before they begin on this one";
      case ClockRefusal::kFits:
        break;
    }
    return {};
  }

  // ", rank 3 drifts most, by 12 ± 2 ppm faster"; of none, how much could not be seen.
  std::string drift_text(uint32_t fastest) const {
    const double drift = c_.clocks.ranks[fastest].drift * 1e6;
    double error = 0;
    bool is_known = true;
    for (const RankClock& clock : c_.clocks.ranks) {
      if (!clock.aligned()) continue;
      is_known &= clock.drift_error.has_value();
      error = std::max(error, clock.drift_error.value_or(0) * 1e6);
    }
    if (drift != 0) {
      const double own = c_.clocks.ranks[fastest].drift_error.value_or(0) * 1e6;
      return fmt::format(", {} drifts most, by {:.{}f} ± {:.{}f} ppm {}", c_.rank_name(fastest),
                         std::abs(drift), own < 1 ? 2 : 0, own, own < 1 ? 2 : 0,
                         drift < 0 ? "slower" : "faster");
    }
    return is_known ? fmt::format(", no drift (± {:.2g} ppm)", error)
                    : ", drift unknown (fewer than 8 collectives)";
  }

  void say_clocks() {
    size_t aligned = 0, unknown = 0;
    uint32_t farthest = 0, fastest = 0;
    Nanos residual;
    for (uint32_t r = 0; r < c_.ranks.size(); ++r) {
      const RankClock& clock = c_.clocks.ranks[r];
      if (!clock.aligned()) {
        if (c_.verdict != RankVerdict::kNoCollectives || c_.ranks.size() > 1)
          out_.refused_clocks.push_back(c_.rank_name(r) + ": " + refusal_text(r));
        continue;
      }
      if (clock.is_reference) continue;
      ++aligned;
      const auto size = [](const RankClock& c) {
        return c.offset ? std::abs(static_cast<double>(c.offset->count)) : 0;
      };
      unknown += !clock.offset.has_value();
      if (size(clock) > size(c_.clocks.ranks[farthest])) farthest = r;
      if (std::abs(clock.drift) > std::abs(c_.clocks.ranks[fastest].drift)) fastest = r;
      residual = std::max(residual, clock.residual);
    }
    if (c_.ranks.size() < 2) return;
    if (aligned == 0) {
      out_.clocks =
          "Not aligned: waiting is measured by durations, and there is no "
          "critical path across ranks.";
      return;
    }
    out_.clocks = fmt::format("Aligned to {} by the ends of collectives, {} of {}",
                              c_.rank_name(c_.clocks.reference), aligned, c_.ranks.size() - 1);
    const Nanos far = c_.clocks.ranks[farthest].offset.value_or(Nanos{});
    if (far != Nanos{})
      out_.clocks += fmt::format("; {} is farthest {}, by {}", c_.rank_name(farthest),
                                 far.count < 0 ? "behind" : "ahead",
                                 micros_text(far.count < 0 ? Nanos{} - far : far));
    else if (unknown < aligned)
      out_.clocks += "; no offset";
    if (unknown > 0)
      out_.clocks += fmt::format("; offset of {} unknown (no base time in its trace or in {}'s)",
                                 counted(unknown, "rank"), c_.rank_name(c_.clocks.reference));
    out_.clocks += drift_text(fastest);
    out_.clocks += fmt::format("; ends fit within {} (median).", micros_text(residual));
  }

  void say_balance() {
    Nanos computing, exposed, copies, idle, waiting;
    bool is_on_host = false;
    for (uint32_t r = 0; r < c_.ranks.size(); ++r) {
      computing += c_.ranks[r].parts[part_index(RankPart::kComputation)];
      exposed += c_.ranks[r].parts[part_index(RankPart::kCommunication)];
      copies += c_.ranks[r].parts[part_index(RankPart::kCopies)];
      for (const RankGroup& group : c_.ranks[r].groups) is_on_host |= group.on_host;
      idle += c_.ranks[r].idle();
      waiting += c_.rows[r].waiting;
    }
    const auto n = static_cast<int64_t>(c_.ranks.size());
    const auto share = [&](Nanos sum) {
      return percent_text(ratio(Nanos{sum.count / n}, c_.wall));
    };
    if (!has_gpu_work()) {
      out_.balance = fmt::format(
          "Wall time {} (mean), without GPU work: collectives of the host {}, all else {}. Waiting "
          "for other ranks in collectives takes {}.",
          micros_text(c_.wall), share(exposed), share(idle), share(waiting));
      return;
    }
    out_.balance = fmt::format(
        "Wall time {} (mean): computation {}, exposed communication {}{}, exposed copies {}, GPU "
        "idle {}. Waiting for other ranks in collectives takes {}. Computation is {} balanced "
        "({}mean over largest, {}).",
        micros_text(c_.wall), share(computing), share(exposed),
        is_on_host ? " (collectives of the host included)" : "", share(copies), share(idle),
        share(waiting), percent_text(c_.computation_balance),
        c_.unequal_lengths ? "share of each rank's wall time, " : "",
        c_.rank_name(c_.most_computing));
  }

  void say_overlap() {
    Nanos all, hidden;
    for (const RankFacts& r : c_.ranks) {
      all += r.communication;
      hidden += r.hidden;
    }
    if (all.count > 0 && has_gpu_work())
      out_.overlap = fmt::format("Overlap: {} of communication runs under computation.",
                                 percent_text(ratio(hidden, all)));
  }

  void say_path() {
    if (!c_.path.missing.empty()) {
      if (c_.path.missing == "clocks" && !c_.waits.empty())
        out_.path = "No critical path across ranks: not all clocks are aligned.";
      return;
    }
    const auto most = std::ranges::max_element(c_.path.by_rank);
    const auto part = std::ranges::max_element(c_.path.parts);
    out_.path = fmt::format(
        "The critical path takes {}: {} of it is transfer of collectives, {} work of {}. Most of "
        "the "
        "ranks' work on it is {} ({}). It changes rank {}.",
        micros_text(c_.path.length), percent_text(ratio(c_.path.transfer, c_.path.length)),
        percent_text(ratio(*most, c_.path.length)),
        c_.rank_name(static_cast<uint32_t>(most - c_.path.by_rank.begin())),
        has_gpu_work() ? rank_part_words(static_cast<size_t>(part - c_.path.parts.begin()))
                       : "outside of collectives",
        percent_text(ratio(*part, c_.path.length)), counted(c_.path.switches, "time"));
  }

  void say_patterns() {
    if (c_.pipeline) {
      Nanos bubble;
      size_t ranks = 0;
      for (size_t r = 0; r < c_.ranks.size(); ++r) {
        if (!c_.pipeline->stage[r]) continue;
        ++ranks;
        bubble += c_.pipeline->bubble[r];
      }
      const Nanos mean{bubble.count / static_cast<int64_t>(std::max<size_t>(1, ranks))};
      out_.pipeline = fmt::format(
          "Pipeline of {}{}: a rank waits {} in sends and receives without computation, {} of the "
          "wall time (bubbles).",
          counted(c_.pipeline->stages, "stage"), c_.pipeline->is_ring ? ", interleaved" : "",
          micros_text(mean), percent_text(ratio(mean, c_.wall)));
    }
    if (c_.experts) {
      out_.experts = fmt::format(
          "Over {} the rank that receives most gets {:.2f} × the mean (worst {:.2f} ×); in total "
          "it is "
          "{}.",
          counted(c_.experts->collectives, "all-to-all", "all-to-alls"), c_.experts->mean_imbalance,
          c_.experts->worst_imbalance, c_.rank_name(c_.experts->most_loaded));
    }
  }

  // The ranks that lack most first.
  void say_missing() {
    std::vector<uint32_t> lacking;
    for (uint32_t r = 0; r < c_.ranks.size(); ++r) {
      if (c_.rows[r].missing > 0) lacking.push_back(r);
    }
    if (lacking.empty()) return;
    std::ranges::stable_sort(lacking, std::greater<>(),
                             [this](uint32_t r) { return c_.rows[r].missing; });
    std::vector<std::string> texts;
    for (const uint32_t r : lacking)
      texts.push_back(fmt::format("{} lacks {}", c_.rank_name(r), number_text(c_.rows[r].missing)));
    out_.notes.push_back("not all ranks of a group have its collectives: " +
                         listed(texts, texts.size()));
  }

  void say_notes() {
    for (const std::string& message : view_.unread) out_.notes.push_back(message);
    if (c_.missing_count > 0) {
      std::vector<std::string> numbers;
      for (const int64_t rank : c_.missing) numbers.push_back(std::to_string(rank));
      out_.notes.push_back(
          fmt::format("no trace of {} of {}: {}", counted(c_.missing_count, "rank"),
                      with_thousands(*c_.world_size), listed(numbers, c_.missing_count)));
    }
    for (const RefusedRank& r : c_.refused) {
      if (out_.notes.size() > 2 * kListed) break;
      out_.notes.push_back(
          r.why == RankRefusal::kRepeated ? fmt::format("{} left out: rank {} is {} already",
                                                        r.trace, r.rank.value_or(-1), r.instead)
          : r.why == RankRefusal::kNoRank
              ? fmt::format("{} left out: it has neither a rank nor a world size", r.trace)
          : r.world_size && r.world_size != c_.world_size
              ? fmt::format("{} left out: of a job with {}, the others have {}", r.trace,
                            counted(static_cast<uint64_t>(*r.world_size), "rank"),
                            c_.world_size.value_or(0))
              : fmt::format("{} left out: recorded at another time than the others", r.trace));
    }
    if (c_.recorded_apart.count > 0)
      out_.notes.push_back(fmt::format(
          "recorded {} apart by the ranks' clocks: taken as one job with clocks that are set "
          "differently",
          micros_text(c_.recorded_apart)));
    say_missing();
    if (c_.beyond_world > 0)
      out_.notes.push_back(fmt::format("{} with a number beyond the world size of {}",
                                       counted(c_.beyond_world, "rank"), *c_.world_size));
    size_t truncated = 0, named = 0;
    for (const RankFacts& r : c_.ranks) {
      truncated += r.truncated;
      named += r.rank_from_name;
    }
    if (truncated > 0)
      out_.notes.push_back(fmt::format("{} cut off: collectives after the cut are missing",
                                       counted(truncated, "trace is", "traces are")));
    if (named > 0)
      out_.notes.push_back(
          fmt::format("the rank of {} is read from the file's name", counted(named, "trace")));
    if (c_.matches.differing > 0)
      out_.notes.push_back(fmt::format("{} left out: ranks differ in kind, type or size",
                                       counted(c_.matches.differing, "collective")));
    if (c_.matches.untimed > 0)
      out_.notes.push_back(
          fmt::format("{} left out: without a duration, or with a negative one, on a rank",
                      counted(c_.matches.untimed, "collective")));
    if (c_.unequal_lengths) {
      const auto [shortest, longest] =
          std::ranges::minmax_element(c_.ranks, {}, [](const RankFacts& r) { return r.wall(); });
      const auto name = [&](auto rank) {
        return c_.rank_name(static_cast<uint32_t>(rank - c_.ranks.begin()));
      };
      out_.notes.push_back(fmt::format(
          "traces have different lengths, from {} ({}) to {} ({}): compare shares of a rank's wall "
          "time, not its times",
          micros_text(shortest->wall()), name(shortest), micros_text(longest->wall()),
          name(longest)));
    }
    if (c_.matches.group_conflicts > 0)
      out_.notes.emplace_back(
          "process groups of one name have different members on different ranks");
    if (c_.matches.unmatched > c_.matches.left_out)
      out_.notes.push_back(fmt::format("{} of {} are in no other trace and were not compared",
                                       number_text(c_.matches.unmatched - c_.matches.left_out),
                                       counted(c_.matches.runs, "collective run")));
    if (c_.clocks.by_unknown_kind && !c_.waits.empty())
      out_.notes.emplace_back(
          "what the collectives do is not recorded; they are taken to end on all ranks together, "
          "which fits their times");
    if (c_.clocks.contradictions > 0)
      out_.notes.push_back(fmt::format("{} left out: the aligned clocks contradict the match",
                                       counted(c_.clocks.contradictions, "collective")));
  }

  const RankComparison& c_;
  const RanksView& view_;
  RankSentences out_;
};

}  // namespace

std::string rank_part_words(size_t part) {
  switch (part) {
    case part_index(RankPart::kComputation):
      return "computation";
    case part_index(RankPart::kCommunication):
      return "exposed communication";
    case part_index(RankPart::kCopies):
      return "exposed copies";
    default:
      break;
  }
  const size_t cause = part - part_index(RankPart::kFirstIdle);
  return "GPU idle time (" + plain_words(idle_cause_name(static_cast<IdleCause>(cause))) + ")";
}

RankSentences rank_sentences(const RanksView& view) { return Sentences(view).take(); }

}  // namespace fathom
