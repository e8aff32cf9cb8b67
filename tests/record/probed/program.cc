// Calls the functions of shapes.cc and prints what they return: the same with and without probes.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "record/probed/shapes.h"

namespace {

jmp_buf back;
void jump(long) { longjmp(back, 1); }
void throws(long code) {
  if (code > 0) throw code;
}

// Called directly, inside this file: the compiler may keep values in registers it does not touch.
[[gnu::noinline]] long of_the_program(long value) { return value * 3 + 1; }
[[gnu::noinline]] long mixed(long a, long b, long c) {
  long sum = 0;
  for (long i = 0; i < 10; ++i) sum += of_the_program(a + i) * b - c + i;
  return sum + of_the_program(sum);
}

void all() {
  std::printf("%ld\n", mixed(3, 5, 7));
  std::printf("%ld\n", probed_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  Wide wide{};
  for (int i = 0; i < 20; ++i) wide.parts[i] = i;
  wide = probed_wide(wide, 2.5);
  std::printf("%ld %ld\n", wide.parts[3], wide.parts[19]);
  std::printf("%g\n", probed_sum(12, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.));
  std::printf("%.15Lf\n", probed_long(1.0L));
  errno = 0;
  const int failed = probed_fails("/nothing/there");
  std::printf("%d %s\n", failed, std::strerror(errno));
  std::printf("%ld\n", probed_depth(100));
  shapes::Shape shape;
  shapes::Shape* pointer = &shape;
  std::printf("%g %g %g\n", shape.grow(2), shape.grow(1.5), pointer->area(2));
  std::printf("%d %g\n", shapes::twice(4), shapes::twice(0.25));
  for (int code = 0; code < 2; ++code) {
    try {
      shape.refuse(code);
      std::puts("went on");
    } catch (const std::exception& error) {
      std::puts(error.what());
    }
  }
  try {
    probed_calls(throws, 7);
  } catch (long code) {
    std::printf("caught %ld\n", code);
  }
  if (setjmp(back) == 0) probed_calls(jump, 0);
  std::puts("jumped");
}

void leave(long code) { std::_Exit(static_cast<int>(code)); }

void call_many(long times) {
  for (long i = 0; i < times; ++i) probed_many(i, i, i, i, i, i, i, i, i, i);
}

// At the same time, and by both ways: the system's own tells no library.
void call_in_children() {
  call_many(10);
  for (int i = 0; i < 30; ++i) {
    const long child = i % 2 == 0 ? fork() : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child != 0) continue;
    call_many(20000);
    _exit(0);
  }
  while (wait(nullptr) > 0) continue;
}

}  // namespace

int main(int count, char** words) {
  const char* part = count > 1 ? words[1] : "";
  if (std::strcmp(part, "leave") == 0) probed_calls(leave, 6);
  if (std::strcmp(part, "many") == 0) return call_many(200000), 0;
  if (std::strcmp(part, "children") == 0) return call_in_children(), 0;
  all();
  if (count > 1) {  // a library that comes later
    void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 1;
    const auto later = reinterpret_cast<long (*)(long)>(dlsym(library, "probed_later"));
    for (long i = 0; i < 5; ++i) std::printf("%ld\n", later(i));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (long i = 0; i < 5000; ++i) probed_many(i, i, i, i, i, i, i, i, i, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::printf("%ld\n", probed_many(1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    std::fflush(stdout);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%d\n", WEXITSTATUS(status));
  return 5;
}
