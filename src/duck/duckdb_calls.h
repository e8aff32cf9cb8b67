#pragma once

#include <cstdint>

// The few functions of DuckDB's C interface that are used here, declared by us: nothing of DuckDB
// is needed to build, and its library is loaded when a query is asked.
namespace fathom::duck {

using Index = uint64_t;
// All of DuckDB's objects are pointers to what only it knows.
using Handle = void*;

enum State : int { kSuccess = 0, kError = 1 };

enum Type : int {
  kBoolean = 1,
  kTinyint = 2,
  kSmallint = 3,
  kInteger = 4,
  kBigint = 5,
  kUtinyint = 6,
  kUsmallint = 7,
  kUinteger = 8,
  kUbigint = 9,
  kFloat = 10,
  kDouble = 11,
  kHugeint = 16,
  kVarchar = 17,
  kDecimal = 19,
};

enum StatementType : int { kSelect = 1 };

// Its first members are of an older interface; only their size matters.
struct QueryResult {
  Index unused_columns, unused_rows, unused_changed;
  void* unused_data;
  char* unused_message;
  void* data;
};

// A text in a vector: up to 12 bytes in place, else a pointer to them after their first four.
struct Text {
  uint32_t length;
  char first[4];
  union {
    char others[8];
    const char* bytes;
  };

  const char* begin() const { return length <= 12 ? first : bytes; }
};
static_assert(sizeof(Text) == 16);

struct Hugeint {
  uint64_t lower;
  int64_t upper;
};

using Destroy = void (*)(void*);
using Callback = void (*)(Handle info);
using FillCallback = void (*)(Handle info, Handle chunk);

// FUNCTION(result, name, parameters): each is looked up as duckdb_NAME.
#define FATHOM_DUCKDB_CALLS(FUNCTION)                                                   \
  FUNCTION(const char*, library_version, ())                                            \
  FUNCTION(State, create_config, (Handle*))                                             \
  FUNCTION(State, set_config, (Handle, const char*, const char*))                       \
  FUNCTION(void, destroy_config, (Handle*))                                             \
  FUNCTION(State, open_ext, (const char*, Handle*, Handle, char**))                     \
  FUNCTION(void, close, (Handle*))                                                      \
  FUNCTION(State, connect, (Handle, Handle*))                                           \
  FUNCTION(void, disconnect, (Handle*))                                                 \
  FUNCTION(void, interrupt, (Handle))                                                   \
  FUNCTION(void, free, (void*))                                                         \
  FUNCTION(State, query, (Handle, const char*, QueryResult*))                           \
  FUNCTION(void, destroy_result, (QueryResult*))                                        \
  FUNCTION(const char*, result_error, (QueryResult*))                                   \
  FUNCTION(Index, column_count, (QueryResult*))                                         \
  FUNCTION(const char*, column_name, (QueryResult*, Index))                             \
  FUNCTION(Type, column_type, (QueryResult*, Index))                                    \
  FUNCTION(Handle, fetch_chunk, (QueryResult))                                          \
  FUNCTION(void, destroy_data_chunk, (Handle*))                                         \
  FUNCTION(Index, data_chunk_get_size, (Handle))                                        \
  FUNCTION(void, data_chunk_set_size, (Handle, Index))                                  \
  FUNCTION(Handle, data_chunk_get_vector, (Handle, Index))                              \
  FUNCTION(Index, vector_size, ())                                                      \
  FUNCTION(void*, vector_get_data, (Handle))                                            \
  FUNCTION(uint64_t*, vector_get_validity, (Handle))                                    \
  FUNCTION(void, vector_ensure_validity_writable, (Handle))                             \
  FUNCTION(void, vector_assign_string_element_len, (Handle, Index, const char*, Index)) \
  FUNCTION(Index, extract_statements, (Handle, const char*, Handle*))                   \
  FUNCTION(const char*, extract_statements_error, (Handle))                             \
  FUNCTION(void, destroy_extracted, (Handle*))                                          \
  FUNCTION(State, prepare_extracted_statement, (Handle, Handle, Index, Handle*))        \
  FUNCTION(const char*, prepare_error, (Handle))                                        \
  FUNCTION(StatementType, prepared_statement_type, (Handle))                            \
  FUNCTION(Index, prepared_statement_column_count, (Handle))                            \
  FUNCTION(char*, prepared_statement_column_name, (Handle, Index))                      \
  FUNCTION(Type, prepared_statement_column_type, (Handle, Index))                       \
  FUNCTION(Index, nparams, (Handle))                                                    \
  FUNCTION(State, execute_prepared, (Handle, QueryResult*))                             \
  FUNCTION(void, destroy_prepare, (Handle*))                                            \
  FUNCTION(Handle, create_logical_type, (Type))                                         \
  FUNCTION(void, destroy_logical_type, (Handle*))                                       \
  FUNCTION(Handle, create_table_function, ())                                           \
  FUNCTION(void, destroy_table_function, (Handle*))                                     \
  FUNCTION(void, table_function_set_name, (Handle, const char*))                        \
  FUNCTION(void, table_function_set_extra_info, (Handle, void*, Destroy))               \
  FUNCTION(void, table_function_set_bind, (Handle, Callback))                           \
  FUNCTION(void, table_function_set_init, (Handle, Callback))                           \
  FUNCTION(void, table_function_set_function, (Handle, FillCallback))                   \
  FUNCTION(void, table_function_supports_projection_pushdown, (Handle, bool))           \
  FUNCTION(State, register_table_function, (Handle, Handle))                            \
  FUNCTION(void*, bind_get_extra_info, (Handle))                                        \
  FUNCTION(void, bind_add_result_column, (Handle, const char*, Handle))                 \
  FUNCTION(void, bind_set_bind_data, (Handle, void*, Destroy))                          \
  FUNCTION(void, bind_set_cardinality, (Handle, Index, bool))                           \
  FUNCTION(void*, init_get_bind_data, (Handle))                                         \
  FUNCTION(Index, init_get_column_count, (Handle))                                      \
  FUNCTION(Index, init_get_column_index, (Handle, Index))                               \
  FUNCTION(void, init_set_init_data, (Handle, void*, Destroy))                          \
  FUNCTION(void, init_set_max_threads, (Handle, Index))                                 \
  FUNCTION(void*, function_get_init_data, (Handle))

struct Calls {
#define FATHOM_DUCKDB_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  FATHOM_DUCKDB_CALLS(FATHOM_DUCKDB_MEMBER)
#undef FATHOM_DUCKDB_MEMBER
};

}  // namespace fathom::duck
