#include "made_database.h"

#include <sqlite3.h>

#include "checks.h"
#include "test_files.h"

namespace fathom::test {

void make_database(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  const int result = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error);
  EXPECT_EQ(result, SQLITE_OK) << (error != nullptr ? error : "");
  sqlite3_free(error);
  sqlite3_close(db);
}

std::string database_bytes(const std::string& sql) {
  const TemporaryDirectory directory;
  make_database(directory.path() / "d.sqlite", sql);
  return read_file(directory.path() / "d.sqlite");
}

}  // namespace fathom::test
