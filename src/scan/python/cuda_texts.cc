#include <algorithm>
#include <array>

#include "scan/facts/text_lines.h"
#include "scan/kernels/shader_rules.h"
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

bool names_source_file(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kEndings = {".cu",  ".cuh",   ".cpp", ".cc",
                                                                ".cxx", ".hpp",   ".h",   ".hip",
                                                                ".inc", ".jinja", ".j2",  ".cu.in"};
  if (text.size() > 300 || text.find_first_of(" \n\t") != std::string_view::npos) return false;
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return text.size() > ending.size() && text.ends_with(ending);
  });
}

// Name<{args}> or name<…, {n}>: template arguments that are filled in.
bool fills_template_arguments(std::string_view text) {
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (at == 0 || (!is_word_character(text[at - 1]) && text[at - 1] != '}')) continue;
    if (text.substr(0, at).ends_with("(?P")) continue;  // a regular expression's group
    const size_t close = text.find('>', at);
    if (close == std::string_view::npos) return false;
    if (text.substr(at, close - at).find('{') != std::string_view::npos) return true;
  }
  return false;
}

bool is_code(std::string_view text) {
  if (!holds(text, '\n')) return text.starts_with("#include");
  return holds(text, "#include") || holds(text, "template <") || holds(text, "template<") ||
         holds(text, "__device__");
}

class CudaTextFinder {
 public:
  explicit CudaTextFinder(const Outline& outline) : outline_(outline), tree_(outline.tree) {}

  std::vector<CudaText> run() {
    for (const Site& site : outline_.strings) {
      // Documentation is not source, and a string in a field belongs to the string around it.
      if (tree_.kind(outline_.parent(site.node)) == NodeKind::kExpression) continue;
      if (worth_reading(site.node)) read(site);
    }
    return std::move(found_);
  }

 private:
  // Most strings are none of it: told by their bytes before they are decoded.
  bool worth_reading(NodeId string) const {
    const Token& first = tree_.tokens.tokens[tree_[string].first];
    const Token& last = tree_.tokens.tokens[tree_[string].last];
    const std::string_view raw = tree_.tokens.text.substr(first.begin, last.end - first.begin);
    const bool long_text = holds(raw, "__global__") || holds(raw, "#include") ||
                           holds(raw, "template") || holds(raw, "__device__");
    const bool shader = shader_rule_in(raw) != nullptr;
    const bool fills = tree_[string].child != 0 && holds(raw, '<');
    return long_text || shader || fills || (raw.size() < 400 && holds(raw, '.'));
  }

  void read(const Site& site) {
    StringContent content = content_of(tree_, site.node);
    CudaText out;
    if (holds(content.text, "__global__")) {
      out.kind = CudaTextKind::kSource;
    } else if (shader_rule_in(content.text) != nullptr) {
      out.kind = CudaTextKind::kShader;
    } else if (is_code(content.text)) {
      out.kind = CudaTextKind::kCode;
    } else if (content.composed && fills_template_arguments(content.text)) {
      out.kind = CudaTextKind::kInstantiation;
    } else if (names_source_file(content.text)) {
      out.kind = CudaTextKind::kFileName;
    } else {
      return;
    }
    out.line = content.lines.empty() ? tree_.line_first(site.node) : content.lines[0];
    const bool source = out.kind == CudaTextKind::kSource || out.kind == CudaTextKind::kCode ||
                        out.kind == CudaTextKind::kShader;
    if (source) out.lines = std::move(content.lines);
    out.text = std::move(content.text);
    out.function = outline_.function_name(site.function);
    describe_surroundings(site.node, out);
    found_.push_back(std::move(out));
  }

  void describe_surroundings(NodeId node, CudaText& out) const {
    for (int steps = 0; steps < 12; ++steps) {
      const NodeId parent = outline_.parent(node);
      const NodeKind kind = tree_.kind(parent);
      if (kind == NodeKind::kCall && out.call.empty() && tree_.child(parent) != node) {
        out.call = tree_.source(tree_.child(parent), 200);
      }
      if (kind == NodeKind::kAssign || kind == NodeKind::kAugmented ||
          kind == NodeKind::kAnnotated) {
        out.assigned_to = tree_.source(tree_.child(parent), 200);
        return;
      }
      if (kind == NodeKind::kBlock || kind == NodeKind::kModule || kind == NodeKind::kNone) return;
      node = parent;
    }
  }

  const Outline& outline_;
  const Tree& tree_;
  std::vector<CudaText> found_;
};

}  // namespace

std::vector<CudaText> find_cuda_texts(const Outline& outline) {
  return CudaTextFinder(outline).run();
}

}  // namespace fathom::python
