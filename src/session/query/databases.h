#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "duck/database.h"
#include "session/query/trace_tables.h"

namespace fathom {

// Both are locked: nothing but SELECT is answered, and no file can be reached but those of the
// export and `writable`, a path that an answer may be written to (empty: none).

// Of a trace. The tables must outlive it.
Result<DuckDatabase> trace_database(const DuckLibrary& library, const DuckLimits& limits,
                                    TraceTables& tables, const std::string& writable = {});

// Of what `export` wrote. Of several traces the tables have the column `part` before the others,
// the name of the trace's folder. A file that is damaged is left out, with a note.
Result<DuckDatabase> export_database(const DuckLibrary& library, const DuckLimits& limits,
                                     const std::filesystem::path& directory,
                                     const std::string& writable = {},
                                     std::vector<std::string>* notes = nullptr);

// The same of these folders, each the export of a trace.
Result<DuckDatabase> parts_database(const DuckLibrary& library, const DuckLimits& limits,
                                    const std::vector<std::filesystem::path>& parts,
                                    std::vector<std::string>* notes);

// Whether a path is a folder, so that it is no trace.
bool is_export(const std::string& path);

// A question that is shipped: data/queries/NAME.sql.
struct NamedQuery {
  std::string_view name;
  std::string_view text;  // what it answers: its first comment
  std::string_view sql;
};
const std::vector<NamedQuery>& named_queries();
const NamedQuery* find_query(std::string_view name);
// The SQL of a text that is SQL, or a word that is the name of a question to `input`.
Result<std::string> question_of(const std::string& text, const std::string& input);

}  // namespace fathom
