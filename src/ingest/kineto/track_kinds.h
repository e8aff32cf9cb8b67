#pragma once

#include <optional>
#include <string_view>

#include "events/event_store.h"

namespace fathom::kineto {

// Decides the kinds of events without a category by the names of their process and thread, as XLA's
// profiler gives them: "/device:GPU:0" with "Stream #13(…)", "/host:CPU" with threads. True where
// the trace has such names.
bool decide_kinds_by_track(EventStoreBuilder& builder);

// "kind_src:pageable kind_dst:device size:4096 dest:0 async:1" and "size" → 4096
std::optional<int64_t> detail_number(std::string_view details, std::string_view key);

// "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:128,1,1 occ_pct:100"
void read_kernel_details(std::string_view details, GpuWork& work);

}  // namespace fathom::kineto
