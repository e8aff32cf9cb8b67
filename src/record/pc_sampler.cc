#include "record/pc_sampler.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <tuple>

#include "record/exit_guard.h"

namespace fathom::record {
namespace {

constexpr size_t kPcsOfBuffer = 4096;
constexpr size_t kMostReasons = 256;
constexpr int kMostRounds = 256;         // of one drain: 1 million PCs
constexpr size_t kMostCounts = 1 << 20;  // that wait to be written
constexpr size_t kMostCubinBytes = 512 << 20;
constexpr uint64_t kWriteEvery = 2'000'000'000;  // ns: PCs come again and again
constexpr auto kLongestClaim = std::chrono::seconds(2);
// Seen on an H200 (132 SMs, 4 million samples a second at 2^16): CUPTI's own choice, 2^11, fills
// its buffer of 512 MB within a second. 64 MB are enough for 2^15. The buffer is the host's, and
// most of the time that sampling takes to start.
constexpr uint32_t kUsualPeriod = 16;
constexpr std::string_view kReasonPrefix = "smsp__pcsamp_warps_issue_stalled_";
// The same samples once more, where no other warp could issue either.
constexpr std::string_view kNotIssued = "_not_issued";

size_t buffer_bytes(uint32_t period) {
  constexpr size_t kUsual = 64 << 20;
  constexpr uint32_t kMostDoublings = 3;
  return kUsual << (period < kUsualPeriod ? std::min(kUsualPeriod - period, kMostDoublings) : 0);
}

std::string shown_function(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : "";
  std::free(text);
  return out;
}

}  // namespace

// CUPTI fills records that the caller has given room for each of their reasons.
class PcSampler::Buffer {
 public:
  explicit Buffer(size_t reasons)
      : stalls_(kPcsOfBuffer * reasons), records_(kPcsOfBuffer), data_{} {
    for (size_t i = 0; i < kPcsOfBuffer; ++i) {
      records_[i].size = sizeof(cupti::PcRecord);
      records_[i].stalls = stalls_.data() + i * reasons;
    }
    data_.size = sizeof data_;
    data_.most_pcs = kPcsOfBuffer;
    data_.records = records_.data();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  cupti::PcData& data() { return data_; }

 private:
  std::vector<cupti::StallCount> stalls_;
  std::vector<cupti::PcRecord> records_;
  cupti::PcData data_;
};

struct PcSampler::Context {
  void* context = nullptr;
  uint32_t device = 0;
  std::vector<std::string> reasons;      // by CUPTI's index; empty: not sampled
  std::vector<uint32_t> reason_indices;  // those that are sampled
  size_t reason_count = 0;               // of the room that a record needs
  std::unique_ptr<Buffer> own;           // CUPTI's to fill when sampling ends
  std::unique_ptr<Buffer> drained;
  bool busy = false, ended = false;
  bool launched = false;
  std::thread::id launcher;                // of the first launch
  std::unique_ptr<NewestAtExit> starting;  // during it
};

bool has_line_information(const void* cubin, size_t bytes) {
  const auto* at = static_cast<const char*>(cubin);
  Elf64_Ehdr head;
  if (bytes < sizeof head) return false;
  std::memcpy(&head, at, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize < sizeof(Elf64_Shdr) ||
      head.e_shoff > bytes || head.e_shstrndx >= head.e_shnum ||
      (bytes - head.e_shoff) / head.e_shentsize < head.e_shnum) {
    return false;
  }
  const auto section = [&](size_t index) {
    Elf64_Shdr found;
    std::memcpy(&found, at + head.e_shoff + index * head.e_shentsize, sizeof found);
    return found;
  };
  const Elf64_Shdr names = section(head.e_shstrndx);
  if (names.sh_offset > bytes || bytes - names.sh_offset < names.sh_size) return false;
  const std::string_view text(at + names.sh_offset, names.sh_size);
  for (size_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr found = section(i);
    constexpr std::string_view kLines = ".debug_line";
    if (found.sh_name < text.size() && found.sh_size > 0 &&
        text.substr(found.sh_name).starts_with(kLines)) {
      return true;
    }
  }
  return false;
}

std::string_view short_stall_reason(std::string_view name) {
  return name.starts_with(kReasonPrefix) ? name.substr(kReasonPrefix.size()) : name;
}

size_t PcSampler::KeyHash::operator()(const Key& key) const {
  uint64_t hash = key.cubin ^ key.pc * 0x9e3779b97f4a7c15u;
  hash ^= (uint64_t{key.function} << 32 | key.reason << 8 | key.device) * 0xff51afd7ed558ccdu;
  hash ^= hash >> 29;
  return static_cast<size_t>(hash * 0xc4ceb9fe1a85ec53u);
}

PcSampler::PcSampler(const cupti::PcSamplingApi& api, uint32_t period, Note note)
    : api_(api), period_(period != 0 ? period : kUsualPeriod), note_(std::move(note)) {
  if (api_.whole()) return;
  failed_ = true;
  note_("no PC samples: this CUPTI has no PC sampling; CUDA 12's and later have it");
}

PcSampler::~PcSampler() = default;

void PcSampler::fail(const char* what, int code) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    failed_ = true;
  }
  constexpr int kInsufficientPrivilege = 35;
  if (code == kInsufficientPrivilege) {
    note_(
        "no PC samples: the driver allows them to administrators only. Allow them: "
        "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
        "/etc/modprobe.d/nvidia-counters.conf, then reload the driver or reboot; in a container: "
        "--cap-add=SYS_ADMIN");
    return;
  }
  const char* text = nullptr;
  if (api_.GetResultString != nullptr) api_.GetResultString(code, &text);
  note_(std::string("no PC samples: ") + what + ": " + (text != nullptr ? text : "error") + " (" +
        std::to_string(code) + ")");
}

