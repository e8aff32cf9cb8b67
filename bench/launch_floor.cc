// The least that CUPTI costs a launch: kernel records in buffers that nobody reads. What `fathom
// record` costs beyond that is its own. An injection library:
//   g++ -O2 -shared -fPIC bench/launch_floor.cc -I$CUDA/include -L$CUDA/lib64 -lcupti -o
//   liblaunch_floor.so CUDA_INJECTION64_PATH=./liblaunch_floor.so ./launch_loop 20000
// LAUNCH_FLOOR changes one thing at a time; words with commas between:
//   calls      records of runtime calls too        subscribe  as a subscriber, without callbacks
//   zeroed     buffers are zero already            shared     one buffer for all threads
//   pinned     the GPU writes times to host memory kb=N       size of a buffer (2048)
//   none       no kernel records
#include <cupti.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

size_t buffer_bytes = 2048 << 10;
bool gives_zeroed = false;
unsigned long long bytes_seen = 0;

void request(uint8_t** buffer, size_t* size, size_t* most_records) {
  *size = buffer_bytes;
  *most_records = 0;
  *buffer = static_cast<uint8_t*>(gives_zeroed ? std::calloc(1, buffer_bytes)
                                               : std::aligned_alloc(8, buffer_bytes));
}

void discard(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  bytes_seen += valid;
  std::free(buffer);
}

void ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

template <typename Value>
void set(CUpti_ActivityAttribute attribute, Value value) {
  size_t size = sizeof value;
  cuptiActivitySetAttribute(attribute, &size, &value);
}

bool has(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

// A floor without records would be none: the number shows that there were some.
void end() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::fprintf(stderr, "launch_floor: %llu bytes of records\n", bytes_seen);
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* variable = std::getenv("LAUNCH_FLOOR");
  const std::string words = variable != nullptr ? variable : "";
  if (const size_t at = words.find("kb="); at != std::string::npos)
    buffer_bytes = std::strtoul(words.c_str() + at + 3, nullptr, 10) << 10;
  static CUpti_SubscriberHandle subscriber;
  if (has(words, "subscribe")) cuptiSubscribe(&subscriber, ignore, nullptr);
  gives_zeroed = has(words, "zeroed");
  if (gives_zeroed) set<uint8_t>(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
  if (has(words, "shared")) set<uint8_t>(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0);
  if (has(words, "pinned")) set<uint8_t>(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 1);
  cuptiActivityRegisterCallbacks(request, discard);
  if (!has(words, "none")) cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (has(words, "calls")) cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  std::atexit(end);
  return 1;
}
