#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "base/text_parts.h"
#include "report/compared_line.h"
#include "report/scan/expected_measured_text.h"
#include "report/scan/expected_table.h"
#include "report/scan/scan_counts.h"
#include "report/scan/scan_report.h"
#include "report/scan/unread_code.h"
#include "scan/facts/fact_names.h"
#include "scan/files/language.h"

namespace fathom {
namespace {

constexpr size_t kKernelFiles = 6, kDescriptionLines = 3, kScreenNotes = 4, kLabel = 8,
                 kExpected = 8;

// Words on as many lines as they need, at most so many, under a label.
void wrapped(Screen& screen, std::string_view label, std::string_view text, size_t width,
             size_t max_lines) {
  const size_t room = width - std::min(width, kLabel);
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!lines.back().empty() && screen_width(lines.back()) + 1 + screen_width(word) > room) {
      if (lines.size() == max_lines) {
        lines.back() = shortened(lines.back() + " …", room);
        break;
      }
      lines.emplace_back();
    }
    lines.back() += lines.back().empty() ? "" : " ";
    lines.back() += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const std::string& line : lines) {
    screen.entry(label, shortened(line, room));
    label = "";
  }
}

// GPU code that is there and not read: silence would say that there is none.
void show_unread(Screen& screen, const CodeFacts& facts, size_t width) {
  constexpr size_t kShown = 6;
  const std::vector<std::string> unread = unread_lines(facts);
  for (size_t i = 0; i < std::min(unread.size(), kShown); ++i)
    screen.entry(i == 0 ? "Unread" : "", shortened(unread[i], width - std::min(width, kLabel)));
  if (unread.size() > kShown)
    screen.entry("", fmt::format("{} more kinds in quick_scan.md", unread.size() - kShown));
}

void show_kernels(Screen& screen, const CodeFacts& facts, size_t width) {
  if (facts.kernels.empty()) {
    screen.entry("Kernels", "none found");
    return;
  }
  const size_t dead = count_dead(facts), unlaunched = count_without_launcher(facts);
  std::string text = fmt::format("{}   {}", number_text(facts.kernels.size()),
                                 joined_counts(count_kernel_kinds(facts)));
  if (dead > 0) text += fmt::format("; {} dead", number_text(dead));
  if (unlaunched > 0) {
    text += fmt::format("; {} without a launch site", number_text(unlaunched));
  }
  wrapped(screen, "Kernels", text, width, 2);
  const std::vector<NameCount> files = count_kernel_files(facts);
  const size_t name_width =
      std::clamp<size_t>(width - std::min<size_t>(width, kLabel + 10), 20, 80);
  for (size_t i = 0; i < std::min(files.size(), kKernelFiles); ++i) {
    std::string path = screen_safe(files[i].name);
    // The end of a path tells more than its beginning.
    while (screen_width(path) > name_width) {
      const size_t slash = path.find('/', path.starts_with("…/") ? 4 : 0);
      if (slash == std::string::npos) break;
      path = "…" + path.substr(slash);
    }
    screen.entry("",
                 fmt::format("{} {:>6}", fit_left(path, name_width), number_text(files[i].count)));
  }
  if (files.size() > kKernelFiles) {
    size_t rest = 0;
    for (size_t i = kKernelFiles; i < files.size(); ++i) rest += files[i].count;
    const std::string more = counted(files.size() - kKernelFiles, "more file");
    screen.entry(
        "", screen.dim(fmt::format("{} {:>6}", fit_left(more, name_width), number_text(rest))));
  }
  const std::vector<NameCount> features = count_kernel_features(facts);
  if (!features.empty()) {
    std::string does;
    for (size_t i = 0; i < std::min<size_t>(features.size(), 16); ++i) {
      does += fmt::format("{}{} {}", i == 0 ? "" : ", ", features[i].name, features[i].count);
    }
    wrapped(screen, "Uses", screen_safe(does), width, 3);
  }
}

void show_entry_points(Screen& screen, const CodeFacts& facts, size_t width) {
  if (facts.entry_points.empty()) {
    screen.entry("Entry", "no entry point found");
    return;
  }
  std::string text = joined_counts(count_entry_kinds(facts), true);
  std::vector<std::string> commands;
  for (const EntryPoint& entry : facts.entry_points) {
    if (entry.kind == EntryKind::kConsoleScript) commands.push_back(entry.name);
  }
  if (!commands.empty()) {
    const size_t all = commands.size();
    if (all > 4) commands.resize(4);
    text += fmt::format("; installs {}{}", fmt::join(commands, ", "), all > 4 ? " …" : "");
  }
  wrapped(screen, "Entry", screen_safe(text), width, 2);
}

