// The data behind each category, for programs and notebooks, and its findings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "base/json_writer.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "report/trace/analysis_files.h"
#include "report/trace/findings_markdown.h"
#include "report/trace/op_roofline.h"
#include "report/trace/places.h"
#include "report/trace/run_story.h"
#include "report/trace/timeline_drawing.h"

namespace fathom {
namespace {

constexpr size_t kTreesShown = 5, kChildrenShown = 40, kFindingsShown = 100;

Table category_table(const AssessedCategory& category, const Assessment& a) {
  Table table(std::string(category.name) + "_ops");
  Column& name = table.text_column("name");
  Column& shapes = table.text_column("shapes");
  Column& count = table.count_column("count");
  Column& time = table.time_column("kernel_time_us", Unit::kMicros);
  Column& share = table.real_column("percent_of_gpu_time", Unit::kPercent);
  Column& part = table.real_column("percent_of_category", Unit::kPercent);
  Column& gflops = table.real_column("gflops_per_call");
  Column& megabytes = table.real_column("data_moved_mb_per_call", Unit::kMegabytes);
  Column& spec = table.text_column("compute_spec");
  Column& bound = table.text_column("bound");
  Column& limit = table.real_column("roofline_time_us_per_call", Unit::kMicros);
  Column& efficiency = table.real_column("percent_of_limit", Unit::kPercent);
  Column& counted = table.real_column("percent_of_time_counted", Unit::kPercent);
  Column& assumption = table.text_column("assumption");
  std::map<ArgsId, std::string> shapes_of;  // kernels of one op share its arguments
  for (const AssessedOp* op : category.ops) {
    const OpGroup& group = *op->group;
    name.add(group.key.name);
    const ArgsId args = a.input().store.args_id(group.first().event);
    const auto [known, is_new] = shapes_of.try_emplace(args);
    if (is_new) known->second = shapes_text(a.input(), group.first().event);
    shapes.add(known->second);
    count.add(static_cast<int64_t>(group.gpu.count));
    time.add(group.gpu.sum);
    share.add(op->share * 100);
    part.add(op->category_share * 100);
    const auto add = [](Column& column, std::optional<double> value) { column.add(value); };
    add(gflops, group.cost ? std::optional(group.cost->flops / 1e9) : std::nullopt);
    add(megabytes, group.cost ? std::optional(group.cost->bytes / (1 << 20)) : std::nullopt);
    spec.add(group.cost ? group.cost->spec : "");
    bound.add(std::string_view(op->bound ? (op->bound->is_compute() ? "compute" : "memory") : ""));
    add(limit, op->bound ? std::optional(op->bound->seconds() * 1e6) : std::nullopt);
    add(efficiency, op->efficiency ? std::optional(*op->efficiency * 100) : std::nullopt);
    counted.add(op->counted * 100);
    assumption.add(group.cost ? group.cost->assumption : std::string_view());
  }
  return table;
}

// Its calls with GPU work, in order, with how deep they are.
void write_subtree(JsonWriter& json, const SheetInput& input, CallId root) {
  json.key("subtree").begin_array();
  size_t shown = 0;
  std::vector<CallId> open = {root};
  for (CallId c(root.index + 1); c < input.tree.subtree_end(root) && shown < kChildrenShown;
       ++c.index) {
    while (!open.empty() && !(c < input.tree.subtree_end(open.back()))) open.pop_back();
    const size_t depth = open.size();
    open.push_back(c);
    Nanos time;
    const std::span<const EventId> work = input.selection.among(input.tree.launched_in_subtree(c));
    if (work.empty()) continue;
    for (EventId e : work) time += input.store.duration(e);
    json.begin_object().key("name").value(input.store.name(input.tree.event(c)));
    json.key("depth").value(static_cast<int64_t>(depth));
    json.key("gpu_time_us").raw(exact_decimal(time.count, 3)).end_object();
    ++shown;
  }
  json.end_array();
}

std::string tree_json(const AssessedCategory& category, const Assessment& a) {
  const SheetInput& input = a.input();
  JsonWriter json(true);
  json.begin_object().key("category").value(category.name).key("operations").begin_array();
  for (size_t i = 0; i < std::min(kTreesShown, category.ops.size()); ++i) {
    const AssessedOp& op = *category.ops[i];
    const UnifiedOp& first = op.group->first();
    json.begin_object().key("name").value(op.group->key.name);
    json.key("uid").value(first.uid);
    json.key("shapes").value(shapes_text(input, first.event));
    json.key("count").value(static_cast<int64_t>(op.group->gpu.count));
    json.key("kernel_time_us").raw(exact_decimal(op.group->gpu.sum.count, 3));
    json.key("parent_chain").begin_array();
    for (const std::string& frame : call_stack_of(input, first.event)) json.value(frame);
    json.end_array();
    if (const CallId call = input.tree.call(first.event); call.valid()) {
      write_subtree(json, input, call);
    }
    json.end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

void write_platform(JsonWriter& json, const Platform* platform) {
  json.key("platform");
  if (platform == nullptr) {
    json.null();
    return;
  }
  json.begin_object().key("name").value(platform->name);
  const auto bandwidth = limit_of(platform->memory_bandwidth);
  json.key("memory_bandwidth_bytes_per_s");
  bandwidth ? json.value(bandwidth->rate) : json.null();
  json.key("limits_flop_per_s").begin_object();
  for (const ComputeSpec& spec : platform->specs) {
    if (const auto limit = limit_of(spec.rate)) json.key(spec.name).value(limit->rate);
  }
  json.end_object().end_object();
}

std::string metadata_json(const AssessedCategory& category, const AnalysisView& v) {
  const Assessment& a = v.assessment;
  const DeviceTime t = a.base().mean_device();
  const Nanos wall = a.base().wall();
  JsonWriter json(true);
  json.begin_object().key("category").value(category.name);
  json.key("trace").value(v.summary.trace);
  json.key("scope").value(v.summary.scope);
  write_platform(json, a.platform());
  json.key("gpu_utilisation").begin_object();
  json.key("busy_percent").value(ratio(t.busy, wall) * 100);
  json.key("idle_percent").value(ratio(t.idle, wall) * 100);
  json.key("exposed_communication_percent").value(ratio(t.exposed_communication, wall) * 100);
  json.key("exposed_copies_percent").value(ratio(t.exposed_copies, wall) * 100);
  json.key("total_ms").value(wall.millis());
  json.end_object();
  json.key("kernel_time_us").raw(exact_decimal(category.time.count, 3));
  json.key("percent_of_gpu_time").value(category.share * 100);
  json.key("percent_of_limit");
  category.efficiency ? json.value(*category.efficiency * 100) : json.null();
  json.key("percent_of_time_with_limit").value(category.known_time * 100);
  return json.end_object().take() + "\n";
}

std::string manifest_json(const AnalysisView& v) {
  const Assessment& a = v.assessment;
  JsonWriter json(true);
  json.begin_object().key("schema_version").value(int64_t{1}).key("trace").value(v.summary.trace);
  write_platform(json, a.platform());
  json.key("top_operations").begin_array();
  for (const TopOp& op : a.top_ops()) {
    json.begin_object().key("name").value(op.name).key("category").value(op.category);
    json.key("count").value(static_cast<int64_t>(op.calls));
    json.key("kernel_time_us").raw(exact_decimal(op.time.count, 3));
    json.key("percent_of_gpu_time").value(op.share * 100);
    json.key("percent_of_limit");
    op.efficiency ? json.value(*op.efficiency * 100) : json.null();
    json.end_object();
  }
  json.end_array().key("categories").begin_array();
  for (const AssessedCategory& c : a.categories()) {
    const std::string name(c.name);
    json.begin_object().key("name").value(c.name);
    json.key("operations").value(static_cast<int64_t>(c.ops.size()));
    json.key("kernel_time_us").raw(exact_decimal(c.time.count, 3));
    json.key("files").begin_array();
    for (const std::string& file :
         {"category_data/" + name + "_ops.csv", "category_data/" + name + "_tree_data.json",
          "metadata/" + name + "_metadata.json", "category_findings/" + name + "_findings.md"}) {
      json.value(file);
    }
    json.end_array().end_object();
  }
  json.end_array().key("absent_categories").begin_array();
  for (std::string_view name : category_names()) {
    if (std::ranges::find(a.categories(), name, &AssessedCategory::name) == a.categories().end()) {
      json.value(name);
    }
  }
  json.end_array().key("findings").begin_array();
  for (const Finding& f : v.findings) {
    json.begin_object().key("kind").value(kind_name(f.kind));
    json.key("priority").value(priority_name(f.priority));
    json.key("category");
    f.category.empty() ? json.null() : json.value(f.category);
    json.key("subject").value(f.subject).key("title").value(f.title);
    json.key("time_us").raw(exact_decimal(f.time.count, 3));
    json.key("percent_of_limit");
    f.efficiency ? json.value(*f.efficiency * 100) : json.null();
    json.key("saving_us").begin_array();
    json.raw(exact_decimal(f.saving_at_least.count, 3))
        .raw(exact_decimal(f.saving_at_most.count, 3));
    json.end_array().key("confidence").value(confidence_name(f.confidence));
    write_places(json, f.places);
    json.end_object();
  }
  json.end_array().key("replay_packages").begin_array();
  for (const std::string& file : v.replay_packages) json.value(file);
  return json.end_array().end_object().take() + "\n";
}

}  // namespace

std::vector<ReportFile> category_files(const AnalysisView& v) {
  std::vector<ReportFile> files;
  for (const AssessedCategory& c : v.assessment.categories()) {
    const std::string name(c.name);
    files.push_back(
        {"category_data/" + name + "_ops.csv", to_csv(category_table(c, v.assessment))});
    files.push_back({"category_data/" + name + "_tree_data.json", tree_json(c, v.assessment)});
    files.push_back({"metadata/" + name + "_metadata.json", metadata_json(c, v)});
  }
  files.push_back({"category_manifest.json", manifest_json(v)});
  return files;
}

std::vector<ReportFile> category_findings_files(const AnalysisView& v) {
  std::vector<ReportFile> files;
  for (const AssessedCategory& c : v.assessment.categories()) {
    std::string text = fmt::format(
        "# {} ({} of GPU time)\n\n{}\n", c.name, percent_text(c.share),
        c.efficiency ? fmt::format("{} of achievable: {}.\n", percent_text(*c.efficiency),
                                   efficiency_band(*c.efficiency))
                     : "No efficiency: no cost model or no platform.\n");
    text += md_category_ops(c, v.assessment, 10) + "\n";
    size_t count = 0;
    for (const Finding& f : v.findings) {
      if (f.category != c.name) continue;
      if (++count > kFindingsShown) continue;
      text += fmt::format("## {} ({})\n\n{} Saves {}.\n\n- Path A: {}\n- Path B: {}\n\n{}\n",
                          md_title(f), priority_name(f.priority), f.issue,
                          saving_text(f, v.assessment), f.change_code,
                          f.improve_kernel.empty() ? "none" : f.improve_kernel, md_details(f));
    }
    if (count == 0) text += "No findings.\n";
    if (count > kFindingsShown) {
      text += fmt::format("{} more findings: see category_manifest.json.\n",
                          with_thousands(static_cast<int64_t>(count - kFindingsShown)));
    }
    files.push_back({fmt::format("category_findings/{}_findings.md", c.name), std::move(text)});
  }
  return files;
}

std::vector<ReportFile> analysis_files(const AnalysisView& v) {
  std::vector<ReportFile> files = category_files(v);
  for (ReportFile& file : category_findings_files(v)) files.push_back(std::move(file));
  files.push_back({"standalone_analysis_rough.md", rough_report(v)});
  files.push_back({"story.md", story_markdown(v.story, true)});
  ReportPictures pictures{timeline_drawing(v), op_roofline(v.assessment)};
  files.push_back({"standalone_analysis_fair.md", fair_report(v, pictures)});
  if (!pictures.timeline.empty()) files.push_back({"timeline.svg", std::move(pictures.timeline)});
  if (!pictures.roofline.empty()) files.push_back({"roofline.svg", std::move(pictures.roofline)});
  return files;
}

}  // namespace fathom
