#include "base/utf8.h"
#include "report/scan/features_markdown.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

// Names of a repository need not be UTF-8, which JSON must be.
void text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key).value(with_valid_utf8(value));
}

void texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key).begin_array();
  for (const std::string& value : values) json.value(with_valid_utf8(value));
  json.end_array();
}

void place(JsonWriter& json, const CodeFacts& facts, const CodePlace& at) {
  text(json, "file", facts.files[at.file].path);
  json.key("line").value(static_cast<int64_t>(at.line));
}

// A list whose members take a line each.
template <typename Items, typename Write>
void lines(JsonWriter& json, std::string_view key, const Items& items, Write write) {
  json.key(key).begin_array();
  for (const auto& item : items) {
    JsonWriter line(false);
    line.begin_object();
    write(line, item);
    line.end_object();
    json.raw(line.take());
  }
  json.end_array();
}

void write_evidence(JsonWriter& json, const CodeFacts& facts,
                    const std::vector<RuleEvidence>& evidence) {
  lines(json, "evidence", evidence, [&](JsonWriter& line, const RuleEvidence& e) {
    text(line, "what", e.what);
    place(line, facts, e.at);
    line.key("files").value(static_cast<int64_t>(e.files));
  });
}

void write_kernels(JsonWriter& json, const CodeFacts& facts, const std::vector<uint32_t>& kernels) {
  lines(json, "kernels", kernels, [&](JsonWriter& line, uint32_t kernel) {
    text(line, "name", facts.kernels[kernel].name);
    place(line, facts, facts.kernels[kernel].at);
  });
}

}  // namespace

void write_components(JsonWriter& json, const CodeFacts& facts) {
  json.begin_array();
  for (const ComponentFacts& component : facts.components) {
    json.begin_object();
    text(json, "id", component.id);
    text(json, "title", component.title);
    text(json, "purpose", component.purpose);
    text(json, "confidence", certainty_name(component.certainty));
    texts(json, "folders", component.folders);
    std::vector<std::string> files;
    for (const uint32_t file : component.files) files.push_back(facts.files[file].path);
    texts(json, "files", files);
    write_kernels(json, facts, component.kernels);
    write_evidence(json, facts, component.evidence);
    json.end_object();
  }
  json.end_array();
}

void write_features(JsonWriter& json, const CodeFacts& facts) {
  json.begin_array();
  for (const FeatureFacts& feature : facts.features) {
    json.begin_object();
    text(json, "id", feature.id);
    text(json, "title", feature.title);
    text(json, "area", feature.area);
    text(json, "confidence", certainty_name(feature.certainty));
    json.key("files").value(static_cast<int64_t>(feature.files));
    text(json, "hardware_concern", feature.concern);
    text(json, "hardware", feature.implication);
    write_evidence(json, facts, feature.evidence);
    lines(json, "options", feature.options, [&](JsonWriter& line, uint32_t option) {
      text(line, "name", facts.options[option].name);
      place(line, facts, facts.options[option].at);
    });
    write_kernels(json, facts, feature.kernels);
    lines(json, "measure", feature.metrics, [](JsonWriter& line, const MetricFacts& metric) {
      text(line, "id", metric.id);
      text(line, "title", metric.title);
      text(line, "level", metric.level);
      texts(line, "nvidia", metric.nvidia);
      texts(line, "nvidia_chips", metric.nvidia_chips);
      texts(line, "amd", metric.amd);
      text(line, "how", metric.how);
    });
    json.end_object();
  }
  json.end_array();
}

}  // namespace fathom
