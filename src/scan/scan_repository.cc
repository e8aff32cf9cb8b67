#include "scan/scan_repository.h"

#include "scan/dependencies.h"
#include "scan/kernel_identity.h"
#include "scan/link/entry_points.h"
#include "scan/link/kernels.h"
#include "scan/link/options.h"
#include "scan/read_files.h"
#include "scan/readme.h"
#include "scan/repository.h"

namespace fathom {
namespace {

// Files and what project files declare; reading code comes after.
CodeFacts declared_facts(const Repository& repository) {
  CodeFacts facts;
  facts.repository = repository.name;
  facts.notes = repository.notes;
  facts.readme = find_readme(repository);
  find_dependencies(repository, facts);
  return facts;
}

}  // namespace

Result<CodeFacts> scan_repository(const std::filesystem::path& root, const ScanOptions& options) {
  const Repository repository = TRY(list_repository(root, options.threads));
  CodeFacts facts = declared_facts(repository);
  const Readings readings = read_files(repository, options.threads, options.progress, facts.notes);
  const PythonNames names(readings);
  facts.kernels = link_kernels(readings, names);
  for (KernelFacts& kernel : facts.kernels) kernel.profiler_name = profiler_pattern(kernel);
  facts.options = link_options(readings, names);
  for (EntryPoint& entry : link_entry_points(readings, names))
    facts.entry_points.push_back(std::move(entry));
  facts.files = readings.files;
  return facts;
}

}  // namespace fathom
