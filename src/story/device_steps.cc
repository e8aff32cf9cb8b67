#include "story/device_steps.h"

#include <algorithm>
#include <cctype>

#include "base/text_parts.h"
#include "scan/cpp/asm_text.h"
#include "scan/cpp/references.h"
#include "scan/facts/pattern_ids.h"
#include "story/collectives.h"
#include "story/device_words.h"
#include "story/statement_steps.h"

namespace fathom {
namespace {

using cpp::Range;

constexpr int kOpenedCalls = 3;       // one inside the other
constexpr int kFunctionsAround = 16;  // of one deed, each around the next
constexpr size_t kSummaryWords = 4;

class DeviceTeller : public StatementTeller {
 public:
  DeviceTeller(DeviceContext& context, const CppBody& body, MemoryNames memory,
               TemplateValues values, int depth)
      : context_(context),
        body_(body),
        code_(*body.code),
        memory_(std::move(memory)),
        values_(std::move(values)),
        depth_(depth),
        hits_(body.hits(cpp::PatternScope::kDevice)) {}

  std::vector<StoryStep> run() { return tell_body(body_, *this); }

  std::optional<StoryStep> tell(const Statement& statement) override {
    StoryStep step;
    switch (statement.kind) {
      case StatementKind::kAlias:
        note_alias(statement);
        collectives_.note(statement.text);
        return std::nullopt;
      case StatementKind::kCheck:
        step.words = Phrase::kCheckedWhenCompiled;
        step.code.push_back(tidy_code(statement.text, 120));
        step.only_computes = true;
        return step;
      case StatementKind::kJump:
        step.words = statement.text == "break" ? Phrase::kLeavesLoop : Phrase::kGoesOn;
        step.code.push_back(statement.text);
        return step;
      case StatementKind::kReturn:
        if (statement.text == "return") return std::nullopt;
        return returning(deed(statement));
      default:
        return is_only_declared(statement) ? std::nullopt : std::optional(deed(statement));
    }
  }

  void enter(const Statement& statement, StoryStep& step) override {
    if (statement.compile_time) {
      add_default(statement, step);
    } else if (is_decided_when_compiled(statement)) {
      step.words = statement.kind == StatementKind::kIf ? Phrase::kOnlyIfCompiled
                                                        : Phrase::kOtherwiseIfCompiled;
    }
    const bool tests = statement.kind == StatementKind::kIf ||
                       statement.kind == StatementKind::kElseIf ||
                       statement.kind == StatementKind::kLoop;
    if (!tests) return;
    const auto accesses = memory_.read(code_, {statement.first, statement.last});
    if (!accesses.empty()) step.remarks.push_back({said_of_test(phrase_of(accesses)), "", {}, {}});
    StoryStep in_test;
    add_action(statement, in_test);
    if (!in_test.words.empty())
      step.remarks.push_back({said_of_test(in_test.words), "", {}, in_test.certainty});
    add_remarks(statement, step);
    for (const cpp::PatternHit& hit :
         std::ranges::equal_range(hits_, statement.line_first, {}, &cpp::PatternHit::line)) {
      const bool shape = hit.id == pattern_id::kPersistent ||
                         hit.id == pattern_id::kLaunchGridStride ||
                         hit.id == pattern_id::kWarpSpecialisation;
      if (!shape) continue;
      const Words words(*step_pattern(hit.id));
      const bool known = std::any_of(step.remarks.begin(), step.remarks.end(),
                                     [&](const StepRemark& r) { return r.words == words; });
      if (!known) step.remarks.push_back({words, "", {}, hit.certainty});
    }
    open_calls(statement, step);
  }

 private:
  // A test of template parameters and constants alone: the compiler keeps one branch.
  bool is_decided_when_compiled(const Statement& statement) const {
    if (statement.kind != StatementKind::kIf && statement.kind != StatementKind::kElseIf)
      return false;
    const std::vector<std::string> parameters =
        cpp::template_parameter_names(body_.function->template_parameters);
    bool named = false;
    for (size_t i = statement.first; i < statement.last; ++i) {
      if (!code_.source.is_name(i) || code_.is(i, "if") || code_.is(i, "else")) continue;
      const std::string_view word = code_.source.at(i);
      const bool parameter = contains(parameters, word);
      const bool constant = std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
      });
      if (!parameter && !constant && word != "true" && word != "false") return false;
      named = named || parameter;
    }
    return named;
  }

