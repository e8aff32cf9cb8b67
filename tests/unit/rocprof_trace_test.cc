#include "checks.h"
#include "ingest/rocprof/perfetto.h"
#include "ingest/rocprof/rocpd.h"
#include "ingest/rocprof/trace_csv.h"
#include "ingest/rocprof/trace_json.h"
#include "made_database.h"
#include "small_trace.h"

namespace fathom {
namespace {

// One HIP launch with its kernel, one copy below a call of HSA that is not recorded, a range.
const std::string kJson = R"json({"rocprofiler-sdk-tool":[{
"buffer_records":{
 "kernel_dispatch":[{"kind":1,"operation":2,"thread_id":11,
   "correlation_id":{"internal":5,"external":0},"start_timestamp":2000,"end_timestamp":3000,
   "dispatch_info":{"agent_id":{"handle":900},"queue_id":{"handle":1},"kernel_id":8,
     "group_segment_size":64,"workgroup_size":{"x":256,"y":1,"z":1},
     "grid_size":{"x":1000,"y":2,"z":1}},"stream_id":{"handle":3}}],
 "hip_api":[{"kind":0,"operation":1,"thread_id":11,"correlation_id":{"internal":5,"external":0},
   "start_timestamp":1000,"end_timestamp":1100},
   {"kind":0,"operation":0,"thread_id":11,"correlation_id":{"internal":6,"external":0},
   "start_timestamp":1200,"end_timestamp":1300}],
 "memory_copy":[{"kind":2,"operation":1,"thread_id":11,
   "correlation_id":{"internal":7,"external":0,"ancestor":6},"start_timestamp":4000,
   "end_timestamp":4500,"dst_agent_id":{"handle":900},"src_agent_id":{"handle":899},"bytes":512}],
 "marker_api":[{"kind":3,"operation":0,"thread_id":11,"correlation_id":{"internal":9},
   "start_timestamp":900,"end_timestamp":5000}],
 "scratch_memory":[{"kind":4}], "rccl_api":[]},
"metadata":{"pid":10,"command":["/usr/bin/app","-x"]},
"agents":[{"id":{"handle":899},"type":1,"name":"CPU"},{"id":{"handle":900},"type":2,
 "logical_node_type_id":0,"cu_count":304,"name":"gfx942","product_name":"AMD Instinct MI300X",
 "mem_banks":[{"size_in_bytes":206141652992}]}],
"strings":{"buffer_records":[{"kind":"HIP_RUNTIME_API","operations":["hipMemcpy","hipLaunchKernel"]},
 {"kind":"KERNEL_DISPATCH","operations":[]},
 {"kind":"MEMORY_COPY","operations":["MEMORY_COPY_NONE","MEMORY_COPY_HOST_TO_DEVICE"]},
 {"kind":"MARKER_CORE_API","operations":["roctxRangePushA"]}],
 "marker_api":[{"key":9,"value":"step \"1\""}]},
"kernel_symbols":[{"kernel_id":8,"kernel_name":"_Zk.kd","formatted_kernel_name":"k(float*)",
 "arch_vgpr_count":24,"accum_vgpr_count":8}]}]})json";

void expect_small_trace(const EventStore& s) {
  const EventId kernel = test::find_event(s, "k(float*)");
  EXPECT_EQ(s.kind(kernel), EventKind::kKernel);
  EXPECT_EQ(s.start(kernel), Nanos{2000});
  EXPECT_EQ(s.duration(kernel), Nanos{1000});
  const GpuWork& work = s.gpu_work(kernel);
  // Work-items become workgroups; the last of them is partial.
  EXPECT_EQ(work.grid->x, 4u);
  EXPECT_EQ(work.block->x, 256u);
  EXPECT_EQ(work.registers, 32);
  EXPECT_EQ(work.shared_memory, 64);
  EXPECT_EQ(work.device, 0);
  const EventId copy = test::find_event(s, "Memcpy HtoD (Host -> Device)");
  EXPECT_EQ(s.gpu_work(copy).bytes, 512);
  EXPECT_EQ(s.kind(test::find_event(s, "step \"1\"")), EventKind::kAnnotation);
  const CallTree tree = build_call_tree(s);
  ASSERT_TRUE(tree.launch(kernel).valid());
  EXPECT_EQ(s.name(tree.event(tree.launch(kernel))), "hipLaunchKernel");
  ASSERT_TRUE(tree.launch(copy).valid());
  EXPECT_EQ(s.name(tree.event(tree.launch(copy))), "hipMemcpy");
}

