#include "base/report_manifest.h"

#include <fmt/format.h>

#include "base/content_hash.h"
#include "checks.h"

namespace fathom {
namespace {

ReportManifest example() {
  ReportManifest manifest;
  manifest.identity = {"analyze", "odd\nname\\ of a trace.json", "--steps 1:2"};
  manifest.program = "fathom 1.2.3";
  manifest.stamp = 0x123456789abcdef0;
  manifest.files.emplace("a b.csv", ManifestFile{5, 0xfedcba9876543210});
  manifest.files.emplace("deep/er/c.md", ManifestFile{0, 1});
  return manifest;
}

TEST(ReportManifest, IsReadAsItWasPrinted) {
  const ReportManifest manifest = example();
  const std::optional<ReportManifest> read = parse_manifest(print_manifest(manifest));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->identity, manifest.identity);
  EXPECT_EQ(read->program, manifest.program);
  EXPECT_EQ(read->stamp, manifest.stamp);
  EXPECT_TRUE(read->complete);
  EXPECT_EQ(read->files, manifest.files);
}

TEST(ReportManifest, AnyChangedByteIsNoticed) {
  const std::string text = print_manifest(example());
  for (size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      // Hexadecimal digits of the sum may be large or small letters.
      if (const auto read = parse_manifest(other)) {
        EXPECT_EQ(print_manifest(*read), text) << i;
      }
    }
    EXPECT_FALSE(parse_manifest(text.substr(0, i))) << "cut at " << i;
  }
}

// A forged list must not reach files elsewhere.
TEST(ReportManifest, PathsStayInside) {
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "..", ""}) {
    std::string text = print_manifest(ReportManifest{});
    text.resize(text.rfind("sum "));
    text += fmt::format("file 0000000000000001 1 {}\n", path);
    text += fmt::format("sum {:016x}\n", hash_content(text));
    EXPECT_FALSE(parse_manifest(text)) << path;
  }
}

}  // namespace
}  // namespace fathom
