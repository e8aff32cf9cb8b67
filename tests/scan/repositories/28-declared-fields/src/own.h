#define DMLC_DECLARE_FIELD(name) int name
struct Own {
  DMLC_DECLARE_FIELD(rows);
};
