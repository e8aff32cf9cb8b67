#include "probe/direct_calls.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace fathom::probe {
namespace {

// A file's bytes; every access is checked.
class FileBytes {
 public:
  explicit FileBytes(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts{};
    if (fd < 0) return;
    if (fstat(fd, &facts) == 0 && facts.st_size > 0) {
      void* place =
          mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (place != MAP_FAILED) {
        bytes_ = static_cast<const char*>(place);
        size_ = static_cast<size_t>(facts.st_size);
      }
    }
    close(fd);
  }
  ~FileBytes() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  template <typename T>
  bool read(uint64_t at, T& out) const {
    if (bytes_ == nullptr || at > size_ || size_ - at < sizeof(T)) return false;
    std::memcpy(&out, bytes_ + at, sizeof(T));
    return true;
  }
  // A text that ends within [at, limit).
  const char* text(uint64_t at, uint64_t limit) const {
    if (bytes_ == nullptr || at >= limit || limit > size_) return nullptr;
    return std::memchr(bytes_ + at, 0, limit - at) != nullptr ? bytes_ + at : nullptr;
  }

 private:
  const char* bytes_ = nullptr;
  size_t size_ = 0;
};

constexpr size_t kPage = 4096, kJumpSize = 16;
constexpr size_t kMostRedirections = kPage / kJumpSize;

// A page that calls in the code can reach, which is within 2 GiB of all of it.
char* page_near(const CodeRange& code) {
  constexpr uintptr_t kReach = (uintptr_t{1} << 31) - (uintptr_t{1} << 24), kStep = 1 << 20;
  for (uintptr_t away = kStep; away < kReach; away += kStep) {
    for (const bool above : {true, false}) {
      if (!above && code.begin < away + kPage) continue;
      const uintptr_t place = (above ? code.end + away : code.begin - away) / kPage * kPage;
      const uintptr_t farthest = above ? place - code.begin : code.end - place;
      if (farthest > kReach) continue;
      void* got = mmap(reinterpret_cast<void*>(place), kPage, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == reinterpret_cast<void*>(place)) return static_cast<char*>(got);
      if (got != MAP_FAILED) munmap(got, kPage);  // a kernel that does not know the flag
    }
  }
  return nullptr;
}

// jmp *0(%rip), and where to
void write_jump(char* place, void* target) {
  constexpr unsigned char kJump[6] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(place, kJump, sizeof kJump);
  std::memcpy(place + sizeof kJump, static_cast<const void*>(&target), sizeof target);
}

void write_distance(uintptr_t place, int32_t distance) {
  const uintptr_t first = place / kPage * kPage, last = (place + 3) / kPage * kPage;
  const size_t bytes = last - first + kPage;
  // Executable all along: this page may be running.
  if (mprotect(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return;
  std::memcpy(reinterpret_cast<void*>(place), &distance, sizeof distance);
  mprotect(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_EXEC);
}

}  // namespace

std::vector<DefinedFunction> defined_functions(const char* path,
                                               const std::function<bool(const char*)>& is_wanted) {
  std::vector<DefinedFunction> found;
  const FileBytes file(path);
  Elf64_Ehdr head;
  if (!file.read(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64) {
    return found;
  }
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr table, texts;
    if (!file.read(head.e_shoff + uint64_t{i} * sizeof table, table)) break;
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (!file.read(head.e_shoff + uint64_t{table.sh_link} * sizeof texts, texts)) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!file.read(table.sh_offset + at, symbol)) break;
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name =
          file.text(texts.sh_offset + symbol.st_name, texts.sh_offset + texts.sh_size);
      if (name == nullptr || !is_wanted(name)) continue;
      const bool is_known =
          std::ranges::find(found, symbol.st_value, &DefinedFunction::offset) != found.end();
      if (!is_known) found.push_back({name, symbol.st_value});
    }
  }
  return found;
}

void redirect_calls(const CodeRange& code, const std::vector<Redirection>& redirections,
                    bool is_early) {
  constexpr uintptr_t kMostCode = 128 << 20;
  constexpr size_t kCallSize = 5, kLine = 64;
  if (redirections.empty() || redirections.size() > kMostRedirections ||
      code.end - code.begin > kMostCode || code.end - code.begin < kCallSize) {
    return;
  }
  char* page = nullptr;
  const auto* bytes = reinterpret_cast<const unsigned char*>(code.begin);
  const size_t last = code.end - code.begin - kCallSize;
  for (size_t at = 0; at <= last; ++at) {
    const void* next = std::memchr(bytes + at, 0xe8, last - at + 1);
    if (next == nullptr) break;
    at = static_cast<size_t>(static_cast<const unsigned char*>(next) - bytes);
    int32_t distance = 0;
    std::memcpy(&distance, bytes + at + 1, sizeof distance);
    const uintptr_t after = code.begin + at + kCallSize;
    const auto target = std::ranges::find(redirections, after + static_cast<uintptr_t>(distance),
                                          &Redirection::from);
    if (target == redirections.end()) continue;
    // Within a cache line the change is seen whole by threads that run there.
    if (!is_early && (after - 4) / kLine != (after - 1) / kLine) continue;
    if (page == nullptr) {
      page = page_near(code);
      if (page == nullptr) return;
      for (size_t i = 0; i < redirections.size(); ++i)
        write_jump(page + i * kJumpSize, redirections[i].to);
      if (mprotect(page, kPage, PROT_READ | PROT_EXEC) != 0) return;
    }
    const auto index = static_cast<size_t>(target - redirections.begin());
    const uintptr_t jump = reinterpret_cast<uintptr_t>(page) + index * kJumpSize;
    write_distance(after - 4, static_cast<int32_t>(jump - after));
  }
}

}  // namespace fathom::probe
