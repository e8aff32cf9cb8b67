#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "checks.h"
#include "test_files.h"

extern char** environ;

namespace fathom::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kNoServer = "this build has no server";

// `fathom serve` with a plain client: sockets, and bytes as the test wants them.
class Served {
 public:
  explicit Served(const std::vector<std::string>& paths) {
    std::vector<std::string> words = {fathom_binary() + "-code", "serve"};
    words.insert(words.end(), paths.begin(), paths.end());
    int output[2], errors[2];
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
      pid_ = 0;
    posix_spawn_file_actions_destroy(&actions);
    close(output[1]);
    close(errors[1]);
    errors_ = errors[0];
    address_ = read_line(output[0]);
    close(output[0]);
    const size_t colon = address_.rfind(':'), slash = address_.find('/', colon);
    if (slash == std::string::npos) return;
    port_ = address_.substr(colon + 1, slash - colon - 1);
    token_ = address_.substr(slash + 1, 32);
  }
  ~Served() {
    if (pid_ > 0) stop(SIGKILL);
    close(errors_);
  }

  bool is_up() const { return !token_.empty(); }
  std::string errors() const { return read_line(errors_); }
  const std::string& token() const { return token_; }
  const std::string& address() const { return address_; }
  std::string host() const { return "127.0.0.1:" + port_; }
  std::string path(const std::string& rest) const { return "/" + token_ + "/" + rest; }

  // The exit code, or minus the signal. A server that does not end is killed.
  int stop(int signal) {
    kill(pid_, signal);
    int status = 0;
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (Clock::now() > end) kill(pid_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  int connect_to(uint32_t address = INADDR_LOOPBACK) const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<uint16_t>(std::stoi(port_)));
    place.sin_addr.s_addr = htonl(address);
    if (connect(fd, reinterpret_cast<sockaddr*>(&place), sizeof(place)) == 0) return fd;
    close(fd);
    return -1;
  }

  // All that comes back until the server closes, `enough` is in it or the time is over.
  static std::string read_until(int fd, std::string_view enough, int milliseconds = 20'000) {
    std::string text;
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (enough.empty() || text.find(enough) == std::string::npos) {
      pollfd one = {fd, POLLIN, 0};
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0 || poll(&one, 1, static_cast<int>(left)) <= 0) break;
      char buffer[65536];
      const ssize_t got = ::read(fd, buffer, sizeof(buffer));
      if (got <= 0) break;
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }

  std::string exchange(std::string_view bytes) const {
    const int fd = connect_to();
    if (fd < 0) return {};
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t put = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (put <= 0) break;
      at += static_cast<size_t>(put);
    }
    std::string answer = read_until(fd, "");
    close(fd);
    return answer;
  }

  // A request with this server's Host, unless `headers` has one.
  std::string ask(const std::string& target, std::string headers = "",
                  const std::string& method = "GET") const {
    if (headers.find("Host:") == std::string::npos) headers = "Host: " + host() + "\r\n" + headers;
    return exchange(method + " " + target + " HTTP/1.1\r\n" + headers +
                    "Connection: close\r\n\r\n");
  }
  int status(const std::string& target, const std::string& headers = "",
             const std::string& method = "GET") const {
    return status_of(ask(target, headers, method));
  }
  static int status_of(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
  }

 private:
  static std::string read_line(int fd) {
    std::string line;
    char c = 0;
    while (::read(fd, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  pid_t pid_ = 0;
  int errors_ = -1;
  std::string address_, port_, token_;
};

std::string body_of(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : answer.substr(end + 4);
}

// A folder that is served as a report: two files, a folder, and what must not be reached.
class Serve : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path report = place_.path() / "run.fathom";
    fs::create_directories(report / "tables");
    write_file(report / "report.html", "<!doctype html>the page");
    write_file(report / "tables/ops of a.csv", "op\n");
    write_file(report / ".fathom-report", "hidden");
    write_file(report / "other.html", "<script>1</script>");
    write_file(place_.path() / "secret.txt", "secret");
    fs::create_symlink(place_.path() / "secret.txt", report / "link.txt");
    fs::create_directory_symlink(place_.path(), report / "up");
    ASSERT_EQ(mkfifo((report / "fifo").c_str(), 0600), 0);
    served_ = std::make_unique<Served>(std::vector<std::string>{report.string()});
    if (served_->is_up()) return;
    const std::string why = served_->errors();
    if (why.find(kNoServer) != std::string::npos)
      GTEST_SKIP() << "no Boost headers at build time: tools/setup --serve";
    FAIL() << why;
  }

  TemporaryDirectory place_;
  std::unique_ptr<Served> served_;
};