bool PcSampler::configure(Context& context) {
  size_t count = 0;
  cupti::PcReasonCount counted{};
  counted.size = sizeof counted;
  counted.context = context.context;
  counted.count = &count;
  if (const int code = api_.GetNumStallReasons(&counted); code != 0 || count > kMostReasons) {
    fail("cuptiPCSamplingGetNumStallReasons", code);
    return false;
  }
  std::vector<char> texts(count * cupti::kReasonNameSize, '\0');
  std::vector<char*> names(count);
  std::vector<uint32_t> indices(count, 0);
  for (size_t i = 0; i < count; ++i) names[i] = texts.data() + i * cupti::kReasonNameSize;
  cupti::PcReasons reasons{};
  reasons.size = sizeof reasons;
  reasons.context = context.context;
  reasons.count = count;
  reasons.indices = indices.data();
  reasons.names = names.data();
  if (const int code = api_.GetStallReasons(&reasons)) {
    fail("cuptiPCSamplingGetStallReasons", code);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name(names[i], strnlen(names[i], cupti::kReasonNameSize));
    if (indices[i] >= kMostReasons || name.ends_with(kNotIssued)) continue;
    if (context.reasons.size() <= indices[i]) context.reasons.resize(indices[i] + 1);
    context.reasons[indices[i]] = short_stall_reason(name);
    context.reason_indices.push_back(indices[i]);
  }
  context.own = std::make_unique<Buffer>(count);
  context.drained = std::make_unique<Buffer>(count);
  context.reason_count = count;

  std::vector<cupti::PcSetting> settings;
  const auto add = [&settings](cupti::PcAttribute type) -> cupti::PcSetting& {
    cupti::PcSetting& setting = settings.emplace_back();
    setting = {};
    setting.type = type;
    return setting;
  };
  add(cupti::kCollectionMode).number = cupti::kContinuous;
  cupti::PcSetting& wanted = add(cupti::kStallReasons);
  wanted.reasons.count = context.reason_indices.size();
  wanted.reasons.indices = context.reason_indices.data();
  add(cupti::kDataBuffer).buffer = &context.own->data();
  add(cupti::kSamplingPeriod).number = period_;
  add(cupti::kHardwareBufferSize).bytes = buffer_bytes(period_);
  cupti::PcConfigure config{};
  config.size = sizeof config;
  config.context = context.context;
  config.count = settings.size();
  config.settings = settings.data();
  if (const int code = api_.SetConfigurationAttribute(&config)) {
    fail("cuptiPCSamplingSetConfigurationAttribute", code);
    return false;
  }
  return true;
}

