#pragma once

#include <filesystem>
#include <string>

namespace fathom::test {

// Runs SQL on a new database file.
void make_database(const std::filesystem::path& path, const std::string& sql);
// The same, as the file's bytes.
std::string database_bytes(const std::string& sql);

}  // namespace fathom::test
