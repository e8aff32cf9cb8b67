// Hardware counters: tables that are wide, long, full of other text, or alike.
#include <fmt/format.h>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

constexpr std::string_view kNcuIds =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC")";

std::string ncu_row(size_t id, std::string_view kernel, size_t blocks) {
  return fmt::format(R"x("{}","1","p","h","{}","1","7","(128, 1, 1)","({}, 1, 1)","0","9.0")x", id,
                     kernel, blocks);
}

using TextMaker = std::string (*)(size_t n);

LinearCase counter_case(std::string name, TextMaker make, size_t n,
                        std::string arguments = "analyze c.csv --out out") {
  const auto write = [make](const std::filesystem::path& directory, size_t size) {
    write_file(directory / "c.csv", make(size));
  };
  return {std::move(name), write, std::move(arguments), n};
}

std::string ncu_launches(size_t n) {
  std::string text(kNcuIds);
  text +=
      ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
      "\"us\"\n";
  for (size_t i = 0; i < n; ++i) text += ncu_row(i, "void k<4>(int)", i + 1) + ",\"1,234.5\"\n";
  return text;
}

std::string ncu_metrics(size_t n) {
  std::string text(kNcuIds);
  for (size_t i = 0; i < n; ++i) text += fmt::format(",\"m{}\"", i);
  text += "\n\"\"" + repeated(",\"\"", 10 + n) + "\n";
  for (size_t row = 0; row < 3; ++row) {
    text += ncu_row(row, "k", 1);
    for (size_t i = 0; i < n; ++i) text += fmt::format(",\"{}.5\"", i);
    text += '\n';
  }
  return text;
}

std::string ncu_details(size_t n) {
  std::string text(kNcuIds);
  text +=
      ",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\","
      "\"Rule Type\",\"Rule Description\"\n";
  for (size_t i = 0; i < n; ++i) {
    text += ncu_row(i / 8, "k", 1) + fmt::format(",\"S\",\"m{}\",\"us\",\"1.5\",\n", i % 8);
    text += ncu_row(i / 8, "k", 1) + ",\"S\",\"\",\"\",\"\",\"R\",\"OPT\",\"Do it\"\n";
  }
  return text;
}

// Quotes that never close: each would read to the end.
std::string ncu_open_quotes(size_t n) {
  return ncu_launches(1) + repeated("\"0\",\"open\nnothing\n", n);
}

std::string rocprof_long(size_t n) {
  std::string text =
      "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,"
      "Counter_Value\n";
  for (size_t i = 0; i < n; ++i)
    text += fmt::format("{},1,1,{},k,64,C{},{}\n", i / 4, 64 * (i / 4 + 1), i % 4, i);
  return text;
}

std::string rocprof_channels(size_t n) {
  std::string text = "Dispatch_ID,Grid_Size,Workgroup_Size,Kernel_Name";
  for (size_t i = 0; i < n; ++i) text += fmt::format(",C{}[0],C{}[1]", i, i);
  text += "\n1,64,64,k" + repeated(",1,2", n) + "\n";
  return text;
}

// Kernels of one name and shape in trace and counters, told apart by registers that one side lacks.
LinearCase joined_rivals() {
  const auto write = [](const std::filesystem::path& directory, size_t n) {
    std::string events, text(kNcuIds);
    text += ",\"launch__registers_per_thread\"\n";
    for (size_t i = 0; i < n; ++i) {
      events += fmt::format(
          R"x({}{{"ph":"X","cat":"kernel","name":"void n{}::k(int)","pid":0,"tid":7,"ts":{},"dur":3,)x"
          R"("args":{{"device":0,"stream":7,"correlation":{},"grid":[10,1,1],"block":[128,1,1]}}}})",
          i == 0 ? "" : ",", i, 10 * i, i);
      text += ncu_row(i, "k", 10) + fmt::format(",\"{}\"\n", i);
    }
    write_file(directory / "t.json", "{\"traceEvents\":[" + events + "]}");
    write_file(directory / "c.csv", text);
  };
  return {"JoinedRivals", write, "analyze t.json c.csv --out out", 1000};
}

// A repository whose kernels have one name in many namespaces, and counters of each.
LinearCase scanned_counters() {
  const auto write = [](const std::filesystem::path& directory, size_t n) {
    std::string code, text(kNcuIds);
    text +=
        ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
        "\"us\"\n";
    for (size_t i = 0; i < n; ++i) {
      code += fmt::format(
          "namespace n{0} {{\n__global__ void k(float* y, int n) {{ y[threadIdx.x] = n; }}\n"
          "void run{0}(float* y, int n) {{ k<<<n / 128, 128>>>(y, n); }}\n}}\n",
          i);
      text += ncu_row(i, fmt::format("n{}::k(float *, int)", i), i + 1) + ",\"5\"\n";
    }
    write_file(directory / "repo/a.cu", code);
    write_file(directory / "c.csv", text);
  };
  return {"ScannedCounters", write, "scan repo --counters c.csv --out out", 250};
}

// One kernel, launched in many shapes.
LinearCase scanned_shapes() {
  const auto write = [](const std::filesystem::path& directory, size_t n) {
    write_file(directory / "repo/a.cu",
               "__global__ void k(float* y, int n) { y[threadIdx.x] = n; }\n"
               "void run(float* y, int n) { k<<<n / 128, 128>>>(y, n); }\n");
    std::string text(kNcuIds);
    text +=
        ",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
        "\"us\"\n";
    for (size_t i = 0; i < n; ++i) text += ncu_row(i, "k(float *, int)", i + 1) + ",\"5\"\n";
    write_file(directory / "c.csv", text);
  };
  return {"ScannedShapes", write, "scan repo --counters c.csv --out out", 200};
}

}  // namespace

std::vector<LinearCase> counter_cases() {
  return {counter_case("NcuLaunches", ncu_launches, 2000),
          counter_case("NcuMetrics", ncu_metrics, 8000),
          counter_case("NcuDetails", ncu_details, 6000),
          counter_case("NcuOpenQuotes", ncu_open_quotes, 20000),
          counter_case("RocprofLong", rocprof_long, 4000),
          counter_case("RocprofChannels", rocprof_channels, 8000),
          joined_rivals(),
          scanned_counters(),
          scanned_shapes()};
}

}  // namespace fathom::test
