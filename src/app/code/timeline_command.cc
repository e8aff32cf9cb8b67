#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/reading_options.h"
#include "base/screen_text.h"
#include "session/code/timeline.h"

namespace fathom {
namespace {

constexpr const char* kTimelineExamples = R"(Examples:
  fathom timeline trace.json.gz            keys zoom and move; q ends
  fathom timeline trace.json.gz | cat      one picture of the whole trace

Keys:
  w s          zoom in and out             a d          move left and right
  left right   last and next event         up down      row above and below
  /            search, Enter starts it     n N          next and last match
  f            fit the event               0            whole trace
  ?            these keys                  q            end

A cell shows how busy its row is at that time. Without a terminal it prints one picture.)";

// What stays on the screen, and what "?" shows.
constexpr const char* kHint =
    "w s zoom  a d move  arrows event, row  / search  f fit  0 all  ? keys  q end";
constexpr const char* kKeys =
    "w s          zoom in and out\n"
    "a d          move left and right\n"
    "left right   last and next event\n"
    "up down      row above and below\n"
    "/            search, Enter starts it, Esc leaves\n"
    "n N          next and last match\n"
    "f            fit the event\n"
    "0            whole trace\n"
    "?            these keys; any key leaves\n"
    "q            end\n\n"
    "A cell is as full as its row is there. Rows: idle time of a GPU by cause, streams,\n"
    "and the calls of the threads with the most calls.\n";

struct TimelineArguments {
  std::string trace;
  ReadingArguments reading;
};

// The terminal hands over each key at once, on a screen of its own, until this ends.
class RawTerminal {
 public:
  RawTerminal() {
    is_raw_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!is_raw_) return;
    termios raw = before_;
    // Ctrl-C is a key here: ended by a signal, the terminal would keep this screen.
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_raw_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    if (!is_raw_) return;
    struct sigaction resized = {};
    resized.sa_handler = [](int) {};  // it ends a read
    sigaction(SIGWINCH, &resized, nullptr);
    (void)print_output("\033[?1049h\033[?25l");
  }
  ~RawTerminal() {
    if (!is_raw_) return;
    (void)print_output("\033[?25h\033[?1049l");
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  bool is_raw() const { return is_raw_; }

 private:
  termios before_ = {};
  bool is_raw_ = false;
};

enum class ArrowKey { kNone, kLeft, kRight, kUp, kDown };

class TimelineKeys {
 public:
  TimelineKeys(const TerminalTimeline& timeline, const EventStore& store, bool color)
      : timeline_(timeline), store_(store), color_(color) {
    show_all();
    window_.has_cursor = true;
    window_.cursor = timeline.begin;
  }

  Status run() {
    for (;;) {
      TRY(draw());
      char key = 0;
      const ssize_t got = read(STDIN_FILENO, &key, 1);
      if (got < 0 && errno == EINTR) continue;  // the window has another size
      if (got != 1) return Nothing{};
      if (is_helping_) {
        is_helping_ = false;
        if (key == '\033') (void)arrow();
      } else if (is_asking_) {
        type(key);
      } else if (key == '\033') {
        move(arrow());
      } else if (key == 'q' || key == 3 || key == 4) {
        return Nothing{};
      } else {
        press(key);
      }
    }
  }

 private:
  Status draw() {
    winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 100, 0, 0};
    window_.height = size.ws_row;
    if (is_helping_) return print_output(std::string("\033[H\033[2J") + kKeys);
    std::string frame = "\033[H\033[2J" + timeline_frame(timeline_, store_, window_,
                                                         {color_, false, size_t{size.ws_col}});
    const std::string last = is_asking_       ? "/" + screen_safe(query_)
                             : !note_.empty() ? note_
                                              : std::string(kHint).substr(0, size.ws_col);
    frame += fmt::format("\033[{};1H{}", size.ws_row, last);
    note_.clear();
    return print_output(frame);
  }

  // What follows Escape comes at once; Escape alone is a key of its own.
  static bool read_more(char& key) {
    pollfd waits = {STDIN_FILENO, POLLIN, 0};
    return poll(&waits, 1, 50) == 1 && read(STDIN_FILENO, &key, 1) == 1;
  }
  static ArrowKey arrow() {
    char rest[2] = {};
    if (!read_more(rest[0]) || rest[0] != '[' || !read_more(rest[1])) return ArrowKey::kNone;
    switch (rest[1]) {
      case 'A':
        return ArrowKey::kUp;
      case 'B':
        return ArrowKey::kDown;
      case 'C':
        return ArrowKey::kRight;
      case 'D':
        return ArrowKey::kLeft;
      default:
        return ArrowKey::kNone;
    }
  }

  void type(char key) {
    if (key == '\n' || key == '\r') {
      is_asking_ = false;
      find(1);
    } else if (key == '\033') {
      is_asking_ = false;
    } else if (key == 127 || key == 8) {
      if (!query_.empty()) query_.pop_back();
    } else if (query_.size() < 200) {
      query_ += key;
    }
  }

  void press(char key) {
    switch (key) {
      case 'w':
        return zoom(0.6);
      case 's':
        return zoom(1 / 0.6);
      case 'a':
        return pan(-0.25);
      case 'd':
        return pan(0.25);
      case '?':
        is_helping_ = true;
        return;
      case '0':
        return show_all();
      case 'f':
        return fit();
      case '/':
        is_asking_ = true;
        query_.clear();
        return;
      case 'n':
        return find(1);
      case 'N':
        return find(-1);
      default:
        return;
    }
  }