  static Words said_of_test(Words words) {
    words.lead = Phrase::kTheTest;
    return words;
  }

  // `Tile tile;`: room and nothing else.
  bool is_only_declared(const Statement& statement) {
    if (statement.kind != StatementKind::kPlain ||
        without_extents(statement.text).find_first_of("=(") != std::string::npos)
      return false;
    memory_.read(code_, {statement.first, statement.last});
    return !holds(statement.text, "__shared__") && !holds(statement.text, "++") &&
           !holds(statement.text, "--");
  }

  // "char packed[kBytes > 0 ? 4 : 8]" → "char packed"
  static std::string without_extents(std::string_view text) {
    std::string out;
    int depth = 0;
    for (const char c : text) {
      depth += c == '[' ? 1 : 0;
      if (depth == 0) out += c;
      depth -= c == ']' && depth > 0 ? 1 : 0;
    }
    return out;
  }

  StoryStep deed(const Statement& statement) {
    StoryStep step;
    collectives_.note(statement.text);
    step.code.push_back(tidy_code(statement.text));
    const Range range{statement.first, statement.last};
    std::vector<MemoryAccess> accesses = memory_.read(code_, range);
    if (cpp::opens_asm(code_.source, statement.first)) accesses = by_assembly(statement);
    add_action(statement, step);
    if (step.words.empty() && !accesses.empty()) step.words = phrase_of(accesses);
    add_access_remarks(accesses, step);
    add_remarks(statement, step);
    open_calls(statement, step);
    if (step.words.empty()) say_what_is_computed(statement, step);
    step.folds = step.words == Words(*step_pattern(pattern_id::kSharedStatic));
    if (statement.kind == StatementKind::kGivesCode) {
      step.only_computes = false;
      if (step.words.is(Phrase::kComputes) || step.words.is(Phrase::kCalls))
        step.words = is_loop_macro(statement.text) ? Phrase::kRepeats : Phrase::kCallsWithCode;
    }
    return step;
  }

  // asm("ld.global.v4.u32 …")
  std::vector<MemoryAccess> by_assembly(const Statement& statement) const {
    std::vector<MemoryAccess> out;
    for (const cpp::AsmInstruction& one :
         cpp::read_asm(code_.source, statement.first).instructions) {
      const bool writes = one.mnemonic.starts_with("st.global");
      if (!writes && !one.mnemonic.starts_with("ld.global")) continue;
      MemoryAccess& access = out.emplace_back();
      access.writes = writes;
      access.of.memory = Memory::kGlobal;
    }
    return out;
  }

  // CUDA_KERNEL_LOOP(i, n) { … }: a macro that is called a loop.
  static bool is_loop_macro(std::string_view text) {
    const std::string_view name = text.substr(0, text.find('('));
    const bool capitals = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    return capitals && holds(name, "LOOP");
  }

  void add_action(const Statement& statement, StoryStep& step) const {
    step.words = {};
    for (const cpp::PatternHit& hit : hits_of(statement)) {
      const StepPattern* pattern = step_pattern(hit.id);
      if (pattern == nullptr || !pattern->action || hit.certainty == Certainty::kUnsure) continue;
      const Saying saying = hit.id == pattern_id::kWarpShuffle
                                ? Saying{shuffle_phrase(statement.text)}
                                : Saying{Phrase::kPattern, pattern->id};
      if (step.words.says(saying)) continue;
      step.words.add(saying);
      step.certainty = std::max(step.certainty, hit.certainty);
    }
    if (const Phrase said = collectives_.phrase_of(statement.text); said != Phrase::kNone)
      step.words = said == Phrase::kGroupReduction ? group_phrase(statement.text) : said;
  }

  const std::vector<cpp::PatternHit>& hits_of(const Statement& statement) const {
    return body_.hits(statement, cpp::PatternScope::kDevice);
  }

