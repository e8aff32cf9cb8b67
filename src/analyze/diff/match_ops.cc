#include "analyze/diff/match_ops.h"

namespace fathom {
namespace {

class Matcher {
 public:
  Matcher(const std::vector<PathGroup>& a, const std::vector<PathGroup>& b)
      : a_(a), b_(b), taken_a_(a.size()), taken_b_(b.size()) {}

  void match_by(MatchedBy by) {
    // Ordered, so that the same traces always give the same rows.
    std::map<PathGroupKey, OpMatch> alike;
    for (size_t i = 0; i < a_.size(); ++i) {
      if (!taken_a_[i]) alike[masked(a_[i], by)].a.push_back(i);
    }
    for (size_t i = 0; i < b_.size(); ++i) {
      if (!taken_b_[i]) alike[masked(b_[i], by)].b.push_back(i);
    }
    for (auto& [key, match] : alike) {
      if (match.a.empty() || match.b.empty()) continue;
      match.by = by;
      if (match.a.size() != match.b.size()) {
        take(std::move(match));
        continue;
      }
      for (size_t i = 0; i < match.a.size(); ++i) take({by, {match.a[i]}, {match.b[i]}});
    }
  }

  std::vector<OpMatch> finish() {
    for (size_t i = 0; i < a_.size(); ++i) {
      if (!taken_a_[i]) take({MatchedBy::kNothing, {i}, {}});
    }
    for (size_t i = 0; i < b_.size(); ++i) {
      if (!taken_b_[i]) take({MatchedBy::kNothing, {}, {i}});
    }
    return std::move(matches_);
  }

 private:
  // The key without what may differ.
  static PathGroupKey masked(const PathGroup& group, MatchedBy by) {
    PathGroupKey key = group.key;
    if (by == MatchedBy::kArguments || by == MatchedBy::kFirstOperands) key.path = {};
    if (by == MatchedBy::kFirstOperands) key.dims = group.operands, key.types = {};
    if (by == MatchedBy::kPath) key.dims = key.types = {};
    return key;
  }

  void take(OpMatch match) {
    for (size_t i : match.a) taken_a_[i] = true;
    for (size_t i : match.b) taken_b_[i] = true;
    matches_.push_back(std::move(match));
  }

  const std::vector<PathGroup>&a_, &b_;
  std::vector<bool> taken_a_, taken_b_;
  std::vector<OpMatch> matches_;
};

}  // namespace

std::vector<OpMatch> match_ops(const std::vector<PathGroup>& a, const std::vector<PathGroup>& b) {
  Matcher matcher(a, b);
  for (MatchedBy by : {MatchedBy::kPathAndArguments, MatchedBy::kArguments,
                       MatchedBy::kFirstOperands, MatchedBy::kPath})
    matcher.match_by(by);
  return matcher.finish();
}

}  // namespace fathom
