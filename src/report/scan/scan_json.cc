#include <fmt/format.h>

#include "base/check.h"
#include "base/text_parts.h"
#include "report/scan/claims_report.h"
#include "report/scan/fact_writer.h"
#include "report/scan/features_markdown.h"
#include "report/scan/measured_json.h"
#include "report/scan/scan_counts.h"
#include "report/scan/scan_report.h"
#include "report/scan/story_json.h"
#include "scan/facts/fact_names.h"
#include "scan/files/language.h"
#include "scan/files/origin.h"

namespace fathom {
namespace {

// Grows only when a key changes its meaning or goes; new keys may come at any time.
constexpr const char* kSchema = "fathom.scan/1";

void write_launcher(FactWriter& w, const KernelLauncher& launcher) {
  w.place(launcher.at);
  w.count("line_last", launcher.line_last == 0 ? launcher.at.line : launcher.line_last);
  w.optional_text("function", launcher.function);
  w.text("via", launcher.via);
  w.optional_text("grid", launcher.grid);
  w.optional_text("block", launcher.block);
  w.optional_text("shared_memory", launcher.shared_memory);
  w.optional_text("stream", launcher.stream);
  std::vector<std::string> attributes;
  attributes.reserve(launcher.attributes.size());
  for (const LaunchAttribute& attribute : launcher.attributes)
    attributes.push_back(attribute_text(attribute));
  w.texts("attributes", attributes);
  w.optional_text("template_arguments", launcher.template_arguments);
  if (!launcher.conditions.empty()) w.texts("conditions", launcher.conditions);
  w.certainty(launcher.certainty);
}

void write_access(FactWriter& w, const ArrayAccess& a) {
  w.text("array", a.array);
  w.optional_text("type", a.type);
  if (a.element_bytes) w.count("element_bytes", *a.element_bytes);
  w.text("access", access_kind_name(a.kind));
  w.text("memory", a.shared ? "shared" : "global");
  w.text("index", a.index);
  w.text("class", access_pattern_text(a));
  w.optional_text("elements", a.elements);
  w.optional_text("times", a.times);
  w.optional_text("lane_index", a.lane_index);
  if (a.access_bytes) w.count("access_bytes", *a.access_bytes);
  if (a.conditional) w.json().key("conditional").value(true);
  w.optional_text("condition", a.condition);
  w.place(a.at);
  w.text("function", a.function);
  w.certainty(a.certainty);
}

void write_kernels(FactWriter& w, const ScanReport& report) {
  w.json().key("kernels").begin_array();
  const MeasuredJson measured(report.measured, report.facts.kernels.size());
  for (size_t i = 0; i < report.facts.kernels.size(); ++i) {
    const KernelFacts& k = report.facts.kernels[i];
    w.json().begin_object();
    w.text("name", k.name);
    w.optional_text("scope", k.scope);
    w.text("kind", kernel_kind_name(k.kind));
    w.file(k.at.file);
    w.count("line_first", k.at.line);
    w.count("line_name", k.line_name);
    w.count("line_last", k.line_last);
    w.json().key("dead").value(k.dead);
    if (!k.body_read) w.json().key("body_read").value(false);
    w.certainty(k.certainty);
    w.optional_text("template_parameters", k.template_parameters);
    w.optional_text("parameters", k.parameters);
    w.texts("attributes", k.attributes);
    w.optional_text("condition", k.condition);
    w.optional_text("profiler_name", k.profiler_name);
    w.lines("launchers", k.launchers, write_launcher);
    w.path(k.path);
    w.evidence(k.evidence);
    w.lines("accesses", k.accesses, write_access);
    w.lines("traffic", k.traffic, [](FactWriter& line, const ArrayTraffic& t) {
      line.text("array", t.array);
      line.optional_text("type", t.type);
      if (t.element_bytes) line.count("element_bytes", *t.element_bytes);
      line.text("access", access_kind_name(t.kind));
      line.optional_text("elements", t.elements);
      line.optional_text("times", t.times);
      line.optional_text("least", t.least == t.elements ? "" : t.least);
    });
    w.lines("unresolved", k.unresolved, [](FactWriter& line, const UnresolvedAccess& access) {
      line.text("what", access.what);
      line.place(access.at);
    });
    w.optional_text("arithmetic", k.arithmetic);
    write_story(w, report.stories.kernels[i]);
    measured.write_kernel(w, i);
    w.json().end_object();
  }
  w.json().end_array();
}

void write_prebuilt(FactWriter& w, const CodeFacts& facts) {
  w.lines("prebuilt", facts.prebuilt, [](FactWriter& line, const PrebuiltCode& code) {
    line.text("ending", code.ending);
    line.count("files", code.files);
    line.place(code.first);
  });
}

void write_options(FactWriter& w, const CodeFacts& facts) {
  w.json().key("options").begin_array();
  for (const OptionFacts& o : facts.options) {
    w.json().begin_object();
    w.text("name", o.name);
    w.texts("other_names", o.other_names);
    w.text("kind", option_kind_name(o.kind));
    w.optional_text("type", o.type);
    if (o.default_value)
      w.text("default", *o.default_value);
    else
      w.json().key("default").null();
    w.optional_text("default_from", o.default_from);
    w.optional_text("help", o.help);
    w.optional_text("effect", o.effect);
    w.texts("choices", o.choices);
    w.place(o.at);
    w.optional_text("component", o.component);
    w.certainty(o.certainty);
    w.places("read_at", o.read_at);
    w.json().key("read_by_name").value(o.read_by_name);
    if (o.in_readme) w.json().key("in_readme").value(true);
    if (!o.other_defaults.empty()) w.texts("other_defaults", o.other_defaults);
    w.json().end_object();
  }
  w.json().end_array();
}

void write_entry_points(FactWriter& w, const CodeFacts& facts) {
  w.lines("entry_points", facts.entry_points, [](FactWriter& line, const EntryPoint& e) {
    line.text("kind", entry_kind_name(e.kind));
    line.text("name", e.name);
    line.optional_text("target", e.target);
    line.optional_text("command", e.command);
    if (e.kernels_reached) line.count("kernels_reached", *e.kernels_reached);
    line.place(e.at);
    line.certainty(e.certainty);
  });
}

void write_dependencies(FactWriter& w, const CodeFacts& facts) {
  w.lines("dependencies", facts.dependencies, [](FactWriter& line, const DependencyFacts& d) {
    line.text("name", d.name);
    line.optional_text("requirement", d.requirement);
    line.text("kind", dependency_kind_name(d.kind));
    line.optional_text("group", d.group);
    line.json().key("declared").value(d.at.line != 0);
    if (d.at.line != 0) line.place(d.at);
    line.places("used_at", d.used_at);
    line.certainty(d.certainty);
  });
}

void write_host_functions(FactWriter& w, const ScanReport& report) {
  w.json().key("host_functions").begin_array();
  for (size_t i = 0; i < report.facts.host_functions.size(); ++i) {
    const HostFacts& h = report.facts.host_functions[i];
    w.json().begin_object();
    w.text("name", h.name);
    w.optional_text("scope", h.scope);
    w.place(h.at);
    w.count("line_last", h.line_last);
    w.certainty(h.certainty);
    w.path(h.path);
    w.evidence(h.evidence);
    write_story(w, report.stories.host_functions[i]);
    w.json().end_object();
  }
  w.json().end_array();
}

void write_size(FactWriter& w, const SizeCount& size) {
  w.count("files", size.files);
  w.count("lines", size.lines);
  w.count("bytes", size.bytes);
}

void write_files(FactWriter& w, const CodeFacts& facts) {
  SizeCount all;
  for (const SourceFile& file : facts.files) all.add(file);
  w.json().key("files").begin_object();
  w.count("count", all.files);
  w.count("lines", all.lines);
  w.count("bytes", all.bytes);
  w.lines("languages", count_languages(facts, true), [](FactWriter& line, const LanguageCount& l) {
    line.text("language", language_name(l.language));
    write_size(line, l.size);
  });
  w.lines("origins", count_origins(facts), [](FactWriter& line, const auto& origin) {
    line.text("origin", origin_name(origin.first));
    write_size(line, origin.second);
  });
  w.lines("list", facts.files, [](FactWriter& line, const SourceFile& file) {
    line.text("file", file.path);
    line.text("language", language_name(file.language));
    line.text("origin", origin_name(file.origin));
    line.count("bytes", file.size);
    if (file.skipped.empty())
      line.count("lines", file.lines);
    else
      line.text("skipped", file.skipped);
  });
  w.json().end_object();
}

void write_starts(FactWriter& w, const CodeFacts& facts) {
  w.lines("start_commands", facts.start_commands, [&](FactWriter& line, const StartCommand& c) {
    line.text("command", c.text);
    line.text("program", c.program);
    if (c.file) line.text("runs", facts.files[*c.file].path);
    line.place(c.at);
  });
  w.lines("build_switches", facts.build_switches, [](FactWriter& line, const BuildSwitch& s) {
    line.text("name", s.name);
    line.text("default", s.default_value);
    line.optional_text("help", s.help);
    line.place(s.at);
  });
}

void write_readme(FactWriter& w, const CodeFacts& facts) {
  w.json().key("readme");
  if (!facts.readme) {
    w.json().null();
    return;
  }
  const ReadmeFacts& readme = *facts.readme;
  w.json().begin_object();
  w.file(readme.file);
  w.optional_text("title", readme.title);
  w.optional_text("first_paragraph", readme.first_paragraph);
  w.count("line", readme.paragraph_line);
  if (readme.manifest) w.text("described_in", facts.files[*readme.manifest].path);
  w.lines("headings", readme.headings, [](FactWriter& line, const ReadmeFacts::Heading& h) {
    line.text("text", h.text);
    line.count("level", static_cast<uint64_t>(h.level));
    line.count("line", h.line);
  });
  w.json().end_object();
}

}  // namespace

std::string scan_json(const ScanReport& report, const std::vector<std::string>& parts) {
  const CodeFacts& facts = report.facts;
  CHECK(report.stories.kernels.size() == facts.kernels.size());
  CHECK(report.stories.host_functions.size() == facts.host_functions.size());
  const auto wanted = [&parts](std::string_view part) {
    return parts.empty() || contains(parts, part);
  };
  FactWriter w(facts, true);
  w.json().begin_object();
  w.text("schema", kSchema);
  w.text("repository", facts.repository);
  if (parts.empty()) write_readme(w, facts);
  if (wanted("kernels") || wanted("host_functions")) write_told_for(w, report.stories);
  if (wanted("kernels")) MeasuredJson(report.measured, report.facts.kernels.size()).write_runs(w);
  if (wanted("components")) write_components(w, facts);
  if (wanted("features")) write_features(w, facts);
  if (wanted("kernels")) write_kernels(w, report);
  if (wanted("kernels") && !facts.prebuilt.empty()) write_prebuilt(w, facts);
  if (wanted("host_functions")) write_host_functions(w, report);
  if (wanted("options")) write_options(w, facts);
  if (wanted("entry_points")) write_entry_points(w, facts);
  if (parts.empty()) write_starts(w, facts);
  if (wanted("dependencies")) write_dependencies(w, facts);
  if (wanted("modules")) write_modules(w, facts);
  if (wanted("api")) write_api(w, facts);
  if (wanted("request_path")) write_request_paths(w, facts);
  if (wanted("doc_claims")) write_doc_claims(w, facts);
  if (wanted("readme_claims")) write_readme_claims(w.json().key("readme_claims"), facts);
  if (wanted("files")) write_files(w, facts);
  w.texts("notes", facts.notes);
  w.json().end_object();
  return w.take() + "\n";
}

}  // namespace fathom
