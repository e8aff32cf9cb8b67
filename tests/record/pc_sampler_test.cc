// The sampler against a CUPTI that is made up: a context has two reasons and gives what a test puts
// into its queue.
#include "record/pc_sampler.h"

#include <elf.h>

#include <atomic>
#include <deque>
#include <thread>

#include "checks.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/samples.h"
#include "record/made_capture.h"

namespace fathom {
namespace {

struct FakeSample {
  uint64_t pc;
  const char* function;
  uint32_t reason, samples;
};

// What the fake has and what was asked of it. Functions of CUPTI have no argument for it.
struct FakeCupti {
  std::deque<std::vector<FakeSample>> ready;  // one list for each call of GetData
  std::vector<FakeSample> last;               // filled in when sampling is disabled
  std::vector<uint32_t> wanted_reasons;
  cupti::PcData* own = nullptr;
  int enabled = 0, disabled = 0, line_questions = 0;
  int enable_code = 0, get_code = 0;
  uint32_t period = 0;
  size_t buffer = 0;
  std::atomic<bool> block = false, is_inside = false;
  std::deque<cupti::PcRecord> kept;
};
FakeCupti* fake_cupti = nullptr;

constexpr const char* kFakeReasons[] = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_selected"};

void fill_fake(cupti::PcData& data, const std::vector<FakeSample>& samples) {
  data.pcs = samples.size();
  data.samples = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    cupti::PcRecord& record = data.records[i];
    record.cubin_crc = 77;
    record.pc = samples[i].pc;
    record.function = const_cast<char*>(samples[i].function);
    record.stall_count = 1;
    record.stalls[0] = {samples[i].reason, samples[i].samples};
    data.samples += samples[i].samples;
  }
}

cupti::PcSamplingApi fake_sampling() {
  cupti::PcSamplingApi api;
  api.Enable = [](cupti::PcContext*) {
    ++fake_cupti->enabled;
    return fake_cupti->enable_code;
  };
  api.Disable = [](cupti::PcContext*) {
    ++fake_cupti->disabled;
    if (fake_cupti->own != nullptr) fill_fake(*fake_cupti->own, fake_cupti->last);
    return 0;
  };
  api.GetData = [](cupti::PcGetData* get) {
    fake_cupti->is_inside = true;
    while (fake_cupti->block) std::this_thread::yield();
    fake_cupti->is_inside = false;
    auto& data = *static_cast<cupti::PcData*>(get->data);
    if (fake_cupti->get_code != 0) return fake_cupti->get_code;
    std::vector<FakeSample> samples;
    if (!fake_cupti->ready.empty()) {
      samples = fake_cupti->ready.front();
      fake_cupti->ready.pop_front();
    }
    fill_fake(data, samples);
    data.remaining = fake_cupti->ready.size();
    return 0;
  };
  api.SetConfigurationAttribute = [](cupti::PcConfigure* config) {
    for (size_t i = 0; i < config->count; ++i) {
      const cupti::PcSetting& setting = config->settings[i];
      if (setting.type == cupti::kDataBuffer)
        fake_cupti->own = static_cast<cupti::PcData*>(setting.buffer);
      if (setting.type == cupti::kSamplingPeriod) fake_cupti->period = setting.number;
      if (setting.type == cupti::kHardwareBufferSize) fake_cupti->buffer = setting.bytes;
      if (setting.type == cupti::kStallReasons)
        fake_cupti->wanted_reasons.assign(setting.reasons.indices,
                                          setting.reasons.indices + setting.reasons.count);
    }
    return 0;
  };
  api.GetNumStallReasons = [](cupti::PcReasonCount* count) {
    *count->count = std::size(kFakeReasons);
    return 0;
  };
  api.GetStallReasons = [](cupti::PcReasons* reasons) {
    for (size_t i = 0; i < reasons->count; ++i) {
      reasons->indices[i] = static_cast<uint32_t>(i);
      std::strcpy(reasons->names[i], kFakeReasons[i]);
    }
    return 0;
  };
  api.GetSassToSourceCorrelation = [](cupti::SassToSource* ask) {
    ++fake_cupti->line_questions;
    ask->line = static_cast<uint32_t>(ask->pc / 16 + 1);
    ask->file = strdup("rows.cu");
    ask->directory = strdup("/src");
    return 0;
  };
  api.GetCubinCrc = [](cupti::CubinCrc* crc) {
    crc->crc = 77;
    return 0;
  };
  api.GetResultString = [](int, const char** text) {
    *text = "CUPTI_ERROR_MADE_UP";
    return 0;
  };
  return api;
}

// An ELF file with one section of this name beside that of the names.
std::string made_elf(const std::string& section_name) {
  std::string names = std::string(1, '\0') + ".shstrtab" + std::string(1, '\0') + section_name +
                      std::string(1, '\0');
  Elf64_Ehdr head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 2;
  head.e_shstrndx = 0;
  head.e_shoff = sizeof head;
  Elf64_Shdr sections[2] = {};
  sections[0].sh_name = 1;
  sections[0].sh_offset = sizeof head + sizeof sections;
  sections[0].sh_size = names.size();
  sections[1].sh_name = 11;
  sections[1].sh_size = 1;
  std::string elf(reinterpret_cast<const char*>(&head), sizeof head);
  elf.append(reinterpret_cast<const char*>(sections), sizeof sections);
  return elf + names;
}

class PcSamplerTest : public ::testing::Test {
 protected:
  PcSamplerTest() { fake_cupti = &cupti_; }
  ~PcSamplerTest() override { fake_cupti = nullptr; }

