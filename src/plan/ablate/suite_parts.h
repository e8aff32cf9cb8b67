#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/toml_document.h"
#include "plan/ablate/suite.h"

// What several tables of a suite hold. What is wrong is noted, and the rest is read.
namespace fathom::ablate {

// command = ["a", "b"], or with shell = true one text; folder, timeout.
CommandLine read_command(TomlReader& table);
// A table that is a command alone; `jobs`: where it may run beside others. No table: no command.
CommandLine read_command_table(const TomlValue* table, const char* name, TomlMistakes& mistakes,
                               int64_t* jobs = nullptr);
Work read_work(const TomlValue* table, TomlMistakes& mistakes);
// Names with texts; numbers become texts.
Pairs read_pairs(TomlReader& reader, std::string_view key);
// The values that commands name as {value}.
Pairs read_values(TomlReader& reader);
std::vector<std::string> texts_or_text(TomlReader& reader, std::string_view key);

// Letters, digits, '_', at least one.
bool is_word(std::string_view text);

}  // namespace fathom::ablate
