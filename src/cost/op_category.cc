#include "cost/op_category.h"

#include "base/glob.h"
#include "base/tsv.h"
#include "cost/cost.h"

extern const std::string_view categories_tsv;

namespace fathom {
namespace {

struct Rule {
  std::string_view by, pattern, category;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto& row : read_tsv(categories_tsv, 3)) list.push_back({row[0], row[1], row[2]});
    return list;
  }();
  return all;
}

}  // namespace

std::string_view op_category(std::string_view op, std::string_view report_category, bool copied) {
  const std::string_view function = cost_function_of(op);
  for (const Rule& rule : rules()) {
    if (rule.by == "copied" && !copied) continue;
    const std::string_view text = rule.by == "report"     ? report_category
                                  : rule.by == "function" ? function
                                                          : op;
    if (glob_matches(rule.pattern, text)) return rule.category;
  }
  return "other";
}

}  // namespace fathom
