#include "sheets/cost_columns.h"

#include "base/json_writer.h"

namespace fathom {
namespace {

std::string with_suffix(std::string_view name, std::string_view suffix) {
  return std::string(name) + std::string(suffix);
}

std::optional<double> value_named(const RateStatistics& rates, std::string_view suffix) {
  if (suffix == "_mean") return rates.mean;
  if (suffix == "_std") return rates.sample_deviation;
  if (suffix == "_median") return rates.median;
  return suffix == "_min" ? rates.min : rates.max;
}

}  // namespace

CostColumns::CostColumns(Table& table, std::string_view suffix)
    : flops_(table.real_column(with_suffix("GFLOPS", suffix))),
      bytes_(table.real_column(with_suffix("Data Moved (MB)", suffix), Unit::kMegabytes)),
      intensity_(table.real_column(with_suffix("FLOPS/Byte", suffix))) {}

void CostColumns::add(const std::optional<Cost>& cost) {
  if (!cost) {
    for (Column* column : {&flops_, &bytes_, &intensity_}) column->add_unknown();
    return;
  }
  constexpr double kMegabyte = 1 << 20;
  flops_.add(cost->flops / 1e9);
  bytes_.add(cost->bytes / kMegabyte);
  cost->bytes > 0 ? intensity_.add(cost->flops / cost->bytes) : intensity_.add_unknown();
}

void RateColumns::declare(std::initializer_list<std::string_view> suffixes) {
  for (std::string_view suffix : suffixes) {
    columns_.emplace_back(suffix, &table_.real_column(with_suffix(name_, suffix)));
  }
}

void RateColumns::add(const std::optional<RateStatistics>& rates) {
  for (auto& [suffix, column] : columns_) {
    rates ? column->add(value_named(*rates, suffix)) : column->add_unknown();
  }
}

std::optional<RateStatistics> tera_rates(const std::optional<double>& amount,
                                         std::span<const Nanos> times) {
  if (!amount) return {};
  return summarize_rates(*amount / 1e12, times);
}

std::string params_json(const Cost& cost) {
  JsonWriter json(false);
  json.begin_object();
  for (const CostParam& param : cost.params) json.key(param.name).raw(param.json);
  return json.end_object().take();
}

std::vector<std::span<const EventId>> kernels_of(std::span<const UnifiedOp* const> calls) {
  std::vector<std::span<const EventId>> kernels;
  kernels.reserve(calls.size());
  for (const UnifiedOp* call : calls) kernels.emplace_back(call->kernels);
  return kernels;
}

}  // namespace fathom
