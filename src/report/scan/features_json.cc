#include "report/scan/fact_writer.h"

namespace fathom {
namespace {

void write_evidence(FactWriter& w, const std::vector<RuleEvidence>& evidence) {
  w.lines("evidence", evidence, [](FactWriter& line, const RuleEvidence& e) {
    line.text("what", e.what);
    line.place(e.at);
    line.count("files", e.files);
  });
}

// The names and places of some of the kernels or options.
template <typename Facts>
void write_named(FactWriter& w, std::string_view key, const std::vector<Facts>& all,
                 const std::vector<uint32_t>& chosen) {
  w.lines(key, chosen, [&all](FactWriter& line, uint32_t one) {
    line.text("name", all[one].name);
    line.place(all[one].at);
  });
}

}  // namespace

void write_components(FactWriter& w, const CodeFacts& facts) {
  w.json().key("components").begin_array();
  for (const ComponentFacts& component : facts.components) {
    w.json().begin_object();
    w.text("id", component.id);
    w.text("title", component.title);
    w.text("purpose", component.purpose);
    w.certainty(component.certainty);
    w.texts("folders", component.folders);
    std::vector<std::string> files;
    for (const uint32_t file : component.files) files.push_back(facts.files[file].path);
    w.texts("files", files);
    write_named(w, "kernels", facts.kernels, component.kernels);
    write_evidence(w, component.evidence);
    w.json().end_object();
  }
  w.json().end_array();
}

void write_features(FactWriter& w, const CodeFacts& facts) {
  w.json().key("features").begin_array();
  for (const FeatureFacts& feature : facts.features) {
    w.json().begin_object();
    w.text("id", feature.id);
    w.text("title", feature.title);
    w.text("area", feature.area);
    w.certainty(feature.certainty);
    w.count("files", feature.files);
    w.text("hardware_concern", feature.concern);
    w.text("hardware", feature.implication);
    write_evidence(w, feature.evidence);
    write_named(w, "options", facts.options, feature.options);
    write_named(w, "kernels", facts.kernels, feature.kernels);
    w.lines("measure", feature.metrics, [](FactWriter& line, const MetricFacts& metric) {
      line.text("id", metric.id);
      line.text("title", metric.title);
      line.text("level", metric.level);
      line.texts("nvidia", metric.nvidia);
      line.texts("nvidia_chips", metric.nvidia_chips);
      line.texts("amd", metric.amd);
      line.text("how", metric.how);
    });
    w.json().end_object();
  }
  w.json().end_array();
}

}  // namespace fathom
