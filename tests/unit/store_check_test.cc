#include "events/store_check.h"

#include <cstring>
#include <new>

#include "checks.h"

namespace fathom {
namespace {

// What an optional without a value holds is anything: it must not make a cache useless.
TEST(StoreCheck, AKeyThatIsAbsentMayHoldAnyBytes) {
  alignas(LaunchCall) unsigned char bytes[sizeof(LaunchCall)];
  std::memset(bytes, 0xff, sizeof(bytes));
  auto* const call = reinterpret_cast<LaunchCall*>(bytes);
  new (&call->key) std::optional<LaunchKey>();
  EventColumns columns;
  columns.position = {0};
  columns.start = columns.duration = {Nanos{}};
  columns.name = {StringId(0)};
  columns.track = {TrackId(0)};
  columns.args = {ArgsId()};
  columns.detail = {0};
  columns.kind = {EventKind::kAnnotation};
  columns.tracks.emplace_back();
  EventViews views;
  visit_columns(views, columns, [](auto& view, auto& column) { view = column; });
  views.launches = std::span<const LaunchCall>(call, 1);
  EXPECT_TRUE(are_sound(views, 1));
  // One that is there must hold a key.
  call->key = LaunchKey{1, true};
  EXPECT_TRUE(are_sound(views, 1));
  bytes[offsetof(LaunchKey, external)] = 0x7f;
  EXPECT_FALSE(are_sound(views, 1));
}

}  // namespace
}  // namespace fathom
