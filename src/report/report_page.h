#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A markdown file of a report directory. A report of a large repository is many of them: the top
// ones stay within five pages and link down.
struct ReportPage {
  std::string path;  // from the directory: "kernels.md", "kernels/csrc-kda.md"
  std::string text;
};

// The anchors that GitHub makes of the headings of one page, to link to them.
class HeadingAnchors {
 public:
  // Takes the headings of a part of the page, which must come in order; gives the first one's
  // anchor, empty where it has none. Code blocks have no headings.
  std::string add(std::string_view markdown);

 private:
  std::string of_heading(std::string_view heading);

  std::map<std::string, int> taken_;
};

// Names of files for pages, made of what a repository chose: letters, digits, '-', '_' and '.'
// alone, never twice, not even where case does not count.
class PageNames {
 public:
  // "csrc/kda/" → "csrc-kda.md"
  std::string add(std::string_view title);

 private:
  std::map<std::string, int> taken_;
};

// "[`csrc/kda/`](kernels/csrc-kda.md)": the text inert, for running text and for cells. Without a
// target the text alone.
std::string md_link(std::string_view text, std::string_view target);
std::string md_link_cell(std::string_view text, std::string_view target);

// How many lines of so many columns a page takes when it is read: long lines take several, the
// targets of links none.
size_t printed_lines(std::string_view markdown, size_t columns = 120);
// What "within five pages" means: so many lines.
inline constexpr size_t kFivePages = 250;

// A part of a page that tells of one file.
struct FileSection {
  std::string_view path;
  size_t bytes = 0;
};
struct FolderPage {
  std::string title;             // "csrc/kda/", or a file's path where it alone is a page
  std::vector<size_t> sections;  // in the order given
};
// Puts sections on pages by the folders of their files: the folders at the root are pages of their
// own; one that is larger than a page goes to pages by the folders in it, its small ones together.
// Only a single file can make a page larger than asked for.
std::vector<FolderPage> pages_by_folder(const std::vector<FileSection>& sections, size_t max_bytes);

}  // namespace fathom
