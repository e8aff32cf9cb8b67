#include "plan/ablate/flag_combinations.h"

#include <set>

namespace fathom::ablate {
namespace {

void put_flag(const Variant& flag, Variant& variant) {
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  variant.flag_names.push_back(flag.name);
  variant.change +=
      (variant.change.empty() ? "" : "; ") + (flag.change.empty() ? flag.name : flag.change);
  append(variant.changes.patches, flag.changes.patches);
  append(variant.changes.files, flag.changes.files);
  append(variant.changes.macros, flag.changes.macros);
  append(variant.changes.flags, flag.changes.flags);
  append(variant.changes.environment, flag.changes.environment);
  append(variant.changes.values, flag.changes.values);
}

}  // namespace

void add_combinations(const std::vector<Variant>& flags, Suite& suite) {
  suite.baseline = "none";
  const size_t count = flags.size();
  std::set<std::vector<size_t>> made;
  const auto add = [&](const std::vector<size_t>& which, std::string name, std::string parent,
                       bool is_pair) {
    if (!made.insert(which).second) return;
    Variant variant;
    variant.name = std::move(name);
    variant.parent = std::move(parent);
    variant.only_if_pairs_matter = is_pair;
    for (const size_t i : which) put_flag(flags[i], variant);
    if (which.size() == 1) {
      variant.identified = flags[which[0]].identified;
      variant.hypothesis = flags[which[0]].hypothesis;
      variant.expects = flags[which[0]].expects;
    }
    suite.variants.push_back(std::move(variant));
  };
  add({}, "none", "", false);
  std::vector<size_t> all;
  for (size_t i = 0; i < count; ++i) {
    add({i}, flags[i].name, "none", false);
    all.push_back(i);
  }
  add(all, "all", "none", false);
  for (size_t i = 0; i < count; ++i) {
    std::vector<size_t> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    add(others, "all-but-" + flags[i].name, "all", false);
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j)
      add({i, j}, flags[i].name + "+" + flags[j].name, flags[i].name, suite.most_pairs > 0);
  }
  if (suite.most_pairs == 0)
    std::erase_if(suite.variants, [](const Variant& v) { return v.only_if_pairs_matter; });
}

}  // namespace fathom::ablate
