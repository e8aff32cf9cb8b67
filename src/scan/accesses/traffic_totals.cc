#include "scan/accesses/traffic_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace fathom {
namespace {

// What an index goes on by where one of its symbols does, of "y * nx + y + x" for y: nx + 1.
std::map<Symbol, Polynomial> steps_of(const Polynomial& varying, const IndexSpace& space) {
  std::map<Symbol, Polynomial> out;
  for (const auto& [product, factor] : varying.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    const std::vector<Symbol> symbols = space.varying(term);
    if (symbols.size() != 1) continue;
    if (const auto step = term.divided_by(Polynomial::symbol(symbols[0])))
      out[symbols[0]] = out[symbols[0]] + *step;
  }
  return out;
}

// Whether another thread or round reaches what lies so far away: of "y * nx + x" the row below, nx
// further on; not of "y * 2 * nx + x", whose rows lie between the others.
bool others_reach(const Polynomial& distance, const Polynomial& varying, const IndexSpace& space) {
  for (const auto& [symbol, step] : steps_of(varying, space)) {
    if (distance.is_zero() || step.is_zero()) continue;
    const auto& [product, factor] = *step.terms().begin();
    const auto same = distance.terms().find(product);
    if (same == distance.terms().end()) continue;
    const double count = same->second / factor;
    if (std::floor(count) == count && distance == step * Polynomial::constant(count)) return true;
  }
  return false;
}

// Accesses whose indices differ by something that is the same for all threads touch different
// elements (x[i], x[i + n]), unless others reach it too (x[i], x[i + 1]; x[y * n + i],
// x[(y + 1) * n + i]); all others are taken to touch the same ones, so the most of them counts.
std::string union_of(const std::vector<const AccessSite*>& sites, const IndexSpace& space) {
  if (sites.empty()) return "0";
  // An index with local names, and with their values in their place: what either form shows to be
  // the same but for an offset belongs together.
  struct Form {
    std::string varying;
    Polynomial where, offset;
  };
  struct Group {
    std::array<std::string, 2> varying;
    std::vector<std::array<Polynomial, 2>> offsets;
    Polynomial elements;
  };
  std::vector<Group> groups;
  for (const AccessSite* site : sites) {
    if (!site->elements) return "";
    std::array<Form, 2> forms;
    for (size_t i = 0; i < 2; ++i) {
      Form& form = forms[i];
      form.where = i == 0 ? space.without_names(site->where) : site->where;
      form.offset = space.uniform_part(form.where);
      form.varying = space.shape_of(form.where - form.offset);
    }
    size_t same = 0;
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      for (same = 0; same < 2; ++same)
        if (group.varying[same] == forms[same].varying) return true;
      return false;
    });
    if (known == groups.end()) {
      groups.push_back({{forms[0].varying, forms[1].varying},
                        {{forms[0].offset, forms[1].offset}},
                        *site->elements});
      continue;
    }
    const Form& form = forms[same];
    const bool shares =
        std::any_of(known->offsets.begin(), known->offsets.end(), [&](const auto& others) {
          const Polynomial between = form.offset - others[same];
          const auto distance = between.as_constant();
          const auto step = site->step.as_constant();
          if (!distance) return others_reach(between, form.where - form.offset, space);
          return *distance == 0 || !step || std::abs(*distance) >= *step;
        });
    if (shares) continue;
    known->offsets.push_back({forms[0].offset, forms[1].offset});
    known->elements = known->elements + *site->elements;
  }
  std::vector<Polynomial> largest;
  for (const Group& group : groups) {
    if (std::any_of(largest.begin(), largest.end(),
                    [&](const Polynomial& other) { return other.covers(group.elements); })) {
      continue;
    }
    std::erase_if(largest, [&](const Polynomial& other) { return group.elements.covers(other); });
    largest.push_back(group.elements);
  }
  std::string out = space.text(largest.front());
  for (size_t i = 1; i < largest.size(); ++i)
    out = "max(" + out + ", " + space.text(largest[i]) + ")";
  return out;
}

