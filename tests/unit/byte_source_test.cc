#include "base/byte_source.h"

#include <sys/stat.h>
#include <zstd.h>

#include "base/patient_source.h"
#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::write_file;

struct Content {
  std::string text;
  bool truncated = false;
};

Content read_all(const fs::path& path, size_t piece) {
  const std::unique_ptr<ByteSource> source = open_source(path.string()).take();
  Content content;
  std::string buffer(piece, '\0');
  while (true) {
    const size_t got = source->read(buffer).take();
    content.text.append(buffer, 0, got);
    if (got < piece) break;
  }
  content.truncated = source->truncated();
  return content;
}

// Text that neither packs to nothing nor fits one input buffer when packed.
std::string sample_text(size_t lines) {
  std::string text;
  uint64_t state = 1;
  for (size_t i = 0; i < lines; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    text += "line " + std::to_string(i) + " " + std::to_string(state) + "\n";
  }
  return text;
}

class ByteSourceTest : public ::testing::Test {
 protected:
  fs::path path(const char* name) const { return temporary_.path() / name; }

  std::string gzip(std::string_view text) const {
    write_file(path("packed"), text);
    const auto done = test::run_command("rm -f packed.gz && gzip packed", temporary_.path());
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return read_file(path("packed.gz"));
  }

  static std::string zstd(std::string_view text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    return packed;
  }

  Content read(std::string_view bytes, size_t piece = 1 << 16) const {
    write_file(path("input"), bytes);
    return read_all(path("input"), piece);
  }

 private:
  test::TemporaryDirectory temporary_;
};

TEST_F(ByteSourceTest, CompressionIsKnownByTheFirstBytes) {
  const std::string text = sample_text(30'000);
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    for (size_t piece : {size_t{997}, size_t{1} << 16, size_t{10} << 20}) {
      const Content content = read(bytes, piece);
      EXPECT_TRUE(content.text == text);
      EXPECT_FALSE(content.truncated);
    }
  }
}

TEST_F(ByteSourceTest, ShortFilesAreRead) {
  for (std::string_view text : {"", "{", "[]", "abc"}) {
    EXPECT_EQ(read(text).text, text);
    EXPECT_EQ(read(gzip(text)).text, text);
    EXPECT_EQ(read(zstd(text)).text, text);
    EXPECT_FALSE(read(text).truncated || read(gzip(text)).truncated || read(zstd(text)).truncated);
  }
}

TEST_F(ByteSourceTest, AFileThatIsWrittenToMeanwhileIsTold) {
  const std::string text = sample_text(30'000);
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    write_file(path("input"), bytes);
    const std::unique_ptr<ByteSource> source = open_source(path("input").string()).take();
    std::string buffer(1000, '\0');
    EXPECT_EQ(source->read(buffer).take(), buffer.size());
    EXPECT_FALSE(source->changed());
    fs::resize_file(path("input"), bytes.size() - 1);
    EXPECT_TRUE(source->changed());
  }
}

