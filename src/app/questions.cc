#include "app/questions.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "app/commands.h"

namespace fathom {

std::optional<std::string> ask(const std::string& question) {
  std::fputs(question.c_str(), stderr);
  std::fflush(stderr);
  std::string answer;
  if (!std::getline(std::cin, answer)) return {};
  const size_t begin = answer.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return std::string();
  return answer.substr(begin, answer.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<Platform> ask_platform() {
  std::fputs("The trace names no GPU, or an unknown one:\n", stderr);
  size_t number = 0;
  for (const Platform& platform : Platforms::built_in().all()) {
    std::fputs(fmt::format("  {:2}  {}\n", ++number, platform.name).c_str(), stderr);
  }
  while (true) {
    const std::optional<std::string> answer =
        ask("Platform (number, name or file; Enter: no efficiency): ");
    if (!answer || answer->empty()) return {};
    const bool is_number =
        answer->size() < 4 && answer->find_first_not_of("0123456789") == std::string::npos;
    const size_t place = is_number ? std::stoul(*answer) : 0;
    if (place >= 1 && place <= number) return Platforms::built_in().all()[place - 1];
    Result<Platform> found = open_platform(*answer);
    if (found.ok()) return found.take();
    complain(found.error().message);
  }
}

}  // namespace fathom
