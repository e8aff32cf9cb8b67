#include "cost/request_lengths.h"

#include <charconv>
#include <string>

namespace fathom {
namespace {

// Reads a text from its front; nothing is taken where it is not as expected.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<double> number() {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return {};
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return static_cast<double>(value);
  }

 private:
  std::string_view text_;
};

// With Σ sq and Σ sq·sk alone the others follow for one request, and for several of one length.
RequestLengths even_requests(double requests, double queries, double queries_keys) {
  RequestLengths lengths{requests, queries, 0, 0, queries_keys};
  if (requests > 0 && queries > 0) {
    lengths.queries_squared = queries * queries / requests;
    lengths.keys = queries_keys * requests / queries;
  }
  return lengths;
}

// "1(888_788544)", "2(sq64sk80sqsq2080sqsk2600)" or "0(0)".
std::optional<RequestLengths> read_vllm_part(Reader& reader, bool& even) {
  const std::optional<double> requests = reader.number();
  if (!requests || !reader.take("(")) return {};
  if (reader.take("sq")) {
    const auto sq = reader.number();
    const auto sk = sq && reader.take("sk") ? reader.number() : std::nullopt;
    const auto sqsq = sk && reader.take("sqsq") ? reader.number() : std::nullopt;
    const auto sqsk = sqsq && reader.take("sqsk") ? reader.number() : std::nullopt;
    if (!sqsk || !reader.take(")")) return {};
    return RequestLengths{*requests, *sq, *sk, *sqsq, *sqsk};
  }
  const std::optional<double> queries = reader.number();
  if (!queries) return {};
  if (reader.take("_")) {
    const std::optional<double> queries_keys = reader.number();
    if (!queries_keys || !reader.take(")")) return {};
    even = even || *requests > 1;
    return even_requests(*requests, *queries, *queries_keys);
  }
  // Without its keys only no token at all is known.
  return reader.take(")") && *queries == 0 ? std::optional(RequestLengths{}) : std::nullopt;
}

std::optional<BatchLengths> read_vllm(std::string_view text) {
  Reader reader(text);
  if (!reader.take("execute_")) return {};
  if (reader.number() && !reader.take("_")) return {};
  BatchLengths lengths;
  if (!reader.take("context_")) return {};
  const auto context = read_vllm_part(reader, lengths.even_lengths);
  if (!context || !reader.take("_generation_")) return {};
  const auto generation = read_vllm_part(reader, lengths.even_lengths);
  if (!generation) return {};
  lengths.context = *context;
  lengths.generation = *generation;
  return lengths;
}

// The number behind " key=".
std::optional<double> value_of(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool is_word = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '[');
    Reader reader(text.substr(at + key.size()));
    if (is_word && reader.take("=")) return reader.number();
  }
  return {};
}

RequestLengths read_sglang_part(std::string_view text, char kind, double requests) {
  const auto value = [&](std::string_view name) {
    return value_of(text, std::string(1, kind) + "_" + std::string(name)).value_or(0);
  };
  return {requests, value("sq"), value("sk"), value("sqsq"), value("sqsk")};
}

std::optional<BatchLengths> read_sglang(std::string_view text) {
  if (!text.starts_with("step[") || !text.ends_with("]")) return {};
  const bool mixed = text.starts_with("step[MIXED"), decode = text.starts_with("step[DECODE");
  const double all = value_of(text, "bs").value_or(0);
  BatchLengths lengths;
  if (value_of(text, "c_sqsk")) {
    lengths.context = read_sglang_part(text, 'c', mixed ? value_of(text, "c").value_or(0) : all);
  }
  if (value_of(text, "g_sqsk")) {
    lengths.generation = read_sglang_part(text, 'g', mixed ? value_of(text, "g").value_or(0) : all);
  }
  const bool has_context = lengths.context.queries > 0,
             has_generation = lengths.generation.queries > 0;
  const bool known = mixed ? has_context && has_generation : decode ? has_generation : has_context;
  return known ? std::optional(lengths) : std::nullopt;
}

std::optional<BatchLengths> read_atom(std::string_view text) {
  const bool prefill = text.starts_with("prefill["), decode = text.starts_with("decode[");
  const auto sq = value_of(text, "tok"), sk = value_of(text, "sk"), sqsq = value_of(text, "sqsq"),
             sqsk = value_of(text, "sqsk");
  if ((!prefill && !decode) || !sq || !sk || !sqsq || !sqsk) return {};
  // Not within the braces: GCC 12 loses it behind the choice of what they are assigned to.
  const double requests = value_of(text, "bs").value_or(0);
  BatchLengths lengths;
  (prefill ? lengths.context : lengths.generation) = {requests, *sq, *sk, *sqsq, *sqsk};
  return lengths;
}

}  // namespace

std::optional<BatchLengths> read_batch_lengths(std::string_view annotation) {
  if (auto lengths = read_vllm(annotation)) return lengths;
  if (auto lengths = read_sglang(annotation)) return lengths;
  return read_atom(annotation);
}

}  // namespace fathom
