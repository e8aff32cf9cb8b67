// A kept trace is used only where it is what reading anew would give: whatever was done to the
// cache or to the trace, doubt means reading.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <random>

#include "base/byte_source.h"
#include "checks.h"
#include "events/store_file.h"
#include "ingest/kineto/reader.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kProgram = 7;
constexpr size_t kHeader = 128;

class CacheLaws : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<fs::path> traces = test::example_traces();
    ASSERT_GE(traces.size(), 2u);
    keep(traces[0], trace(), cache());
    keep(traces[1], directory_.path() / "other.json.gz", directory_.path() / "other.cache");
    ASSERT_TRUE(is_used());
  }

  void keep(const fs::path& from, const fs::path& trace, const fs::path& cache) {
    fs::copy_file(from, trace);
    ReadingStamp stamp;
    kineto::ReadOptions options;
    options.stamp = &stamp;
    const Result<EventStore> store = kineto::read_trace(trace.string(), options);
    ASSERT_TRUE(store.ok() && stamp.value());
    EXPECT_EQ(*stamp.value(), *stamp_of(trace)) << "hashed while it was read";
    const Status saved = StoreFile::save(store.value(), {*stamp.value(), kProgram}, cache);
    ASSERT_TRUE(saved.ok()) << saved.error().message;
  }

  fs::path trace() const { return directory_.path() / "trace.json.gz"; }
  fs::path cache() const { return directory_.path() / "trace.cache"; }
  bool is_used(uint64_t program = kProgram) const {
    return StoreFile::load(cache(), trace(), program).has_value();
  }

  // In place, as an editor of bytes would: the inode stays, and so do the size and the times.
  static void put(const fs::path& file, size_t at, std::string_view bytes) {
    struct stat before = {};
    ASSERT_EQ(stat(file.c_str(), &before), 0);
    const int fd = open(file.c_str(), O_WRONLY);
    ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(futimens(fd, times), 0);
    close(fd);
  }
  static void flip(const fs::path& file, size_t at, int bit) {
    const char byte = static_cast<char>(test::read_file(file)[at] ^ (1 << bit));
    put(file, at, {&byte, 1});
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CacheLaws, EveryBitOfTheHeaderCounts) {
  for (size_t at = 0; at < kHeader; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      flip(cache(), at, bit);
      EXPECT_FALSE(is_used()) << at << ", bit " << bit;
      flip(cache(), at, bit);
    }
  }
  EXPECT_TRUE(is_used());
}

TEST_F(CacheLaws, EveryByteOfTheBodyCounts) {
  std::mt19937_64 random(1);
  const std::string whole = test::read_file(cache());
  for (int i = 0; i < 200; ++i) {
    const size_t at = kHeader + random() % (whole.size() - kHeader);
    const int bit = static_cast<int>(random() % 8);
    flip(cache(), at, bit);
    EXPECT_FALSE(is_used()) << at;
    flip(cache(), at, bit);
  }
  EXPECT_TRUE(is_used());
  for (const size_t size : {whole.size() - 1, whole.size() - 64, kHeader, kHeader - 1, size_t{0}}) {
    test::write_file(cache(), whole.substr(0, size));
    EXPECT_FALSE(is_used()) << size;
  }
  test::write_file(cache(), whole + std::string(64, '\0'));
  EXPECT_FALSE(is_used());
}

TEST_F(CacheLaws, AnEditAnywhereInTheTraceIsNoticed) {
  std::mt19937_64 random(2);
  const size_t size = fs::file_size(trace());
  for (int i = 0; i < 100; ++i) {
    const size_t at = i < 2 ? (size - 1) * static_cast<size_t>(i) : random() % size;
    const int bit = static_cast<int>(random() % 8);
    flip(trace(), at, bit);
    EXPECT_FALSE(is_used()) << at;
    flip(trace(), at, bit);
  }
  EXPECT_TRUE(is_used());
}

TEST_F(CacheLaws, AnotherTracesCacheIsNeverUsed) {
  const std::string ours = test::read_file(cache());
  const std::string theirs = test::read_file(directory_.path() / "other.cache");
  // Any words of our header in theirs: the stamp alone, all but the hash, all of it.
  for (size_t begin = 0; begin < kHeader; begin += 8) {
    for (size_t end = begin; end <= kHeader; end += 8) {
      std::string patched = theirs;
      patched.replace(begin, end - begin, ours, begin, end - begin);
      test::write_file(cache(), patched);
      EXPECT_FALSE(is_used()) << begin << " to " << end;
    }
  }
  test::write_file(cache(), ours);
  EXPECT_TRUE(is_used());
  EXPECT_FALSE(is_used(kProgram + 1)) << "another program may read it in another way";
  fs::permissions(cache(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(is_used()) << "anybody may have written it";
}

TEST_F(CacheLaws, ReplacesNothingButACache) {
  const Result<EventStore> read = kineto::read_trace(trace().string());
  ASSERT_TRUE(read.ok());
  const EventStore& store = read.value();
  const StoreFile::Origin origin{*stamp_of(trace()), kProgram};
  const fs::path notes = directory_.path() / "notes", link = directory_.path() / "link",
                 dangling = directory_.path() / "dangling", folder = directory_.path() / "folder";
  test::write_file(notes, "my notes");
  fs::create_symlink(notes, link);
  fs::create_symlink("nowhere", dangling);
  fs::create_directory(folder);
  // A link to a cache is somebody's link all the same.
  fs::create_symlink(cache(), directory_.path() / "to cache");
  for (const fs::path& path : {notes, link, dangling, folder, directory_.path() / "to cache"}) {
    EXPECT_FALSE(StoreFile::save(store, origin, path).ok()) << path;
  }
  EXPECT_EQ(test::read_file(notes), "my notes");
  EXPECT_TRUE(fs::is_symlink(link) && fs::is_symlink(dangling));
  EXPECT_FALSE(fs::exists(directory_.path() / "nowhere"));
  EXPECT_TRUE(StoreFile::save(store, origin, cache()).ok()) << "one of ours is replaced";
  EXPECT_TRUE(is_used());
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".fathom-tmp-"));
  }
}

// Not by its times: what changes while it is read gets no stamp, and what is read to its end does.
TEST_F(CacheLaws, ATraceThatIsNotReadToItsEndHasNoStamp) {
  ReadingStamp stamp;
  {
    const auto source = open_source(trace().string(), &stamp);
    ASSERT_TRUE(source.ok());
    put(trace(), 100, "x");
    fs::resize_file(trace(), fs::file_size(trace()) + 1);
  }
  EXPECT_FALSE(stamp.value());
  ReadingStamp of_pipe;
  (void)open_source("/dev/null", &of_pipe);
  EXPECT_FALSE(of_pipe.value());
}

}  // namespace
}  // namespace fathom
