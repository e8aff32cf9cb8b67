#include "report/part_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/count_text.h"
#include "base/units.h"

namespace fathom {
namespace {

constexpr size_t kBoxes = 3, kInner = 28, kMermaidEdges = 24, kNamesInBox = 3;

// Names are paths; whatever else stands in one could end a label or a block.
std::string plain_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ||
                      c == '.' || c == '/' || c == '(' || c == ')';
    out += kept ? c : '?';
  }
  return out;
}

std::string fitted(std::string text) {
  if (text.size() > kInner) text = text.substr(0, kInner - 2) + "..";
  text.resize(kInner, ' ');
  return text;
}

// Rows from the top: a part stands below all that import it. In a circle the one that imports most
// beyond what imports it is first.
std::vector<std::vector<size_t>> layers(const std::vector<FolderFacts>& parts) {
  std::vector<bool> placed(parts.size());
  std::vector<std::vector<size_t>> importers(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const ModuleEdge& edge : parts[i].imports) importers[edge.to].push_back(i);
  }
  std::vector<std::vector<size_t>> out;
  size_t left = parts.size();
  while (left > 0) {
    std::vector<size_t> row;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!placed[i] && std::all_of(importers[i].begin(), importers[i].end(),
                                    [&](size_t from) { return placed[from]; }))
        row.push_back(i);
    }
    if (row.empty()) {
      size_t best = parts.size();
      for (size_t i = 0; i < parts.size(); ++i) {
        if (placed[i]) continue;
        const auto open = [&](size_t p) {
          return static_cast<int64_t>(parts[p].imports.size()) -
                 static_cast<int64_t>(importers[p].size());
        };
        if (best == parts.size() || open(i) > open(best)) best = i;
      }
      row.push_back(best);
    }
    for (const size_t i : row) placed[i] = true;
    left -= row.size();
    // Parts alone in their rows share one while it has room.
    if (!out.empty() && out.back().size() + row.size() <= kBoxes && row.size() == 1 &&
        out.back().size() < kBoxes)
      out.back().push_back(row[0]);
    else
      out.push_back(row);
  }
  return out;
}

std::vector<std::string> box_lines(const CodeFacts& facts, size_t part) {
  const FolderFacts& folder = facts.modules.parts[part];
  std::vector<std::string> lines;
  lines.push_back(plain_label(short_part_name(facts, part)));
  lines.push_back(fmt::format("{} {}, {}", folder.files, noun(folder.files, "file"),
                              counted(folder.lines, "line")));
  if (folder.kernels > 0)
    lines.push_back(fmt::format("{} {}", folder.kernels, noun(folder.kernels, "kernel")));
  std::vector<ModuleEdge> edges = folder.imports;
  std::stable_sort(edges.begin(), edges.end(),
                   [](const ModuleEdge& a, const ModuleEdge& b) { return a.count > b.count; });
  for (size_t i = 0; i < std::min(edges.size(), kNamesInBox); ++i)
    lines.push_back("-> " + plain_label(short_part_name(facts, edges[i].to)));
  if (edges.size() > kNamesInBox)
    lines.push_back(fmt::format("-> {} more", edges.size() - kNamesInBox));
  return lines;
}

void add_row(const CodeFacts& facts, const std::vector<size_t>& row, std::string& out) {
  std::vector<std::vector<std::string>> boxes;
  size_t height = 0;
  for (const size_t part : row) {
    boxes.push_back(box_lines(facts, part));
    height = std::max(height, boxes.back().size());
  }
  const auto rule = [&] {
    for (size_t i = 0; i < boxes.size(); ++i)
      out += (i == 0 ? "+" : " +") + std::string(kInner + 2, '-') + "+";
    out += "\n";
  };
  rule();
  for (size_t line = 0; line < height; ++line) {
    for (size_t i = 0; i < boxes.size(); ++i) {
      const std::string text = line < boxes[i].size() ? boxes[i][line] : "";
      out += (i == 0 ? "| " : " | ") + fitted(text) + " |";
    }
    out += "\n";
  }
  rule();
}

}  // namespace

std::string short_part_name(const CodeFacts& facts, size_t part) {
  const std::vector<FolderFacts>& parts = facts.modules.parts;
  const std::string& path = parts[part].path;
  if (path.empty()) return "(root)";
  // What all parts begin with tells nothing.
  std::string_view shared = path;
  for (const FolderFacts& other : parts) {
    const auto [end, _] =
        std::mismatch(shared.begin(), shared.end(), other.path.begin(), other.path.end());
    shared = shared.substr(0, static_cast<size_t>(end - shared.begin()));
  }
  shared =
      shared.substr(0, shared.rfind('/') == std::string_view::npos ? 0 : shared.rfind('/') + 1);
  return path.substr(shared.size());
}

std::string part_boxes(const CodeFacts& facts) {
  std::string out;
  bool first = true;
  for (const std::vector<size_t>& layer : layers(facts.modules.parts)) {
    for (size_t at = 0; at < layer.size(); at += kBoxes) {
      if (!first)
        out += at == 0 ? std::string(14, ' ') + "|  imports\n" + std::string(14, ' ') + "v\n" : "";
      first = false;
      const size_t end = std::min(layer.size(), at + kBoxes);
      add_row(
          facts,
          {layer.begin() + static_cast<ptrdiff_t>(at), layer.begin() + static_cast<ptrdiff_t>(end)},
          out);
    }
  }
  return out;
}

std::string part_mermaid(const CodeFacts& facts) {
  const std::vector<FolderFacts>& parts = facts.modules.parts;
  std::string out = "flowchart TD\n";
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string kernels =
        parts[i].kernels == 0
            ? ""
            : fmt::format("<br/>{} {}", parts[i].kernels, noun(parts[i].kernels, "kernel"));
    out += fmt::format("  p{}[\"{}<br/>{} {}{}\"]\n", i, plain_label(short_part_name(facts, i)),
                       parts[i].files, noun(parts[i].files, "file"), kernels);
  }
  std::vector<std::tuple<uint32_t, size_t, uint32_t>> edges;  // count, from, to
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const ModuleEdge& edge : parts[i].imports) edges.emplace_back(edge.count, i, edge.to);
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
  if (edges.size() > kMermaidEdges) edges.resize(kMermaidEdges);
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<1>(a), std::get<2>(a)) < std::tie(std::get<1>(b), std::get<2>(b));
  });
  for (const auto& [count, from, to] : edges)
    out += fmt::format("  p{} -->|{}| p{}\n", from, count, to);
  return out;
}

}  // namespace fathom
