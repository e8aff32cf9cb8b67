#include <dmlc/parameter.h>

struct TrainParam : public dmlc::Parameter<TrainParam> {
  int max_depth;
  float eta;
  DMLC_DECLARE_PARAMETER(TrainParam) {
    DMLC_DECLARE_FIELD(max_depth).set_lower_bound(0).set_default(6).describe(
        "Largest depth of a tree; 0: "
        "no limit.");
    DMLC_DECLARE_FIELD(eta);
    OTHER_DECLARE_FIELD(lost).describe("of no library");
  }
};