void PcSampler::context_created(void* context, uint32_t device) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_ || finished_) return;
    ++starting_;
  }
  {
    const NewestAtExit newest(at_exit_);
    open(context, device);
  }
  const std::lock_guard lock(mutex_);
  --starting_;
  released_.notify_all();
}

void PcSampler::open(void* context, uint32_t device) {
  cupti::PcContext enable{sizeof(cupti::PcContext), nullptr, context};
  if (const int code = api_.Enable(&enable)) return fail("cuptiPCSamplingEnable", code);
  auto made = std::make_unique<Context>();
  made->context = context;
  made->device = device;
  made->ended = !configure(*made);
  if (made->ended) api_.Disable(&enable);
  const std::lock_guard lock(mutex_);
  contexts_.push_back(std::move(made));
}

void PcSampler::launch_begins(void* which) {
  const std::lock_guard lock(mutex_);
  if (failed_ || finished_) return;
  for (const auto& context : contexts_) {
    if (context->context != which || context->launched || context->starting) continue;
    ++starting_;
    context->launcher = std::this_thread::get_id();
    context->starting = std::make_unique<NewestAtExit>(at_exit_);
  }
}

bool PcSampler::launch_ended(void* which) {
  std::unique_ptr<NewestAtExit> newest;  // gone after the lock
  const std::lock_guard lock(mutex_);
  for (const auto& context : contexts_) {
    if (context->context != which || context->launcher != std::this_thread::get_id() ||
        !context->starting)
      continue;
    newest = std::move(context->starting);
    context->launched = true;
    --starting_;
    released_.notify_all();
  }
  return std::ranges::all_of(
      contexts_, [](const auto& context) { return context->launched || context->ended; });
}

// Waits until no other thread asks CUPTI for this context's samples; not for ever, because that
// thread may wait for a lock which CUPTI holds around this one.
bool PcSampler::claim(Context& context, std::unique_lock<std::mutex>& lock) {
  if (!released_.wait_for(lock, kLongestClaim, [&] { return !context.busy; })) return false;
  context.busy = true;
  return true;
}

void PcSampler::release(Context& context) {
  const std::lock_guard lock(mutex_);
  context.busy = false;
  released_.notify_all();
}

void PcSampler::take(const cupti::PcData& data, Context& context) {
  const std::lock_guard lock(mutex_);
  samples_ += data.samples;
  dropped_ += data.dropped;
  other_ += data.other_samples;
  const size_t pcs = std::min(data.pcs, kPcsOfBuffer);
  for (size_t i = 0; i < pcs; ++i) {
    const cupti::PcRecord& record = data.records[i];
    const auto [function, is_new] = function_indices_.try_emplace(
        record.function != nullptr ? record.function : "?", functions_.size());
    if (is_new) functions_.push_back(function->first);
    for (size_t k = 0; k < std::min(record.stall_count, context.reason_count); ++k) {
      const cupti::StallCount& stall = record.stalls[k];
      if (stall.samples == 0 || stall.reason >= context.reasons.size()) continue;
      const std::string& name = context.reasons[stall.reason];
      if (name.empty()) continue;
      const auto [reason, is_new_reason] = reason_indices_.try_emplace(name, reasons_.size());
      if (is_new_reason) reasons_.push_back(name);
      const Key key{record.cubin_crc, record.pc, function->second, reason->second, context.device};
      if (counts_.size() < kMostCounts || counts_.contains(key)) {
        counts_[key] += stall.samples;
      } else {
        dropped_ += stall.samples;
      }
    }
  }
}