  record::PcSampler make(uint32_t period = 0) {
    return {fake_sampling(), period, [this](const std::string& text) { notes_.push_back(text); }};
  }
  StallSamples written(record::PcSampler& sampler) {
    sampler.write(chunks_, 5, true);
    sampler.say_what_is_missing();
    TextSource source(sink_.text);
    Result<std::optional<StallSamples>> read = capture::read_samples(source, "made");
    EXPECT_TRUE(read.ok());
    return read.take().value_or(StallSamples{});
  }

  FakeCupti cupti_;
  StringSink sink_;
  capture::ChunkWriter chunks_{sink_};
  std::vector<std::string> notes_;
  bool begun_ = chunks_.begin();
  int context_ = 0;
};

TEST_F(PcSamplerTest, SamplesAreSummedByInstructionAndReason) {
  record::PcSampler sampler = make(14);
  sampler.context_created(&context_, 3);
  EXPECT_EQ(cupti_.wanted_reasons, (std::vector<uint32_t>{0, 2}));  // no second count of the same
  EXPECT_EQ(cupti_.period, 14u);
  cupti_.ready = {{{16, "_Z4rowsPf", 0, 5}, {32, "_Z4rowsPf", 2, 1}}, {{16, "_Z4rowsPf", 0, 2}}};
  sampler.drain(~uint64_t{0});
  EXPECT_TRUE(cupti_.ready.empty());  // as long as there is more
  cupti_.last = {{48, "plain_name", 0, 9}};
  sampler.finish();
  const StallSamples samples = written(sampler);
  ASSERT_EQ(samples.rows.size(), 3u);
  EXPECT_EQ(samples.period_cycles, 1u << 14);
  const StallSample& plain = samples.rows[0];
  EXPECT_EQ(samples.text(plain.function), "plain_name");
  EXPECT_EQ(plain.samples, 9u);
  const StallSample& first = samples.rows[1];
  EXPECT_EQ(samples.text(first.function), "rows(float*)");
  EXPECT_EQ(samples.text(first.reason), "long_scoreboard");
  EXPECT_EQ(first.pc, 16u);
  EXPECT_EQ(first.samples, 7u);
  EXPECT_EQ(first.device, 3u);
  EXPECT_FALSE(first.file.has_value());
  EXPECT_EQ(cupti_.line_questions, 0);  // its code was not seen, or has no lines
  EXPECT_EQ(samples.text(samples.rows[2].reason), "selected");
  EXPECT_TRUE(notes_.empty());
}

TEST_F(PcSamplerTest, LinesOfCodeThatHasThem) {
  const std::string with = made_elf(".debug_line"), without = made_elf(".nv.info");
  record::PcSampler sampler = make();
  sampler.context_created(&context_, 0);
  sampler.module_loaded(without.data(), without.size());
  cupti_.ready = {{{16, "f", 0, 5}}};
  sampler.drain(~uint64_t{0});
  sampler.write(chunks_, 1, true);
  EXPECT_EQ(cupti_.line_questions, 0);
  sampler.module_loaded(with.data(), with.size());
  cupti_.ready = {{{32, "f", 0, 5}, {32, "f", 2, 5}}};
  sampler.drain(~uint64_t{0});
  const StallSamples samples = written(sampler);
  EXPECT_EQ(cupti_.line_questions, 1);  // each instruction once
  ASSERT_EQ(samples.rows.size(), 3u);
  EXPECT_FALSE(samples.rows[0].file.has_value());
  ASSERT_TRUE(samples.rows[1].file.has_value());
  EXPECT_EQ(samples.text(*samples.rows[1].file), "/src/rows.cu");
  EXPECT_EQ(samples.rows[1].line, 3u);
}

// Samples that come more often need more room.
TEST_F(PcSamplerTest, PeriodAndBuffer) {
  for (const auto& [asked, period, megabytes] :
       {std::tuple(0u, 16u, 64u), {20, 20, 64}, {15, 15, 128}, {13, 13, 512}, {5, 5, 512}}) {
    record::PcSampler sampler = make(asked);
    sampler.context_created(&context_, 0);
    EXPECT_EQ(cupti_.period, period);
    EXPECT_EQ(cupti_.buffer, size_t{megabytes} << 20) << asked;
  }
}

// The first launch starts the sampling; another thread keeps out of it.
TEST_F(PcSamplerTest, AContextIsLeftAloneUntilItsGpuHasRunAKernel) {
  record::PcSampler sampler = make();
  sampler.context_created(&context_, 2);
  cupti_.ready = {{{16, "f", 0, 4}}};
  sampler.drain(0b1011);
  EXPECT_EQ(cupti_.ready.size(), 1u);
  sampler.drain(0b0100);
  EXPECT_TRUE(cupti_.ready.empty());
}

// What comes in between two writes is one record, so a long run stays small.
TEST_F(PcSamplerTest, WritesNowAndThen) {
  record::PcSampler sampler = make();
  sampler.context_created(&context_, 0);
  constexpr uint64_t kSecond = 1'000'000'000;
  const size_t empty = sink_.text.size();
  for (uint64_t tenth = 10; tenth < 30; ++tenth) {
    cupti_.ready = {{{16, "f", 0, 1}}};
    sampler.drain(~uint64_t{0});
    sampler.write(chunks_, tenth * kSecond / 10, false);
  }
  EXPECT_EQ(sink_.text.size(), empty);
  sampler.write(chunks_, 3 * kSecond, false);
  EXPECT_GT(sink_.text.size(), empty);
}

TEST_F(PcSamplerTest, RefusalsAreOneNote) {
  cupti_.enable_code = 35;
  record::PcSampler sampler = make();
  sampler.context_created(&context_, 0);
  sampler.context_created(&context_, 0);
  sampler.drain(~uint64_t{0});
  sampler.finish();
  EXPECT_EQ(cupti_.enabled, 1);
  EXPECT_EQ(cupti_.disabled, 0);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);

