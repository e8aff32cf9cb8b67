#pragma once

#include <cstddef>
#include <cstdint>

// One function for each reader of bytes from outside. libFuzzer calls them with what it makes up;
// ./test calls them with every file of fuzz/corpus/<name> and fuzz/crashes/<name>.
namespace fathom::fuzz {

// JSON text through the whole of an analysis: read, link, all sheets, every renderer.
void kineto_json(const uint8_t* data, size_t size);

// gzip or zstd, decompressed in pieces.
void compressed(const uint8_t* data, size_t size);

// A cache's body, whose hash says nothing about who wrote it, through the whole of an analysis.
void store_file(const uint8_t* data, size_t size);

// C++ of a repository, as it is and as a Jinja template: what it defines, what it uses.
void cpp_source(const uint8_t* data, size_t size);
// A Python file, from its bytes to the facts that the scanner takes from it.
void python_source(const uint8_t* data, size_t size);

}  // namespace fathom::fuzz
