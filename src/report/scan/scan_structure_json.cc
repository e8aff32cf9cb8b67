#include "report/scan/fact_writer.h"

namespace fathom {
namespace {

void write_folders(FactWriter& w, std::string_view key, const std::vector<FolderFacts>& folders,
                   const CodeFacts& facts) {
  w.lines(key, folders, [&](FactWriter& line, const FolderFacts& folder) {
    line.text("path", folder.path);
    line.count("files", folder.files);
    line.count("lines", folder.lines);
    line.count("functions", folder.functions);
    line.count("classes", folder.classes);
    line.count("kernels", folder.kernels);
    line.count("imported_by", folder.imported_by);
    line.lines("imports", folder.imports, [&](FactWriter& edge, const ModuleEdge& to) {
      edge.text("path", folders[to.to].path);
      edge.count("count", to.count);
      edge.place(to.first);
    });
    std::vector<std::string> modules;
    for (const uint32_t module : folder.modules)
      modules.push_back(facts.files[facts.modules.modules[module].file].path);
    line.texts("modules", modules);
  });
}

void optional_place(FactWriter& w, std::string_view key, const CodePlace& at) {
  w.json().key(key);
  if (at.line == 0) {
    w.json().null();
    return;
  }
  w.json().begin_object();
  w.place(at);
  w.json().end_object();
}

}  // namespace

void write_modules(FactWriter& w, const CodeFacts& facts) {
  w.json().key("modules").begin_object();
  w.count("edges", facts.modules.edges);
  w.lines("key", facts.modules.modules, [](FactWriter& line, const ModuleFacts& m) {
    line.file(m.file);
    line.json().key("score").value(m.score);
    line.count("imported_by", m.imported_by);
    line.count("imported_by_folders", m.imported_by_folders);
    line.count("calls_into", m.calls_into);
    line.count("kernels", m.kernels);
    line.count("kernels_on_path", m.kernels_on_path);
    optional_place(line, "first_import", m.first_import);
  });
  write_folders(w, "parts", facts.modules.parts, facts);
  write_folders(w, "folders", facts.modules.folders, facts);
  w.json().end_object();
}

void write_api(FactWriter& w, const CodeFacts& facts) {
  w.lines("api", facts.api, [](FactWriter& line, const ApiFacts& api) {
    line.text("kind", entry_kind_name(api.kind));
    line.text("name", api.name);
    line.optional_text("signature", api.signature);
    line.optional_text("doc", api.doc);
    line.place(api.at);
    optional_place(line, "exported_at", api.exported_at);
    line.count("used_in", api.used_in);
    line.certainty(api.certainty);
  });
}

void write_request_paths(FactWriter& w, const CodeFacts& facts) {
  w.json().key("request_path").begin_array();
  for (const RequestPath& path : facts.request_paths) {
    w.json().begin_object();
    w.text("entry_kind", entry_kind_name(path.entry_kind));
    w.text("entry", path.entry);
    w.optional_text("why", path.why);
    if (path.kernel)
      w.text("kernel", facts.kernels[*path.kernel].name);
    else
      w.json().key("kernel").null();
    w.optional_text("stopped", path.stopped);
    w.count("kernels_reached", path.kernels_reached);
    w.lines("hops", path.hops, [&facts](FactWriter& line, const RequestHop& hop) {
      line.text("function", hop.function);
      line.optional_text("how", reach_text(facts, hop.how));
      line.place(hop.at);
      optional_place(line, "from", hop.from);
      line.certainty(hop.certainty);
    });
    w.json().end_object();
  }
  w.json().end_array();
}

void write_doc_claims(FactWriter& w, const CodeFacts& facts) {
  w.lines("doc_claims", facts.doc_claims, [](FactWriter& line, const DocClaim& claim) {
    line.text("kind", claim_kind_name(claim.kind));
    line.text("what", claim.what);
    line.optional_text("said", claim.said);
    line.optional_text("is", claim.is);
    line.place(claim.doc);
    optional_place(line, "code", claim.code ? *claim.code : CodePlace());
    line.certainty(claim.certainty);
  });
}

}  // namespace fathom
