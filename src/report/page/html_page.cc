#include "report/page/html_page.h"

#include "base/deflate.h"

extern const std::string_view report_page_before;  // web/dist/report.html, cut where data goes
extern const std::string_view report_page_after;

namespace fathom {

std::string html_page(const PageContent& content) {
  std::string page;
  page.reserve(report_page_before.size() + report_page_after.size() + content.facts.size() / 2 +
               content.blocks.size() + 1024);
  page += report_page_before;
  page += "<script type=\"application/octet-stream\" id=\"facts\">";
  append_base64(page, Deflater().deflated(content.facts));
  page += "</script>\n";
  // The events come behind the program: what is read first does not wait for them.
  const size_t end = report_page_after.rfind("</body>");
  page += report_page_after.substr(0, end);
  page += "<script type=\"application/octet-stream\" id=\"blocks\">";
  page += content.blocks;
  page += "</script>\n";
  page += report_page_after.substr(end);
  return page;
}

}  // namespace fathom
