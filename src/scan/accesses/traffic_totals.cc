#include "scan/accesses/traffic_totals.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fathom {
namespace {

// Whether another thread or round reaches what lies so far away: of "y * nx + x" the row below, nx
// further on; not of "y * 2 * nx + x", whose rows lie between the others.
bool others_reach(const Polynomial& distance, const Polynomial& varying, const IndexSpace& space) {
  for (const auto& [product, factor] : varying.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    const std::vector<Symbol> symbols = space.varying(term);
    if (symbols.size() != 1) continue;
    const auto step = term.divided_by(Polynomial::symbol(symbols[0]));
    const auto steps = step ? distance.divided_by(*step) : std::nullopt;
    const auto count = steps ? steps->as_constant() : std::nullopt;
    if (count && *count != 0 && std::floor(*count) == *count) return true;
  }
  return false;
}

// Accesses whose indices differ by something that is the same for all threads touch different
// elements (x[i], x[i + n]), unless others reach it too (x[i], x[i + 1]; x[y * n + i],
// x[(y + 1) * n + i]); all others are taken to touch the same ones, so the most of them counts.
std::string union_of(const std::vector<const AccessSite*>& sites, const IndexSpace& space) {
  struct Group {
    std::string varying;
    std::vector<Polynomial> offsets;
    Polynomial elements;
  };
  std::vector<Group> groups;
  for (const AccessSite* site : sites) {
    if (!site->elements) return "";
    const Polynomial offset = space.uniform_part(site->where);
    const std::string varying = space.text(site->where - offset);
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.varying == varying; });
    if (known == groups.end()) {
      groups.push_back({varying, {offset}, *site->elements});
      continue;
    }
    const bool shares =
        std::any_of(known->offsets.begin(), known->offsets.end(), [&](const Polynomial& other) {
          const auto distance = (offset - other).as_constant();
          const auto step = site->step.as_constant();
          if (!distance) return others_reach(offset - other, site->where - offset, space);
          return *distance == 0 || !step || std::abs(*distance) >= *step;
        });
    if (shares) continue;
    known->offsets.push_back(offset);
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

}  // namespace

std::vector<ArrayTraffic> traffic_totals(const std::vector<ArrayAccess>& accesses,
                                         const std::vector<AccessSite>& sites_of_all,
                                         const IndexSpace& space) {
  std::vector<ArrayTraffic> out;
  std::map<std::pair<std::string, AccessKind>, std::vector<const AccessSite*>> by_array;
  std::vector<std::pair<std::string, AccessKind>> order;
  for (const AccessSite& site : sites_of_all) {
    const ArrayAccess& access = accesses[site.access];
    if (access.shared) continue;
    auto& list = by_array[{access.array, access.kind}];
    if (list.empty()) order.emplace_back(access.array, access.kind);
    list.push_back(&site);
  }
  for (const auto& key : order) {
    const std::vector<const AccessSite*>& sites = by_array[key];
    const ArrayAccess& first = accesses[sites.front()->access];
    ArrayTraffic total{key.first, first.type, first.element_bytes, key.second, "", "", first.at};
    total.elements = union_of(sites, space);
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
