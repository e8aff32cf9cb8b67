#include "base/sqlite_database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/hash.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "SQLite format 3\0"sv;
constexpr int kMostText = 64 << 20;  // of one value
// Steps of SQLite's machine: a row costs a few for each column, and a column takes a byte or more
// of the file. Pages that are made to be visited over and over end here.
constexpr int64_t kStepsForAnyFile = 20'000'000, kStepsForEachByte = 16;
constexpr int kStepsAtOnce = 10'000;
// Places in the file's header.
constexpr size_t kPageSizeAt = 16, kWriteVersionAt = 18, kReadVersionAt = 19, kPagesAt = 28,
                 kHeaderSize = 100;

uint32_t big_endian(std::string_view head, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(head[at + i]);
  return value;
}

// 1 stands for 65,536, which has no room.
int64_t page_size_of(std::string_view head) {
  const uint32_t size = big_endian(head, kPageSizeAt, 2);
  return size == 1 ? 65536 : std::max<uint32_t>(size, 512);
}

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (char c : name) {
    out += c;
    if (c == '"') out += c;
  }
  return out + '"';
}

// Everything in a URI that could mean something but the path itself.
std::string uri_of(const std::string& path) {
  std::string out = "file:";
  if (path.starts_with('/')) out += "//";
  for (const unsigned char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       "/-_.~"sv.find(static_cast<char>(c)) != std::string_view::npos;
    out += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return out + "?mode=ro&immutable=1";
}

// Reads of tables, and nothing else: no function, no view, no write.
int allow(void*, int action, const char* first, const char*, const char*, const char* inside) {
  switch (action) {
    case SQLITE_SELECT:
      return SQLITE_OK;
    case SQLITE_READ:
      return inside == nullptr ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return first != nullptr && std::string_view(first) == "table_info" ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

struct SqliteDatabase::State {
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  std::vector<char> bytes;  // before db: it points into them
  std::unique_ptr<sqlite3, Close> db;
  std::vector<std::string> tables;
  std::unordered_set<std::string_view, TableHash> names;  // of the tables
  int64_t size = 0;
  bool truncated = false;
  int64_t steps = 0;  // of the machine, so far

  Statement prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return {};
    return Statement(statement);
  }

  static int count_steps(void* state) {
    auto* const self = static_cast<State*>(state);
    self->steps += kStepsAtOnce;
    return self->steps > kStepsForAnyFile + kStepsForEachByte * self->size ? 1 : 0;
  }

  void distrust() {
    sqlite3_db_config(db.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    for (const int option : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                             SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                             SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_DQS_DML}) {
      sqlite3_db_config(db.get(), option, 0, nullptr);
    }
    sqlite3_limit(db.get(), SQLITE_LIMIT_LENGTH, kMostText);
    sqlite3_limit(db.get(), SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db.get(), SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db.get(), SQLITE_LIMIT_WORKER_THREADS, 0);
    for (const char* pragma : {"PRAGMA cell_size_check=ON", "PRAGMA query_only=ON"}) {
      sqlite3_exec(db.get(), pragma, nullptr, nullptr, nullptr);
    }
    sqlite3_set_authorizer(db.get(), allow, nullptr);
    sqlite3_progress_handler(db.get(), kStepsAtOnce, count_steps, this);
  }
};

std::optional<int64_t> SqliteRow::integer(size_t column) const {
  const int at = static_cast<int>(column);
  switch (sqlite3_column_type(statement_, at)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement_, at);
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(statement_, at);
      if (std::abs(value) < 9e18 && value == std::floor(value)) return static_cast<int64_t>(value);
      return {};
    }
    default:
      return {};
  }
}

std::optional<double> SqliteRow::number(size_t column) const {
  const int at = static_cast<int>(column);
  const int type = sqlite3_column_type(statement_, at);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return {};
  return sqlite3_column_double(statement_, at);
}

bool SqliteRow::is_text(size_t column) const {
  return sqlite3_column_type(statement_, static_cast<int>(column)) == SQLITE_TEXT;
}

std::string_view SqliteRow::text(size_t column) const {
  if (!is_text(column)) return {};
  const int at = static_cast<int>(column);
  const unsigned char* const text = sqlite3_column_text(statement_, at);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_, at))};
}