TEST_F(ByteSourceTest, SeveralMembersOrFramesAreOneText) {
  const std::string first = sample_text(20'000), second = "and then\n";
  EXPECT_TRUE(read(gzip(first) + gzip(second) + gzip("")).text == first + second);
  EXPECT_TRUE(read(zstd(first) + zstd(second)).text == first + second);
}

TEST_F(ByteSourceTest, PaddingAfterAGzipMemberIsNoDamage) {
  const Content content = read(gzip("text") + std::string(512, '\0'));
  EXPECT_EQ(content.text, "text");
  EXPECT_FALSE(content.truncated);
}

TEST_F(ByteSourceTest, ACutFileGivesWhatCameBefore) {
  const std::string text = sample_text(30'000);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    size_t longest = 0;
    for (size_t tenth = 1; tenth <= 9; ++tenth) {
      const Content content = read(packed.substr(0, packed.size() * tenth / 10));
      EXPECT_TRUE(content.truncated);
      EXPECT_TRUE(text.starts_with(content.text));
      EXPECT_GE(content.text.size(), longest);
      longest = content.text.size();
    }
    EXPECT_GT(longest, text.size() / 2);
    for (size_t missing : {1, 4, 8}) {
      const Content content = read(packed.substr(0, packed.size() - missing));
      EXPECT_TRUE(content.truncated) << missing << " bytes missing";
    }
  }
}

TEST_F(ByteSourceTest, DamageInTheMiddleEndsTheText) {
  const std::string text = sample_text(30'000);
  std::string packed = gzip(text);
  for (size_t i = 0; i < 64; ++i) packed[packed.size() / 2 + i] = static_cast<char>(0xff);
  const Content content = read(packed);
  EXPECT_TRUE(content.truncated);
  EXPECT_TRUE(text.starts_with(content.text.substr(0, text.size() / 4)));
}

// All blocks before the one that is damaged; zstd's are of 128 KB.
TEST_F(ByteSourceTest, AFlippedBitNearTheEndOfAZstdFrameLosesABlockAtMost) {
  const std::string text = sample_text(100'000);
  const std::string packed = zstd(text);
  for (size_t percent : {30, 60, 90, 99}) {
    std::string damaged = packed;
    damaged[damaged.size() * percent / 100] ^= 0x10;
    for (size_t piece : {size_t{5000}, size_t{10} << 20}) {
      const Content content = read(damaged, piece);
      EXPECT_GT(content.text.size() + (256 << 10), text.size() * percent / 100) << percent;
      EXPECT_TRUE(content.truncated || content.text != text);
    }
  }
}

// A frame whose size is not known keeps the window that was asked for.
std::string zstd_with_window(std::string_view text, int window_log) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in{text.data(), text.size() / 2, 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  EXPECT_FALSE(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)));
  in.size = text.size();
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

TEST_F(ByteSourceTest, AZstdWindowMayBeLong) {
  const std::string text = sample_text(1000);
  const Content content = read(zstd_with_window(text, 31));
  EXPECT_TRUE(content.text == text);
  EXPECT_FALSE(content.truncated);
}

// A few kilobytes that would fill a window of gigabytes; the window that zstd has by itself does
// not grow, so the same text is read.
TEST_F(ByteSourceTest, ALongZstdWindowIsFilledInProportionToTheFileOnly) {
  constexpr size_t kSize = 200 << 20;
  const std::string text(kSize, ' ');
  const auto bytes_read = [&](int window_log) -> Result<size_t> {
    write_file(path("input"), zstd_with_window(text, window_log));
    const std::unique_ptr<ByteSource> source = open_source(path("input").string()).take();
    std::string buffer(1 << 20, '\0');
    for (size_t total = 0;;) {
      const size_t got = TRY(source->read(buffer));
      total += got;
      if (got < buffer.size()) return total;
    }
  };
  EXPECT_EQ(bytes_read(27).take(), kSize);
  const Result<size_t> refused = bytes_read(31);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().message.find("zstd -d --long=31") != std::string::npos);
}

TEST_F(ByteSourceTest, WhatCannotBeOpenedSaysWhy) {
  const Result<std::unique_ptr<ByteSource>> missing = open_source(path("missing").string());
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  fs::create_directory(path("directory"));
  const Result<std::unique_ptr<ByteSource>> directory = open_source(path("directory").string());
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.error().message.find("is a directory"), std::string::npos);
}

TEST_F(ByteSourceTest, ProgressReachesTheEnd) {
  write_file(path("input"), sample_text(1000));
  const std::unique_ptr<ByteSource> source = open_source(path("input").string()).take();
  std::string buffer(1 << 20, '\0');
  ASSERT_TRUE(source->read(buffer).ok());
  EXPECT_EQ(source->progress(), 1.0);
}

TEST(ByteSource, AFifoThatNobodyWritesToIsNoHang) {
  const test::TemporaryDirectory directory;
  const std::string pipe = (directory.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto source = open_patiently(pipe, nullptr, std::chrono::milliseconds(300));
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().message, pipe + " is a FIFO, and nobody writes to it");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
}

}  // namespace
}  // namespace fathom
