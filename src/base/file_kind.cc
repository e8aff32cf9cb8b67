#include "base/file_kind.h"

#include <algorithm>

namespace fathom {
namespace {

using namespace std::string_view_literals;

struct Kind {
  size_t at;
  std::string_view mark, text;
};

constexpr Kind kKinds[] = {
    {0, "SQLite format 3\0"sv, "an SQLite database, as Nsight Systems and rocprof export them"},
    {0, "NVR\0"sv, "an Nsight Compute report (.ncu-rep)"},
    {0, "PK\x03\x04"sv, "a ZIP archive; unpack it with unzip and name the trace in it"},
    {0, "PK\x05\x06"sv, "an empty ZIP archive"},
    {0, "\xff\xfe\0\0"sv, "UTF-32 text; convert it: iconv -f UTF-32 -t UTF-8 FILE >trace.json"},
    {0, "\xff\xfe"sv, "UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE >trace.json"},
    {0, "\xfe\xff"sv, "UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE >trace.json"},
    {0, "\x1f\x8b"sv, "compressed twice; unpack it once with gunzip or unzstd"},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed twice; unpack it once with gunzip or unzstd"},
    {0, "BZh"sv, "compressed with bzip2; unpack it with bunzip2"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "compressed with xz; unpack it with unxz"},
    {0, "\x04\x22\x4d\x18"sv, "compressed with lz4; unpack it with lz4 -d"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive; unpack it and name the trace in it"},
    {0, "Rar!\x1a"sv, "a RAR archive; unpack it and name the trace in it"},
    {257, "ustar"sv, "a tar archive; unpack it with tar -xf and name the trace in it"},
    {0, "PAR1"sv, "a Parquet table"},
    {0, "ARROW1"sv, "an Arrow table"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x80\x02"sv, "a Python pickle; export the trace with export_chrome_trace instead"},
    {0, "\x80\x03"sv, "a Python pickle; export the trace with export_chrome_trace instead"},
    {0, "\x80\x04"sv, "a Python pickle; export the trace with export_chrome_trace instead"},
    {0, "\x80\x05"sv, "a Python pickle; export the trace with export_chrome_trace instead"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library (ELF)"},
    {0, "MZ\x90"sv, "a program or library (Windows)"},
    {0, "\x89PNG"sv, "a picture (PNG)"},
    {0, "\xff\xd8\xff"sv, "a picture (JPEG)"},
    {0, "GIF8"sv, "a picture (GIF)"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "QDSTRM"sv, "an Nsight Systems recording"},
};

struct NamedKind {
  std::string_view ending, text;
};

// Kinds whose content begins with nothing of its own.
constexpr NamedKind kNamed[] = {
    {".nsys-rep", "an Nsight Systems report (.nsys-rep)"},
    {".qdrep", "an Nsight Systems report (.qdrep)"},
    {".ncu-rep", "an Nsight Compute report (.ncu-rep)"},
    {".pftrace",
     "a Perfetto trace that is cut off or from an unknown tool; convert it: traceconv json FILE "
     "trace.json"},
    {".perfetto-trace",
     "a Perfetto trace that is cut off or from an unknown tool; convert it: traceconv json FILE "
     "trace.json"},
};

// Latin text in UTF-16: each second byte is zero, and no other.
bool is_utf16(std::string_view head, size_t zeros_at) {
  if (head.size() < 4) return false;
  for (size_t i = 0; i < std::min<size_t>(head.size(), 64); ++i) {
    if ((head[i] == '\0') != (i % 2 == zeros_at)) return false;
  }
  return true;
}

// A Perfetto trace is a list of packets: field 1, a length, and in the packet another field.
bool is_perfetto(std::string_view head) {
  if (head.size() < 8 || head[0] != '\n') return false;
  size_t at = 1;
  while (at < 6 && (static_cast<unsigned char>(head[at]) & 0x80) != 0) ++at;
  const auto tag = static_cast<unsigned char>(head[at + 1]);
  const bool is_field = (tag & 7) <= 2 && tag >> 3 != 0;
  return is_field && head.find('\0') != std::string_view::npos;
}

}  // namespace

std::string describe_binary(std::string_view head, std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (head.size() > kind.at && head.substr(kind.at).starts_with(kind.mark)) {
      return std::string(kind.text);
    }
  }
  if (is_utf16(head, 1)) {
    return "UTF-16 text; convert it: iconv -f UTF-16LE -t UTF-8 FILE >trace.json";
  }
  if (is_utf16(head, 0)) {
    return "UTF-16 text; convert it: iconv -f UTF-16BE -t UTF-8 FILE >trace.json";
  }
  // Text has no control characters but a few.
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 &&
           "\t\n\v\f\r\x1b"sv.find(c) == std::string_view::npos;
  };
  const std::string_view first = head.substr(0, 512);
  const auto controls = std::ranges::count_if(first, is_control);
  if (controls == 0) return {};
  for (const NamedKind& kind : kNamed) {
    if (name.ends_with(kind.ending)) return std::string(kind.text);
  }
  if (is_perfetto(first))
    return "a Perfetto trace that is cut off or from an unknown tool; convert it: traceconv json "
           "FILE "
           "trace.json";
  // A few are damage, and what can be read is read.
  return static_cast<size_t>(controls) * 10 > first.size() ? "binary, of a kind unknown to Fathom"
                                                           : "";
}

}  // namespace fathom