// "HAS_BIAS && !(CAUSAL)"; empty: something else than flags decides too.
std::string flags_of(const std::vector<AccessCondition>& conditions) {
  constexpr size_t kLongest = 200;
  std::string out;
  for (const AccessCondition& one : conditions) {
    if (one.flag.empty()) return "";
    if (conditions.size() == 1) return one.flag;
    out += (out.empty() ? "(" : " && (") + one.flag + ")";
  }
  return out.size() > kLongest ? "" : out;
}

// The parts that one test decides each, in the order of the code.
std::vector<ArrayTraffic::Flagged> flagged_parts(const std::vector<const AccessSite*>& sites,
                                                 const std::vector<ArrayAccess>& accesses,
                                                 const IndexSpace& space) {
  constexpr size_t kMostFlags = 8;
  std::vector<std::pair<std::string, std::vector<const AccessSite*>>> parts;
  for (const AccessSite* site : sites) {
    const std::string& flag = accesses[site->access].condition;
    if (site->conditions.empty()) continue;
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [&](const auto& part) { return part.first == flag; });
    if (known != parts.end()) {
      known->second.push_back(site);
    } else if (parts.size() < kMostFlags) {
      parts.push_back({flag, {site}});
    }
  }
  std::vector<ArrayTraffic::Flagged> out;
  for (const auto& [flag, list] : parts) {
    std::string elements = union_of(list, space);
    if (!elements.empty()) out.push_back({flag, std::move(elements)});
  }
  return out;
}

}  // namespace

void set_conditions(std::vector<ArrayAccess>& accesses, const std::vector<AccessSite>& sites) {
  for (const AccessSite& site : sites) {
    accesses[site.access].conditional = !site.conditions.empty();
    accesses[site.access].condition = flags_of(site.conditions);
  }
}

void join_branches(std::vector<AccessSite>& sites, const std::vector<ArrayAccess>& accesses,
                   size_t first, size_t middle, size_t depth) {
  constexpr size_t kMostPairs = 4096;  // of branches with very many accesses the first ones
  size_t pairs = 0;
  for (size_t a = first; a < middle; ++a) {
    for (size_t b = middle; b < sites.size() && ++pairs <= kMostPairs; ++b) {
      const ArrayAccess &one = accesses[sites[a].access], &other = accesses[sites[b].access];
      if (one.array != other.array || one.kind != other.kind || one.shared != other.shared ||
          !(sites[a].where == sites[b].where)) {
        continue;
      }
      for (const size_t site : {a, b}) {
        auto& conditions = sites[site].conditions;
        if (depth < conditions.size())
          conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(depth));
      }
      break;
    }
  }
}

std::vector<ArrayTraffic> traffic_totals(const std::vector<ArrayAccess>& accesses,
                                         const std::vector<AccessSite>& sites_of_all,
                                         const IndexSpace& space) {
  std::vector<ArrayTraffic> out;
  std::map<std::pair<std::string, AccessKind>, std::vector<const AccessSite*>> by_array;
  std::vector<std::pair<std::string, AccessKind>> order;
  for (const AccessSite& site : sites_of_all) {
    const ArrayAccess& access = accesses[site.access];
    if (access.shared || access.certainty == Certainty::kUnsure) continue;
    auto& list = by_array[{access.array, access.kind}];
    if (list.empty()) order.emplace_back(access.array, access.kind);
    list.push_back(&site);
  }
  for (const auto& key : order) {
    const std::vector<const AccessSite*>& sites = by_array[key];
    const ArrayAccess& first = accesses[sites.front()->access];
    ArrayTraffic total{key.first, first.type, first.element_bytes, key.second, "", "", first.at};
    total.elements = union_of(sites, space);
    std::vector<const AccessSite*> always;
    for (const AccessSite* site : sites) {
      if (site->conditions.empty() && site->elements && !site->at_most) always.push_back(site);
    }
    total.least = always.size() == sites.size() ? total.elements : union_of(always, space);
    total.flagged = flagged_parts(sites, accesses, space);
    std::optional<Polynomial> times = Polynomial();
    for (const AccessSite* site : sites) {
      if (!site->elements) total.at = accesses[site->access].at;
      if (site->alternative) continue;
      times = times && site->times ? std::optional(*times + *site->times) : std::nullopt;
    }
    if (times) total.times = space.text(*times);
    out.push_back(std::move(total));
  }
  return out;
}

}  // namespace fathom