TEST_F(Serve, ShowsTheListAndTheFilesOfAReport) {
  const std::string list = served_->ask(served_->path(""));
  EXPECT_EQ(Served::status_of(list), 200);
  EXPECT_NE(list.find("list.js"), std::string::npos);
  EXPECT_NE(list.find("script-src 'self'"), std::string::npos);
  EXPECT_NE(list.find("Referrer-Policy: no-referrer"), std::string::npos);
  EXPECT_EQ(served_->status(served_->path("list.js")), 200);
  EXPECT_EQ(served_->status(served_->path("list.css")), 200);
  const std::string page = served_->ask(served_->path("r/0/report.html"));
  EXPECT_EQ(body_of(page), "<!doctype html>the page");
  EXPECT_NE(page.find("Content-Security-Policy: sandbox allow-scripts"), std::string::npos);
  EXPECT_EQ(body_of(served_->ask(served_->path("r/0/tables/ops%20of%20a.csv"))), "op\n");
  // HTML that is not the page of the report is text.
  EXPECT_NE(served_->ask(served_->path("r/0/other.html")).find("Content-Type: text/plain"),
            std::string::npos);
  EXPECT_NE(served_->ask(served_->path("reports.json")).find("\"name\":\"run.fathom\""),
            std::string::npos);
  EXPECT_EQ(served_->status("/" + served_->token()), 301);
}

TEST_F(Serve, RefusesAWrongToken) {
  std::string near = served_->token();
  near.back() = near.back() == '0' ? '1' : '0';
  for (const std::string& target :
       {std::string("/"), "/" + near + "/", "/" + served_->token() + "0/", std::string("//"),
        "/" + served_->token().substr(1) + "/", std::string("/r/0/report.html"),
        "/x/../" + served_->token() + "/"})
    EXPECT_EQ(served_->status(target), 403) << target;
  EXPECT_EQ(served_->ask("/" + near + "/r/0/report.html").find("the page"), std::string::npos);
}

