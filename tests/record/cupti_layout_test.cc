// Our declarations of CUPTI's records and parameters against its own headers, where a toolkit is
// installed (CMake looks for it).
#include "checks.h"

#ifdef FATHOM_CUPTI_HEADERS

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "record/cupti_api.h"
#include "record/cupti_records.h"
#include "record/pc_sampling_api.h"
#include "record/pm_sampling_api.h"
#include "record/range_profiler_api.h"

namespace {

using namespace fathom::cupti;

#define SAME(ours, field, theirs, other)                            \
  static_assert(offsetof(ours, field) == offsetof(theirs, other) && \
                    sizeof(ours::field) == sizeof(theirs::other),   \
                #theirs "::" #other)
#define SAME_PLACE(ours, field, theirs, other) \
  static_assert(offsetof(ours, field) == offsetof(theirs, other), #theirs "::" #other)
#define SAME_SIZE(ours, last, theirs) \
  static_assert(FATHOM_CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #theirs)

using TheirKernel = CUpti_ActivityKernel10;
SAME(KernelRecord, registers, TheirKernel, registersPerThread);
SAME(KernelRecord, start, TheirKernel, start);
SAME(KernelRecord, end, TheirKernel, end);
SAME(KernelRecord, device, TheirKernel, deviceId);
SAME(KernelRecord, context, TheirKernel, contextId);
SAME(KernelRecord, stream, TheirKernel, streamId);
SAME_PLACE(KernelRecord, grid, TheirKernel, gridX);
SAME_PLACE(KernelRecord, block, TheirKernel, blockX);
SAME(KernelRecord, static_shared, TheirKernel, staticSharedMemory);
SAME(KernelRecord, dynamic_shared, TheirKernel, dynamicSharedMemory);
SAME(KernelRecord, local_per_thread, TheirKernel, localMemoryPerThread);
SAME(KernelRecord, correlation, TheirKernel, correlationId);
SAME(KernelRecord, name, TheirKernel, name);
SAME(KernelRecord, graph_node, TheirKernel, graphNodeId);
SAME(KernelRecord, graph, TheirKernel, graphId);
SAME_PLACE(KernelRecord, cluster, TheirKernel, clusterX);

SAME(CopyRecord, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME(CopyRecord, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(CopyRecord, start, CUpti_ActivityMemcpy6, start);
SAME(CopyRecord, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME(CopyRecord, graph, CUpti_ActivityMemcpy6, graphId);
SAME(PeerCopyRecord, target_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(PeerCopyRecord, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(PeerCopyRecord, graph, CUpti_ActivityMemcpyPtoP4, graphId);
SAME(SetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME(SetRecord, correlation, CUpti_ActivityMemset4, correlationId);
SAME(SetRecord, graph, CUpti_ActivityMemset4, graphId);
SAME(CallRecord, callback, CUpti_ActivityAPI, cbid);
SAME(CallRecord, thread, CUpti_ActivityAPI, threadId);
SAME(CallRecord, result, CUpti_ActivityAPI, returnValue);
SAME_PLACE(WaitRecord, type, CUpti_ActivitySynchronization2, type);
SAME(WaitRecord, event, CUpti_ActivitySynchronization2, cudaEventId);
SAME(MarkRecord, time, CUpti_ActivityMarker2, timestamp);
SAME_PLACE(MarkRecord, process, CUpti_ActivityMarker2, objectId);
SAME(MarkRecord, name, CUpti_ActivityMarker2, name);
SAME(MarkRecord, domain, CUpti_ActivityMarker2, domain);
SAME(GraphRecord, stream, CUpti_ActivityGraphTrace2, streamId);
SAME_PLACE(MemoryRecord, operation, CUpti_ActivityMemory4, memoryOperationType);
SAME(MemoryRecord, time, CUpti_ActivityMemory4, timestamp);
SAME(MemoryRecord, stream, CUpti_ActivityMemory4, streamId);
SAME(OverheadRecord, start, CUpti_ActivityOverhead3, start);
SAME_PLACE(OverheadRecord, process, CUpti_ActivityOverhead3, objectId);

constexpr bool same(uint32_t ours, uint32_t theirs) { return ours == theirs; }
static_assert(same(kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY) &&
              same(kMemset, CUPTI_ACTIVITY_KIND_MEMSET) &&
              same(kDriver, CUPTI_ACTIVITY_KIND_DRIVER) &&
              same(kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME) &&
              same(kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) &&
              same(kMarker, CUPTI_ACTIVITY_KIND_MARKER) &&
              same(kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD) &&
              same(kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2) &&
              same(kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) &&
              same(kMemory2, CUPTI_ACTIVITY_KIND_MEMORY2) &&
              same(kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
static_assert(kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
              kInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES &&
              kDriverDomain == CUPTI_CB_DOMAIN_DRIVER_API &&
              kRuntimeDomain == CUPTI_CB_DOMAIN_RUNTIME_API && kAutoRange == CUPTI_AutoRange &&
              kKernelReplay == CUPTI_KernelReplay &&
              kSystemThreadId == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);

SAME(CallbackData, params, CUpti_CallbackData, functionParams);
SAME(CallbackData, symbol, CUpti_CallbackData, symbolName);
SAME(CallbackData, context, CUpti_CallbackData, context);
SAME(CallbackData, context_id, CUpti_CallbackData, contextUid);
SAME(CallbackData, kept, CUpti_CallbackData, correlationData);
SAME(CallbackData, correlation, CUpti_CallbackData, correlationId);
SAME_SIZE(GetChipName, chip, CUpti_Device_GetChipName_Params);
SAME_SIZE(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params);
SAME_SIZE(HostAddMetrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME_SIZE(HostConfigSize, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_SIZE(HostConfig, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME_SIZE(HostPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME_SIZE(HostEvaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME_SIZE(RangeEnable, object, CUpti_RangeProfiler_Enable_Params);
SAME_SIZE(RangeObject, object, CUpti_RangeProfiler_Start_Params);
SAME_SIZE(RangeStop, all_passes, CUpti_RangeProfiler_Stop_Params);
SAME_SIZE(RangeDecode, dropped, CUpti_RangeProfiler_DecodeData_Params);
SAME_SIZE(RangeSetConfig, target_level, CUpti_RangeProfiler_SetConfig_Params);
SAME_SIZE(RangeDataSize, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);
SAME_SIZE(RangeDataInitialize, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
SAME_SIZE(RangeDataInfo, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);
SAME(RangeSetConfig, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME(RangeDataSize, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumRangeTreeNodes);

SAME_SIZE(PmEnable, object, CUpti_PmSampling_Enable_Params);
SAME_SIZE(PmObject, object, CUpti_PmSampling_Start_Params);
SAME_SIZE(PmObject, object, CUpti_PmSampling_Stop_Params);
SAME_SIZE(PmSetConfig, append, CUpti_PmSampling_SetConfig_Params);
SAME(PmSetConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(PmSetConfig, mode, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_SIZE(PmDecode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME(PmDecode, stopped_by, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_SIZE(PmAvailability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME_SIZE(PmDataSize, bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME(PmDataSize, most_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_SIZE(PmDataInitialize, image, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME_SIZE(PmDataInfo, completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME_SIZE(PmSampleInfo, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME(PmSampleInfo, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
static_assert(same(kPmSampling, CUPTI_PROFILER_TYPE_PM_SAMPLING) &&
              same(kEveryCycles, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL) &&
              same(kEveryNanoseconds, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL) &&
              same(kKeepOldest, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST) &&
              same(kImageIsFull, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL));
SAME(ResourceData, context, CUpti_ResourceData, context);
SAME(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(ModuleData, bytes, CUpti_ModuleResourceData, cubinSize);
SAME(ModuleData, cubin, CUpti_ModuleResourceData, pCubin);
SAME(StallCount, reason, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
SAME(StallCount, samples, CUpti_PCSamplingStallReason, samples);
static_assert(sizeof(StallCount) == sizeof(CUpti_PCSamplingStallReason));
SAME(PcRecord, cubin_crc, CUpti_PCSamplingPCData, cubinCrc);
SAME(PcRecord, pc, CUpti_PCSamplingPCData, pcOffset);
SAME(PcRecord, function, CUpti_PCSamplingPCData, functionName);
SAME(PcRecord, stall_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME(PcRecord, stalls, CUpti_PCSamplingPCData, stallReason);
static_assert(sizeof(PcRecord) == sizeof(CUpti_PCSamplingPCData));
SAME(PcData, most_pcs, CUpti_PCSamplingData, collectNumPcs);
SAME(PcData, samples, CUpti_PCSamplingData, totalSamples);
SAME(PcData, dropped, CUpti_PCSamplingData, droppedSamples);
SAME(PcData, pcs, CUpti_PCSamplingData, totalNumPcs);
SAME(PcData, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME(PcData, records, CUpti_PCSamplingData, pPcData);
SAME(PcData, other_samples, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME(PcData, hardware_buffer_full, CUpti_PCSamplingData, hardwareBufferFull);
static_assert(sizeof(PcData) == sizeof(CUpti_PCSamplingData));
SAME(PcSetting, type, CUpti_PCSamplingConfigurationInfo, attributeType);
SAME(PcSetting, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME_PLACE(PcSetting, data, CUpti_PCSamplingConfigurationInfo, attributeData);
static_assert(sizeof(PcSetting) == sizeof(CUpti_PCSamplingConfigurationInfo));
// The whole struct is its size: no padding at the end.
static_assert(sizeof(PcConfigure) == CUpti_PCSamplingConfigurationInfoParamsSize);
static_assert(sizeof(PcContext) == CUpti_PCSamplingEnableParamsSize);
static_assert(sizeof(PcContext) == CUpti_PCSamplingDisableParamsSize);
static_assert(sizeof(PcGetData) == CUpti_PCSamplingGetDataParamsSize);
static_assert(sizeof(PcReasonCount) == CUpti_PCSamplingGetNumStallReasonsParamsSize);
static_assert(sizeof(PcReasons) == CUpti_PCSamplingGetStallReasonsParamsSize);
static_assert(kReasonNameSize == CUPTI_STALL_REASON_STRING_SIZE);
static_assert(sizeof(SassToSource) == CUpti_GetSassToSourceCorrelationParamsSize);
SAME(SassToSource, line, CUpti_GetSassToSourceCorrelationParams, lineNumber);
SAME(SassToSource, pc, CUpti_GetSassToSourceCorrelationParams, pcOffset);
SAME(SassToSource, file, CUpti_GetSassToSourceCorrelationParams, fileName);
static_assert(sizeof(CubinCrc) == CUpti_GetCubinCrcParamsSize);
SAME(CubinCrc, crc, CUpti_GetCubinCrcParams, cubinCrc);
static_assert(same(kResourceDomain, CUPTI_CB_DOMAIN_RESOURCE) &&
              same(kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED) &&
              same(kContextEnds, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) &&
              same(kModuleLoaded, CUPTI_CBID_RESOURCE_MODULE_LOADED) &&
              same(kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY) &&
              same(kSamplingPeriod, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD) &&
              same(kStallReasons, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON) &&
              same(kHardwareBufferSize,
                   CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE) &&
              same(kCollectionMode, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE) &&
              same(kDataBuffer, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER) &&
              same(kContinuous, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS));

}  // namespace

TEST(CuptiLayout, IsThatOfTheHeaders) {}  // where this file compiles, it is

#else

TEST(CuptiLayout, IsThatOfTheHeaders) { GTEST_SKIP() << "no CUPTI headers: no CUDA toolkit here"; }

#endif