TEST(RocprofJson, NamesMayComeBehindWhatTheyName) {
  const Result<EventStore> read = rocprof::read_trace_json(kJson, "r.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const EventStore& s = read.value();
  expect_small_trace(s);
  EXPECT_EQ(s.gpu_work(test::find_event(s, "k(float*)")).stream, 3);
  EXPECT_EQ(s.gpu_work(test::find_event(s, "k(float*)")).grid->y, 2u);
  EXPECT_EQ(s.metadata().source, "rocprofv3");
  ASSERT_EQ(s.metadata().gpus.size(), 1u);
  EXPECT_EQ(s.metadata().gpus[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(s.metadata().gpus[0].memory_bytes, 206141652992);
  EXPECT_EQ(s.diagnostics().count(Flaw::kUnreadTable), 1);  // scratch_memory
  EXPECT_EQ(s.diagnostics().count(Flaw::kTruncated), 0);
}

// Cut anywhere: never more than the whole, and no crash.
TEST(RocprofJson, ACutTextGivesWhatCameBefore) {
  size_t most = 0;
  for (size_t size = 0; size < kJson.size(); ++size) {
    const Result<EventStore> read = rocprof::read_trace_json(kJson.substr(0, size), "r.json");
    if (!read.ok()) continue;
    EXPECT_EQ(read.value().diagnostics().count(Flaw::kTruncated), 1) << size;
    EXPECT_GE(read.value().size(), most) << size;
    most = std::max(most, read.value().size());
  }
  EXPECT_EQ(most, 5u);
}

TEST(RocprofJson, MalformedValuesAreUnknown) {
  const Result<EventStore> read = rocprof::read_trace_json(
      R"({"rocprofiler-sdk-tool":[{"buffer_records":{"kernel_dispatch":[
      {"start_timestamp":"5","end_timestamp":[6],"dispatch_info":7},{"start_timestamp":{}},3,
      {"start_timestamp":1,"end_timestamp":2,"dispatch_info":{"workgroup_size":{"x":0},"grid_size":
      {"x":5}}}]},"agents":{},"strings":[],"kernel_symbols":[[]]},5]})",
      "r.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().size(), 2u);
  EXPECT_EQ(read.value().diagnostics().count(Flaw::kMissingTime), 2);
  EXPECT_FALSE(read.value().gpu_work(EventId(1)).grid.has_value());
}

TEST(RocprofCsv, EachTableIsATrace) {
  const std::string kernels =
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Kernel_Name\","
      "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"VGPR_Count\","
      "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
      "\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
      "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,9,\"f<a, \"\"b\"\">(int)\",7,100,250,512,40,64,1,1,128,"
      "3,1\n"
      "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,9,\"cut";
  ASSERT_TRUE(rocprof::is_trace_header(kernels));
  const Result<EventStore> read = rocprof::read_trace_csv(kernels, "kernel_trace.csv");
  ASSERT_TRUE(read.ok());
  const EventStore& s = read.value();
  ASSERT_EQ(s.size(), 1u);
  EXPECT_EQ(s.name(EventId(0)), "f<a, \"b\">(int)");
  EXPECT_EQ(s.gpu_work(EventId(0)).device, 4);
  EXPECT_EQ(s.gpu_work(EventId(0)).grid->x, 2u);
  EXPECT_EQ(s.gpu_work(EventId(0)).grid->y, 3u);
  EXPECT_EQ(s.gpu_work(EventId(0)).registers, 40);
  EXPECT_EQ(s.diagnostics().count(Flaw::kTruncated), 1);

  const Result<EventStore> api = rocprof::read_trace_csv(
      "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\","
      "\"End_Timestamp\"\n\"HIP_RUNTIME_API\",\"hipLaunchKernel\",1,2,3,10,20\n"
      "\"MARKER_CORE_API\",\"my range\",1,2,4,5,30\n\"HSA_CORE_API\",\"hsa_init\",1,2,5,6,7\n",
      "hip_api_trace.csv");
  ASSERT_TRUE(api.ok());
  EXPECT_EQ(api.value().kind(EventId(0)), EventKind::kRuntime);
  EXPECT_EQ(api.value().kind(EventId(1)), EventKind::kAnnotation);
  EXPECT_EQ(api.value().kind(EventId(2)), EventKind::kDriver);

  const Result<EventStore> copies = rocprof::read_trace_csv(
      "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\","
      "\"Start_Timestamp\",\"End_Timestamp\"\n\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\","
      "\"Agent 4\",\"Agent 0\",9,1,5\n",
      "memory_copy_trace.csv");
  ASSERT_TRUE(copies.ok());
  EXPECT_EQ(copies.value().name(EventId(0)), "Memcpy DtoH (Device -> Host)");
  EXPECT_EQ(copies.value().gpu_work(EventId(0)).device, 4);
}