SqliteDatabase::SqliteDatabase(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteDatabase::SqliteDatabase(SqliteDatabase&&) noexcept = default;
SqliteDatabase& SqliteDatabase::operator=(SqliteDatabase&&) noexcept = default;
SqliteDatabase::~SqliteDatabase() = default;

bool SqliteDatabase::begins_like_one(std::string_view head) { return head.starts_with(kMagic); }

Result<SqliteDatabase> SqliteDatabase::prepare(std::unique_ptr<State> state,
                                               const std::string& shown) {
  state->distrust();
  const State::Statement listed =
      state->prepare("SELECT name FROM sqlite_master WHERE type='table' AND rootpage>0");
  int result = listed ? SQLITE_ROW : sqlite3_errcode(state->db.get());
  while (listed && (result = sqlite3_step(listed.get())) == SQLITE_ROW) {
    state->tables.emplace_back(SqliteRow(listed.get()).text(0));
  }
  if (result != SQLITE_DONE) {
    return Error{fmt::format("cannot read {}: its list of tables is damaged ({}); export it again",
                             shown, sqlite3_errmsg(state->db.get()))};
  }
  for (const std::string& table : state->tables) state->names.insert(table);
  return SqliteDatabase(std::move(state));
}

Result<SqliteDatabase> SqliteDatabase::open_file(const std::string& path) {
  auto state = std::make_unique<State>();
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) state->size = status.st_size;
  sqlite3* db = nullptr;
  const int result =
      sqlite3_open_v2(uri_of(path).c_str(), &db,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  state->db.reset(db);
  if (result != SQLITE_OK || db == nullptr) {
    return Error{fmt::format("cannot open {}: {}", path, sqlite3_errstr(result))};
  }
  return prepare(std::move(state), path);
}

Result<SqliteDatabase> SqliteDatabase::open_bytes(std::vector<char> bytes,
                                                  const std::string& shown) {
  auto state = std::make_unique<State>();
  state->bytes = std::move(bytes);
  state->size = static_cast<int64_t>(state->bytes.size());
  // A log beside the file cannot be in memory: read without one, as `immutable` does of a file.
  for (const size_t at : {kWriteVersionAt, kReadVersionAt}) {
    if (at < state->bytes.size() && state->bytes[at] == 2) state->bytes[at] = 1;
  }
  const std::string_view head(state->bytes.data(), state->bytes.size());
  if (is_cut(head, state->size)) {
    state->truncated = true;
    // With the pages that are there for all, those that are missing are found damaged one by one.
    const auto pages = static_cast<uint32_t>(state->size / page_size_of(head));
    for (size_t at = 0; at < 4; ++at) {
      state->bytes[kPagesAt + at] = static_cast<char>(pages >> (24 - 8 * at));
    }
  }
  sqlite3* db = nullptr;
  int result =
      sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  state->db.reset(db);
  if (result == SQLITE_OK) {
    result = sqlite3_deserialize(db, "main", reinterpret_cast<unsigned char*>(state->bytes.data()),
                                 state->size, state->size, SQLITE_DESERIALIZE_READONLY);
  }
  if (result != SQLITE_OK) {
    return Error{fmt::format("cannot open {}: {}", shown, sqlite3_errstr(result))};
  }
  return prepare(std::move(state), shown);
}

const std::vector<std::string>& SqliteDatabase::tables() const { return state_->tables; }

bool SqliteDatabase::has_table(std::string_view name) const { return state_->names.contains(name); }

bool SqliteDatabase::is_empty(std::string_view table) const {
  if (!has_table(table)) return true;
  const State::Statement row =
      state_->prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", quoted(table)));
  return !row || sqlite3_step(row.get()) != SQLITE_ROW;
}

std::vector<std::string> SqliteDatabase::columns(std::string_view table) const {
  std::vector<std::string> names;
  if (!has_table(table)) return names;
  const State::Statement listed =
      state_->prepare(fmt::format("PRAGMA table_info({})", quoted(table)));
  constexpr size_t kName = 1;
  while (listed && sqlite3_step(listed.get()) == SQLITE_ROW) {
    names.emplace_back(SqliteRow(listed.get()).text(kName));
  }
  return names;
}

ScanEnd SqliteDatabase::scan(std::string_view table, std::span<const std::string_view> wanted,
                             const std::function<void(const SqliteRow&)>& visit) const {
  if (!has_table(table)) return ScanEnd::kNoTable;
  const std::vector<std::string> present = columns(table);
  std::string sql = "SELECT ";
  for (const std::string_view column : wanted) {
    const bool is_there = std::ranges::find(present, column) != present.end();
    sql += is_there ? quoted(column) : "NULL";
    sql += ',';
  }
  sql.back() = ' ';
  const State::Statement rows = state_->prepare(fmt::format("{}FROM {}", sql, quoted(table)));
  if (!rows) return ScanEnd::kDamaged;
  // Rows may be made to share one long text.
  int64_t text_left = 4 * state_->size + kMostText;
  for (;;) {
    const int result = sqlite3_step(rows.get());
    if (result == SQLITE_DONE) return ScanEnd::kWhole;
    if (result != SQLITE_ROW || text_left < 0) return ScanEnd::kDamaged;
    const SqliteRow row(rows.get());
    for (size_t i = 0; i < wanted.size(); ++i) {
      text_left -= static_cast<int64_t>(row.text(i).size());
    }
    visit(row);
  }
}

int64_t SqliteDatabase::size() const { return state_->size; }
bool SqliteDatabase::truncated() const { return state_->truncated; }

bool SqliteDatabase::is_cut(std::string_view head, int64_t size) {
  if (head.size() < kHeaderSize) return false;
  return int64_t{big_endian(head, kPagesAt, 4)} * page_size_of(head) > size;
}

}  // namespace fathom
