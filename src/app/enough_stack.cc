#include "app/enough_stack.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include <cstring>

#include "app/commands.h"

namespace fathom {
namespace {

constexpr size_t kEnoughStack = size_t{8} << 20;  // what systems give a program by default

struct Run {
  const std::function<int()>& work;
  int code = 0;
};

void* run_work(void* run) {
  auto* const one = static_cast<Run*>(run);
  one->code = one->work();
  return nullptr;
}

}  // namespace

int run_with_enough_stack(const std::function<int()>& work, int failed) {
  rlimit limit = {};
  const bool known = getrlimit(RLIMIT_STACK, &limit) == 0;
  const bool unlimited = known && limit.rlim_cur == RLIM_INFINITY;
  if (known && !unlimited && limit.rlim_cur >= kEnoughStack) return work();

  // Threads take the limit for their size: too little as it is, and 2 MB where there is none.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kEnoughStack);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
  if (unlimited) return work();

  Run run{work};
  pthread_t thread = {};
  const int refused = pthread_create(&thread, nullptr, run_work, &run);
  if (refused != 0) {
    complain(
        fmt::format("the stack is limited to {} kB and a thread with 8 MB cannot be started "
                    "({}); try ulimit -s 8192",
                    limit.rlim_cur >> 10, std::strerror(refused)));
    return failed;
  }
  pthread_join(thread, nullptr);
  return run.code;
}

}  // namespace fathom
