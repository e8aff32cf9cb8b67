#include "session/code/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "base/text_parts.h"
#include "base/worker_pool.h"
#include "report/csv.h"
#include "report/page/documents_page.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostTraces = 100'000;
constexpr std::string_view kTraceEndings[] = {".json", ".json.gz", ".json.zst", ".sqlite",
                                              ".db",   ".pftrace", ".capture"};

bool looks_like_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with(".") || name == "summary.json") return false;
  return ends_with_any(name, kTraceEndings);
}

// "rank2" before "rank10": digits are compared as numbers.
bool before_by_name(const std::string& a, const std::string& b) {
  const auto rank_a = rank_in_name(a), rank_b = rank_in_name(b);
  if (rank_a && rank_b && *rank_a != *rank_b) return *rank_a < *rank_b;
  return a < b;
}

Status list_folder(const fs::path& folder, bool deeper, std::vector<std::string>& out) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error) return Error{fmt::format("{}: {}", folder.string(), error.message())};
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    if (error) return Error{fmt::format("{}: {}", folder.string(), error.message())};
    const fs::path& path = entry->path();
    if (entry->is_directory(error)) {
      // A report has files that look like traces.
      if (deeper && path.extension() != ".fathom") TRY(list_folder(path, false, out));
    } else if (entry->is_regular_file(error) && looks_like_trace(path)) {
      out.push_back(path.string());
    }
    if (out.size() > kMostTraces)
      return Error{fmt::format("{} holds over {} traces; name a folder of one job", folder.string(),
                               number_text(kMostTraces))};
  }
  return Nothing{};
}

struct ReadRank {
  RankFacts facts;
  const Platform* platform = nullptr;
};

Result<ReadRank> read_rank(const std::string& path, const TogetherOptions& options) {
  OpenOptions open;
  open.threads = 1;
  open.max_size = options.max_size;
  const Trace trace = TRY(open_trace(path, open));
  TRY(check_has_events(trace));
  const Scope scope = options.scope ? TRY(options.scope(trace)) : Scope{};
  return ReadRank{rank_facts_of(trace, scope), detect_platform(trace)};
}

}  // namespace

RankFacts rank_facts_of(const Trace& trace, const Scope& scope) {
  RankFacts facts = extract_rank(SheetInput(trace.store, trace.tree, scope), trace.path);
  if (!facts.rank) {
    facts.rank = rank_in_name(trace.path);
    facts.rank_from_name = facts.rank.has_value();
  }
  return facts;
}

Result<std::vector<std::string>> expand_traces(const std::vector<std::string>& given) {
  std::vector<std::string> traces;
  for (const std::string& path : given) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      traces.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    TRY(list_folder(path, true, found));
    if (found.empty())
      return Error{
          fmt::format("{} holds no trace (.json, .json.gz, .json.zst, .sqlite, .db, "
                      ".pftrace, .capture)",
                      path)};
    std::ranges::sort(found, before_by_name);
    traces.insert(traces.end(), found.begin(), found.end());
  }
  return traces;
}

Result<Together> analyze_together(const std::vector<std::string>& traces,
                                  const TogetherOptions& options) {
  Together out;
  std::vector<RankFacts> ranks;
  std::set<const Platform*> platforms;
  const size_t machine = std::max(1u, std::thread::hardware_concurrency());
  const size_t threads = options.threads > 0 ? options.threads : machine;
  WorkerPool pool(threads > 1 ? std::min(threads, traces.size()) : 0);
  size_t next = 0, done = 0;
  TRY(run_in_order<size_t>(
      pool,
      [&]() -> Result<std::optional<size_t>> {
        return next < traces.size() ? std::optional(next++) : std::nullopt;
      },
      [&](size_t i) { return read_rank(traces[i], options); },
      [&](Result<ReadRank> read) {
        if (options.progress) options.progress(++done, traces.size());
        if (!read.ok()) {
          out.unread.push_back(read.error().message);
          return;
        }
        ReadRank rank = read.take();
        if (options.platform == nullptr && rank.platform != nullptr)
          platforms.insert(rank.platform);
        ranks.push_back(std::move(rank.facts));
      }));
  const size_t read = ranks.size();
  // GPUs of several kinds have no link in common.
  const Platform* platform = options.platform;
  if (platforms.size() == 1) platform = *platforms.begin();
  out.comparison = compare_ranks(std::move(ranks), platform);
  if (out.comparison.ranks.size() >= 2) return out;
  std::string message = fmt::format(
      "--together compares ranks of one job: {} given, {} readable, {} "
      "of one job",
      counted(traces.size(), "trace"), read, out.comparison.ranks.size());
  for (const std::string& note : rank_sentences(out.view()).notes) message += "; " + note;
  return Error{message};
}

Result<WrittenReport> write_together(const Together& together, bool page,
                                     const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  WrittenReport written{{shown_directory(place.path).string(), {}}, {}};
  std::vector<std::string>& files = written.listing.files;
  const RanksView view = together.view();
  const std::string text = ranks_markdown(view), picture = ranks_drawing(together.comparison);
  const auto write = [&](const std::string& name, std::string_view content) {
    files.push_back(name);
    return out.write_file(name, content);
  };
  TRY(write("ranks.md", text));
  TRY(write("ranks.svg", picture));
  std::vector<Table> sheets = rank_sheets(together.comparison);
  for (const Table& sheet : sheets)
    TRY(write(fmt::format("rank_csvs/{}.csv", sheet.name()), to_csv(sheet)));
  if (page) {
    TRY(write("report.html",
              documents_page({"ranks",
                              counted(together.comparison.ranks.size(), "rank") + " side by side",
                              rank_sentences(view).verdict,
                              {{"ranks.md", text}},
                              {{"ranks.svg", picture}},
                              std::move(sheets),
                              {}})));
  }
  files.emplace_back("summary.json");
  TRY(out.write_file("summary.json", ranks_json(view, written.listing)));
  written.notes = TRY(out.commit());
  return written;
}

}  // namespace fathom
