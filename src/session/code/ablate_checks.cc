// Whether an ablation's variants compute what they should.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/count_text.h"
#include "base/file_descriptor.h"
#include "plan/ablate/correctness.h"
#include "session/code/ablate_steps.h"
#include "session/code/command_output.h"

namespace fathom::ablate {

namespace fs = std::filesystem;

Result<std::string> AblateSteps::reference_output() {
  if (reference_) return *reference_;
  const Check& check = a_.suite_->check;
  const auto text = read_plain_file(a_.suite_->folder / check.reference, kLargestOutput);
  if (!text) return Error{fmt::format("the reference {} cannot be read", check.reference)};
  reference_ = *text;
  return *text;
}

Result<Checked> AblateSteps::check_one(size_t v) {
  const Check& check = a_.suite_->check;
  const VariantPlan& plan = a_.plan_.variants[v];
  const std::string& tree = a_.plan_.builds[plan.build].tree;
  const std::string& name = a_.suite_->variants[v].name;
  std::error_code error;
  const fs::path file = fs::path(tree) / check.output;
  Checked checked;
  checked.done = true;
  if (!check.output.empty() && check.output != "stdout") {
    if (leads_out(tree, check.output)) {
      checked.reason = fmt::format("{} leads out of the tree", check.output);
      return checked;
    }
    // What an earlier check of a shared tree wrote is not this one's.
    fs::remove(file, error);
  }
  const Ran ran = TRY(run_one(plan.check, tree, name + ".check"));
  checked.seconds = ran.seconds;
  checked.log = ran.log;
  constexpr int kSkipped = 77;
  if (ran.end.kind == EndKind::kExited && ran.end.code == kSkipped) {
    checked.reason = "not checked: the check was skipped (exit status 77)";
    return checked;
  }
  if (!ran.end.ok()) {
    checked.reason =
        end_reason(ran.end, static_cast<double>(plan.check.timeout_ms) / 1e3, ran.output);
    return checked;
  }
  if (check.output.empty()) {
    checked.ok = true;
    checked.outcome = last_line(ran.output);
    return checked;
  }
  std::string output = ran.output;
  if (check.output != "stdout") {
    const auto text = read_plain_file(file, kLargestOutput);
    if (!text) {
      checked.reason = fmt::format("{} was not written, or is larger than 256 MB", check.output);
      return checked;
    }
    output = *text;
  }
  if (!check.reference_variant.empty() && name == check.reference_variant) {
    // Kept for the others, and for a run that goes on after this one.
    const fs::path kept = a_.request_.out / "reference";
    const FileDescriptor out(
        ::open(kept.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!out.ok() ||
        write(out.get(), output.data(), output.size()) != static_cast<ssize_t>(output.size()))
      return Error{fmt::format("cannot write {}", kept.string())};
    checked.ok = true;
    checked.outcome = "the reference";
    return checked;
  }
  if (!check.reference_variant.empty()) {
    const auto text = read_plain_file(a_.request_.out / "reference", kLargestOutput);
    if (!text) {
      checked.reason = fmt::format("not checked: {} gave no reference", check.reference_variant);
      return checked;
    }
    reference_ = *text;
  }
  std::string expected = TRY(reference_output());
  if (check.format == OutputFormat::kText) {
    output = TRY(without_times(std::move(output), a_.suite_->timing));
    expected = TRY(without_times(std::move(expected), a_.suite_->timing));
  }
  const Compared compared = compare_output(output, expected, check);
  checked.ok = compared.right;
  checked.reason = compared.reason;
  if (compared.right)
    checked.outcome = fmt::format("{}, largest error {:.3g}", counted(compared.count, "value"),
                                  compared.largest_error.value_or(0));
  return checked;
}

Status AblateSteps::check_all() {
  const Check& check = a_.suite_->check;
  if (check.empty()) return Nothing{};
  std::vector<size_t> order;
  for (size_t v = 0; v < a_.suite_->variants.size(); ++v) {
    const bool is_reference = a_.suite_->variants[v].name == check.reference_variant;
    order.insert(is_reference ? order.begin() : order.end(), v);
  }
  for (const size_t v : order) {
    if (!measured(v).build.ok || measured(v).check.done) continue;
    tell(fmt::format("check {}", a_.suite_->variants[v].name));
    const Checked checked = TRY(check_one(v));
    measured(v).check = checked;
    TRY(journal_.append(check_record(step_of(v, a_.plan_.variants[v].check_key), checked)));
  }
  return Nothing{};
}

}  // namespace fathom::ablate
