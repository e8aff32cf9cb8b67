// One damaged byte, wherever it is, costs at most the event it is in, and what is lost is said.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "base/text_source.h"
#include "checks.h"
#include "ingest/kineto/reader.h"
#include "invariants/every_trace.h"
#include "test_files.h"

namespace fathom {
namespace {

struct Reading {
  std::map<int64_t, std::string> rows;  // by position in the list
  int64_t entries = 0, skipped = 0;
  std::string diagnostics, error;

  bool operator==(const Reading&) const = default;
};

Reading read(std::string_view text, size_t threads, size_t chunk_size) {
  TextSource source(text);
  kineto::ReadOptions options;
  options.threads = threads;
  options.limits.chunk_size = chunk_size;
  Result<EventStore> result = kineto::read_trace(source, "trace", options);
  Reading out;
  if (!result.ok()) {
    out.error = result.error().message;
    return out;
  }
  const EventStore store = result.take();
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    out.rows[store.uid(e)] =
        fmt::format("{} {} {} {} {}", static_cast<int>(store.kind(e)), store.name(e),
                    store.start(e).count, store.duration(e).count, store.text(store.track(e).tid));
  }
  out.entries = store.entries();
  out.skipped = store.diagnostics().skipped_events();
  for (const Diagnostic& d : store.diagnostics().all()) {
    out.diagnostics += fmt::format("{} {} {}\n", describe(d.flaw).id, d.count, d.example);
  }
  return out;
}

std::string unpacked(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_source(path).take();
  std::string text, piece(1 << 20, '\0');
  for (size_t got = piece.size(); got == piece.size();) {
    got = source->read(piece).take();
    text.append(piece, 0, got);
  }
  return text;
}

// The first events, some of the middle and the last, with all that stands beside them.
std::string shortened(const std::string& text, size_t some) {
  const test::TraceParts parts = test::take_apart(text);
  if (parts.events.size() <= 3 * some) return text;
  std::string out(parts.head);
  const auto add = [&](size_t begin) {
    const std::string_view first = parts.events[begin], last = parts.events[begin + some - 1];
    out += std::string_view(first.data(), last.data() + last.size());
  };
  add(0);
  out += ",\n  ";
  add(parts.events.size() / 2);
  out += ",\n  ";
  add(parts.events.size() - some);
  return out + "\n  " + std::string(parts.tail);
}

// The same JSON without the spaces between its tokens: as other writers write it.
std::string compact(const std::string& text) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!in_string && std::strchr(" \n\r\t", text[i]) != nullptr) continue;
    out += text[i];
    if (in_string && text[i] == '\\') {
      out += text[++i];
    } else if (text[i] == '"') {
      in_string = !in_string;
    }
  }
  return out;
}

struct Damage {
  enum Kind { kReplace, kInsert, kDelete } kind;
  size_t at;
  char byte;

  std::string applied_to(std::string text) const {
    if (kind == kReplace) text[at] = byte;
    if (kind == kInsert) text.insert(at, 1, byte);
    if (kind == kDelete) text.erase(at, 1);
    return text;
  }
};

class DamageLaw {
 public:
  explicit DamageLaw(std::string text)
      : text_(std::move(text)), parts_(test::take_apart(text_)), whole_(read(text_, 1, 4 << 20)) {}

  const std::string& text() const { return text_; }