  void add_remarks(const Statement& statement, StoryStep& step) const {
    for (const cpp::PatternHit& hit : hits_of(statement)) {
      const StepPattern* pattern = step_pattern(hit.id);
      if (pattern == nullptr || pattern->action || hit.certainty == Certainty::kUnsure) continue;
      const Words words(*pattern);
      const bool known = std::any_of(step.remarks.begin(), step.remarks.end(),
                                     [&](const StepRemark& r) { return r.words == words; });
      if (!known) step.remarks.push_back({words, hit.detail, {}, hit.certainty});
    }
  }

  void add_access_remarks(const std::vector<MemoryAccess>& accesses, StoryStep& step) const {
    for (const MemoryAccess& access : accesses) {
      step.certainty = std::max(step.certainty, access.of.certainty);
      if (!access.of.through.empty()) {
        add_once(step, {access.writes ? Phrase::kWrittenThroughIndex : Phrase::kReadThroughIndex,
                        access.of.through,
                        {},
                        Certainty::kCertain});
      }
      const auto alias = aliases_.find(access.of.element);
      if (alias != aliases_.end()) add_widths(step);
      if (alias != aliases_.end()) {
        add_once(step, {Phrase::kInUnitsOf,
                        access.of.element + " = " + alias->second.first,
                        {body_.file, alias->second.second},
                        Certainty::kCertain});
      }
    }
  }

  // How wide an access of an alias's type is, once: the evidence of the code that it stands for.
  void add_widths(StoryStep& step) const {
    if (context_.width_said) return;
    for (const CodeEvidence& evidence : context_.kernel.evidence) {
      const bool elsewhere = evidence.function != context_.kernel.name;
      if (evidence.what != pattern_id::kVectorAccess || !elsewhere ||
          evidence.certainty == Certainty::kUnsure)
        continue;
      step.remarks.push_back({Phrase::kNone, evidence.detail, evidence.at, evidence.certainty});
      context_.width_said = true;
    }
  }

  static void add_once(StoryStep& step, StepRemark remark) {
    const bool known = std::any_of(
        step.remarks.begin(), step.remarks.end(),
        [&](const StepRemark& r) { return r.words == remark.words && r.code == remark.code; });
    if (!known) step.remarks.push_back(std::move(remark));
  }

  // using Package = details::mem_package_t<kBytes, kUnit>
  void note_alias(const Statement& statement) {
    const size_t equals = statement.text.find(" = ");
    if (!statement.text.starts_with("using ") || equals == std::string::npos) return;
    aliases_[statement.text.substr(6, equals - 6)] = {
        tidy_code(statement.text.substr(equals + 3), 80), statement.line_first};
  }

  void say_what_is_computed(const Statement& statement, StoryStep& step) const {
    step.only_computes = true;
    const size_t equals = statement.text.find('=');
    const NamedMemory target =
        equals == std::string::npos ? NamedMemory() : memory_of_name(statement);
    const bool address = target.memory == Memory::kGlobal || target.memory == Memory::kShared;
    if (!address && takes_place_in_grid(statement.text)) {
      step.words = place_phrase(statement.text);
    } else if (statement.text.find('[') < equals && holds(statement.text, "auto")) {
      step.words = Phrase::kUnpacks;
    } else if (target.memory != Memory::kUnknown && target.memory != Memory::kLocal) {
      step.words = address_phrase(target.memory, false);
      // Said where the index comes in, not again where the address is passed on.
      if (!target.through.empty() && holds(statement.text, target.through)) {
        step.only_computes = false;
        step.words = address_phrase(target.memory, true);
        step.remarks.push_back({Phrase::kIndexIs, target.through, {}, Certainty::kCertain});
      }
    } else if ((target.memory == Memory::kUnknown && accumulates(statement.text)) ||
               holds(statement.text, "fma(")) {
      step.words = Phrase::kAccumulates;
      step.only_computes = false;
    } else if (assigns_to_call(statement)) {
      step.words = Phrase::kAssignsReturned;
      step.only_computes = false;
    } else {
      const bool call = !holds(statement.text, '=') && statement.text.ends_with(")");
      step.words = !call                            ? Phrase::kComputes
                   : makes_object(code_, statement) ? Phrase::kMakes
                                                    : Phrase::kCalls;
    }
  }

