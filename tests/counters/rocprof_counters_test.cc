// The counters of AMD's tools, in the forms of their versions.
#include "checks.h"
#include "counter_files.h"
#include "ingest/rocprof/counter_csv.h"

namespace fathom::test {
namespace {

namespace reader = rocprof::counters;

Result<CounterSet> read_counters(std::string_view text) {
  TextSource source(text);
  return reader::read(source, "x.csv");
}

constexpr std::string_view kLong =
    R"csv("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
1,1,"Agent 4",1,19396,19396,1000,16,"void add<float>(float*, int)",64,512,0,8,16,"SQ_WAVES",16384,100,350
1,1,"Agent 4",1,19396,19396,1000,16,"void add<float>(float*, int)",64,512,0,8,16,"TCC_HIT_sum",7.5,100,350
2,2,"Agent 4",1,19396,19396,64,19,"sub(float*)",64,0,0,8,16,"SQ_WAVES",1,400,410
)csv";

TEST(RocprofCounters, LongForm) {
  EXPECT_TRUE(reader::recognises(kLong));
  const Result<CounterSet> read = read_counters(kLong);
  ASSERT_TRUE(read.ok());
  const CounterSet& set = read.value();
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.origin().tool, "rocprofv3");
  const CounterRow& row = set.row(CounterRowId(0));
  EXPECT_EQ(set.text(row.kernel), "void add<float>(float*, int)");
  EXPECT_EQ(row.grid_blocks, 16);  // 15.6 groups, the last not full
  EXPECT_EQ(row.block_threads, 64);
  EXPECT_FALSE(row.grid);  // a total has no dimensions
  EXPECT_EQ(row.device, 4);
  EXPECT_EQ(row.dynamic_shared, 512);
  EXPECT_EQ(row.duration->count, 250);
  EXPECT_EQ(value_of(set, 0, "SQ_WAVES"), 16384);
  EXPECT_EQ(value_of(set, 0, "TCC_HIT_sum"), 7.5);
  EXPECT_EQ(value_of(set, 1, "SQ_WAVES"), 1);
}

TEST(RocprofCounters, OfTwoColumnsWithOneNameTheFirstCountsAndTheOtherIsSaid) {
  const auto read = [](std::string_view last) {
    return read_counters("Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_HIT[0]," +
                         std::string(last) + "\n0,2,1048576,256,\"copy(double*)\",30,10\n");
  };
  const Result<CounterSet> once = read("TCC_MISS[0]"), twice = read("TCC_HIT[0]");
  ASSERT_TRUE(once.ok() && twice.ok());
  EXPECT_EQ(once.value().diagnostics().count(Flaw::kRepeatedColumn), 0);
  EXPECT_EQ(twice.value().diagnostics().count(Flaw::kRepeatedColumn), 1);
  EXPECT_EQ(value_of(twice.value(), 0, "TCC_HIT[0]"), 30);
}

TEST(RocprofCounters, WideFormsOfVersionsOneAndTwo) {
  const std::string_view one =
      "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,"
      "sgpr,wave_size,sig,obj,SQ_WAVES,FETCH_SIZE,L2CacheHit,DispatchNs,BeginNs,EndNs,CompleteNs\n"
      "0,\"copy(double*, int) [clone "
      ".kd]\",2,0,0,11,11,4096,256,0,0,4,4,16,64,0x0,0x7f,16,8.5,40,1,"
      "1000,3000,4\n";
  EXPECT_TRUE(reader::recognises(one));
  const Result<CounterSet> first = read_counters(one);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value().origin().tool, "rocprof");
  EXPECT_EQ(first.value().row(CounterRowId(0)).grid_blocks, 16);
  EXPECT_EQ(first.value().row(CounterRowId(0)).registers, 8);
  EXPECT_EQ(first.value().row(CounterRowId(0)).duration->count, 2000);
  EXPECT_EQ(value_of(first.value(), 0, "FETCH_SIZE"), 8.5 * 1024);
  EXPECT_EQ(unit_of(first.value(), 0, "L2CacheHit"), "%");
  const std::string_view two =
      "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
      "Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,"
      "End_Timestamp,Correlation_ID,SQ_WAVES\n"
      "1,2,1,5,5,1024,256,0,0,4,4,16,64,\"k(int) (.kd)\",8.1097E+14,8.1097E+14,0,12\n";
  EXPECT_TRUE(reader::recognises(two));
  const Result<CounterSet> second = read_counters(two);
  ASSERT_TRUE(second.ok());
  // A rounded time is no time.
  EXPECT_FALSE(second.value().row(CounterRowId(0)).duration);
  EXPECT_FALSE(second.value().row(CounterRowId(0)).start);
  EXPECT_EQ(value_of(second.value(), 0, "SQ_WAVES"), 12);
}

