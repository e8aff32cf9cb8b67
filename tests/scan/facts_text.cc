#include "scan/facts_text.h"

#include <fmt/format.h>

#include "scan/facts/fact_names.h"

namespace fathom::test {
namespace {

class Writer {
 public:
  explicit Writer(const CodeFacts& facts) : facts_(facts) {}

  std::string run() {
    for (const KernelFacts& kernel : facts_.kernels) add(kernel);
    for (const HostFacts& host : facts_.host_functions) {
      line(0, fmt::format("host {}-{} {}", place(host.at), host.line_last, host.name));
      for (const CodeEvidence& evidence : host.evidence) add(evidence);
    }
    for (const OptionFacts& option : facts_.options) add(option);
    for (const EntryPoint& entry : facts_.entry_points) {
      line(0, fmt::format("entry {} {} {}{}", place(entry.at), entry_kind_name(entry.kind),
                          entry.name, noted("starts with", entry.command)));
    }
    for (const DocClaim& claim : facts_.doc_claims) add(claim);
    for (const DependencyFacts& dependency : facts_.dependencies) {
      std::string text = fmt::format("needs {}{}", dependency.name, dependency.requirement);
      text += dependency.at.line == 0 ? " (not declared)" : " " + place(dependency.at);
      for (const CodePlace& use : dependency.used_at) text += "; used " + place(use);
      line(0, text);
    }
    for (const std::string& note : facts_.notes) line(0, "note " + note);
    return std::move(out_);
  }

 private:
  std::string place(const CodePlace& at) const {
    return fmt::format("{}:{}", facts_.files[at.file].path, at.line);
  }

  static std::string noted(std::string_view what, std::string_view value) {
    return value.empty() ? "" : fmt::format("; {} {}", what, value);
  }

  static std::string doubt(Certainty certainty) {
    if (certainty == Certainty::kCertain) return "";
    return certainty == Certainty::kLikely ? " (likely)" : " (unsure)";
  }

  void line(size_t indent, const std::string& text) {
    out_ += std::string(indent, ' ') + text + "\n";
  }

  void add(const KernelFacts& kernel) {
    const std::string full = kernel.scope.empty() ? kernel.name : kernel.scope + "::" + kernel.name;
    std::string text =
        fmt::format("kernel {}-{}-{} {} {}{}", place(kernel.at), kernel.line_name, kernel.line_last,
                    kernel_kind_name(kernel.kind), full, kernel.dead ? " DEAD" : "");
    text += noted("template", kernel.template_parameters);
    for (const std::string& attribute : kernel.attributes) text += noted("attribute", attribute);
    text += noted("if", kernel.condition);
    line(0, text + doubt(kernel.certainty));
    line(2, "profiler " + kernel.profiler_name);
    for (const KernelLauncher& launcher : kernel.launchers) add(launcher);
    for (const PathHop& hop : kernel.path) {
      line(2, fmt::format("path {} {}{}", place(hop.at), hop_text(hop), doubt(hop.certainty)));
    }
    for (const CodeEvidence& evidence : kernel.evidence) add(evidence);
  }

  void add(const KernelLauncher& launcher) {
    std::string text = fmt::format("launched {}-{} in {} by {}", place(launcher.at),
                                   launcher.line_last, launcher.function, launcher.via);
    text += noted("grid", launcher.grid) + noted("block", launcher.block) +
            noted("shared", launcher.shared_memory) + noted("stream", launcher.stream) +
            noted("with", launcher.template_arguments);
    for (const LaunchAttribute& attribute : launcher.attributes)
      text += "; " + attribute_text(attribute);
    line(2, text + doubt(launcher.certainty));
  }

  void add(const CodeEvidence& evidence) {
    line(2,
         fmt::format("does {} {} in {}{}{}", place(evidence.at), evidence.what, evidence.function,
                     noted("detail", evidence.detail), doubt(evidence.certainty)));
  }

  void add(const OptionFacts& option) {
    std::string text = fmt::format("option {} {} {}", place(option.at),
                                   option_kind_name(option.kind), option.name);
    for (const std::string& other : option.other_names) text += " " + other;
    text += noted("type", option.type);
    text += option.default_value ? "; default " + *option.default_value : "; no default";
    text += noted("from", option.default_from) + noted("help", option.help);
    text += noted("effect", option.effect);
    for (const std::string& choice : option.choices) text += noted("choice", choice);
    text += noted("component", option.component);
    for (const CodePlace& use : option.read_at) {
      text += (option.read_by_name ? "; named " : "; read ") + place(use);
    }
    line(0, text + doubt(option.certainty));
  }

  void add(const DocClaim& claim) {
    line(0, fmt::format("claim {} {} {}; said {}; is {}{}{}", place(claim.doc),
                        claim_kind_name(claim.kind), claim.what, claim.said, claim.is,
                        claim.code ? " at " + place(*claim.code) : "", doubt(claim.certainty)));
  }

  const CodeFacts& facts_;
  std::string out_;
};

}  // namespace

std::string facts_text(const CodeFacts& facts) { return Writer(facts).run(); }

}  // namespace fathom::test
