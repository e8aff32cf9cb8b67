#include "report/scan/part_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

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

// Paths differ at their ends, so that is what is kept; an arrow before it stays.
std::string fitted(std::string_view text) {
  std::string out(text.substr(0, kInner));
  if (text.size() > kInner) {
    const std::string_view arrow = text.starts_with("-> ") ? "-> " : "";
    const size_t kept = kInner - 2 - arrow.size();
    out = std::string(arrow) + ".." + std::string(text.substr(text.size() - kept));
  }
  out.append(kInner - out.size(), ' ');
  return out;
}

// Rows from the top: a part stands below all that import it. In a circle the one that imports most
// beyond what imports it is first.
std::vector<std::vector<size_t>> layers(const std::vector<FolderFacts>& parts) {
  std::vector<size_t> waits_for(parts.size());  // how many of its importers have no row yet
  for (const FolderFacts& part : parts) {
    for (const ModuleEdge& edge : part.imports) ++waits_for[edge.to];
  }
  std::vector<size_t> ready, most_open(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    most_open[i] = i;
    if (waits_for[i] == 0) ready.push_back(i);
  }
  std::ranges::stable_sort(most_open, std::greater(), [&](size_t part) {
    return static_cast<int64_t>(parts[part].imports.size()) - static_cast<int64_t>(waits_for[part]);
  });
  std::vector<bool> placed(parts.size());
  std::vector<std::vector<size_t>> out;
  auto next_open = most_open.begin();
  while (true) {
    std::vector<size_t> row = std::exchange(ready, {});
    if (row.empty()) {
      while (next_open != most_open.end() && placed[*next_open]) ++next_open;
      if (next_open == most_open.end()) break;
      row.push_back(*next_open);
    }
    for (const size_t i : row) placed[i] = true;
    for (const size_t i : row) {
      for (const ModuleEdge& edge : parts[i].imports) {
        if (--waits_for[edge.to] == 0 && !placed[edge.to]) ready.push_back(edge.to);
      }
    }
    std::ranges::sort(ready);
    // Parts alone in their rows share one while it has room.
    if (!out.empty() && out.back().size() + row.size() <= kBoxes && row.size() == 1 &&
        out.back().size() < kBoxes)
      out.back().push_back(row[0]);
    else
      out.push_back(row);
  }
  return out;
}

std::vector<std::string> box_lines(const CodeFacts& facts, const PartNames& names, size_t part) {
  const FolderFacts& folder = facts.modules.parts[part];
  std::vector<std::string> lines;
  lines.push_back(plain_label(names.of(part)));
  lines.push_back(fmt::format("{} {}, {}", folder.files, noun(folder.files, "file"),
                              counted(folder.lines, "line")));
  if (folder.kernels > 0)
    lines.push_back(fmt::format("{} {}", folder.kernels, noun(folder.kernels, "kernel")));
  std::vector<ModuleEdge> edges = folder.imports;
  std::stable_sort(edges.begin(), edges.end(),
                   [](const ModuleEdge& a, const ModuleEdge& b) { return a.count > b.count; });
  for (size_t i = 0; i < std::min(edges.size(), kNamesInBox); ++i)
    lines.push_back("-> " + plain_label(names.of(edges[i].to)));
  if (edges.size() > kNamesInBox)
    lines.push_back(fmt::format("-> {} more", edges.size() - kNamesInBox));
  return lines;
}

void add_row(const CodeFacts& facts, const PartNames& names, const std::vector<size_t>& row,
             std::string& out) {
  std::vector<std::vector<std::string>> boxes;
  size_t height = 0;
  for (const size_t part : row) {
    boxes.push_back(box_lines(facts, names, part));
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

PartNames::PartNames(const CodeFacts& facts) : parts_(facts.modules.parts) {
  if (parts_.empty()) return;
  std::string_view shared = parts_[0].path;
  for (const FolderFacts& other : parts_) {
    const auto end = std::ranges::mismatch(shared, other.path).in1;
    shared = shared.substr(0, static_cast<size_t>(end - shared.begin()));
  }
  const size_t slash = shared.rfind('/');
  shared_ = slash == std::string_view::npos ? 0 : slash + 1;
}

std::string PartNames::of(size_t part) const {
  const std::string& path = parts_[part].path;
  return path.empty() ? "(root)" : path.substr(shared_);
}

std::string part_boxes(const CodeFacts& facts) {
  const PartNames names(facts);
  std::string out;
  bool first = true;
  for (const std::vector<size_t>& layer : layers(facts.modules.parts)) {
    for (size_t at = 0; at < layer.size(); at += kBoxes) {
      if (!first)
        out += at == 0 ? std::string(14, ' ') + "|  imports\n" + std::string(14, ' ') + "v\n" : "";
      first = false;
      const size_t end = std::min(layer.size(), at + kBoxes);
      add_row(
          facts, names,
          {layer.begin() + static_cast<ptrdiff_t>(at), layer.begin() + static_cast<ptrdiff_t>(end)},
          out);
    }
  }
  return out;
}

std::string part_mermaid(const CodeFacts& facts) {
  const PartNames names(facts);
  const std::vector<FolderFacts>& parts = facts.modules.parts;
  std::string out = "flowchart TD\n";
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string kernels =
        parts[i].kernels == 0
            ? ""
            : fmt::format("<br/>{} {}", parts[i].kernels, noun(parts[i].kernels, "kernel"));
    out += fmt::format("  p{}[\"{}<br/>{} {}{}\"]\n", i, plain_label(names.of(i)), parts[i].files,
                       noun(parts[i].files, "file"), kernels);
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
