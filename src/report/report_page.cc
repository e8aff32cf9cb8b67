#include "report/report_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/screen_text.h"
#include "report/markdown.h"

namespace fathom {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string HeadingAnchors::of_heading(std::string_view heading) {
  std::string shown;
  for (const char c : heading) {
    if (c != '`') shown += small_letter(c);
  }
  std::string anchor;
  for (const char c : trimmed(shown)) {
    if (is_word(c)) anchor += c;
    if (c == ' ') anchor += '-';
  }
  // The second of a name gets "-1", unless a heading is called that already.
  std::string unique = anchor;
  while (taken_.contains(unique)) unique = fmt::format("{}-{}", anchor, ++taken_[anchor]);
  taken_.emplace(unique, 0);
  return unique;
}

std::string HeadingAnchors::add(std::string_view markdown) {
  std::string first;
  bool in_code = false, found = false;
  while (!markdown.empty()) {
    const size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with("```")) in_code = !in_code;
    const size_t hashes = std::min(line.find_first_not_of('#'), line.size());
    if (in_code || hashes == 0 || hashes > 6 || hashes == line.size() || line[hashes] != ' ')
      continue;
    std::string anchor = of_heading(line.substr(hashes + 1));
    if (!found) first = std::move(anchor);
    found = true;
  }
  return first;
}

std::string PageNames::add(std::string_view title) {
  constexpr size_t kLongest = 100;
  while (title.ends_with('/')) title.remove_suffix(1);
  std::string name;
  for (const char c : title) {
    const bool kept = is_word_character(c);
    const bool joins = !name.empty() && name.back() != '-' && name.back() != '.';
    if (kept || joins) name += kept || c == '.' ? c : '-';
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  if (name.size() > kLongest) name = name.substr(name.size() - kLongest);
  if (name.empty() || name[0] == '.' || name[0] == '-') name.insert(0, "page");
  std::string unique = name;
  while (taken_.contains(small_letters(unique)))
    unique = fmt::format("{}-{}", name, ++taken_[small_letters(name)] + 1);
  taken_.emplace(small_letters(unique), 0);
  return unique + ".md";
}

std::string md_link(std::string_view text, std::string_view target) {
  return target.empty() ? md_code(text) : fmt::format("[{}]({})", md_code(text), target);
}

std::string md_link_cell(std::string_view text, std::string_view target) {
  return target.empty() ? md_code_cell(text) : fmt::format("[{}]({})", md_code_cell(text), target);
}

size_t printed_lines(std::string_view markdown, size_t columns) {
  size_t lines = 0;
  while (!markdown.empty()) {
    const size_t end = std::min(markdown.find('\n'), markdown.size());
    std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    std::string shown;
    for (size_t target; (target = line.find("](")) != std::string_view::npos;) {
      const size_t close = std::min(line.find(')', target), line.size() - 1);
      shown += line.substr(0, target);
      line.remove_prefix(close + 1);
    }
    shown += line;
    std::erase(shown, '`');
    lines += std::max<size_t>(1, (screen_width(shown) + columns - 1) / columns);
  }
  return lines;
}

namespace {

class PageSplitter {
 public:
  PageSplitter(const std::vector<FileSection>& sections, size_t max_bytes)
      : sections_(sections), max_bytes_(max_bytes) {}

  std::vector<FolderPage> run() {
    std::vector<size_t> all(sections_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    split("", all, 0);
    return std::move(pages_);
  }

 private:
  size_t bytes_of(const std::vector<size_t>& members) const {
    size_t bytes = 0;
    for (const size_t i : members) bytes += sections_[i].bytes;
    return bytes;
  }

  // Folders that hold less stay on the page of what is beside them.
  void split(const std::string& folder, const std::vector<size_t>& members, size_t smallest) {
    std::map<std::string_view, std::vector<size_t>> folders;
    std::vector<size_t> rest;
    for (const size_t i : members) {
      const std::string_view below = sections_[i].path.substr(folder.size());
      const size_t slash = below.find('/');
      if (slash == std::string_view::npos) {
        rest.push_back(i);
      } else {
        folders[below.substr(0, slash + 1)].push_back(i);
      }
    }
    for (const auto& [name, inside] : folders) {
      const size_t bytes = bytes_of(inside);
      if (bytes < smallest) {
        rest.insert(rest.end(), inside.begin(), inside.end());
      } else if (bytes <= max_bytes_) {
        pages_.push_back({common_folder(inside), inside});
      } else {
        split(folder + std::string(name), inside, max_bytes_ / 6);
      }
    }
    std::ranges::sort(rest);
    add_rest(folder, rest, !folder.empty() && rest.size() < members.size());
  }

  // "csrc/" of which only "csrc/jit/" holds anything: "csrc/jit/".
  std::string common_folder(const std::vector<size_t>& members) const {
    std::string_view common = sections_[members[0]].path;
    for (const size_t i : members) {
      const std::string_view path = sections_[i].path;
      size_t same = 0;
      while (same < std::min(common.size(), path.size()) && common[same] == path[same]) ++same;
      common = common.substr(0, same);
    }
    return std::string(common.substr(0, common.rfind('/') + 1));
  }

  void add_rest(const std::string& folder, const std::vector<size_t>& rest, bool others) {
    const size_t first = pages_.size();
    size_t bytes = 0;
    for (const size_t i : rest) {
      if (pages_.size() == first || bytes + sections_[i].bytes > max_bytes_) {
        pages_.emplace_back();
        bytes = 0;
      }
      pages_.back().sections.push_back(i);
      bytes += sections_[i].bytes;
    }
    const size_t pages = pages_.size() - first;
    for (size_t i = first; i < pages_.size(); ++i) {
      FolderPage& page = pages_[i];
      page.title = folder.empty() ? "(root)" : folder;
      if (page.sections.size() == 1) {
        page.title = std::string(sections_[page.sections[0]].path);
      } else if (pages > 1) {
        page.title +=
            fmt::format(" ({}{} of {})", others ? "the rest, " : "", i - first + 1, pages);
      } else if (others) {
        page.title += " (the rest)";
      }
    }
  }

  const std::vector<FileSection>& sections_;
  const size_t max_bytes_;
  std::vector<FolderPage> pages_;
};

}  // namespace

std::vector<FolderPage> pages_by_folder(const std::vector<FileSection>& sections,
                                        size_t max_bytes) {
  return PageSplitter(sections, max_bytes).run();
}

}  // namespace fathom
