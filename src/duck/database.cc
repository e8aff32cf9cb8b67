#include "duck/database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/closest_names.h"
#include "base/threads.h"
#include "duck/lazy_scan.h"
#include "duck/memory_bound.h"

namespace fathom {

struct DuckDatabase::Parts {
  explicit Parts(const DuckLibrary& l) : library(l), calls(l.calls) {}
  ~Parts() {
    if (connection != nullptr) calls.disconnect(&connection);
    if (database != nullptr) calls.close(&database);
  }

  const DuckLibrary& library;
  const duck::Calls& calls;
  DuckLimits limits;
  duck::Handle database = nullptr, connection = nullptr;
  std::vector<std::unique_ptr<LazyScan>> scans;
};

namespace {

constexpr size_t kLongestQuestion = 1'000'000;  // bytes
constexpr const char* kAnswerView = "fathom_answer";

// Ends a question after its time. DuckDB looks for the interrupt between chunks of rows; where one
// function does not come back, the program ends, for nothing else can stop it.
class Deadline {
 public:
  Deadline(const duck::Calls& calls, duck::Handle connection, double seconds) {
    if (seconds <= 0) return;
    threads_.start([this, &calls, connection, seconds] {
      std::unique_lock lock(mutex_);
      const auto length = std::chrono::duration<double>(seconds);
      if (done_.wait_for(lock, length, [this] { return is_done_; })) return;
      has_passed_ = true;
      calls.interrupt(connection);
      if (done_.wait_for(lock, kGrace, [this] { return is_done_; })) return;
      fmt::print(stderr, "fathom: the query did not end at its limit of {:g} s: the program ends\n",
                 seconds);
      _exit(1);
    });
  }
  ~Deadline() { end(); }

  // Whether the time was over before.
  bool end() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    done_.notify_all();
    threads_.join();
    return has_passed_;
  }

 private:
  static constexpr std::chrono::seconds kGrace{5};
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false, has_passed_ = false;
  Threads threads_;
};

// One line of what DuckDB says: without the part that shows the statement again.
std::string message_of(const char* text) {
  std::string message = text != nullptr ? text : "DuckDB failed without a message";
  message.resize(std::min(message.find("\n\nLINE "), message.size()));
  // What follows is advice to set what cannot be set here.
  if (message.starts_with("Out of Memory"))
    message.resize(std::min(message.find('\n'), message.size()));
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message)
    if (c == '\n') c = ' ';
  return message;
}

// A result that is freed with the object.
class Held {
 public:
  explicit Held(const duck::Calls& calls) : calls_(calls) {}
  ~Held() { calls_.destroy_result(&result); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  std::string error() { return message_of(calls_.result_error(&result)); }

  duck::QueryResult result = {};

 private:
  const duck::Calls& calls_;
};

// A prepared statement, freed with the object.
class Prepared {
 public:
  explicit Prepared(const duck::Calls& calls) : calls_(calls) {}
  ~Prepared() {
    if (statement != nullptr) calls_.destroy_prepare(&statement);
    if (extracted != nullptr) calls_.destroy_extracted(&extracted);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  duck::Handle extracted = nullptr, statement = nullptr;

 private:
  const duck::Calls& calls_;
};

bool is_plain(duck::Type type) {
  return (type >= duck::kBoolean && type <= duck::kDouble) || type == duck::kHugeint ||
         type == duck::kVarchar;
}

// Cells of one column of an answer, chunk by chunk.
class AnswerColumn {
 public:
  AnswerColumn(Table& table, const char* name, duck::Type type) : type_(type) {
    if (type == duck::kVarchar || type == duck::kBoolean)
      column_ = &table.text_column(name);
    else if (type == duck::kFloat || type == duck::kDouble)
      column_ = &table.real_column(name);
    else
      column_ = &table.count_column(name);
  }

