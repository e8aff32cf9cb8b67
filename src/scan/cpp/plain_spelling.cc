#include "scan/cpp/plain_spelling.h"

#include <string_view>

#include "base/text_parts.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {
namespace {

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// Of <<<, ::, ->, // and the like.
bool is_part_of_sign(char c) {
  return std::string_view("<>:-/*#&|=!+%").find(c) != std::string_view::npos;
}

// The bytes of a backslash and the line break after it; 0: none.
size_t splice_at(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '\\') return 0;
  if (text.substr(at + 1, 1) == "\n") return 2;
  return text.substr(at + 1, 2) == "\r\n" ? 3 : 0;
}

void join_split_tokens(std::string& text) {
  for (size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    const bool splits = at > 0 && splice_at(text, at) != 0;
    bool (*const is_part)(char) = !splits                         ? nullptr
                                  : is_part_of_name(text[at - 1]) ? is_part_of_name
                                  : is_part_of_sign(text[at - 1]) ? is_part_of_sign
                                                                  : nullptr;
    if (is_part == nullptr) {
      ++at;
      continue;
    }
    std::string splices;
    size_t to = at;
    while (at < text.size()) {
      if (const size_t splice = splice_at(text, at); splice != 0) {
        splices.append(text, at, splice);
        at += splice;
      } else if (is_part(text[at])) {
        text[to++] = text[at++];
      } else {
        break;
      }
    }
    text.replace(to, splices.size(), splices);
  }
}

bool may_hold_digraphs(std::string_view text) {
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if ((at > 0 && text[at - 1] == '<') || next == '>' || next == ':') return true;
  }
  return holds(text, "<:") && holds(text, ":>");
}

void replace_digraphs(std::string& text) {
  if (!may_hold_digraphs(text)) return;
  const TokenList source = lex(text);
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.tokens[i].kind != TokenKind::kPunctuator) continue;
    const std::string_view sign = source.at(i);
    const char* const common = sign == "<%"     ? "{ "
                               : sign == "%>"   ? "} "
                               : sign == "<:"   ? "[ "
                               : sign == ":>"   ? "] "
                               : sign == "%:"   ? "# "
                               : sign == "%:%:" ? "##  "
                                                : nullptr;
    if (common != nullptr) text.replace(source.tokens[i].begin, sign.size(), common);
  }
}

// hipThreadIdx_x is a macro for threadIdx.x in HIP's headers.
void replace_hip_names(std::string& text) {
  for (size_t at = text.find("hip"); at != std::string::npos; at = text.find("hip", at + 3)) {
    if (at > 0 && is_part_of_name(text[at - 1])) continue;
    for (const std::string_view name : {"ThreadIdx_", "BlockIdx_", "BlockDim_", "GridDim_"}) {
      const size_t axis = at + 3 + name.size();
      if (text.compare(at + 3, name.size(), name) != 0 || axis >= text.size()) continue;
      const bool whole = axis + 1 >= text.size() || !is_part_of_name(text[axis + 1]);
      if (text[axis] < 'x' || text[axis] > 'z' || !whole) continue;
      std::string plain(name.substr(0, name.size() - 1));
      plain[0] = static_cast<char>(plain[0] | 0x20);
      plain += '.';
      plain += text[axis];
      plain += "   ";
      text.replace(at, plain.size(), plain);
    }
  }
}

// kernel << <grid, block >> >(…): formatters that do not know CUDA part the sign, and nvcc takes it
// so, also as < < <. In no other place a < follows <<, or two follow each other.
void join_launch_signs(std::string& text) {
  for (size_t at = text.find("< < <"); at != std::string::npos; at = text.find("< < <", at + 5))
    text.replace(at, 5, "<<<  ");
  for (size_t at = text.find("<< "); at != std::string::npos; at = text.find("<< ", at + 3)) {
    const size_t next = text.find_first_not_of(' ', at + 2);
    const bool launch = next != std::string::npos && text[next] == '<' &&
                        text.compare(next, 2, "<<") != 0 && (at == 0 || text[at - 1] != '<');
    if (launch) std::swap(text[at + 2], text[next]);
  }
}

// HIP_KERNEL_NAME(kernel<a, b>) is what stands in the brackets, by HIP's headers.
void drop_hip_marks(std::string& text) {
  constexpr std::string_view mark = "HIP_KERNEL_NAME(";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const bool defined = std::string_view(text).substr(0, at).ends_with("define ");
    if (!defined && (at == 0 || !is_part_of_name(text[at - 1])))
      text.replace(at, mark.size() - 1, mark.size() - 1, ' ');
  }
}

}  // namespace

std::string plain_spelling(std::string text) {
  join_split_tokens(text);
  replace_digraphs(text);
  replace_hip_names(text);
  drop_hip_marks(text);
  join_launch_signs(text);
  return text;
}

}  // namespace fathom::cpp
