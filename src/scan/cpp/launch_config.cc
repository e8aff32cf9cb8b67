#include "scan/cpp/launch_config.h"

#include <array>

#include "base/text_parts.h"

namespace fathom::cpp {
namespace {

enum class Part : uint8_t {
  kNone,
  kGrid,
  kBlock,
  kSharedMemory,
  kStream,
  kAttributes,
  kCount,
  kCluster
};

// The names that CUDA, the driver API, HIP and CUTLASS give to the parts.
Part part_named(std::string_view name) {
  struct Row {
    std::string_view name;
    Part part;
  };
  constexpr std::array<Row, 21> rows = {{{"gridDim", Part::kGrid},
                                         {"gridDimX", Part::kGrid},
                                         {"gridDimY", Part::kGrid},
                                         {"gridDimZ", Part::kGrid},
                                         {"grid_dims", Part::kGrid},
                                         {"blockDim", Part::kBlock},
                                         {"blockDimX", Part::kBlock},
                                         {"blockDimY", Part::kBlock},
                                         {"blockDimZ", Part::kBlock},
                                         {"block_dims", Part::kBlock},
                                         {"dynamicSmemBytes", Part::kSharedMemory},
                                         {"sharedMemBytes", Part::kSharedMemory},
                                         {"smem_size_in_bytes", Part::kSharedMemory},
                                         {"stream", Part::kStream},
                                         {"hStream", Part::kStream},
                                         {"cuda_stream", Part::kStream},
                                         {"attrs", Part::kAttributes},
                                         {"numAttrs", Part::kCount},
                                         {"cluster_dims", Part::kCluster},
                                         {"gridDimensions", Part::kGrid},
                                         {"blockDimensions", Part::kBlock}}};
  for (const Row& row : rows) {
    if (row.name == name) return row.part;
  }
  return Part::kNone;
}

std::string_view member_name(std::string_view path) {
  const size_t dot = path.find_last_of(".>");
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

class ConfigReader {
 public:
  ConfigReader(const Place& place, Launch& launch) : place_(place), launch_(launch) {}

  void run(Range config) {
    const Code& code = place_.code;
    while (!config.empty() && (code.is(config.first, "&") || code.is(config.first, "*"))) {
      ++config.first;
    }
    if (config.empty() || !code.source.is_name(config.first)) return;
    const size_t brace = config.last - 1;
    if (code.is(brace, "}") && code.brackets.closed(brace)) {  // Type{…} in place
      initialiser(place_, code.brackets.partner(brace), code.source.at(config.first));
    } else if (config.last == config.first + 1) {
      variable(code.source.at(config.first));
    }
    finish();
  }

 private:
  void variable(std::string_view name) {
    for (const Place* in = &place_; in != nullptr; in = in->around) {
      bool any = false;
      for (const Value& value : in->values.meanings(name, in->at, in->from)) {
        const Range range = in->values.range(value);
        any = true;
        if (range.empty()) continue;
        for (const size_t open : {range.first, range.last - 1}) {
          const size_t brace = in->code.is(open, "}") && in->code.brackets.closed(open)
                                   ? in->code.brackets.partner(open)
                                   : open;
          if (!in->code.is(brace, "{") && !in->code.is(brace, "(")) continue;
          initialiser(*in, brace, in->code.source.at(value.name - 1));
          break;
        }
      }
      for (const FieldValue& field : in->values.fields(name, in->at, in->from)) {
        any = true;
        if (field.changes) continue;
        const Range range = value_from(in->code, field.begin);
        std::string_view path = field.path;
        if (path.ends_with(".x") || path.ends_with(".y") || path.ends_with(".z")) {
          path.remove_suffix(2);
        }
        set(*in, part_named(member_name(path)), range, path.size() < field.path.size());
      }
      if (any) return;
    }
  }

  // {grid, block, …} in the type's order, or {.gridDim = grid, …}.
  void initialiser(const Place& in, size_t open, std::string_view type) {
    constexpr std::array<Part, 6> cuda = {Part::kGrid,   Part::kBlock,      Part::kSharedMemory,
                                          Part::kStream, Part::kAttributes, Part::kCount};
    constexpr std::array<Part, 5> cutlass = {Part::kGrid, Part::kBlock, Part::kCluster,
                                             Part::kSharedMemory, Part::kStream};
    const bool of_cutlass = holds(type, "Cluster");
    const std::vector<Range> arguments = arguments_of(in.code, open);
    for (size_t k = 0; k < arguments.size() && k < 12; ++k) {
      const Range& one = arguments[k];
      if (in.code.is(one.first, ".") && in.code.is(one.first + 2, "=")) {
        set(in, part_named(in.code.source.at(one.first + 1)), {one.first + 3, one.last}, false);
      } else if (of_cutlass) {
        if (k < cutlass.size()) set(in, cutlass[k], one, false);
      } else if (k < cuda.size()) {
        set(in, cuda[k], one, false);
      }
    }
  }

  void set(const Place& in, Part part, Range range, bool one_dimension) {
    if (range.empty() || in.code.is(range.first, "}")) return;
    const auto text = [&] { return value_text(in, range); };
    const auto put = [&](std::string& into) {
      // Dimensions that are set one by one add up.
      if (one_dimension && !into.empty()) {
        into += ", " + text();
      } else {
        into = text();
      }
    };
    switch (part) {
      case Part::kGrid:
        return put(launch_.grid);
      case Part::kBlock:
        return put(launch_.block);
      case Part::kSharedMemory:
        launch_.shared_memory = text();
        return;
      case Part::kStream:
        launch_.stream = written_text(in.code, range);
        return;
      case Part::kCluster:
        launch_.attributes.push_back({LaunchAttribute::Kind::kCluster, text(), ""});
        return;
      case Part::kCount:
        count_ = written_text(in.code, range);
        return;
      case Part::kAttributes:
        attributes_in_ = &in;
        attributes_ = range;
        return;
      case Part::kNone:
        return;
    }
  }

  struct Attribute {
    std::string id, values, prefix;
    size_t token;
  };

  // attrs[0].id = …; attrs[0].val.… = …;
  void finish() {
    if (attributes_in_ == nullptr) return;
    const Code& code = attributes_in_->code;
    size_t name = attributes_.first;
    while (name < attributes_.last && !code.source.is_name(name)) ++name;
    if (name >= attributes_.last) return;
    std::vector<Attribute> found;
    for (const Place* in = &place_; in != nullptr && found.empty(); in = in->around) {
      for (const FieldValue& field : in->values.fields(code.source.at(name), in->at, in->from)) {
        read_attribute(*in, field, found);
      }
      for (const Attribute& attribute : found) add_attribute(*in, attribute);
    }
  }

  static void read_attribute(const Place& in, const FieldValue& field,
                             std::vector<Attribute>& found) {
    const std::string text = written_text(in.code, value_from(in.code, field.begin));
    if (member_name(field.path) == "id") {
      found.push_back({text, "", field.path.substr(0, field.path.size() - 2), field.name});
    } else if (!found.empty() && field.path.starts_with(found.back().prefix)) {
      std::string& values = found.back().values;
      if (!values.empty()) values += ", ";
      values += text;
    }
  }

  void add_attribute(const Place& in, const Attribute& attribute) {
    const auto about = [&](std::string_view word) { return holds(attribute.id, word); };
    std::string condition = branch_condition(in, attribute.token);
    if (condition.empty()) condition = count_condition();
    using Kind = LaunchAttribute::Kind;
    std::vector<LaunchAttribute>& out = launch_.attributes;
    if (about("ProgrammaticStreamSerialization") || about("PROGRAMMATIC_STREAM_SERIALIZATION")) {
      add_attribute_if(condition.empty() ? attribute.values : condition, {Kind::kPdl}, out);
    } else if (about("ClusterDimension") || about("CLUSTER_DIMENSION")) {
      add_attribute_if(condition, {Kind::kCluster, "(" + attribute.values + ")"}, out);
    } else if (about("Cooperative") || about("COOPERATIVE")) {
      add_attribute_if(condition.empty() ? attribute.values : condition, {Kind::kCooperative}, out);
    }
  }

  // numAttrs = enable ? 1 : 0
  std::string count_condition() const {
    const size_t question = count_.find('?');
    return question == std::string::npos
               ? std::string()
               : count_.substr(0, count_.find_last_not_of(" ?", question) + 1);
  }

  // if (condition) { attrs[0].id = …; }, where the launch stands outside.
  static std::string branch_condition(const Place& in, size_t token) {
    const uint32_t brace = in.code.brackets.enclosing(token);
    if (brace == Brackets::kNone || brace == 0 || in.code.brackets.visible(token, in.at)) return {};
    if (!in.code.is(brace - 1, ")") || !in.code.brackets.closed(brace - 1)) return {};
    const size_t open = in.code.brackets.partner(brace - 1);
    const bool is_if =
        open > 0 && (in.code.is(open - 1, "if") || in.code.is(open - 1, "constexpr"));
    return is_if ? written_text(in.code, {open + 1, brace - 1}) : std::string();
  }

  const Place& place_;
  Launch& launch_;
  const Place* attributes_in_ = nullptr;
  Range attributes_;
  std::string count_;
};

}  // namespace

void add_attribute_if(std::string_view condition, LaunchAttribute attribute,
                      std::vector<LaunchAttribute>& out) {
  if (condition == "false" || condition == "0") return;
  if (condition != "1" && condition != "true") attribute.condition = condition;
  out.push_back(std::move(attribute));
}

void read_launch_config(const Place& place, Range config, Launch& launch) {
  ConfigReader(place, launch).run(config);
}

}  // namespace fathom::cpp