void PcSampler::take_all(Context& context) {
  for (int round = 0; round < kMostRounds; ++round) {
    cupti::PcData& data = context.drained->data();
    data.pcs = data.remaining = 0;
    data.samples = data.dropped = data.other_samples = 0;
    data.hardware_buffer_full = 0;
    cupti::PcGetData get{sizeof(cupti::PcGetData), nullptr, context.context, &data};
    const int code = api_.GetData(&get);
    if (code == cupti::kOutOfMemory || data.hardware_buffer_full != 0) {
      const std::lock_guard lock(mutex_);
      ++full_;
    }
    if (code != 0) {
      const std::lock_guard lock(mutex_);
      last_failure_ = code;
      return;
    }
    take(data, context);
    if (data.remaining == 0 || data.pcs == 0) return;
  }
}

void PcSampler::drain(uint64_t devices) {
  std::unique_lock lock(mutex_);
  // By index: callbacks may add to the list meanwhile.
  for (const auto& one : contexts_) {
    Context& context = *one;
    const bool has_run = context.device < 64 && (devices >> context.device & 1) != 0;
    if (!has_run || context.ended || context.busy) continue;
    context.busy = true;
    lock.unlock();
    take_all(context);
    lock.lock();
    context.busy = false;
    released_.notify_all();
  }
}

void PcSampler::end(Context& context) {
  take_all(context);
  cupti::PcContext disable{sizeof(cupti::PcContext), nullptr, context.context};
  if (api_.Disable(&disable) == 0) take(context.own->data(), context);
}

void PcSampler::context_ends(void* which) {
  std::unique_lock lock(mutex_);
  for (const auto& one : contexts_) {
    Context& context = *one;
    if (context.context != which || context.ended) continue;
    context.ended = true;
    if (!claim(context, lock)) return;
    lock.unlock();
    end(context);
    release(context);
    return;
  }
}

void PcSampler::finish() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  released_.wait_for(lock, kLongestClaim, [this] { return starting_ == 0; });
  if (finished_) return;
  finished_ = true;
  for (const auto& one : contexts_) {
    Context& context = *one;
    if (context.ended) continue;
    context.ended = true;
    if (!claim(context, lock)) continue;
    lock.unlock();
    end(context);
    lock.lock();
    context.busy = false;
    released_.notify_all();
  }
}

void PcSampler::module_loaded(const void* cubin, size_t bytes) {
  if (cubin == nullptr || api_.GetCubinCrc == nullptr || !has_line_information(cubin, bytes))
    return;
  cupti::CubinCrc crc{sizeof(cupti::CubinCrc), bytes, cubin, 0};
  if (api_.GetCubinCrc(&crc) != 0) return;
  const std::lock_guard lock(mutex_);
  if (failed_ || finished_ || cubins_.contains(crc.crc)) return;
  if (cubin_bytes_ + bytes > kMostCubinBytes) {
    lacks_cubins_ = true;
    return;
  }
  cubin_bytes_ += bytes;
  cubins_[crc.crc] = std::make_shared<const std::string>(static_cast<const char*>(cubin), bytes);
}

const PcSampler::FunctionText& PcSampler::function_text(uint32_t index, capture::ChunkWriter& out) {
  if (function_texts_.size() <= index) function_texts_.resize(index + 1);
  FunctionText& text = function_texts_[index];
  if (text.shown != 0) return text;
  std::string mangled;
  {
    const std::lock_guard lock(mutex_);
    mangled = functions_[index];
  }
  const std::string shown = shown_function(mangled);
  text.shown = out.text(shown.empty() ? mangled : shown);
  text.mangled = shown.empty() ? 0 : out.text(mangled);
  return text;
}

capture::TextId PcSampler::reason_text(uint32_t index, capture::ChunkWriter& out) {
  if (reason_texts_.size() <= index) reason_texts_.resize(index + 1, 0);
  if (reason_texts_[index] == 0) {
    const std::lock_guard lock(mutex_);
    reason_texts_[index] = out.text(reasons_[index]);
  }
  return reason_texts_[index];
}