// "dtype, row_bytes": the parameters without which these rows are unknown, the first few.
std::string missing_parameters(const std::vector<ExpectedRow>& rows, const Stories& stories) {
  constexpr size_t kNamed = 6;
  std::vector<std::string_view> names;
  for (const ExpectedRow& row : rows) {
    if (row.known) continue;
    for (const std::string& name : stories.kernels[row.kernel].expected.missing) {
      if (contains(names, name)) continue;
      if (names.size() == kNamed) return fmt::format("{} …", fmt::join(names, ", "));
      names.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// What to expect of the kernels that were asked for: estimated, as the first line says.
void show_expected(Screen& screen, const CodeFacts& facts, const Stories& stories, size_t width) {
  if (stories.asked_for.empty() && stories.parameters.empty()) return;
  std::vector<ExpectedRow> rows = expected_rows(facts, stories);
  // Of all kernels only those that the parameters say something of.
  if (stories.asked_for.empty())
    std::erase_if(rows, [](const ExpectedRow& row) { return !row.known; });
  if (rows.empty()) return;
  constexpr size_t kLaunch = 14, kBytes = 20, kTime = 22, kSide = 8;
  constexpr size_t kCells = kLaunch + kBytes + kTime + kSide + 4;
  const size_t room = width - std::min(width, kLabel + kCells);
  const size_t name_width = std::clamp<size_t>(room, 12, 40);
  const auto line = [&](std::string_view label, std::string_view name, const ExpectedRow& row) {
    screen.entry(label,
                 shortened(fmt::format("{} {} {} {} {}", fit_left(name, name_width),
                                       fit_left(row.launch, kLaunch), fit_left(row.bytes, kBytes),
                                       fit_left(row.time, kTime), row.side),
                           width - std::min(width, kLabel)));
  };
  line("Expect", "kernel (estimated)", {0, "blocks×threads", "bytes", "time", "bound by"});
  for (size_t i = 0; i < std::min(rows.size(), kExpected); ++i) {
    line("", screen_safe(facts.kernels[rows[i].kernel].name), rows[i]);
  }
  std::string more;
  if (rows.size() > kExpected)
    more = fmt::format("{} more in kernels.md", number_text(rows.size() - kExpected));
  if (stories.platform.empty())
    more += std::string(more.empty() ? "" : "; ") + "pass --platform GPU for time estimates";
  if (!more.empty()) screen.entry("", screen.dim(shortened(more, width - std::min(width, kLabel))));
  rows.resize(std::min(rows.size(), kExpected));
  if (const std::string missing = missing_parameters(rows, stories); !missing.empty())
    wrapped(screen, "", screen_safe("unknown without --param NAME=VALUE for: " + missing), width,
            2);
}

void show_dependencies(Screen& screen, const CodeFacts& facts, size_t width) {
  if (facts.dependencies.empty()) return;
  constexpr size_t kNamed = 12;
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const DependencyFacts& d : facts.dependencies) {
    if (d.group.empty() && seen.insert(d.name).second && names.size() < kNamed)
      names.push_back(d.name);
  }
  const size_t always = seen.size();
  std::string text = number_text(facts.dependencies.size());
  if (always > 0) {
    text += fmt::format("   {}{}", fmt::join(names, ", "), always > names.size() ? " …" : "");
  }
  wrapped(screen, "Needs", screen_safe(text), width, 2);
}

}  // namespace

namespace {

void show_measured(Screen& screen, const std::vector<MeasuredRun>& runs, size_t width) {
  if (runs.empty()) return;
  ComparedCounts all;
  size_t launches = 0, in_code = 0, refused = 0, doubted = 0, left_out = 0;
  std::string first_refusal;
  for (const MeasuredRun& run : runs) {
    if (!run.refusal.empty() && refused++ == 0) first_refusal = run.file + ": " + run.refusal;
    doubted += !run.doubt.empty();
    launches += run.launches;
    in_code += run.in_code;
    left_out += run.left_out;
    const ComparedCounts counts = count_compared(run.compared);
    all.within += counts.within;
    all.surprises += counts.surprises;
    all.not_comparable += counts.not_comparable;
    all.not_measured += counts.not_measured;
  }
  screen.entry("Counter", fmt::format("{}; {} with counters, {} of them in the code",
                                      counted(runs.size(), "recording"),
                                      counted(launches, "kernel and shape", "kernels and shapes"),
                                      number_text(in_code)));
  if (left_out > 0)
    screen.entry("", fmt::format("{} with less time are not compared",
                                 counted(left_out, "kernel and shape", "kernels and shapes")));
  screen.entry("", compared_line(all));
  if (refused > 0) {
    const std::string more = refused > 1 ? fmt::format(" ({} more)", refused - 1) : "";
    screen.entry("", screen.warn(shortened("not used: " + screen_safe(first_refusal) + more,
                                           width - std::min(width, kLabel))));
  }
  if (doubted > 0)
    screen.entry(
        "", screen.warn(fmt::format("{} may be of another run than the trace",
                                    counted(doubted, "file of counters", "files of counters"))));
}

}  // namespace

std::string scan_text(const ScanReport& report, const TerminalStyle& style,
                      const ReportListing& written) {
  const CodeFacts& facts = report.facts;
  SizeCount all;
  for (const SourceFile& file : facts.files) all.add(file);
  Screen screen(style);
  screen.line(fmt::format("{}   {} · {}", screen.bold(screen_safe(facts.repository)),
                          counted(all.files, "file"), counted(all.lines, "line")));
  if (facts.readme && !facts.readme->first_paragraph.empty()) {
    wrapped(screen, "What", screen_safe(facts.readme->first_paragraph), style.width,
            kDescriptionLines);
  }
  const std::string shares = language_shares(count_languages(facts, false), 6);
  screen.entry("Code", shares.empty() ? "none recognised" : shares);
  show_kernels(screen, facts, style.width);
  show_unread(screen, facts, style.width);
  show_entry_points(screen, facts, style.width);
  screen.entry("Options", facts.options.empty()
                              ? "none found"
                              : fmt::format("{}   {}", number_text(facts.options.size()),
                                            joined_counts(count_option_kinds(facts))));
  show_dependencies(screen, facts, style.width);
  show_expected(screen, facts, report.stories, style.width);
  show_measured(screen, report.measured, style.width);
  const size_t shown =
      style.verbose ? facts.notes.size() : std::min(facts.notes.size(), kScreenNotes);
  for (size_t i = 0; i < shown; ++i) {
    const std::string note = screen_safe(facts.notes[i]);
    screen.entry(i == 0 ? "Notes" : "",
                 style.verbose ? note : shortened(note, style.width - kLabel));
  }
  if (shown < facts.notes.size()) {
    screen.entry("", fmt::format("{} more with --verbose", facts.notes.size() - shown));
  }
  if (!written.directory.empty()) {
    const size_t named = written.has_page() ? 2 : 1;
    screen.entry("Report", report_words(written.directory, written.has_page(),
                                        fmt::format("quick_scan.md and {} more",
                                                    written.files.size() - named)));
  }
  return screen.take();
}

std::string scan_lines(const CodeFacts& facts, const std::vector<std::string>& parts) {
  std::string out;
  const auto add = [&out](std::string_view place, std::string_view kind, std::string_view rest) {
    out += fmt::format("{}  {}  {}\n", screen_safe(place), screen_safe(kind), screen_safe(rest));
  };
  for (const std::string& part : parts) {
    if (part == "kernels") {
      for (const KernelFacts& k : facts.kernels) {
        add(place_text(facts, k.at), kernel_kind_name(k.kind),
            full_name(k) + (k.dead ? "  dead" : ""));
      }
    } else if (part == "options") {
      for (const OptionFacts& o : facts.options) {
        add(place_text(facts, o.at), option_kind_name(o.kind),
            o.name + (o.default_value ? "  " + *o.default_value : ""));
      }
    } else if (part == "entry_points") {
      for (const EntryPoint& e : facts.entry_points) {
        add(place_text(facts, e.at), entry_kind_name(e.kind),
            e.name + (e.target.empty() ? "" : "  " + e.target));
      }
    } else if (part == "dependencies") {
      for (const DependencyFacts& d : facts.dependencies) {
        add(d.at.line == 0 ? "undeclared" : place_text(facts, d.at), dependency_kind_name(d.kind),
            d.name + (d.requirement.empty() ? "" : "  " + d.requirement) +
                (d.group.empty() ? "" : "  [" + d.group + "]"));
      }
    } else if (part == "host_functions") {
      for (const HostFacts& h : facts.host_functions) {
        add(place_text(facts, h.at), "host", h.scope.empty() ? h.name : h.scope + "::" + h.name);
      }
    } else if (part == "components") {
      for (const ComponentFacts& c : facts.components) {
        add(place_text(facts, c.evidence[0].at), certainty_name(c.certainty), c.title);
      }
    } else if (part == "features") {
      for (const FeatureFacts& f : facts.features) {
        add(place_text(facts, f.evidence[0].at), certainty_name(f.certainty), f.title);
      }
    } else if (part == "modules") {
      for (const ModuleFacts& m : facts.modules.modules) {
        add(place_text(facts, {m.file, 1}), "module",
            fmt::format("{:.3f}  imported by {}, {} {}, {} {}", m.score, m.imported_by,
                        m.calls_into, noun(m.calls_into, "call"), m.kernels,
                        noun(m.kernels, "kernel")));
      }
    } else if (part == "api") {
      for (const ApiFacts& a : facts.api)
        add(place_text(facts, a.at), entry_kind_name(a.kind), a.name + "  " + a.signature);
    } else if (part == "request_path") {
      for (const RequestPath& path : facts.request_paths) {
        for (const RequestHop& hop : path.hops)
          add(place_text(facts, hop.at), certainty_name(hop.certainty),
              hop.function + "  " + reach_text(facts, hop.how));
        if (!path.stopped.empty()) add(path.entry, "stopped", path.stopped);
      }
    } else if (part == "doc_claims") {
      for (const DocClaim& c : facts.doc_claims)
        add(place_text(facts, c.doc), claim_kind_name(c.kind), c.what + "  " + c.is);
    } else if (part == "files") {
      for (const SourceFile& f : facts.files) {
        add(f.path, language_name(f.language),
            f.skipped.empty() ? fmt::format("{} {}", f.lines, noun(f.lines, "line")) : f.skipped);
      }
    }
  }
  return out;
}

}  // namespace fathom
