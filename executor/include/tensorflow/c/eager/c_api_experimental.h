// Parts of eager execution that TensorFlow has marked as experimental: executors, cancellation,
// attributes of ops as a whole, device memory, devices that a program implements itself,
// monitoring. The rules of eager/c_api.h hold here too.
#ifndef TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

// The initial value of a struct's member, which C does not have: a C program sets all members.
#ifdef __cplusplus
#define TFE_MEMBER_DEFAULT(value) = value
extern "C" {
#else
#define TFE_MEMBER_DEFAULT(value)
#endif

// Makes an op anew, for another op or function, as TFE_DeleteOp and TFE_NewOp would: it has no
// inputs and no attributes then. `raw_device_name` is as in TFE_OpSetDevice.
TF_CAPI_EXPORT extern void TFE_OpReset(TFE_Op* op_to_reset, const char* op_or_function_name,
                                       const char* raw_device_name, TF_Status* status);

// Between Enable and Disable the run metadata of the context (TFE_ContextExportRunMetadata) holds
// the graphs of the functions that are executed.
TF_CAPI_EXPORT extern void TFE_ContextEnableGraphCollection(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextDisableGraphCollection(TFE_Context* ctx);

// --- Monitoring ---
//
// Counters, gauges and samplers by name, of the whole process. An object has a cell for each value
// of its labels; a cell lives as long as its object. All functions are thread-safe. New returns
// NULL and TF_ALREADY_EXISTS if the process has an object of the name. Strings are copied.

// A counter. A negative `value` is ignored. 0 for NULL.
typedef struct TFE_MonitoringCounterCell TFE_MonitoringCounterCell;
TF_CAPI_EXPORT extern void TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringCounterCell* cell,
                                                                int64_t value);
TF_CAPI_EXPORT extern int64_t TFE_MonitoringCounterCellValue(TFE_MonitoringCounterCell* cell);

typedef struct TFE_MonitoringCounter0 TFE_MonitoringCounter0;
TF_CAPI_EXPORT extern TFE_MonitoringCounter0* TFE_MonitoringNewCounter0(const char* name,
                                                                        TF_Status* status,
                                                                        const char* description);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteCounter0(TFE_MonitoringCounter0* counter);
TF_CAPI_EXPORT extern TFE_MonitoringCounterCell* TFE_MonitoringGetCellCounter0(
    TFE_MonitoringCounter0* counter);

typedef struct TFE_MonitoringCounter1 TFE_MonitoringCounter1;
TF_CAPI_EXPORT extern TFE_MonitoringCounter1* TFE_MonitoringNewCounter1(const char* name,
                                                                        TF_Status* status,
                                                                        const char* description,
                                                                        const char* label1);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteCounter1(TFE_MonitoringCounter1* counter);
TF_CAPI_EXPORT extern TFE_MonitoringCounterCell* TFE_MonitoringGetCellCounter1(
    TFE_MonitoringCounter1* counter, const char* label1);

typedef struct TFE_MonitoringCounter2 TFE_MonitoringCounter2;
TF_CAPI_EXPORT extern TFE_MonitoringCounter2* TFE_MonitoringNewCounter2(const char* name,
                                                                        TF_Status* status,
                                                                        const char* description,
                                                                        const char* label1,
                                                                        const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteCounter2(TFE_MonitoringCounter2* counter);
TF_CAPI_EXPORT extern TFE_MonitoringCounterCell* TFE_MonitoringGetCellCounter2(
    TFE_MonitoringCounter2* counter, const char* label1, const char* label2);

// A gauge of integers.
typedef struct TFE_MonitoringIntGaugeCell TFE_MonitoringIntGaugeCell;
TF_CAPI_EXPORT extern void TFE_MonitoringIntGaugeCellSet(TFE_MonitoringIntGaugeCell* cell,
                                                         int64_t value);
TF_CAPI_EXPORT extern int64_t TFE_MonitoringIntGaugeCellValue(TFE_MonitoringIntGaugeCell* cell);

typedef struct TFE_MonitoringIntGauge0 TFE_MonitoringIntGauge0;
TF_CAPI_EXPORT extern TFE_MonitoringIntGauge0* TFE_MonitoringNewIntGauge0(const char* name,
                                                                          TF_Status* out_status,
                                                                          const char* description);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteIntGauge0(TFE_MonitoringIntGauge0* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringIntGaugeCell* TFE_MonitoringGetCellIntGauge0(
    TFE_MonitoringIntGauge0* gauge);

typedef struct TFE_MonitoringIntGauge1 TFE_MonitoringIntGauge1;
TF_CAPI_EXPORT extern TFE_MonitoringIntGauge1* TFE_MonitoringNewIntGauge1(const char* name,
                                                                          TF_Status* out_status,
                                                                          const char* description,
                                                                          const char* label1);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteIntGauge1(TFE_MonitoringIntGauge1* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringIntGaugeCell* TFE_MonitoringGetCellIntGauge1(
    TFE_MonitoringIntGauge1* gauge, const char* label1);

typedef struct TFE_MonitoringIntGauge2 TFE_MonitoringIntGauge2;
TF_CAPI_EXPORT extern TFE_MonitoringIntGauge2* TFE_MonitoringNewIntGauge2(const char* name,
                                                                          TF_Status* out_status,
                                                                          const char* description,
                                                                          const char* label1,
                                                                          const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteIntGauge2(TFE_MonitoringIntGauge2* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringIntGaugeCell* TFE_MonitoringGetCellIntGauge2(
    TFE_MonitoringIntGauge2* gauge, const char* label1, const char* label2);

// A gauge of strings. CellValue fills `buf`, whose data must be NULL, with the text, without a NUL.
typedef struct TFE_MonitoringStringGaugeCell TFE_MonitoringStringGaugeCell;
TF_CAPI_EXPORT extern void TFE_MonitoringStringGaugeCellSet(TFE_MonitoringStringGaugeCell* cell,
                                                            const char* value);
TF_CAPI_EXPORT extern void TFE_MonitoringStringGaugeCellValue(TFE_MonitoringStringGaugeCell* cell,
                                                              TF_Buffer* buf);

typedef struct TFE_MonitoringStringGauge0 TFE_MonitoringStringGauge0;
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge0* TFE_MonitoringNewStringGauge0(
    const char* name, TF_Status* out_status, const char* description);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge0(TFE_MonitoringStringGauge0* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge0(
    TFE_MonitoringStringGauge0* gauge);

typedef struct TFE_MonitoringStringGauge1 TFE_MonitoringStringGauge1;
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge1* TFE_MonitoringNewStringGauge1(
    const char* name, TF_Status* out_status, const char* description, const char* label1);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge1(TFE_MonitoringStringGauge1* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge1(
    TFE_MonitoringStringGauge1* gauge, const char* label1);

typedef struct TFE_MonitoringStringGauge2 TFE_MonitoringStringGauge2;
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge2* TFE_MonitoringNewStringGauge2(
    const char* name, TF_Status* out_status, const char* description, const char* label1,
    const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge2(TFE_MonitoringStringGauge2* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge2(
    TFE_MonitoringStringGauge2* gauge, const char* label1, const char* label2);

typedef struct TFE_MonitoringStringGauge3 TFE_MonitoringStringGauge3;
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge3* TFE_MonitoringNewStringGauge3(
    const char* name, TF_Status* out_status, const char* description, const char* label1,
    const char* label2, const char* label3);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge3(TFE_MonitoringStringGauge3* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge3(
    TFE_MonitoringStringGauge3* gauge, const char* label1, const char* label2, const char* label3);

typedef struct TFE_MonitoringStringGauge4 TFE_MonitoringStringGauge4;
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge4* TFE_MonitoringNewStringGauge4(
    const char* name, TF_Status* out_status, const char* description, const char* label1,
    const char* label2, const char* label3, const char* label4);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge4(TFE_MonitoringStringGauge4* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge4(
    TFE_MonitoringStringGauge4* gauge, const char* label1, const char* label2, const char* label3,
    const char* label4);

// A gauge of truth values.
typedef struct TFE_MonitoringBoolGaugeCell TFE_MonitoringBoolGaugeCell;
TF_CAPI_EXPORT extern void TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringBoolGaugeCell* cell,
                                                          bool value);
TF_CAPI_EXPORT extern bool TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringBoolGaugeCell* cell);

typedef struct TFE_MonitoringBoolGauge0 TFE_MonitoringBoolGauge0;
TF_CAPI_EXPORT extern TFE_MonitoringBoolGauge0* TFE_MonitoringNewBoolGauge0(
    const char* name, TF_Status* out_status, const char* description);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBoolGauge0(TFE_MonitoringBoolGauge0* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGaugeCell* TFE_MonitoringGetCellBoolGauge0(
    TFE_MonitoringBoolGauge0* gauge);

typedef struct TFE_MonitoringBoolGauge1 TFE_MonitoringBoolGauge1;
TF_CAPI_EXPORT extern TFE_MonitoringBoolGauge1* TFE_MonitoringNewBoolGauge1(const char* name,
                                                                            TF_Status* out_status,
                                                                            const char* description,
                                                                            const char* label1);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBoolGauge1(TFE_MonitoringBoolGauge1* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGaugeCell* TFE_MonitoringGetCellBoolGauge1(
    TFE_MonitoringBoolGauge1* gauge, const char* label1);

typedef struct TFE_MonitoringBoolGauge2 TFE_MonitoringBoolGauge2;
TF_CAPI_EXPORT extern TFE_MonitoringBoolGauge2* TFE_MonitoringNewBoolGauge2(const char* name,
                                                                            TF_Status* out_status,
                                                                            const char* description,
                                                                            const char* label1,
                                                                            const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBoolGauge2(TFE_MonitoringBoolGauge2* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGaugeCell* TFE_MonitoringGetCellBoolGauge2(
    TFE_MonitoringBoolGauge2* gauge, const char* label1, const char* label2);

// A sampler, which counts values by buckets. CellValue fills `buf`, whose data must be NULL, with a
// serialized HistogramProto.
typedef struct TFE_MonitoringSamplerCell TFE_MonitoringSamplerCell;
TF_CAPI_EXPORT extern void TFE_MonitoringSamplerCellAdd(TFE_MonitoringSamplerCell* cell,
                                                        double value);
TF_CAPI_EXPORT extern void TFE_MonitoringSamplerCellValue(TFE_MonitoringSamplerCell* cell,
                                                          TF_Buffer* buf);

// The limits of buckets: `bucket_count` of them at scale, scale * growth_factor, and so on. The
// sampler copies them.
typedef struct TFE_MonitoringBuckets TFE_MonitoringBuckets;
TF_CAPI_EXPORT extern TFE_MonitoringBuckets* TFE_MonitoringNewExponentialBuckets(
    double scale, double growth_factor, int bucket_count);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBuckets(TFE_MonitoringBuckets* buckets);

typedef struct TFE_MonitoringSampler0 TFE_MonitoringSampler0;
TF_CAPI_EXPORT extern TFE_MonitoringSampler0* TFE_MonitoringNewSampler0(
    const char* name, TFE_MonitoringBuckets* buckets, TF_Status* out_status,
    const char* description);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteSampler0(TFE_MonitoringSampler0* sampler);
TF_CAPI_EXPORT extern TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler0(
    TFE_MonitoringSampler0* sampler);

typedef struct TFE_MonitoringSampler1 TFE_MonitoringSampler1;
TF_CAPI_EXPORT extern TFE_MonitoringSampler1* TFE_MonitoringNewSampler1(
    const char* name, TFE_MonitoringBuckets* buckets, TF_Status* out_status,
    const char* description, const char* label1);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteSampler1(TFE_MonitoringSampler1* sampler);
TF_CAPI_EXPORT extern TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler1(
    TFE_MonitoringSampler1* sampler, const char* label1);

typedef struct TFE_MonitoringSampler2 TFE_MonitoringSampler2;
TF_CAPI_EXPORT extern TFE_MonitoringSampler2* TFE_MonitoringNewSampler2(
    const char* name, TFE_MonitoringBuckets* buckets, TF_Status* out_status,
    const char* description, const char* label1, const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteSampler2(TFE_MonitoringSampler2* sampler);
TF_CAPI_EXPORT extern TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler2(
    TFE_MonitoringSampler2* sampler, const char* label1, const char* label2);

// --- Contexts ---

// Would choose another runtime. TensorFlow ignores it too.
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetTfrt(TFE_ContextOptions* options, bool use_tfrt);
// A number that no other context of the process has; 0 for NULL.
TF_CAPI_EXPORT extern uint64_t TFE_GetContextId(TFE_Context* ctx);

// --- Cancellation ---

// Ops that have the manager (TFE_OpSetCancellationManager) fail with TF_CANCELLED once it is
// cancelled: those that have not begun do not begin, and calls of functions end between two nodes.
// Thread-safe.
typedef struct TFE_CancellationManager TFE_CancellationManager;
typedef int64_t TFE_CancellationToken;
typedef struct TFE_CancelCallback {
  void (*callback)(void* context);
  void* context;
} TFE_CancelCallback;
TF_CAPI_EXPORT extern TFE_CancellationManager* TFE_NewCancellationManager(void);
// Ops that use the manager keep it until they have ended.
TF_CAPI_EXPORT extern void TFE_DeleteCancellationManager(TFE_CancellationManager* manager);
// Cancels: calls the callbacks, on this thread, once.
TF_CAPI_EXPORT extern void TFE_CancellationManagerStartCancel(TFE_CancellationManager* manager);
// Whether all callbacks have returned; whether they are being called.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager* manager);
TF_CAPI_EXPORT extern bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager* manager);
// A token for one callback.
TF_CAPI_EXPORT extern TFE_CancellationToken TFE_CancellationManagerGetToken(
    TFE_CancellationManager* manager);
// Registers a callback, copied, under a token of this manager. False, and nothing is registered, if
// the manager is cancelled already or the arguments are invalid.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerRegisterCallback(
    TFE_CancellationManager* manager, TFE_CancellationToken token,
    const TFE_CancelCallback* c_callback, const char* callback_name);
// Takes a callback back. False if it was called, or none is registered. While callbacks are being
// called, Deregister waits for the end of that, TryDeregister does not.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerDeregisterCallback(
    TFE_CancellationManager* manager, TFE_CancellationToken token);
TF_CAPI_EXPORT extern bool TFE_CancellationManagerTryDeregisterCallback(
    TFE_CancellationManager* manager, TFE_CancellationToken token);
TF_CAPI_EXPORT extern void TFE_OpSetCancellationManager(
    TFE_Op* op, TFE_CancellationManager* cancellation_manager, TF_Status* status);

// --- Executors ---

// Executes ops in the order of their calls: each within its call, or, if `is_async`, on a thread of
// the executor's own. With `in_flight_nodes_limit` above 0, a call waits while so many ops are
// queued. `enable_streaming_enqueue` concerns other processes: ignored.
//
// After an op of an asynchronous executor has failed, the queued ones are discarded and later ones
// fail, all with its error, until TFE_ExecutorClearError. Handles that a failed or discarded op was
// to fill keep the error.
typedef struct TFE_Executor TFE_Executor;
TF_CAPI_EXPORT extern TFE_Executor* TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue,
                                                    int in_flight_nodes_limit);
// Does not wait for queued ops, which are executed.
TF_CAPI_EXPORT extern void TFE_DeleteExecutor(TFE_Executor* executor);
TF_CAPI_EXPORT extern bool TFE_ExecutorIsAsync(TFE_Executor* executor);
// Waits for the ops that are queued now; returns the error of the executor.
TF_CAPI_EXPORT extern void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor,
                                                              TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ExecutorClearError(TFE_Executor* executor);
// Makes this the executor of the calling thread in this context; NULL: that of the context again.
TF_CAPI_EXPORT extern void TFE_ContextSetExecutorForThread(TFE_Context* ctx,
                                                           TFE_Executor* executor);
// A new handle on the executor of the calling thread, which the caller deletes.
TF_CAPI_EXPORT extern TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx);
// Waits for all executors of the context, and returns the first error.
TF_CAPI_EXPORT extern void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status);

// --- Other processes. TF_UNIMPLEMENTED: Tenon is one process ---

TF_CAPI_EXPORT extern void TFE_ContextUpdateServerDef(TFE_Context* ctx, int keep_alive_secs,
                                                      const void* proto, size_t proto_len,
                                                      TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextUpdateServerDefWithTimeout(
    TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len,
    int64_t init_timeout_in_ms, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextSetServerDefWithTimeout(TFE_Context* ctx, int keep_alive_secs,
                                                              const void* proto, size_t proto_len,
                                                              int64_t init_timeout_in_ms,
                                                              TF_Status* status,
                                                              bool clear_existing_contexts);
TF_CAPI_EXPORT extern void TFE_ContextSetServerDefWithTimeoutAndRetries(
    TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len,
    int64_t init_timeout_in_ms, int retries, TF_Status* status, bool clear_existing_contexts);
TF_CAPI_EXPORT extern bool TFE_ContextCheckAlive(TFE_Context* ctx, const char* worker_name,
                                                 TF_Status* status);
TF_CAPI_EXPORT extern void TFE_InsertConfigKeyValue(TFE_Context* ctx, const char* key,
                                                    const char* value, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_GetConfigKeyValue(TFE_Context* ctx, const char* key,
                                                 int64_t timeout_in_ms, TF_Buffer* value_buf,
                                                 TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteConfigKeyValue(TFE_Context* ctx, const char* key,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ReportErrorToCluster(TFE_Context* ctx, int error_code,
                                                    const char* error_message, TF_Status* status);
#ifdef __cplusplus
TF_CAPI_EXPORT extern void TFE_GetTaskStates(TFE_Context* ctx, const TF_Buffer& tasks, void* states,
                                             TF_Status* status);
#else
TF_CAPI_EXPORT extern void TFE_GetTaskStates(TFE_Context* ctx, const TF_Buffer* tasks, void* states,
                                             TF_Status* status);
#endif
TF_CAPI_EXPORT extern void TFE_WaitAtBarrier(TFE_Context* ctx, const char* barrier_id,
                                             int64_t barrier_timeout_in_ms, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_InitializeLocalOnlyContext(TFE_Context* ctx, int keep_alive_secs,
                                                          const void* proto, size_t proto_len,
                                                          TF_Status* status);

// The job, replica and task of this process: fills `buf`, whose data must be NULL, with
// "/job:localhost/replica:0/task:0".
TF_CAPI_EXPORT extern void TFE_HostAddressSpace(TFE_Context* ctx, TF_Buffer* buf);

// --- Memory of tensors ---

// The address of the tensor in the memory of its device, and the size of that memory in bytes. Wait
// for the value. The address is valid until the handle is deleted. Only for types of plain
// elements: TF_INVALID_ARGUMENT for strings, resources and variants. On a custom device the address
// is the `data` of TFE_NewCustomDeviceTensorHandle, and there is no size.
TF_CAPI_EXPORT extern void* TFE_TensorHandleDevicePointer(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle* h,
                                                              TF_Status* status);

// A handle on a tensor at `data`, `len` bytes in the memory of the device. Takes the memory over,
// and calls `deallocator` when nobody uses it any more, also after an error. `deallocator` may be
// NULL.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromDeviceMemory(
    TFE_Context* ctx, const char* device_name, TF_DataType dtype, const int64_t* dims, int num_dims,
    void* data, size_t len, void (*deallocator)(void* data, size_t len, void* arg),
    void* deallocator_arg, TF_Status* status);

// --- Attributes of an op as a whole ---

typedef struct TFE_OpAttrs TFE_OpAttrs;
// A view of the attributes, valid as long as `op`.
TF_CAPI_EXPORT extern const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op* op);
// Sets the attributes that `op` does not have yet.
TF_CAPI_EXPORT extern void TFE_OpAddAttrs(TFE_Op* op, const TFE_OpAttrs* attrs);
// Fills `buf`, whose data must be NULL, with a serialized NameAttrList: the op's name, and its
// attributes.
TF_CAPI_EXPORT extern void TFE_OpAttrsSerialize(const TFE_OpAttrs* attrs, TF_Buffer* buf,
                                                TF_Status* status);
// Sets an attribute to a serialized AttrValue. TF_INVALID_ARGUMENT if the bytes do not parse.
TF_CAPI_EXPORT extern void TFE_OpSetAttrValueProto(const TFE_Op* op, const char* attr_name,
                                                   const void* proto, size_t proto_len,
                                                   TF_Status* status);

// --- Custom devices: a program's own, by callbacks ---

#define TFE_CUSTOM_DEVICE_VERSION 4

// `device_info` of each callback is that of TFE_RegisterCustomDevice. A callback reports an error
// by its status; a result is then ignored. All but the last two must be set.
typedef struct TFE_CustomDevice {
  int version TFE_MEMBER_DEFAULT(TFE_CUSTOM_DEVICE_VERSION);
  // Copy a tensor to this device, and from it to another. The caller owns the result.
  TFE_TensorHandle* (*copy_tensor_to_device)(TFE_Context* context, TFE_TensorHandle* tensor,
                                             TF_Status* status, void* device_info);
  TFE_TensorHandle* (*copy_tensor_from_device)(TFE_Context* context, TFE_TensorHandle* tensor,
                                               const char* target_device_name, TF_Status* status,
                                               void* device_info);
  // Executes an op that asks for this device, or that has an input on it. `op` may be read, and is
  // valid during the call. `*num_outputs` is the room in `outputs`; the callback sets it.
  void (*execute)(const TFE_Op* op, int* num_outputs, TFE_TensorHandle** outputs, TF_Status* s,
                  void* device_info);
  // The last call of the device.
  void (*delete_device)(void* device_info);
  // Packs handles, one of which is on this device. NULL: that is TF_UNIMPLEMENTED.
  TFE_TensorHandle* (*pack)(TFE_Context* context, TFE_TensorHandle** handles, int num_handles,
                            TF_Status* s, void* device_info)TFE_MEMBER_DEFAULT(nullptr);
  // Whether an op with inputs on this device and on ordinary ones is to run here. NULL: it is.
  bool (*shall_pin_to_this_device)(const TFE_Op* op, TF_Status* s) TFE_MEMBER_DEFAULT(nullptr);
} TFE_CustomDevice;

// Adds the device to the context. The name is a full one:
// "/job:localhost/replica:0/task:0/device:CUSTOM:0". After an error delete_device is called too.
// TF_ALREADY_EXISTS if a device has the name, TF_INVALID_ARGUMENT for another form of name or
// version.
TF_CAPI_EXPORT extern void TFE_RegisterCustomDevice(TFE_Context* ctx, TFE_CustomDevice device,
                                                    const char* device_name, void* device_info,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern bool TFE_IsCustomDevice(TFE_Context* ctx, const char* device_name);

// What a custom device knows of a tensor. `summarize` may be NULL.
typedef struct TFE_CustomDeviceTensorHandleMethods {
  int version TFE_MEMBER_DEFAULT(TFE_CUSTOM_DEVICE_VERSION);
  int (*num_dims)(void* data, TF_Status* status);
  int64_t (*dim)(void* data, int dim_index, TF_Status* status);
  void (*deallocator)(void* data);
  // A new buffer with words for people, without shape and type; NULL after an error.
  TF_Buffer* (*summarize)(void* data, TF_Status* status)TFE_MEMBER_DEFAULT(nullptr);
} TFE_CustomDeviceTensorHandle;

// A handle on a tensor of a custom device, which takes `data` over: methods.deallocator frees it,
// also after an error.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewCustomDeviceTensorHandle(
    TFE_Context* ctx, const char* device_name, TF_DataType dtype, void* data,
    TFE_CustomDeviceTensorHandle methods, TF_Status* status);

// --- Functions ---

// Fills `buf`, whose data must be NULL, with the function's FunctionDef. TF_NOT_FOUND if the
// context has no such function.
TF_CAPI_EXPORT extern void TFE_ContextGetFunctionDef(TFE_Context* ctx, const char* function_name,
                                                     TF_Buffer* buf, TF_Status* status);
// Fills `buf` with a GraphDebugInfo: the places in a program where nodes of the function were made.
// It is empty, since a FunctionDef has no such places.
TF_CAPI_EXPORT extern void TFE_ContextGetGraphDebugInfo(TFE_Context* ctx, const char* function_name,
                                                        TF_Buffer* buf, TF_Status* status);

// The function, which the caller deletes with TF_DeleteFunction.
TF_CAPI_EXPORT extern TF_Function* TFE_ContextGetFunction(TFE_Context* ctx, const char* name,
                                                          TF_Status* status);

// --- Tensors ---

// A new host tensor with undefined elements, which the caller fills and deletes.
TF_CAPI_EXPORT extern TF_Tensor* TFE_AllocateHostTensor(TFE_Context* ctx, TF_DataType dtype,
                                                        const int64_t* dims, int num_dims,
                                                        TF_Status* status);
// As TFE_NewTensorHandle.
TF_CAPI_EXPORT TFE_TensorHandle* TFE_NewTensorHandleFromTensor(TFE_Context* ctx, TF_Tensor* t,
                                                               TF_Status* status);
// Would make one handle of several, for devices that act as one: custom devices may
// (TFE_CustomDevice pack). TF_UNIMPLEMENTED without one.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_CreatePackedTensorHandle(TFE_Context* ctx,
                                                                     TFE_TensorHandle** handles,
                                                                     int* num_handles,
                                                                     TF_Status* status);

// Whether an op that asks for a device which does not exist, or has no kernel for it, runs
// elsewhere; and whether the device of each op is written to stderr. They concern later ops.
TF_CAPI_EXPORT void TFE_ContextSetSoftDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                                      TF_Status* status);
TF_CAPI_EXPORT void TFE_ContextSetLogDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                                     TF_Status* status);
// Would execute each op as a function of one node, and rewrite functions for XLA. They change no
// result: ignored.
TF_CAPI_EXPORT void TFE_ContextSetRunEagerOpAsFunction(TFE_Context* ctx, unsigned char enable,
                                                       TF_Status* status);
TF_CAPI_EXPORT void TFE_ContextSetJitCompileRewrite(TFE_Context* ctx, unsigned char enable,
                                                    TF_Status* status);

// The type and the number of the device of TFE_TensorHandleDeviceName: "CPU", 0. NULL and -1 after
// an error. The text lives as long as the process.
TF_CAPI_EXPORT extern const char* TFE_TensorHandleDeviceType(TFE_TensorHandle* h,
                                                             TF_Status* status);
TF_CAPI_EXPORT extern int TFE_TensorHandleDeviceID(TFE_TensorHandle* h, TF_Status* status);
// The error of the op that was to make the tensor; does not wait.
TF_CAPI_EXPORT extern void TFE_TensorHandleGetStatus(TFE_TensorHandle* h, TF_Status* status);

// Fills `buf` with the names of ops that functions have executed: none are noted.
TF_CAPI_EXPORT extern void TFE_GetExecutedOpNames(TFE_Context* ctx, TF_Buffer* buf,
                                                  TF_Status* status);
// Would split the host into several devices. TF_UNIMPLEMENTED for more than one.
TF_CAPI_EXPORT extern void TFE_SetLogicalCpuDevices(TFE_Context* ctx, int num_cpus,
                                                    const char* prefix, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