PcSampler::Place PcSampler::place_of(const Key& key, capture::ChunkWriter& out) {
  const auto [known, is_new] = places_.try_emplace({key.cubin, key.function, key.pc});
  Place& place = known->second;
  if (!is_new || api_.GetSassToSourceCorrelation == nullptr) return place;
  std::shared_ptr<const std::string> cubin;
  std::string function;
  {
    const std::lock_guard lock(mutex_);
    const auto found = cubins_.find(key.cubin);
    if (found == cubins_.end()) return place;
    cubin = found->second;
    function = functions_[key.function];
  }
  cupti::SassToSource ask{};
  ask.size = sizeof ask;
  ask.cubin = cubin->data();
  ask.bytes = cubin->size();
  ask.function = function.c_str();
  ask.pc = key.pc;
  if (api_.GetSassToSourceCorrelation(&ask) != 0) return place;
  const std::string file = ask.file != nullptr ? ask.file : "";
  const std::string directory = ask.directory != nullptr ? ask.directory : "";
  std::free(ask.file);
  std::free(ask.directory);
  if (file.empty() || ask.line == 0) return place;
  const bool is_whole = file[0] == '/' || directory.empty();
  place.file = out.text(is_whole ? file : directory + (directory.ends_with('/') ? "" : "/") + file);
  place.line = ask.line;
  return place;
}

void PcSampler::write(capture::ChunkWriter& out, uint64_t now, bool at_once) {
  if (last_write_ == 0) last_write_ = now;
  decltype(counts_) counts;
  {
    const std::lock_guard lock(mutex_);
    const bool is_due =
        at_once || now - last_write_ >= kWriteEvery || counts_.size() > kMostCounts / 2;
    if (!is_due || counts_.empty()) return;
    counts.swap(counts_);
  }
  last_write_ = now;
  std::vector<std::pair<Key, uint64_t>> rows(counts.begin(), counts.end());
  std::ranges::sort(rows, {}, [](const auto& row) {
    const Key& key = row.first;
    return std::tuple(key.device, key.function, key.cubin, key.pc, key.reason);
  });
  std::vector<capture::Sample> records;
  records.reserve(rows.size());
  for (const auto& [key, samples] : rows) {
    const FunctionText& function = function_text(key.function, out);
    const Place place = place_of(key, out);
    capture::Sample record = {};
    record.time = now;
    record.samples = samples;
    record.pc = key.pc;
    record.cubin = key.cubin;
    record.function = function.shown;
    record.mangled = function.mangled;
    record.reason = reason_text(key.reason, out);
    record.file = place.file;
    record.line = place.line;
    record.device = key.device;
    records.push_back(record);
  }
  out.write<capture::Sample>(capture::ChunkKind::kSamples, records);
  const std::lock_guard lock(mutex_);
  out.write_meta("pc_sampling\t" + std::to_string(period_) + "\t" + std::to_string(samples_) +
                 "\t" + std::to_string(dropped_) + "\t" + std::to_string(other_) + "\n");
}

void PcSampler::say_what_is_missing() {
  const std::lock_guard lock(mutex_);
  if (samples_ == 0 && !contexts_.empty() && !failed_) {
    const char* text = nullptr;
    if (last_failure_ != 0 && api_.GetResultString != nullptr)
      api_.GetResultString(last_failure_, &text);
    note_(last_failure_ == 0 ? std::string("no PC samples: CUPTI gave none")
                             : std::string("no PC samples: cuptiPCSamplingGetData: ") +
                                   (text != nullptr ? text : "error") + " (" +
                                   std::to_string(last_failure_) + ")");
    return;
  }
  if (full_ > 0) {
    note_("PC samples are incomplete: the hardware's buffer was full " + std::to_string(full_) +
          (full_ == 1 ? " time" : " times") + "; use a longer period, such as --pc-sampling=" +
          std::to_string(uint64_t{1} << std::min(period_ + 2, 31u)));
  }
  if (lacks_cubins_)
    note_("some PC samples have no source line: only 512 MB of code with line information is kept");
}

}  // namespace fathom::record