  // body.x(i) = 4: the object's method returns where it is written.
  bool assigns_to_call(const Statement& statement) const {
    size_t equals = statement.first;
    while (equals < statement.last && !code_.is(equals, "=") && !code_.is(equals, "+="))
      equals = code_.past(equals);
    if (equals >= statement.last || equals < statement.first + 4) return false;
    if (!code_.is(equals - 1, ")") || !code_.brackets.closed(equals - 1)) return false;
    const size_t open = code_.brackets.partner(equals - 1);
    return open > statement.first + 1 && code_.source.is_name(open - 1) &&
           (code_.is(open - 2, ".") || code_.is(open - 2, "->"));
  }

  NamedMemory memory_of_name(const Statement& statement) const {
    size_t equals = statement.first;
    const auto assigns = [&](size_t i) {
      return code_.is(i, "=") || code_.is(i, "+=") || code_.is(i, "-=");
    };
    while (equals < statement.last && !assigns(equals)) equals = code_.past(equals);
    if (equals == statement.first || equals >= statement.last) return {};
    return code_.source.is_name(equals - 1) ? memory_.of_expression(code_, {equals - 1, equals})
                                            : NamedMemory();
  }

  // What a call does goes inside its step; a function that only computes is not opened.
  void open_calls(const Statement& statement, StoryStep& step) {
    for (const CalledBody& opened : context_.calls.of_statement(body_, statement)) {
      const bool chosen = depth_ < kOpenedCalls && context_.to_open.contains(opened.body->function);
      if (chosen || is_one_deed(opened)) {
        open(opened, step);
      } else {
        summarise(opened, step);
      }
    }
  }

  // A function around one instruction is told in place, however deep it stands.
  bool is_one_deed(const CalledBody& opened) {
    return opened.body->statements.size() <= 2 && only_deed(steps_of(opened)) != nullptr;
  }

  void open(const CalledBody& opened, StoryStep& step) {
    std::vector<StoryStep> steps = steps_of(opened);
    if (!does_something(steps)) return;
    const cpp::Function& callee = *opened.body->function;
    const CodePlace here{body_.file, code_.source.tokens[opened.name].line};
    step.only_computes = false;
    step.certainty = std::max(step.certainty, opened.certainty);
    if (const StoryStep* deed = only_deed(steps)) {
      if (step.words.empty()) {
        const bool shuffles = deed->words.is(Phrase::kWarpExchange);
        step.words = shuffles ? Words(shuffle_phrase(step.code[0])) : deed->words;
      }
      // A value that is read for it does not hide what the call does.
      if (deed->words.is_pattern(pattern_id::kAtomics) &&
          !step.words.is_pattern(pattern_id::kAtomics))
        step.words = deed->words;
      step.certainty = std::max(step.certainty, deed->certainty);
      step.remarks.push_back(
          {Phrase::kInCallee, deed->code.empty() ? callee.name : deed->code[0], deed->at, {}});
      for (const StepRemark& remark : deed->remarks) {
        StepRemark moved = remark;
        if (moved.at.line == 0) moved.at = deed->at;
        add_once(step, std::move(moved));
      }
      return;
    }
    if (step.words.empty()) step.words = said_of_call(opened);
    const auto [first, added] = context_.opened.try_emplace(&callee, here);
    if (!added && first->second != here && count_steps(steps) > 2) {
      step.remarks.push_back({Phrase::kSameStepsAs, "", first->second, {}});
      return;
    }
    step.remarks.push_back({Phrase::kOpenedFrom, "", {opened.body->file, callee.line_name}, {}});
    add_template_arguments(opened, step);
    std::move(steps.begin(), steps.end(), std::back_inserter(step.inside));
  }

  Phrase said_of_call(const CalledBody& opened) const {
    const Phrase reduces =
        reduction_phrase(code_.text({opened.name, arguments_open(code_, opened.name)}));
    return reduces == Phrase::kNone ? Phrase::kCalls : reduces;
  }

  // "with kBytes = kSizePerWarp": what the callee's own names are here.
  void add_template_arguments(const CalledBody& opened, StoryStep& step) const {
    const cpp::Path path = cpp::path_from(code_, opened.name, arguments_open(code_, opened.name));
    const std::string bound =
        bound_text(opened.body->function->template_parameters, cpp::path_arguments(code_, path));
    if (!bound.empty()) step.remarks.push_back({Phrase::kWith, bound, {}, {}});
  }

