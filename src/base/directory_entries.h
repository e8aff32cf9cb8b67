#pragma once

#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace fathom {

// All of these look names up in an open directory and follow no link, so that a link planted in it
// leads nowhere.

// A directory by its name or by a relative path of several names; not ok where there is none.
FileDescriptor open_directory(int at, const std::string& path);
// A regular file, for reading.
FileDescriptor open_regular_file(int at, const char* name);

// What a directory holds, without "." and "..", sorted.
std::vector<std::string> entries_of(int directory);

// Removes a file, or a directory with what it holds; another file system mounted in it is left
// alone. Neither allocates nor locks, so that a signal handler may call it. False where anything is
// left.
bool remove_tree(int at, const char* name);

}  // namespace fathom