  notes_.clear();
  cupti_.enable_code = 999;
  record::PcSampler other = make();
  other.context_created(&context_, 0);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0], "no PC samples: cuptiPCSamplingEnable: CUPTI_ERROR_MADE_UP (999)");

  notes_.clear();
  const record::PcSampler old({}, 0, [this](const std::string& text) { notes_.push_back(text); });
  EXPECT_EQ(notes_.size(), 1u);
}

// Nothing without a reason: a program that used the GPU and has no samples gets a note.
TEST_F(PcSamplerTest, NoSamplesAtAllIsSaid) {
  record::PcSampler none = make();
  none.context_created(&context_, 0);
  none.drain(~uint64_t{0});
  none.finish();
  none.say_what_is_missing();
  EXPECT_EQ(notes_, (std::vector<std::string>{"no PC samples: CUPTI gave none"}));

  notes_.clear();
  record::PcSampler failing = make();
  failing.context_created(&context_, 0);
  cupti_.get_code = 999;
  failing.drain(~uint64_t{0});
  failing.finish();
  failing.say_what_is_missing();
  EXPECT_EQ(notes_, (std::vector<std::string>{
                        "no PC samples: cuptiPCSamplingGetData: CUPTI_ERROR_MADE_UP (999)"}));

  notes_.clear();
  record::PcSampler unused = make();  // the program made no context
  unused.finish();
  unused.say_what_is_missing();
  EXPECT_TRUE(notes_.empty());
}