  // False at a number that is too large.
  bool add(const void* data, size_t row) {
    switch (type_) {
      case duck::kBoolean:
        column_->add(std::string_view(at<bool>(data, row) ? "true" : "false"));
        return true;
      case duck::kTinyint:
        return whole(at<int8_t>(data, row));
      case duck::kSmallint:
        return whole(at<int16_t>(data, row));
      case duck::kInteger:
        return whole(at<int32_t>(data, row));
      case duck::kBigint:
        return whole(at<int64_t>(data, row));
      case duck::kUtinyint:
        return whole(at<uint8_t>(data, row));
      case duck::kUsmallint:
        return whole(at<uint16_t>(data, row));
      case duck::kUinteger:
        return whole(at<uint32_t>(data, row));
      case duck::kUbigint:
        return large({at<uint64_t>(data, row), 0});
      case duck::kHugeint:
        return large(at<duck::Hugeint>(data, row));
      case duck::kFloat:
        column_->add(static_cast<double>(at<float>(data, row)));
        return true;
      case duck::kDouble:
        column_->add(at<double>(data, row));
        return true;
      default: {
        const auto& text = at<duck::Text>(data, row);
        column_->add(std::string_view(text.begin(), text.length));
        return true;
      }
    }
  }
  void add_unknown() { column_->add_unknown(); }

 private:
  template <typename T>
  static const T& at(const void* data, size_t row) {
    return static_cast<const T*>(data)[row];
  }
  bool whole(int64_t value) {
    column_->add(value);
    return true;
  }
  bool large(duck::Hugeint value) {
    const auto lower = static_cast<int64_t>(value.lower);
    if (value.upper != (lower < 0 ? -1 : 0)) return false;
    return whole(lower);
  }

