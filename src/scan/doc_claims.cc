#include "scan/doc_claims.h"
namespace fathom {
std::vector<DocClaim> find_doc_claims(const Repository&, const Readings&, const CodeFacts&) { return {}; }
}
