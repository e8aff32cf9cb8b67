#pragma once

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// What others can call: names that packages export, bindings, routes, console scripts, and host
// functions of headers under include/. The widest known first, then in order of name.
std::vector<ApiFacts> link_api(const Readings& readings, const PythonNames& names,
                               const std::vector<EntryPoint>& entry_points);

}  // namespace fathom