TEST(RocprofCsv, TablesOfCountersAreNoTraces) {
  EXPECT_FALSE(rocprof::is_trace_header(
      "\"Correlation_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","
      "\"End_Timestamp\",\"Kind\""));
  EXPECT_FALSE(rocprof::is_trace_header("a,b,c"));
  EXPECT_FALSE(rocprof::is_trace_header(""));
  EXPECT_TRUE(rocprof::is_trace_header(
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"grd\",\"wgr\",\"BeginNs\",\"EndNs\""));
}

TEST(Rocpd, TablesCarryASuffix) {
  const auto t = [](std::string name) { return name + "_0123abcd_4567"; };
  const std::string bytes = test::database_bytes(
      "CREATE TABLE " + t("rocpd_metadata") + "(tag TEXT, value TEXT); INSERT INTO " +
      t("rocpd_metadata") + " VALUES('schema_version','3');CREATE TABLE " + t("rocpd_string") +
      "(id INTEGER, string TEXT); INSERT INTO " + t("rocpd_string") +
      " VALUES(1,'HIP_RUNTIME_API'),(2,'hipLaunchKernel'),(3,'hipMemcpy'),(4,"
      "'MEMORY_COPY_HOST_TO_DEVICE'),(5,'MARKER_CORE_API'),(6,'roctxRangePushA');CREATE TABLE " +
      t("rocpd_info_process") + "(id INTEGER, pid INTEGER, command TEXT); INSERT INTO " +
      t("rocpd_info_process") + " VALUES(1,10,'/usr/bin/app -x');CREATE TABLE " +
      t("rocpd_info_thread") + "(id INTEGER, pid INTEGER, tid INTEGER, name TEXT); INSERT INTO " +
      t("rocpd_info_thread") + " VALUES(1,1,11,'main');CREATE TABLE " + t("rocpd_info_agent") +
      "(id INTEGER, type TEXT, type_index INTEGER, product_name TEXT); INSERT INTO " +
      t("rocpd_info_agent") + " VALUES(1,'CPU',0,'c'),(2,'GPU',0,'AMD Instinct MI300X');" +
      "CREATE TABLE " + t("rocpd_info_kernel_symbol") +
      "(id INTEGER, display_name TEXT, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);" +
      "INSERT INTO " + t("rocpd_info_kernel_symbol") + " VALUES(8,'k(float*)',24,8);CREATE TABLE " +
      t("rocpd_event") +
      "(id INTEGER, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, extdata TEXT);"
      "INSERT INTO " +
      t("rocpd_event") +
      " VALUES(1,1,5,0,'{}'),(2,1,6,0,'{}'),(3,NULL,5,0,'{}'),(4,NULL,7,6,'{}')," +
      "(5,5,9,0,'{\"message\":\"step \\\"1\\\"\"}');CREATE TABLE " + t("rocpd_region") +
      "(start INTEGER, end INTEGER, name_id INTEGER, event_id INTEGER, pid INTEGER, tid INTEGER);" +
      "INSERT INTO " + t("rocpd_region") +
      " VALUES(1000,1100,2,1,1,1),(1200,1300,3,2,1,1),(900,5000,6,5,1,1);CREATE TABLE " +
      t("rocpd_kernel_dispatch") +
      "(start INTEGER, end INTEGER, kernel_id INTEGER, event_id INTEGER, pid INTEGER, "
      "agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, group_segment_size INTEGER, "
      "workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, "
      "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER); INSERT INTO " +
      t("rocpd_kernel_dispatch") +
      " VALUES(2000,3000,8,3,1,2,1,3,64,256,1,1,1000,2,1);CREATE TABLE " + t("rocpd_memory_copy") +
      "(start INTEGER, end INTEGER, name_id INTEGER, event_id INTEGER, pid INTEGER, "
      "dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER); INSERT INTO " +
      t("rocpd_memory_copy") + " VALUES(4000,4500,4,4,1,2,1,512);" +
      "CREATE VIEW rocpd_kernel_dispatch AS SELECT 1 AS start;");
  const Result<SqliteDatabase> database =
      SqliteDatabase::open_bytes(std::vector<char>(bytes.begin(), bytes.end()), "x.db");
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(rocprof::is_rocpd(database.value()));
  const Result<EventStore> read = rocprof::read_rocpd(database.value(), "x.db");
  ASSERT_TRUE(read.ok());
  expect_small_trace(read.value());
  EXPECT_EQ(read.value().size(), 5u);
  EXPECT_EQ(read.value().metadata().source, "rocprofv3, rocpd schema 3");
  EXPECT_EQ(read.value().metadata().gpus.front().name, "AMD Instinct MI300X");
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
std::string number(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
std::string bytes(uint32_t field, std::string_view text) {
  return varint(field << 3 | 2) + varint(text.size()) + std::string(text);
}
std::string argument(std::string_view name, uint64_t value) {
  return bytes(4, bytes(10, name) + number(3, value));
}
std::string packet(const std::string& inside) { return bytes(1, inside + number(10, 1)); }

// As rocprofv3 writes it: names and categories interned, times also in the annotations.
std::string perfetto_trace() {
  std::string t;
  t += packet(number(13, 1) + bytes(59, number(58, 64)) +
              bytes(6, bytes(1, number(1, 64) + number(2, 100))));
  t += packet(bytes(60, number(1, 70) + bytes(4, number(1, 10) + number(2, 11))));
  t += packet(bytes(60, number(1, 71) + bytes(2, "COMPUTE AGENT [0] STREAM [3] (GPU)")));
  t += packet(bytes(60, number(1, 72) + bytes(2, "COPY to AGENT [0] STREAM [3] (GPU)")));
  t += packet(bytes(12, bytes(1, number(1, 1) + bytes(2, "hip_api")) +
                            bytes(2, number(1, 1) + bytes(2, "hipLaunchKernel"))) +
              bytes(11, number(9, 1) + number(11, 70) + number(3, 1) + number(10, 1) +
                            argument("begin_ns", 1000) + argument("end_ns", 1100) +
                            argument("tid", 11) + argument("corr_id", 5)));
  t += packet(bytes(11, number(9, 2) + number(11, 70)));
  t += packet(bytes(11, number(9, 1) + number(11, 71) + bytes(22, "kernel_dispatch") +
                            bytes(23, "k(float*)") + argument("begin_ns", 2000) +
                            argument("end_ns", 3000) + argument("corr_id", 5) +
                            argument("workgroup_size", 256) + argument("grid_size", 1000) +
                            argument("group_segment_size", 64)));
  t += packet(bytes(11, number(9, 2) + number(11, 71)));
  t += packet(bytes(11, number(9, 1) + number(11, 72) + bytes(22, "memory_copy") +
                            bytes(23, "MEMORY_COPY_HOST_TO_DEVICE") + argument("begin_ns", 4000) +
                            argument("end_ns", 4500) + argument("copy_bytes", 512)));
  t += packet(bytes(11, number(9, 2) + number(11, 72)));
  // A slice that tells its time only by the packets: 100 + 800 to 900 + 4100.
  t += packet(number(8, 800) +
              bytes(11, number(9, 1) + number(11, 70) + bytes(22, "marker_api") + bytes(23, "r")));
  t += packet(number(8, 4100) + bytes(11, number(9, 2) + number(11, 70)));
  return t;
}

TEST(RocprofPerfetto, ReadsWhatRocprofWrites) {
  const std::string trace = perfetto_trace();
  ASSERT_TRUE(rocprof::is_perfetto(trace));
  const Result<EventStore> read = rocprof::read_perfetto(trace, "x.pftrace");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const EventStore& s = read.value();
  const EventId kernel = test::find_event(s, "k(float*)");
  EXPECT_EQ(s.start(kernel), Nanos{2000});
  EXPECT_EQ(s.gpu_work(kernel).grid->x, 4u);
  EXPECT_EQ(s.gpu_work(kernel).device, 0);
  EXPECT_EQ(s.gpu_work(kernel).stream, 3);
  EXPECT_EQ(s.gpu_work(test::find_event(s, "Memcpy HtoD (Host -> Device)")).bytes, 512);
  const EventId range = test::find_event(s, "r");
  EXPECT_EQ(s.kind(range), EventKind::kAnnotation);
  EXPECT_EQ(s.start(range), Nanos{900});
  EXPECT_EQ(s.duration(range), Nanos{4100});
  const CallTree tree = build_call_tree(s);
  ASSERT_TRUE(tree.launch(kernel).valid());
  EXPECT_EQ(s.name(tree.event(tree.launch(kernel))), "hipLaunchKernel");
}

TEST(RocprofPerfetto, CutOrTurnedOverItEnds) {
  const std::string whole = perfetto_trace();
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)rocprof::read_perfetto(whole.substr(0, i), "x");
    std::string turned = whole;
    turned[i] = static_cast<char>(~turned[i]);
    (void)rocprof::read_perfetto(turned, "x");
  }
  EXPECT_FALSE(rocprof::is_perfetto("\n{\"traceEvents\":[]}"));
  EXPECT_FALSE(rocprof::is_perfetto("\n"));
  EXPECT_FALSE(rocprof::is_perfetto(""));
}

}  // namespace
}  // namespace fathom