  std::vector<StoryStep> steps_of(const CalledBody& opened) {
    const cpp::Function& callee = *opened.body->function;
    // Overloads of one name may be taken for each other: what is being told is not entered again.
    if (depth_ >= kFunctionsAround || !context_.being_told.insert(&callee).second) return {};
    MemoryNames memory;
    const std::vector<Range> given = cpp::arguments_of(code_, arguments_open(code_, opened.name));
    const std::vector<std::string> names = parameter_names(callee.parameters);
    const std::vector<bool> by_value = parameters_by_value(callee.parameters);
    for (size_t i = 0; i < std::min(given.size(), names.size()); ++i) {
      // f(x[i]): the callee gets a number that was read here, and no address.
      if (by_value[i] && is_element(code_, given[i])) continue;
      const NamedMemory value = memory_.of_expression(code_, given[i]);
      if (value.memory != Memory::kUnknown) memory.set(names[i], value);
    }
    TemplateValues values;
    const cpp::Path path = cpp::path_from(code_, opened.name, arguments_open(code_, opened.name));
    values.bind(callee.template_parameters, cpp::path_arguments(code_, path), values_);
    std::vector<StoryStep> steps =
        device_steps(context_, *opened.body, std::move(memory), std::move(values), depth_ + 1);
    context_.being_told.erase(&callee);
    return steps;
  }

  void summarise(const CalledBody& opened, StoryStep& step) {
    std::vector<Saying> deeds = context_.calls.summary(*opened.body);
    if (deeds.empty()) deeds = deeds_of(opened);
    if (deeds.empty()) return;
    if (depth_ < kOpenedCalls) context_.unopened.emplace_back(opened.body, deeds.size());
    step.only_computes = false;
    if (step.words.empty()) step.words = said_of_call(opened);
    Words said;
    said.lead = Phrase::kWhich;
    if (deeds.size() > kSummaryWords) said.tail = Phrase::kAndSoOn;
    deeds.resize(std::min(deeds.size(), kSummaryWords));
    said.list = std::move(deeds);
    step.remarks.push_back({said, "", {opened.body->file, opened.body->function->line_name}, {}});
  }

  // What the steps of a function do that no pattern shows: it moves memory or adds products up.
  const std::vector<Saying>& deeds_of(const CalledBody& opened) {
    const auto [found, added] = context_.deeds.try_emplace(opened.body->function);
    if (!added || depth_ >= kOpenedCalls) return found->second;
    Words deeds;
    add_deeds(steps_of(opened), deeds);
    return context_.deeds[opened.body->function] = std::move(deeds.list);
  }

  static void add_deeds(const std::vector<StoryStep>& steps, Words& deeds) {
    for (const StoryStep& step : steps) {
      if (moves_memory(step.words) || step.words.is(Phrase::kAccumulates) ||
          step.words.is_pattern(pattern_id::kAtomics))
        deeds.add(step.words.list.front());
      add_deeds(step.inside, deeds);
    }
  }

  // if constexpr (kUsePDL): whether it is on where nobody asks for it.
  void add_default(const Statement& statement, StoryStep& step) const {
    const size_t open = statement.text.find('(');
    if (open == std::string::npos) return;
    const std::string condition = statement.text.substr(open + 1, statement.text.size() - open - 2);
    if (const auto remark = values_.remark_on(condition)) step.remarks.push_back(*remark);
  }

  Collectives collectives_;
  DeviceContext& context_;
  const CppBody& body_;
  const cpp::Code& code_;
  MemoryNames memory_;
  TemplateValues values_;
  const int depth_;  // calls around it that were opened
  const std::vector<cpp::PatternHit>& hits_;
  std::map<std::string, std::pair<std::string, uint32_t>, std::less<>> aliases_;
};

}  // namespace

std::vector<StoryStep> device_steps(DeviceContext& context, const CppBody& body, MemoryNames memory,
                                    TemplateValues values, int depth) {
  if (depth > 0) {
    if (body.statements.size() >= context.statements_left) return {};
    context.statements_left -= body.statements.size() + 1;
  }
  return DeviceTeller(context, body, std::move(memory), std::move(values), depth).run();
}

}  // namespace fathom