  const TerminalTimeline::Row* row() const {
    return window_.row < timeline_.rows.size() ? &timeline_.rows[window_.row] : nullptr;
  }
  const TerminalTimeline::Span* span() const {
    return row() == nullptr ? nullptr : span_at(*row(), window_.cursor);
  }

  void move(ArrowKey key) {
    if (key == ArrowKey::kUp && window_.row > 0) --window_.row;
    if (key == ArrowKey::kDown && window_.row + 1 < timeline_.rows.size()) ++window_.row;
    const TerminalTimeline::Span* at = span();
    if (at == nullptr || (key != ArrowKey::kLeft && key != ArrowKey::kRight)) return;
    const auto& spans = row()->spans;
    const auto place = at - spans.data();
    const auto next = place + (key == ArrowKey::kRight ? 1 : -1);
    if (next < 0 || next >= static_cast<std::ptrdiff_t>(spans.size())) return;
    select(spans[static_cast<size_t>(next)]);
  }

  void select(const TerminalTimeline::Span& to) {
    window_.cursor = to.begin;
    if (to.begin >= window_.begin && to.begin < window_.end) return;
    const Nanos length = window_.end - window_.begin;
    set(to.begin - Nanos{length.count / 2}, length);
  }

  void set(Nanos begin, Nanos length) {
    constexpr int64_t kShortest = 200;
    const Nanos all = timeline_.end - timeline_.begin;
    length.count = std::clamp(length.count, std::min(kShortest, std::max<int64_t>(1, all.count)),
                              std::max<int64_t>(1, all.count));
    begin = std::clamp(begin, timeline_.begin, timeline_.end - length);
    window_.begin = begin;
    window_.end = begin + length;
  }
  void show_all() { set(timeline_.begin, timeline_.end - timeline_.begin); }
  void zoom(double factor) {
    const double length = static_cast<double>((window_.end - window_.begin).count);
    const Nanos at = std::clamp(window_.cursor, window_.begin, window_.end);
    const double before = static_cast<double>((at - window_.begin).count) * factor;
    set(at - Nanos{static_cast<int64_t>(before)}, Nanos{static_cast<int64_t>(length * factor)});
  }
  void pan(double share) {
    const Nanos length = window_.end - window_.begin;
    const auto by = static_cast<int64_t>(static_cast<double>(length.count) * share);
    set(window_.begin + Nanos{by}, length);
    window_.cursor = std::clamp(window_.cursor, window_.begin, window_.end);
  }
  void fit() {
    if (const TerminalTimeline::Span* at = span()) {
      const int64_t length = std::max<int64_t>((at->end - at->begin).count, 1);
      set(at->begin - Nanos{length}, Nanos{3 * length});
    }
  }

  // Along the selected row, then the rows below it.
  void find(int direction) {
    if (query_.empty()) return;
    const size_t rows = timeline_.rows.size();
    for (size_t r = 0; r <= rows; ++r) {
      const size_t at_row =
          direction > 0 ? (window_.row + r) % rows : (window_.row + rows * 2 - r) % rows;
      const auto& spans = timeline_.rows[at_row].spans;
      const auto matches = [&](const TerminalTimeline::Span& s) {
        return span_name(s, store_).find(query_) != std::string::npos &&
               (r > 0 || (direction > 0 ? s.begin > window_.cursor : s.begin < window_.cursor));
      };
      const auto found = direction > 0 ? std::ranges::find_if(spans, matches)
                                       : std::find_if(spans.rbegin(), spans.rend(), matches).base();
      const bool is_found = direction > 0 ? found != spans.end() : found != spans.begin();
      if (!is_found) continue;
      window_.row = at_row;
      select(direction > 0 ? *found : *(found - 1));
      return;
    }
    note_ = "no match";
  }

  const TerminalTimeline& timeline_;
  const EventStore& store_;
  bool color_;
  TimelineWindow window_;
  bool is_asking_ = false, is_helping_ = false;
  std::string query_, note_;
};

Status show_timeline(const TimelineArguments& a, const Terminal& terminal) {
  const Trace trace = TRY(open_with_progress(a.trace, a.reading, terminal, OpenOptions{}));
  const TerminalTimeline timeline = TRY(make_timeline(trace));
  if (timeline.rows.empty()) return print_output("The trace has no GPU work and no calls.\n");
  if (terminal.input_is_terminal && terminal.output_is_terminal) {
    const RawTerminal raw;
    if (raw.is_raw()) return TimelineKeys(timeline, trace.store, terminal.color).run();
  }
  TimelineWindow window;
  window.begin = timeline.begin;
  window.end = timeline.end;
  window.height = timeline.rows.size() + 6;
  return print_output(
      timeline_frame(timeline, trace.store, window, {terminal.color, false, terminal.width}));
}

}  // namespace

void add_timeline_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kTimelineCommand.name, kTimelineCommand.text);
  command->footer(kTimelineExamples);
  auto a = std::make_shared<TimelineArguments>();
  command->add_option("TRACE", a->trace, "A trace or capture (see fathom analyze --help)")
      ->required();
  add_reading_options(*command, a->reading);
  command->add_flag("-q,--quiet", a->reading.quiet, "Print no progress");
  command->callback([a, &terminal, &code] {
    const Status done = show_timeline(*a, terminal);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
