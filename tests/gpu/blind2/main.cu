// blind2 list | all [FILE [CASE...]] | NAME faulty|fixed [REPEATS] | run faulty|fixed
// NAME:REPEATS...
#include <algorithm>
#include <cmath>
#include <string>

#include "blind2.h"

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

namespace {

const Entry* find(const std::string& name) {
  for (const Entry& entry : entries())
    if (name == entry.name) return &entry;
  std::fprintf(stderr, "no case '%s'; see: blind2 list\n", name.c_str());
  return nullptr;
}

void run_case(const Entry& entry, bool fixed, int repeats) {
  const std::unique_ptr<Case> c = entry.make();
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < repeats; ++i) c->run(fixed);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

double median_us(Case& c, bool fixed) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < 22; ++i) {
    CHECK(cudaEventRecord(start));
    c.run(fixed);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 2) times.push_back(ms * 1000);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
}

std::vector<float> compared(Case& c, bool clean, bool fixed) {
  if (!(clean && !fixed)) {
    c.clear();
    c.run(fixed);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  return c.result(fixed);
}

// An output of zeros agrees with anything that did not run, so it fails too.
bool agree(const std::vector<float>& a, const std::vector<float>& b, double tolerance,
           double* worst) {
  double largest = 0;
  *worst = 0;
  if (a.size() != b.size() || a.empty()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return false;
    largest = std::max<double>(largest, std::fabs(a[i]));
    *worst = std::max<double>(*worst, std::fabs(double(a[i]) - b[i]));
  }
  if (largest == 0) return false;
  *worst /= largest;
  return *worst <= tolerance;
}

// Appends to the file, so that the cases after one that fails can be timed by another call.
int time_all(const char* file, const std::vector<std::string>& chosen) {
  std::FILE* out = file ? std::fopen(file, "a") : nullptr;
  bool all_agree = true;
  std::printf("%-18s %12s %12s %7s  %s\n", "case", "faulty us", "fixed us", "gain", "outputs");
  for (const Entry& entry : entries()) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), entry.name) == chosen.end())
      continue;
    const std::unique_ptr<Case> c = entry.make();
    double worst = 0;
    const std::vector<float> a = compared(*c, entry.clean, false);
    const bool ok = agree(a, compared(*c, entry.clean, true), entry.tolerance, &worst);
    all_agree = all_agree && ok;
    const double fixed = median_us(*c, true);
    const double faulty = entry.clean ? fixed : median_us(*c, false);
    std::printf("%-18s %12.1f %12.1f %7.2f  %s (difference %.1e)\n", entry.name, faulty, fixed,
                faulty / fixed, ok ? "OK" : "FAIL", worst);
    std::fflush(stdout);
    if (out) {
      if (!entry.clean) std::fprintf(out, "%s\tfaulty\t%.1f\n", entry.name, faulty);
      std::fprintf(out, "%s\tfixed\t%.1f\n", entry.name, fixed);
      std::fflush(out);
    }
  }
  if (out) std::fclose(out);
  return all_agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "list") {
    for (const Entry& entry : entries())
      std::printf("%s%s\n", entry.name, entry.clean ? " (clean)" : "");
    return 0;
  }
  if (verb == "all")
    return time_all(argc > 2 ? argv[2] : nullptr, {argv + std::min(argc, 3), argv + argc});
  const bool several = verb == "run" && argc > 3;
  const std::string variant = argc > 2 ? argv[2] : "";
  if (variant != "faulty" && variant != "fixed") {
    std::fprintf(stderr,
                 "usage: blind2 list | all [FILE [CASE...]] | NAME faulty|fixed [REPEATS] |\n"
                 "       run faulty|fixed NAME:REPEATS...\n");
    return 2;
  }
  if (!several) {
    const Entry* entry = find(verb);
    if (!entry) return 2;
    run_case(*entry, variant == "fixed", argc > 3 ? std::max(1, std::atoi(argv[3])) : 5);
    return 0;
  }
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t colon = word.find(':');
    const Entry* entry = find(word.substr(0, colon));
    if (!entry) return 2;
    const int repeats = colon == std::string::npos ? 5 : std::atoi(word.c_str() + colon + 1);
    run_case(*entry, variant == "fixed", std::max(1, repeats));
  }
  return 0;
}
