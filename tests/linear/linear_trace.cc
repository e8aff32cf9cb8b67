#include "linear_trace.h"

#include "test_files.h"

namespace fathom::test {

std::string dims(std::string_view shapes, std::string_view types) {
  return fmt::format(R"("Input Dims":{},"Input type":{},"Input Strides":[],"Concrete Inputs":[])",
                     shapes, types);
}

LinearCase trace_case(std::string name, TraceMaker make, size_t n, std::string_view arguments,
                      int exit_code) {
  const auto write = [make](const std::filesystem::path& directory, size_t size) {
    TraceText trace;
    make(trace, size);
    const std::string text = trace.finish();
    write_file(directory / "t.json", text);
    write_file(directory / "u.json", text);
  };
  return {std::move(name), write, std::string(arguments), n, exit_code};
}

}  // namespace fathom::test
