#include "session/code/convert.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/deflate.h"
#include "base/staging.h"
#include "base/zstd_file.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// A file is named as the user knows it, not where it is staged.
Status write_compressed(const EventStore& store, const std::vector<AddedTrack>& added,
                        const fs::path& path, const fs::path& shown) {
  ZstdFile file = TRY(ZstdFile::create(path, shown));
  TRY(write_chrome_trace(store, [&](std::string_view text) { return file.write(text); }, added));
  return file.finish();
}

// Plain, or as gzip.
Status write_text(const EventStore& store, const std::vector<AddedTrack>& added,
                  const fs::path& path, const fs::path& shown, bool gzip) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "wb"), close);
  const auto failed = [&shown] {
    return Error{fmt::format("cannot write {}: {}", shown.string(), std::strerror(errno))};
  };
  if (!file) return failed();
  const auto put = [&](std::string_view bytes) -> Status {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) return failed();
    return Nothing{};
  };
  GzipStream packed;
  TRY(write_chrome_trace(
      store,
      [&](std::string_view text) { return gzip ? put(packed.compressed(text, false)) : put(text); },
      added));
  if (gzip) TRY(put(packed.compressed({}, true)));
  if (std::fflush(file.get()) != 0) return failed();
  return Nothing{};
}

}  // namespace

Result<int64_t> convert_trace(const Trace& trace, const fs::path& out, bool force,
                              const std::vector<AddedTrack>& added) {
  TRY(check_has_events(trace));
  TRY(check_file_place(out));
  std::error_code error;
  if (fs::exists(out, error) && !force)
    return Error{fmt::format("{} exists; use another name or --force", out.string())};
  fs::path folder = out.parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error))
    return Error{fmt::format("{} is no directory; name a file in one that is", folder.string())};
  const StagingDirectory staging = TRY(StagingDirectory::create(folder, folder));
  const fs::path staged = staging.content() / "trace";
  TRY(out.extension() == ".zst"
          ? write_compressed(trace.store, added, staged, out)
          : write_text(trace.store, added, staged, out, out.extension() == ".gz"));
  const auto size = static_cast<int64_t>(fs::file_size(staged, error));
  fs::rename(staged, out, error);
  if (error) return Error{fmt::format("cannot write {}: {}", out.string(), error.message())};
  return size;
}

}  // namespace fathom