TEST_F(PcSamplerTest, AFullBufferIsSaid) {
  record::PcSampler sampler = make(12);
  sampler.context_created(&context_, 0);
  cupti_.ready = {{{16, "f", 0, 4}}};
  sampler.drain(~uint64_t{0});
  cupti_.get_code = cupti::kOutOfMemory;
  sampler.drain(~uint64_t{0});
  sampler.finish();
  written(sampler);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("--pc-sampling=16384"), std::string::npos) << notes_[0];
}

TEST_F(PcSamplerTest, AContextThatEndsIsTakenAndLeftAlone) {
  record::PcSampler sampler = make();
  sampler.context_created(&context_, 0);
  cupti_.ready = {{{16, "f", 0, 4}}};
  cupti_.last = {{16, "f", 0, 3}};
  sampler.context_ends(&context_);
  EXPECT_EQ(cupti_.disabled, 1);
  cupti_.ready = {{{16, "f", 0, 100}}};
  sampler.drain(~uint64_t{0});
  sampler.context_ends(&context_);
  sampler.finish();
  EXPECT_EQ(cupti_.disabled, 1);
  const StallSamples samples = written(sampler);
  ASSERT_EQ(samples.rows.size(), 1u);
  EXPECT_EQ(samples.rows[0].samples, 7u);
}

// CUPTI is not asked for a context's samples while it is told that the context ends.
TEST_F(PcSamplerTest, AContextEndsAfterItsSamplesAreTaken) {
  record::PcSampler sampler = make();
  sampler.context_created(&context_, 0);
  cupti_.block = true;
  std::thread draining([&] { sampler.drain(~uint64_t{0}); });
  while (!cupti_.is_inside) std::this_thread::yield();
  std::thread ending([&] { sampler.context_ends(&context_); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(cupti_.disabled, 0);
  cupti_.block = false;
  draining.join();
  ending.join();
  EXPECT_EQ(cupti_.disabled, 1);
}

// Sizes and places in a cubin come from the program.
TEST(LineInformation, DamagedCodeIsNotReadBeyondItsEnd) {
  const std::string elf = made_elf(".debug_line");
  EXPECT_TRUE(record::has_line_information(elf.data(), elf.size()));
  for (size_t size = 0; size < elf.size(); ++size) {
    const std::vector<char> cut(elf.begin(), elf.begin() + static_cast<std::ptrdiff_t>(size));
    (void)record::has_line_information(cut.data(), cut.size());
  }
  for (size_t at = 0; at < elf.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::vector<char> damaged(elf.begin(), elf.end());
      damaged[at] = static_cast<char>(value);
      (void)record::has_line_information(damaged.data(), damaged.size());
    }
  }
  EXPECT_FALSE(record::has_line_information("no ELF at all", 13));
}

}  // namespace
}  // namespace fathom