TEST_F(Serve, RefusesOtherHostsAndOrigins) {
  const std::string list = served_->path("");
  for (const std::string host : {"evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1",
                                 "localhost.evil.example", "0.0.0.0", "[::1]"})
    EXPECT_EQ(served_->status(list, "Host: " + host + "\r\n"), 403) << host;
  EXPECT_EQ(served_->status(list, "Host: " + served_->host() + "\r\nHost: evil.example\r\n"), 403);
  EXPECT_EQ(Served::status_of(
                served_->exchange("GET " + list + " HTTP/1.1\r\nConnection: close\r\n\r\n")),
            403);
  const std::string port = served_->host().substr(served_->host().find(':'));
  EXPECT_EQ(served_->status(list, "Host: localhost" + port + "\r\n"), 200);
  for (const std::string origin :
       {"http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"})
    EXPECT_EQ(served_->status(list, "Origin: " + origin + "\r\n"), 403) << origin;
  EXPECT_EQ(served_->status(list, "Origin: http://" + served_->host() + "\r\n"), 200);
  // A link on another site may lead here; an image, a frame or a script of it may not.
  EXPECT_EQ(served_->status(list, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
            403);
  EXPECT_EQ(served_->status(list,
                            "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\n"
                            "Sec-Fetch-Dest: iframe\r\n"),
            403);
  EXPECT_EQ(served_->status(list,
                            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
                            "Sec-Fetch-Dest: document\r\n"),
            200);
}

TEST_F(Serve, ReachesNoFileOutsideOfTheReport) {
  for (const std::string rest :
       {"r/0/../../secret.txt", "r/0/%2e%2e/secret.txt", "r/0/%2E%2E%2Fsecret.txt",
        "r/0/..%2fsecret.txt", "r/0/..%5csecret.txt", "r/0//etc/passwd", "r/0/%2fetc%2fpasswd",
        "r/0/report.html%00.txt", "r/0/%", "r/0/%4", "r/0/%zz", "r/0/.fathom-report",
        "r/0/tables/../../secret.txt", "../secret.txt", "r/0/./report.html"})
    EXPECT_EQ(served_->status(served_->path(rest)), 400) << rest;
  for (const std::string rest :
       {"r/0/link.txt", "r/0/up/secret.txt", "r/0/fifo", "r/0/tables", "r/0/tables/", "r/0/",
        "r/1/report.html", "r/-1/report.html", "r/0x0/report.html",
        "r/18446744073709551616/report.html", "r/0/report.html/x", "x", "r"})
    EXPECT_EQ(served_->status(served_->path(rest)), 404) << rest;
  EXPECT_EQ(served_->status("http://" + served_->host() + served_->path("")), 400);
  EXPECT_EQ(served_->status(served_->path(std::string(5000, 'a'))), 400);
  const std::string nul = "GET " + served_->path("r/0/report.html") + std::string(1, '\0') +
                          ".txt HTTP/1.1\r\nHost: " + served_->host() + "\r\n\r\n";
  EXPECT_EQ(Served::status_of(served_->exchange(nul)), 400);
  EXPECT_EQ(served_->status(served_->path("")), 200);  // after all of it
}

TEST_F(Serve, AnswersGetAndHeadOnly) {
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "ODD"})
    EXPECT_EQ(served_->status(served_->path(""), "", method), 405) << method;
  const std::string head = served_->ask(served_->path("r/0/report.html"), "", "HEAD");
  EXPECT_EQ(Served::status_of(head), 200);
  EXPECT_EQ(body_of(head), "");
  EXPECT_NE(head.find("Content-Length: 23"), std::string::npos);
  EXPECT_EQ(Served::status_of(served_->exchange("POST " + served_->path("") +
                                                " HTTP/1.1\r\nHost: " + served_->host() +
                                                "\r\nContent-Length: 5\r\n\r\nhello")),
            413);
}

