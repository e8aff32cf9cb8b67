#include "scan/scan_repository.h"

#include "scan/dependencies.h"
#include "scan/readme.h"
#include "scan/repository.h"

namespace fathom {

Result<CodeFacts> scan_repository(const std::filesystem::path& root, const ScanOptions& options) {
  Repository repository = TRY(list_repository(root, options.threads));
  CodeFacts facts;
  facts.repository = repository.name;
  facts.notes = repository.notes;
  facts.readme = find_readme(repository);
  find_dependencies(repository, facts);
  facts.files = std::move(repository.files);
  return facts;
}

}  // namespace fathom
