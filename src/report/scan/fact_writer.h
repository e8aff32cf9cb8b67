#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "scan/facts/code_facts.h"
#include "scan/facts/fact_names.h"

namespace fathom {

// Writes facts: names of a repository need not be UTF-8, which JSON must be.
class FactWriter {
 public:
  FactWriter(const CodeFacts& facts, bool indent) : facts_(facts), json_(indent) {}

  JsonWriter& json() { return json_; }
  std::string take() { return json_.take(); }

  void text(std::string_view key, std::string_view value) {
    json_.key(key).value(with_valid_utf8(value));
  }
  // Null: the code does not say.
  void optional_text(std::string_view key, std::string_view value) {
    if (value.empty())
      json_.key(key).null();
    else
      text(key, value);
  }
  void count(std::string_view key, uint64_t value) {
    json_.key(key).value(static_cast<int64_t>(value));
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    json_.key(key).begin_array();
    for (const std::string& value : values) json_.value(with_valid_utf8(value));
    json_.end_array();
  }
  void file(uint32_t index) { text("file", facts_.files[index].path); }
  void place(const CodePlace& at) {
    file(at.file);
    count("line", at.line);
  }
  void certainty(Certainty certainty) { text("confidence", certainty_name(certainty)); }

  // A list whose members take a line each.
  template <typename Items, typename Write>
  void lines(std::string_view key, const Items& items, Write write) {
    json_.key(key).begin_array();
    for (const auto& item : items) {
      FactWriter line(facts_, false);
      line.json_.begin_object();
      write(line, item);
      line.json_.end_object();
      json_.raw(line.take());
    }
    json_.end_array();
  }

  void places(std::string_view key, const std::vector<CodePlace>& all) {
    lines(key, all, [](FactWriter& w, const CodePlace& at) { w.place(at); });
  }
  void evidence(const std::vector<CodeEvidence>& all) {
    lines("evidence", all, [](FactWriter& w, const CodeEvidence& e) {
      w.text("what", e.what);
      w.optional_text("detail", e.detail);
      w.place(e.at);
      w.optional_text("function", e.function);
      w.certainty(e.certainty);
    });
  }
  void path(const std::vector<PathHop>& all) {
    lines("path", all, [](FactWriter& w, const PathHop& hop) {
      w.text("what", hop_text(hop));
      w.place(hop.at);
      w.certainty(hop.certainty);
    });
  }

 private:
  const CodeFacts& facts_;
  JsonWriter json_;
};

// The parts of scan.json about how the files hang together.
void write_modules(FactWriter& w, const CodeFacts& facts);
void write_api(FactWriter& w, const CodeFacts& facts);
void write_request_paths(FactWriter& w, const CodeFacts& facts);
void write_doc_claims(FactWriter& w, const CodeFacts& facts);
// What rules of features make of them.
void write_components(FactWriter& w, const CodeFacts& facts);
void write_features(FactWriter& w, const CodeFacts& facts);

}  // namespace fathom
