#include "checks.h"
#include "ingest/nsys/export_names.h"
#include "ingest/nsys/reader.h"
#include "made_database.h"
#include "small_trace.h"

namespace fathom {
namespace {

EventStore read_export(const std::string& sql) {
  const std::string bytes = test::database_bytes(sql);
  const Result<SqliteDatabase> database =
      SqliteDatabase::open_bytes(std::vector<char>(bytes.begin(), bytes.end()), "x.sqlite");
  EXPECT_TRUE(database.ok());
  Result<EventStore> store = nsys::read_trace(database.value(), "x.sqlite");
  EXPECT_TRUE(store.ok()) << store.error().message;
  return store.take();
}

constexpr int64_t global_tid(int64_t pid, int64_t tid) {
  return (int64_t{1} << 48) | pid << 24 | tid;
}

const std::string kStrings =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1,'cudaLaunchKernel_v7000'),(2,'void add<float>(float*)'),"
    "(3,'add'),(4,'cuLaunchKernel'),(5,'step 1'),(6,'main');";

// Schema 3: what a current export has.
const std::string kNew =
    kStrings +
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION','2024.5.1.113'),"
    "('EXPORT_SCHEMA_VERSION','3.13.2');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000000000);"
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER,"
    " cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER);"
    "INSERT INTO TARGET_INFO_GPU VALUES(0,'GPU B',20,2,1,9,0),(1,'GPU A',10,1,0,8,0);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER);" +
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1000,1500,0," +
    std::to_string(global_tid(100, 101)) + ",7,1),(2000,2100,1," +
    std::to_string(global_tid(200, 201)) + ",7,4),(990,1510,67," +
    std::to_string(global_tid(100, 101)) +
    ",7,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,"
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER,"
    " gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1600,2600,0,1,13,7," +
    std::to_string(global_tid(100, 0)) + ",2,3,32,4,5,6,128,2,1,100,28),(3000,3500,1,1,13,7," +
    std::to_string(global_tid(200, 0)) +
    ",2,3,32,4,5,6,128,2,1,100,28);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,"
    " copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(4000,4100,0,13,8," +
    std::to_string(global_tid(100, 0)) +
    ",4096,1,1,2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, memKind INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(4200,4210,0,13,9,NULL,64,2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, deviceId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphExecId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(5000,6000,0,13,10,NULL,3);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER,"
    " deviceId INTEGER, streamId INTEGER, correlationId INTEGER, syncType INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(5000,6000,0,4294967295,11,4);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
    " textId INTEGER, globalTid INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES(900,4000,59,NULL,5," +
    std::to_string(global_tid(100, 101)) + "),(950,3000,60,'range',NULL," +
    std::to_string(global_tid(100, 101)) + "),(960,NULL,34,'mark',NULL," +
    std::to_string(global_tid(100, 101)) + "),(961,NULL,75,'domain',NULL," +
    std::to_string(global_tid(100, 101)) + "),(970,NULL,59,'open',NULL," +
    std::to_string(global_tid(100, 101)) +
    ");"
    "CREATE TABLE ThreadNames(nameId INTEGER, globalTid INTEGER);"
    "INSERT INTO ThreadNames VALUES(6," +
    std::to_string(global_tid(100, 101)) +
    ");"
    "CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);"
    "INSERT INTO PROCESSES VALUES(" +
    std::to_string(global_tid(100, 0)) +
    ",100,'app'),(5,5,'systemd');"
    "CREATE TABLE OSRT_API(start INTEGER, end INTEGER); INSERT INTO OSRT_API VALUES(1,2);"
    "CREATE TABLE SCHED_EVENTS(start INTEGER);";

TEST(Nsys, ReadsACurrentExport) {
  const EventStore s = read_export(kNew);
  EXPECT_EQ(s.metadata().source, "Nsight Systems 2024.5.1, schema 3.13.2");
  EXPECT_EQ(s.metadata().base_time, Nanos{1700000000000000000});
  ASSERT_EQ(s.metadata().gpus.size(), 2u);
  // By the number that kernels carry, not by the machine's.
  EXPECT_EQ(s.metadata().gpus[0].name, "GPU A");
  EXPECT_EQ(s.metadata().gpus[0].multiprocessors, 1);

  const EventId launch = test::find_event(s, "cudaLaunchKernel");
  EXPECT_EQ(s.kind(launch), EventKind::kRuntime);
  EXPECT_EQ(s.text(s.track(launch).pid), "100");
  EXPECT_EQ(s.text(s.track(launch).tid), "101");
  EXPECT_EQ(s.text(s.track(launch).thread_name), "main");
  EXPECT_EQ(s.text(s.track(launch).process_name), "app");
  EXPECT_EQ(s.kind(test::find_event(s, "cuLaunchKernel")), EventKind::kDriver);

  const EventId kernel = test::find_event(s, "void add<float>(float*)");
  EXPECT_EQ(s.start(kernel), Nanos{1600});
  EXPECT_EQ(s.duration(kernel), Nanos{1000});
  const GpuWork& work = s.gpu_work(kernel);
  EXPECT_EQ(work.device, 0);
  EXPECT_EQ(work.stream, 13);
  EXPECT_EQ(work.registers, 32);
  EXPECT_EQ(work.shared_memory, 128);
  EXPECT_EQ(work.grid->y, 5u);
  EXPECT_EQ(work.block->x, 128u);

  const EventId copy = test::find_event(s, "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(s.kind(copy), EventKind::kMemcpy);
  EXPECT_EQ(s.gpu_work(copy).bytes, 4096);
  EXPECT_EQ(s.kind(test::find_event(s, "Memset (Device)")), EventKind::kMemset);
  EXPECT_EQ(s.kind(test::find_event(s, "CUDA graph 3")), EventKind::kKernel);
  EXPECT_EQ(s.kind(test::find_event(s, "Context Sync")), EventKind::kOther);
  EXPECT_EQ(s.kind(test::find_event(s, "step 1")), EventKind::kAnnotation);
  EXPECT_EQ(s.track_id(test::find_event(s, "step 1")), s.track_id(launch));
  EXPECT_EQ(s.kind(test::find_event(s, "range")), EventKind::kAnnotation);
  EXPECT_EQ(s.kind(test::find_event(s, "mark")), EventKind::kInstant);
  EXPECT_EQ(s.diagnostics().count(Flaw::kUnreadTable), 1);      // OSRT_API; SCHED_EVENTS is empty
  EXPECT_EQ(s.diagnostics().count(Flaw::kMissingDuration), 1);  // the range that stays open
}

// Two processes use the same correlation id. The copy of a call with its stack is no second launch.
TEST(Nsys, LaunchesAreLinkedWithinTheirProcess) {
  Trace trace{"x.sqlite", read_export(kNew), {}, false};
  trace.tree = build_call_tree(trace.store);
  EXPECT_EQ(trace.tree.diagnostics().count(Flaw::kAmbiguousCorrelation), 0);
  size_t linked = 0;
  for (size_t i = 0; i < trace.store.size(); ++i) {
    const EventId e(i);
    if (trace.store.kind(e) != EventKind::kKernel || !trace.tree.launch(e).valid()) continue;
    ++linked;
    EXPECT_EQ(trace.store.name(trace.tree.event(trace.tree.launch(e))),
              trace.store.gpu_work(e).device == 0 ? "cudaLaunchKernel" : "cuLaunchKernel");
  }
  EXPECT_EQ(linked, 2u);
}

// Schema 1 and 2: names as texts, no eventType, no class, no process of the work.
TEST(Nsys, ReadsAnOldExportWithColumnsAndTablesMissing) {
  const EventStore s = read_export(
      kStrings +
      "CREATE TABLE EXPORT_META_DATA(name TEXT, value TEXT);"
      "INSERT INTO EXPORT_META_DATA VALUES('EXPORT_PRODUCT_VERSION','2020.3.2');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER,"
      " globalTid INTEGER, nameId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10,20,3," +
      std::to_string(global_tid(1, 1)) +
      ",1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, correlationId INTEGER,"
      " name TEXT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30,40,3,'k');"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, text TEXT);"
      "INSERT INTO NVTX_EVENTS VALUES(1,50,'all'),(2,NULL,'moment');");
  EXPECT_EQ(s.metadata().source, "Nsight Systems 2020.3.2");
  const EventId kernel = test::find_event(s, "k");
  EXPECT_FALSE(s.gpu_work(kernel).device.has_value());
  EXPECT_FALSE(s.gpu_work(kernel).grid.has_value());
  EXPECT_FALSE(s.gpu_work(kernel).registers.has_value());
  EXPECT_EQ(s.kind(test::find_event(s, "all")), EventKind::kAnnotation);
  EXPECT_EQ(s.kind(test::find_event(s, "moment")), EventKind::kInstant);
  const CallTree tree = build_call_tree(s);
  EXPECT_TRUE(tree.launch(kernel).valid());
}

TEST(Nsys, WrongTypesAndTimesAreCountedNotRead) {
  const EventStore s = read_export(
      kStrings +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, correlationId, demangledName,"
      " gridX, registersPerThread);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES('soon',2,0,1,2,1,1),(NULL,2,0,1,2,1,1),"
      "(10,5,0,1,2,-1,99999999999),(20,NULL,'zero',NULL,99,'x',1.5),(9223372036854775807,1,0,1,2,1,"
      "1),"
      "(30,40,0,1,x'ff',1,1);");
  EXPECT_EQ(s.size(), 3u);
  EXPECT_EQ(s.entries(), 6);
  EXPECT_EQ(s.diagnostics().count(Flaw::kMissingTime), 3);
  EXPECT_EQ(s.diagnostics().count(Flaw::kNegativeDuration), 1);
  EXPECT_EQ(s.diagnostics().count(Flaw::kMissingDuration), 1);
  EXPECT_FALSE(s.gpu_work(EventId(0)).registers.has_value());
  EXPECT_FALSE(s.gpu_work(EventId(0)).grid.has_value());
  EXPECT_EQ(s.name(EventId(1)), "kernel without a name");
}

TEST(Nsys, DamagedPagesGiveWhatCameBefore) {
  std::string sql = "PRAGMA page_size=512;" + kStrings +
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, "
                    "demangledName INTEGER); BEGIN;";
  for (int i = 0; i < 400; ++i) {
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" + std::to_string(100'000 + 10 * i) +
           "," + std::to_string(100'005 + 10 * i) + ",2);";
  }
  std::string bytes = test::database_bytes(sql + "COMMIT;");
  bytes.resize(bytes.size() * 3 / 4 / 512 * 512);
  const Result<SqliteDatabase> database =
      SqliteDatabase::open_bytes(std::vector<char>(bytes.begin(), bytes.end()), "x.sqlite");
  ASSERT_TRUE(database.ok()) << database.error().message;
  const Result<EventStore> store = nsys::read_trace(database.value(), "x.sqlite");
  ASSERT_TRUE(store.ok());
  EXPECT_TRUE(database.value().truncated());
  EXPECT_GE(store.value().diagnostics().count(Flaw::kDamagedTable), 1);
  EXPECT_GT(store.value().size(), 50u);
  EXPECT_LT(store.value().size(), 400u);
}

TEST(Nsys, NamesAreThoseOfOtherTraces) {
  EXPECT_EQ(nsys::without_version("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(nsys::without_version("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(nsys::without_version("cuda_versatile"), "cuda_versatile");
  EXPECT_EQ(nsys::without_version("_v1"), "_v1");
  EXPECT_EQ(nsys::copy_name(2, 2, 0), "Memcpy DtoH (Device -> Pageable)");
  EXPECT_EQ(nsys::copy_name(99, {}, {}), "Memcpy");
  EXPECT_EQ(nsys::release_of("2023.1.2.43-32377213v0"), "2023.1.2");
  EXPECT_EQ(nsys::release_of("2023.1"), "2023.1");
}

}  // namespace
}  // namespace fathom