  duck::Type type_;
  Column* column_;
};

Result<Table> read_answer(const duck::Calls& calls, duck::QueryResult& result,
                          std::vector<size_t>* truths) {
  Table table("answer");
  std::vector<AnswerColumn> columns;
  const size_t count = calls.column_count(&result);
  for (size_t c = 0; c < count; ++c) {
    const duck::Type type = calls.column_type(&result, c);
    columns.emplace_back(table, calls.column_name(&result, c), type);
    if (truths != nullptr && type == duck::kBoolean) truths->push_back(c);
  }
  while (duck::Handle chunk = calls.fetch_chunk(result)) {
    const size_t rows = calls.data_chunk_get_size(chunk);
    bool fits = true;
    size_t c = 0;
    for (; c < count && fits; ++c) {
      duck::Handle vector = calls.data_chunk_get_vector(chunk, c);
      const void* data = calls.vector_get_data(vector);
      const uint64_t* validity = calls.vector_get_validity(vector);
      for (size_t row = 0; row < rows && fits; ++row) {
        if (validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0)
          columns[c].add_unknown();
        else
          fits = columns[c].add(data, row);
      }
    }
    calls.destroy_data_chunk(&chunk);
    if (!fits)
      return Error{fmt::format("a number in column {} is over 9.2e18; cast it to DOUBLE",
                               calls.column_name(&result, c - 1))};
    if (rows == 0) break;
  }
  return table;
}

}  // namespace

std::string sql_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

DuckDatabase::DuckDatabase(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DuckDatabase::DuckDatabase(DuckDatabase&&) noexcept = default;
DuckDatabase::~DuckDatabase() = default;

Result<DuckDatabase> DuckDatabase::open(const DuckLibrary& library, const DuckLimits& limits) {
  auto parts = std::make_unique<Parts>(library);
  parts->limits = limits;
  const duck::Calls& calls = parts->calls;
  std::vector<std::pair<std::string, std::string>> settings = {
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
      {"allow_community_extensions", "false"},
      {"temp_directory", ""},  // spills to no disk: over its memory a question ends
  };
  if (limits.memory_bytes > 0)
    settings.emplace_back("memory_limit", fmt::format("{}B", limits.memory_bytes));
  if (limits.threads > 0) settings.emplace_back("threads", std::to_string(limits.threads));
  duck::Handle config = nullptr;
  if (calls.create_config(&config) != duck::kSuccess) return Error{"DuckDB has no memory left"};
  for (const auto& [name, value] : settings) {
    if (calls.set_config(config, name.c_str(), value.c_str()) == duck::kSuccess) continue;
    calls.destroy_config(&config);
    return Error{
        fmt::format("DuckDB {} in {} has no setting {}", library.version, library.path, name)};
  }
  char* message = nullptr;
  const duck::State opened = calls.open_ext(nullptr, &parts->database, config, &message);
  calls.destroy_config(&config);
  if (opened != duck::kSuccess) {
    const std::string why = message_of(message);
    if (message != nullptr) calls.free(message);
    return Error{"DuckDB does not start: " + why};
  }
  if (calls.connect(parts->database, &parts->connection) != duck::kSuccess)
    return Error{"DuckDB does not start"};
  return DuckDatabase(std::move(parts));
}

Status DuckDatabase::add_table(const LazyTable& table) {
  parts_->scans.push_back(std::make_unique<LazyScan>(LazyScan{&parts_->calls, table, false}));
  LazyScan& scan = *parts_->scans.back();
  TRY(register_scan(scan, parts_->connection));
  TRY(run(fmt::format("CREATE VIEW {} AS SELECT * FROM fathom_{}()", sql_name(table.name),
                      table.name)));
  scan.is_defined = true;
  return Nothing{};
}

Status DuckDatabase::run(const std::string& sql) {
  Held held(parts_->calls);
  if (parts_->calls.query(parts_->connection, sql.c_str(), &held.result) == duck::kSuccess)
    return Nothing{};
  return Error{held.error()};
}

Status DuckDatabase::lock(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) list += (list.empty() ? "" : ", ") + sql_quoted(file);
  if (!files.empty()) TRY(run(fmt::format("SET allowed_paths = [{}]", list)));
  TRY(run("SET enable_external_access = false"));
  return run("SET lock_configuration = true");
}

namespace {

// One SELECT without parameters, ready to run; an error otherwise.
Status prepare(const duck::Calls& calls, duck::Handle connection, const std::string& sql,
               Prepared& out) {
  if (sql.size() > kLongestQuestion)
    return Error{
        fmt::format("the query has {} bytes; at most {} are read", sql.size(), kLongestQuestion)};
  if (sql.find('\0') != std::string::npos) return Error{"the query holds a zero byte"};
  const duck::Index count = calls.extract_statements(connection, sql.c_str(), &out.extracted);
  if (count == 0) {
    const char* why = calls.extract_statements_error(out.extracted);
    return Error{why != nullptr ? message_of(why) : "the query is empty"};
  }
  if (count > 1) return Error{fmt::format("one SELECT at a time; these are {} statements", count)};
  if (calls.prepare_extracted_statement(connection, out.extracted, 0, &out.statement) !=
      duck::kSuccess)
    return Error{message_of(calls.prepare_error(out.statement))};
  if (calls.prepared_statement_type(out.statement) != duck::kSelect)
    return Error{"only SELECT is answered: tables cannot be changed, and no file is written"};
  if (calls.nparams(out.statement) > 0)
    return Error{"the query has parameters; write their values"};
  return Nothing{};
}

Error ended(const DuckLimits& limits) {
  return Error{fmt::format("the query was stopped after {:g} s; select less, or raise --time-limit",
                           limits.seconds)};
}

std::string with_advice(std::string message) {
  if (message.starts_with("Out of Memory")) message += "; select less, or raise --memory";
  return message;
}

}  // namespace

Result<Table> DuckDatabase::ask(const std::string& sql, std::vector<size_t>* truths) {
  const duck::Calls& calls = parts_->calls;
  Held held(calls);
  TRY(answer(sql, held.result));
  return read_answer(calls, held.result, truths);
}

Status DuckDatabase::answer(const std::string& sql, duck::QueryResult& result) {
  const duck::Calls& calls = parts_->calls;
  // Before it is prepared: what is constant in a query is computed there.
  const MemoryBound bound(parts_->limits.memory_bytes);
  Deadline deadline(calls, parts_->connection, parts_->limits.seconds);
  Prepared prepared(calls);
  const Status ready = prepare(calls, parts_->connection, sql, prepared);
  if (!ready.ok())
    return deadline.end() ? ended(parts_->limits) : Error{explained(ready.error().message)};
  const duck::Index count = calls.prepared_statement_column_count(prepared.statement);
  std::string casts;
  bool all_plain = true;
  for (duck::Index c = 0; c < count; ++c) {
    const duck::Type type = calls.prepared_statement_column_type(prepared.statement, c);
    const char* as = is_plain(type) ? "" : type == duck::kDecimal ? "::DOUBLE" : "::VARCHAR";
    all_plain = all_plain && is_plain(type);
    char* name = calls.prepared_statement_column_name(prepared.statement, c);
    casts += fmt::format("{}#{}{} AS {}", c == 0 ? "" : ", ", c + 1, as, sql_name(name));
    calls.free(name);
  }
  duck::State state = duck::kSuccess;
  if (all_plain) {
    state = calls.execute_prepared(prepared.statement, &result);
  } else {
    TRY(define_answer(sql));
    state = calls.query(parts_->connection,
                        fmt::format("SELECT {} FROM {}", casts, kAnswerView).c_str(), &result);
    (void)run(fmt::format("DROP VIEW {}", kAnswerView));
  }
  if (deadline.end() && state != duck::kSuccess) return ended(parts_->limits);
  if (state != duck::kSuccess) return Error{with_advice(message_of(calls.result_error(&result)))};
  return Nothing{};
}

Status DuckDatabase::define_answer(const std::string& sql) {
  Status plain = run(fmt::format("CREATE OR REPLACE TEMP VIEW {} AS {}", kAnswerView, sql));
  if (plain.ok()) return plain;
  // SUMMARIZE and DESCRIBE are SELECTs that a view takes in brackets only.
  const size_t end = sql.find_last_not_of(" \t\r\n;");
  if (run(fmt::format("CREATE OR REPLACE TEMP VIEW {} AS SELECT * FROM ({}\n)", kAnswerView,
                      sql.substr(0, end == std::string::npos ? 0 : end + 1)))
          .ok())
    return Nothing{};
  return plain;
}

Status DuckDatabase::ask_into(const std::string& sql, const std::string& path) {
  const duck::Calls& calls = parts_->calls;
  const MemoryBound bound(parts_->limits.memory_bytes);
  Deadline deadline(calls, parts_->connection, parts_->limits.seconds);
  Status copied = answer_into(sql, path);
  if (deadline.end() && !copied.ok()) return ended(parts_->limits);
  return copied;
}

Status DuckDatabase::answer_into(const std::string& sql, const std::string& path) {
  {
    Prepared prepared(parts_->calls);
    const Status ready = prepare(parts_->calls, parts_->connection, sql, prepared);
    if (!ready.ok()) return Error{explained(ready.error().message)};
  }
  TRY(define_answer(sql));
  const Status copied = run(fmt::format(
      "COPY (SELECT * FROM {}) TO {} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
      kAnswerView, sql_quoted(path)));
  if (!copied.ok()) return Error{with_advice(copied.error().message)};
  return Nothing{};
}

std::string DuckDatabase::explained(const std::string& message) {
  constexpr std::string_view kNoColumn = "does not have a column named \"";
  const size_t at = message.find(kNoColumn);
  if (at == std::string::npos) return with_advice(message);
  std::string name = message.substr(at + kNoColumn.size());
  name.resize(std::min(name.find('"'), name.size()));
  Held held(parts_->calls);
  if (parts_->calls.query(parts_->connection,
                          "SELECT DISTINCT column_name FROM duckdb_columns() WHERE NOT internal "
                          "ORDER BY column_name",
                          &held.result) != duck::kSuccess)
    return message;
  const Result<Table> columns = read_answer(parts_->calls, held.result, nullptr);
  std::vector<std::string> names;
  for (size_t row = 0; columns.ok() && row < columns.value().rows(); ++row)
    names.emplace_back(columns.value().columns()[0].text(row));
  return message + did_you_mean(name, names);
}

}  // namespace fathom
