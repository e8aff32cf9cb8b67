#include "scan/cpp/launch_config.h"
#include "scan/cpp/launch_finder.h"
#include "scan/facts/code_names.h"

namespace fathom::cpp {
namespace {

bool sounds_like_kernel(std::string_view parameter) {
  const std::string lower = small_letters(parameter);
  return holds(lower, "kernel") || holds(lower, "func");
}

void fill_from_helper(const Place& place, const LaunchHelper& helper,
                      const std::vector<Range>& arguments, Launch& launch) {
  const auto given = [&](const std::optional<size_t>& at) {
    return at && *at < arguments.size() ? value_text(place, arguments[*at]) : std::string();
  };
  launch.grid = helper.grid ? given(helper.grid) : helper.grid_text;
  launch.block = helper.block ? given(helper.block) : helper.block_text;
  launch.shared_memory =
      helper.shared_memory ? given(helper.shared_memory) : helper.shared_memory_text;
  launch.stream = given(helper.stream);
  for (const LaunchHelper::Attribute& attribute : helper.attributes) {
    add_attribute_if(given(attribute.condition), attribute.set, launch.attributes);
  }
}

}  // namespace

size_t LaunchFinder::helper(const Place& place, const LaunchHelper& helper) {
  if (helper.of_class) return class_template(place, helper);
  if (helper.method.empty()) {
    function_helper(place, helper);
    return place.at + 1;
  }
  return construct(place, helper);
}

// Launcher(grid, block)(kernel) or Launcher launcher(grid, block)
size_t LaunchFinder::construct(const Place& place, const LaunchHelper& helper) {
  const Code& code = place.code;
  const size_t i = place.at;
  if (i > 0 && (code.is(i - 1, "struct") || code.is(i - 1, "class"))) return i + 1;
  size_t open = i + 1;
  if (code.is(open, "<") && code.brackets.closed(open)) open = code.past(open);
  const bool named = code.source.is_name(open);  // Launcher name(…)
  const size_t variable = open;
  if (named) ++open;
  if ((!code.is(open, "(") && !code.is(open, "{")) || !code.brackets.closed(open)) return i + 1;
  Object object{&helper, {}, {}};
  for (const Range& one : arguments_of(code, open)) {
    object.arguments.push_back(value_text(place, one));
  }
  if (named) {
    objects_[std::string(code.source.at(variable))] = std::move(object);
    return open;
  }
  const size_t after = chain(place, object, code.past(open), i);
  if (code.is(after, ";") && i >= 2 && code.is(i - 1, "=") && code.source.is_name(i - 2)) {
    objects_[std::string(code.source.at(i - 2))] = std::move(object);
  }
  return i + 1;
}

// .with(…).launch(kernel, …) or (kernel, …), behind an object.
size_t LaunchFinder::chain(const Place& place, Object& object, size_t i, size_t first) {
  const Code& code = place.code;
  const LaunchHelper& helper = *object.helper;
  while (true) {
    std::string_view method = "operator()";
    size_t open = i;
    if ((code.is(i, ".") || code.is(i, "->")) && code.source.is_name(i + 1)) {
      method = code.source.at(i + 1);
      open = i + 2;
      if (code.is(open, "<") && code.brackets.closed(open)) open = code.past(open);
    }
    if (!code.is(open, "(") || !code.brackets.closed(open)) return i;
    const std::vector<Range> arguments = arguments_of(code, open);
    if (method == helper.method) {
      launch_object(place, object, arguments, first, code.brackets.partner(open));
      return code.past(open);
    }
    for (const LaunchHelper::Attribute& attribute : helper.attributes) {
      if (attribute.setter != method) continue;
      const bool has = attribute.condition && *attribute.condition < arguments.size();
      add_attribute_if(has ? written_text(code, arguments[*attribute.condition]) : std::string(),
                       attribute.set, object.attributes);
    }
    i = code.past(open);
  }
}

void LaunchFinder::launch_object(const Place& place, const Object& object,
                                 const std::vector<Range>& arguments, size_t first, size_t last) {
  const LaunchHelper& helper = *object.helper;
  if (!helper.kernel || *helper.kernel >= arguments.size()) return;
  Launch launch;
  launch.via = helper.name;
  launch.expression = written_text(place.code, arguments[*helper.kernel]);
  const auto given = [&](const std::optional<size_t>& at) {
    return at && *at < object.arguments.size() ? object.arguments[*at] : std::string();
  };
  launch.grid = given(helper.grid);
  launch.block = given(helper.block);
  launch.shared_memory = given(helper.shared_memory);
  launch.stream = given(helper.stream);
  launch.attributes = object.attributes;
  KernelChoice choice = choose_kernel(around(), place, arguments[*helper.kernel]);
  if (!choice.found() && !choice.through_parameter()) return;
  report(place, std::move(launch), std::move(choice), first, last);
}

void LaunchFinder::function_helper(const Place& place, const LaunchHelper& helper) {
  const Code& code = place.code;
  const std::optional<Use> use = use_at(code, place.at);
  if (!use) return;
  Launch launch;
  launch.via = helper.name;
  KernelChoice choice;
  if (helper.kernel) {
    if (*helper.kernel >= use->arguments.size()) return;
    launch.expression = written_text(code, use->arguments[*helper.kernel]);
    choice = choose_kernel(around(), place, use->arguments[*helper.kernel]);
  } else {
    if (!helper.kernel_template || use->path.arguments.back() == SIZE_MAX) return;
    const std::vector<Range> types = arguments_of(code, use->path.arguments.back());
    if (*helper.kernel_template >= types.size()) return;
    launch.expression = written_text(code, types[*helper.kernel_template]);
    choice = choose_template_argument(place, types[*helper.kernel_template]);
  }
  // Other functions have such names too: without a kernel it is none.
  const bool passed_on =
      choice.parameter && sounds_like_kernel(around().parameters[*choice.parameter]);
  if (!choice.found() && !passed_on) return;
  fill_from_helper(place, helper, use->arguments, launch);
  report(place, std::move(launch), std::move(choice), use->path.all.first, use->close);
}

KernelChoice LaunchFinder::choose_template_argument(const Place& place, Range argument) {
  KernelChoice choice = choose_kernel(around(), place, argument);
  if (choice.found()) return choice;
  choice = choose_class(around(), place, argument);
  std::erase_if(choice.kernels, [&](const std::string& name) {
    return !known_.callable_classes.contains(last_name(name));
  });
  return choice;
}

// Launcher<KernelClass>: naming it is what a launch comes down to.
size_t LaunchFinder::class_template(const Place& place, const LaunchHelper& helper) {
  const Code& code = place.code;
  const size_t open = place.at + 1;
  if (!code.is(open, "<") || !code.brackets.closed(open)) return open;
  const std::vector<Range> types = arguments_of(code, open);
  if (*helper.kernel_template >= types.size()) return open;
  KernelChoice choice = choose_template_argument(place, types[*helper.kernel_template]);
  if (!choice.found()) return open;
  Launch launch;
  launch.via = helper.name;
  launch.expression = written_text(code, types[*helper.kernel_template]);
  report(place, std::move(launch), std::move(choice), place.at, code.brackets.partner(open));
  return open;
}

// cudaKernelNodeParams params; params.func = (void*)kernel; …: a node of a graph, which launches
// it.
void LaunchFinder::node(const Place& place, const LaunchCall& row) {
  const Code& code = place.code;
  const size_t name = place.at + 1;
  if (!code.source.is_name(name) || (!function_index_ && !forced_lines_)) return;
  const auto add = [&](Range kernel, Launch launch, size_t at) {
    launch.via = row.name;
    launch.expression = written_text(code, kernel);
    Place here = place;
    here.at = kernel.first;
    KernelChoice choice = choose_kernel(around(), here, kernel);
    if (!choice.found() && !choice.through_parameter()) return;
    report(place, std::move(launch), std::move(choice), at, kernel.last - 1);
  };
  size_t open = name + 1;
  if (code.is(open, "=")) ++open;
  if (code.is(open, "{") && code.brackets.closed(open)) {
    const std::vector<Range> given = arguments_of(code, open);
    Launch launch;
    std::string* const parts[] = {nullptr, &launch.grid, &launch.block, &launch.shared_memory};
    for (size_t i = 1; i < std::min(given.size(), std::size(parts)); ++i)
      *parts[i] = value_text(place, given[i]);
    if (!given.empty() && !given[0].empty() && !code.is(given[0].first, "."))
      add(given[0], std::move(launch), given[0].first);
  }
  // Fields are set up to the end of the block around.
  Place there = place;
  const uint32_t block = code.brackets.enclosing(place.at);
  if (block != Brackets::kNone && code.brackets.closed(block))
    there.at = code.brackets.partner(block);
  for (const FieldValue& field : place.values.fields(code.source.at(name), there.at, place.from)) {
    if (field.changes) continue;
    if (field.path != row.field) continue;
    Launch launch;
    read_launch_config(there, {name, name + 1}, launch);
    add(value_from(code, field.begin), std::move(launch), field.name);
  }
}

}  // namespace fathom::cpp