  void check(const Damage& damage, bool every_way) const {
    const std::string damaged = damage.applied_to(text_);
    SCOPED_TRACE(fmt::format("{} {:?} at {} in {:?}",
                             std::array{"replace by", "insert", "delete"}[damage.kind],
                             std::string(1, damage.byte), damage.at,
                             text_.substr(damage.at < 60 ? 0 : damage.at - 60, 90)));
    const Reading after = read(damaged, 1, 4 << 20);
    ASSERT_EQ(after.error, "");
    compare(after, damage);
    if (!every_way) return;
    for (const auto& [threads, chunk] :
         {std::pair<size_t, size_t>{1, 64}, {3, 1000}, {2, 30'000}}) {
      const Reading again = read(damaged, threads, chunk);
      ASSERT_EQ(again.diagnostics, after.diagnostics) << "chunks of " << chunk;
      ASSERT_TRUE(again == after) << "chunks of " << chunk;
    }
  }

 private:
  size_t begin_of(size_t event) const {
    return static_cast<size_t>(parts_.events[event].data() - text_.data());
  }
  size_t end_of(size_t event) const { return begin_of(event) + parts_.events[event].size(); }

  // The event that holds the place; between two events, those two.
  std::set<int64_t> touched_by(const Damage& damage) const {
    std::set<int64_t> events;
    const auto after = std::ranges::partition_point(parts_.events, [&](std::string_view e) {
      return static_cast<size_t>(e.data() - text_.data()) + e.size() < damage.at;
    });
    for (auto e = after; e != parts_.events.end() && e < after + 2; ++e) {
      const auto i = static_cast<size_t>(e - parts_.events.begin());
      if (begin_of(i) <= damage.at + 1) events.insert(static_cast<int64_t>(i));
    }
    return events;
  }

  // The letter of the phase: an event of another phase may need no row.
  bool is_in_phase(size_t at, size_t event) const {
    const std::string_view text = parts_.events[event];
    const size_t key = text.find("\"ph\"");
    const size_t value = text.find('"', key + 4);
    return at >= begin_of(event) + key && at <= begin_of(event) + value + 2;
  }

  void compare(const Reading& after, const Damage& damage) const {
    const std::set<int64_t> touched = touched_by(damage);
    int64_t rows_lost = 0;
    bool phase = false;
    for (const auto& [uid, row] : whole_.rows) {
      const auto found = after.rows.find(uid);
      if (touched.contains(uid)) {
        rows_lost += found == after.rows.end();
        phase |= is_in_phase(damage.at, static_cast<size_t>(uid));
        continue;
      }
      ASSERT_NE(found, after.rows.end()) << "lost " << uid << ": " << row << "\n"
                                         << after.diagnostics;
      ASSERT_EQ(found->second, row) << uid;
    }
    ASSERT_EQ(after.entries, whole_.entries) << after.diagnostics;
    ASSERT_LE(after.skipped, whole_.skipped + 1) << after.diagnostics;
    if (!phase) {
      ASSERT_LE(rows_lost, after.skipped - whole_.skipped) << after.diagnostics;
    }
    if (after.skipped > whole_.skipped) {
      ASSERT_FALSE(touched.empty()) << after.diagnostics;
    }
  }

  std::string text_;
  test::TraceParts parts_;
  Reading whole_;
};

constexpr std::string_view kOddBytes = "{}[]()\"\\,:'\n\r\t x0-.e/\x01\x7f\x80\xff";

class DamageLaws : public ::testing::TestWithParam<std::string> {
 protected:
  // Half of the places are those of brackets, quotes, commas and colons.
  static void check_some(const DamageLaw& law, size_t trials, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<size_t> structure;
    for (size_t i = 0; i < law.text().size(); ++i) {
      if (std::string_view("{}[]\",:\\").find(law.text()[i]) != std::string_view::npos)
        structure.push_back(i);
    }
    for (size_t i = 0; i < trials; ++i) {
      const size_t at =
          i % 2 == 0 ? random() % law.text().size() : structure[random() % structure.size()];
      const size_t byte = random() % (kOddBytes.size() + 1);
      const Damage damage{static_cast<Damage::Kind>(random() % 3), at,
                          byte == kOddBytes.size() ? '\0' : kOddBytes[byte]};
      law.check(damage, i % 10 == 0);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(DamageLaws, OneDamagedByteCostsAtMostTheEventItIsIn) {
  const std::string text = shortened(unpacked(GetParam()), 60);
  check_some(DamageLaw(text), 300, 1);
  check_some(DamageLaw(compact(text)), 200, 2);
}

// Every place around the beginning of the list, of its end and of an event in the middle.
TEST_P(DamageLaws, EveryByteBetweenEventsMayBeDamaged) {
  const std::string text = shortened(unpacked(GetParam()), 3);
  for (const DamageLaw& law : {DamageLaw(text), DamageLaw(compact(text))}) {
    const std::string_view all = law.text();
    for (const size_t middle : {size_t{0}, all.find("\"traceEvents\""), all.rfind("},"),
                                all.rfind("]"), all.size() - 1}) {
      const size_t begin = middle < 12 ? 0 : middle - 12;
      for (size_t at = begin; at < std::min(middle + 30, all.size()); ++at) {
        for (const char byte : std::string_view("{}[]\"\\,(")) {
          law.check({Damage::kReplace, at, byte}, false);
          law.check({Damage::kInsert, at, byte}, false);
          if (HasFatalFailure()) return;
        }
        law.check({Damage::kDelete, at, ' '}, at % 8 == 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

std::vector<std::string> paths_of_examples() {
  std::vector<std::string> paths;
  for (const auto& path : test::example_traces()) paths.push_back(path.string());
  return paths;
}

INSTANTIATE_TEST_SUITE_P(EveryExample, DamageLaws, ::testing::ValuesIn(paths_of_examples()),
                         test::name_of_trace);

}  // namespace
}  // namespace fathom