TEST(RocprofCounters, ChannelsAreSummedUnlessTheSumIsThere) {
  const Result<CounterSet> read = read_counters(
      "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_HIT[0],TCC_MISS[0],Wave_Size_1,"
      "TCC_HIT[1],TCC_MISS[1],TCC_REQ[0],TCC_REQ_sum\n0,2,64,64,k,3,1,64,4,,5,50\n");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().origin().tool, "rocprof-compute");
  EXPECT_EQ(value_of(read.value(), 0, "TCC_HIT_sum"), 7);
  EXPECT_EQ(value_of(read.value(), 0, "TCC_MISS_sum"), 1);
  EXPECT_EQ(value_of(read.value(), 0, "TCC_REQ_sum"), 50);
  EXPECT_EQ(value_of(read.value(), 0, "TCC_HIT[1]"), 4);
  EXPECT_EQ(value_of(read.value(), 0, "Wave_Size_1"), std::nullopt);
}

TEST(RocprofCounters, ATraceIsNotCounters) {
  // kernel_trace.csv, and the timestamps of rocprof-compute: launches without a counter.
  EXPECT_FALSE(reader::recognises(
      R"csv("Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")csv"
      "\n"));
  EXPECT_FALSE(reader::recognises(
      "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Kernel_Name,"
      "Start_Timestamp,End_Timestamp,Correlation_ID\n"));
  EXPECT_FALSE(reader::recognises("Kernel_Name,Value\nk,1\n"));
  EXPECT_FALSE(reader::recognises(""));
}

TEST(RocprofCounters, DamagedRowsAreCounted) {
  const Result<CounterSet> read = read_counters(std::string(kLong) + "3,3,\"Agent\nx\n1,2,\"\n");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().size(), 2u);
  EXPECT_EQ(read.value().diagnostics().count(Flaw::kCounterRowDamaged), 3);
  const std::string text(kLong);
  for (size_t size = 0; size < text.size(); ++size) (void)read_counters(text.substr(0, size));
  EXPECT_FALSE(read_counters(text.substr(0, text.find('\n') + 1)).ok());
  EXPECT_FALSE(read_counters("gpu_model,gpu_arch\nMI300X,gfx942\n").ok());
  const Result<CounterSet> huge = read_counters(
      "Dispatch_ID,Grid_Size,Workgroup_Size,Kernel_Name,SQ_WAVES\n1,99999999999999999999,0,k,x\n");
  ASSERT_TRUE(huge.ok());
  EXPECT_FALSE(huge.value().row(CounterRowId(0)).grid_blocks);
  EXPECT_EQ(huge.value().diagnostics().count(Flaw::kCounterValueUnreadable), 1);
}

TEST(RocprofCounters, RealFiles) {
  const std::string collection = shared_file("rocprof/counter_collection.csv"),
                    compute = shared_file("rocprof/vcopy_MI300X_A1_pmc_perf.csv"),
                    system = shared_file("rocprof/vcopy_MI300X_A1_sysinfo.csv"),
                    trace = shared_file("rocprof/kernel_trace.csv");
  if (collection.empty()) GTEST_SKIP() << "skipped: no shared data";
  const Result<CounterSet> first = read_counters(read_file(collection));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value().size(), 7u);
  EXPECT_EQ(first.value().row(CounterRowId(0)).grid_blocks, 16384);
  EXPECT_EQ(value_of(first.value(), 0, "SQ_WAVES"), 16384);
  const Result<CounterSet> second = read_counters(read_file(compute));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.value().origin().tool, "rocprof-compute");
  EXPECT_EQ(second.value().row(CounterRowId(0)).grid_blocks, 4096);
  EXPECT_EQ(second.value().row(CounterRowId(0)).block_threads, 256);
  EXPECT_TRUE(second.value().diagnostics().all().empty());
  EXPECT_FALSE(reader::recognises(read_file(trace)));
  const auto facts = reader::read_sysinfo(read_file(system));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->gpu, "MI300X_A1");
  EXPECT_EQ(facts->architecture, "gfx942");
}

}  // namespace
}  // namespace fathom::test