TEST_F(Serve, BoundsWhatAClientMayCost) {
  EXPECT_EQ(served_->status(served_->path(""), "X: " + std::string(20'000, 'x') + "\r\n"), 431);
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "X" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(served_->status(served_->path(""), many), 431);
  EXPECT_EQ(Served::status_of(served_->exchange("\x16\x03\x01 no http\r\n\r\n")), 400);
  // The connections over the limit are closed at once, and those below it are answered.
  std::vector<int> open;
  for (int i = 0; i < 64; ++i) open.push_back(served_->connect_to());
  EXPECT_EQ(served_->status(served_->path("")), 0);
  for (const int fd : open) close(fd);
  int status = 0;
  for (int i = 0; i < 100 && status != 200; ++i) {
    status = served_->status(served_->path(""));
    if (status != 200) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(status, 200);
}

// A byte now and then does not hold a connection: the time is for the whole request.
TEST_F(Serve, EndsARequestThatTakesTooLong) {
  const int fd = served_->connect_to();
  const std::string request = "GET " + served_->path("") + " HTTP/1.1\r\n";
  const auto begun = Clock::now();
  bool is_open = true;
  for (size_t i = 0; is_open && i < 200; ++i) {
    is_open = send(fd, &request[i % request.size()], 1, MSG_NOSIGNAL) == 1;
    pollfd one = {fd, POLLIN, 0};
    char byte = 0;
    if (poll(&one, 1, 200) > 0) is_open = ::read(fd, &byte, 1) > 0;
  }
  close(fd);
  EXPECT_FALSE(is_open);
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(25));
}

TEST_F(Serve, IsReachedFromThisMachineOnly) {
  // Another address of this machine: 127.0.0.2 is loopback too, and not what it listens on.
  EXPECT_LT(served_->connect_to(INADDR_LOOPBACK + 1), 0);
}

TEST_F(Serve, StopsOnSignals) {
  const int fd = served_->connect_to();
  const std::string request =
      "GET " + served_->path("events") + " HTTP/1.1\r\nHost: " + served_->host() + "\r\n\r\n";
  ASSERT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  EXPECT_NE(Served::read_until(fd, "run.fathom").find("data: "), std::string::npos);
  const auto begun = Clock::now();
  EXPECT_EQ(served_->stop(SIGTERM), 0);
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(10));
  close(fd);
}

class ServeTraces : public testing::Test {
 protected:
  static bool is_here() {
    const CommandResult asked = run_command(fathom_binary() + " serve /nowhere.json", "/");
    return asked.errors.find(kNoServer) == std::string::npos;
  }
};

TEST_F(ServeTraces, FollowsATraceUntilItsReportIsThere) {
  const TemporaryDirectory place;
  fs::copy_file(source_dir() / "examples/ddp-rank0-h200.json.gz", place.path() / "a.json.gz");
  write_file(place.path() / "b.json", "this is no trace");
  Served served({(place.path() / "b.json").string(), (place.path() / "a.json.gz").string()});
  if (!served.is_up() && served.errors().find(kNoServer) != std::string::npos)
    GTEST_SKIP() << "no Boost headers at build time: tools/setup --serve";
  ASSERT_TRUE(served.is_up());
  const int fd = served.connect_to();
  const std::string request =
      "GET " + served.path("events") + " HTTP/1.1\r\nHost: " + served.host() + "\r\n\r\n";
  ASSERT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  const std::string events = Served::read_until(fd, "\"state\":\"ready\"", 120'000);
  close(fd);
  EXPECT_NE(events.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(events.find("\"state\":\"failed\""), std::string::npos) << events;
  EXPECT_NE(events.find("b.json"), std::string::npos);  // the sentence names the file
  EXPECT_NE(events.find("\"state\":\"ready\""), std::string::npos) << events;
  EXPECT_GT(served.ask(served.path("r/1/report.html")).size(), 100'000u);
  EXPECT_EQ(served.status(served.path("r/0/report.html")), 404);
  EXPECT_EQ(served.stop(SIGTERM), 0);  // SIGINT is ignored in the background of a shell
  EXPECT_TRUE(fs::exists(place.path() / "a.fathom/report.html"));
}

// What analyze says on the way is what the server reads.
TEST_F(ServeTraces, ProgressIsInLines) {
  const TemporaryDirectory place;
  const CommandResult run =
      run_command(fathom_binary() + " analyze -q --no-cache --progress-lines --out " +
                      (place.path() / "r").string() + " " +
                      (source_dir() / "examples/llama-h200.json.gz").string(),
                  "/");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_TRUE(run.output.starts_with("reading ")) << run.output;
  EXPECT_TRUE(run.output.ends_with("analyzing\n")) << run.output;
}

TEST_F(ServeTraces, SaysWhatIsNoReport) {
  if (!is_here()) GTEST_SKIP() << "no Boost headers at build time: tools/setup --serve";
  const TemporaryDirectory place;
  const auto asked = [&](const std::string& words) {
    return run_command("timeout 20 " + fathom_binary() + " serve " + words, place.path());
  };
  EXPECT_NE(asked(".").errors.find("has no report.html"), std::string::npos);
  EXPECT_NE(asked("nothing.json").errors.find("cannot open nothing.json"), std::string::npos);
  EXPECT_EQ(asked(".").exit_code, 1);
  EXPECT_EQ(asked(". --port 70000").exit_code, 2);
  EXPECT_EQ(asked("").exit_code, 2);
}

TEST_F(ServeTraces, TakesAFolderOfReportsAndAPort) {
  if (!is_here()) GTEST_SKIP() << "no Boost headers at build time: tools/setup --serve";
  const TemporaryDirectory place;
  for (const char* name : {"one", "two", ".hidden", "empty"}) {
    fs::create_directories(place.path() / name);
    if (std::string(name) != "empty") write_file(place.path() / name / "report.html", name);
  }
  const Served served({place.path().string()});
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(body_of(served.ask(served.path("r/0/report.html"))), "one");
  EXPECT_EQ(body_of(served.ask(served.path("r/1/report.html"))), "two");
  EXPECT_EQ(served.status(served.path("r/2/report.html")), 404);
  // Its port is taken now.
  const std::string port = served.host().substr(served.host().find(':') + 1);
  const CommandResult second = run_command(
      "timeout 20 " + fathom_binary() + " serve --port " + port + " " + place.path().string(), "/");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.errors.find("cannot listen on 127.0.0.1:" + port), std::string::npos);
}

}  // namespace
}  // namespace fathom::test
