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

// The initial value of a struct's member in C++. C has none: a C program sets all members.
#ifdef __cplusplus
#define TFE_MEMBER_DEFAULT(value) = value
extern "C" {
#else
#define TFE_MEMBER_DEFAULT(value)
#endif

// Reuses the object of an op for an op or function of this name, as TFE_DeleteOp and TFE_NewOp
// would: it then has no inputs, attributes or cancellation manager. `raw_device_name` is that of
// TFE_OpSetDevice. After an unknown name the op is as it was; after a malformed device name it has
// been reset and asks for no device.
TF_CAPI_EXPORT extern void TFE_OpReset(TFE_Op* op_to_reset, const char* op_or_function_name,
                                       const char* raw_device_name, TF_Status* status);

// The same as TFE_ContextEnableRunMetadata and TFE_ContextDisableRunMetadata, but without the times
// of runs.
TF_CAPI_EXPORT extern void TFE_ContextEnableGraphCollection(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextDisableGraphCollection(TFE_Context* ctx);

// --- Monitoring ---
//
// Counters, gauges and samplers. The functions named New make one; the caller deletes it.
// `description` is ignored. Two objects may have the same name, and share nothing. New is
// TF_INVALID_ARGUMENT if `name` is NULL. An object has one cell for each list of values of its
// labels; an object without labels has one cell. GetCell makes a cell at the first call, and the
// object owns it. A new cell has the value 0, false, an empty text, or no values. The label
// arguments of New name the labels and are ignored; those of GetCell are the values. GetCell
// returns NULL if an argument is NULL. A NULL cell takes no value, and its value is 0 or false.
// Strings are copied. All functions are thread-safe, but an object must not be in use when it is
// deleted.

// A counter. IncrementBy ignores a `value` below 1.
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

// A gauge of strings. CellValue fills `buf`, whose data must be NULL, with the text, without a NUL;
// if an argument is NULL or the data is not, it does nothing.
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

// A sampler, which counts values by bucket. CellValue fills `buf`, whose data must be NULL, with a
// serialized HistogramProto; if an argument is NULL or the data is not, it does nothing.
typedef struct TFE_MonitoringSamplerCell TFE_MonitoringSamplerCell;
TF_CAPI_EXPORT extern void TFE_MonitoringSamplerCellAdd(TFE_MonitoringSamplerCell* cell,
                                                        double value);
TF_CAPI_EXPORT extern void TFE_MonitoringSamplerCellValue(TFE_MonitoringSamplerCell* cell,
                                                          TF_Buffer* buf);

// The limits between the buckets of a sampler: `bucket_count` limits at scale, scale *
// growth_factor, and so on; the caller chooses them so that they ascend. No limits for a
// `bucket_count` below 1 or above 2^26. A value that equals a limit is in the bucket above it. A
// sampler copies the limits; without limits, or with NULL, it has one bucket.
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

// Ignored, as in TensorFlow: it once chose another runtime.
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetTfrt(TFE_ContextOptions* options, bool use_tfrt);
// Always 0, as in TensorFlow for a context that is part of no cluster.
TF_CAPI_EXPORT extern uint64_t TFE_GetContextId(TFE_Context* ctx);

// --- Cancellation ---

// An op that has the manager (TFE_OpSetCancellationManager) fails with TF_CANCELLED if it waits,
// for example for an element of a queue, and the manager is cancelled. A function also fails if the
// manager is cancelled before the function begins or while it runs a loop: it ends before the next
// pass. A kernel of the host whose work threads share ends before the next part of the work; any
// other kernel that computes goes on to its end. Thread-safe.
typedef struct TFE_CancellationManager TFE_CancellationManager;
typedef int64_t TFE_CancellationToken;
typedef struct TFE_CancelCallback {
  void (*callback)(void* context);
  void* context;
} TFE_CancelCallback;
TF_CAPI_EXPORT extern TFE_CancellationManager* TFE_NewCancellationManager(void);
// Cancels the manager if callbacks are registered, as in TensorFlow: they are called. Ops that use
// the manager stay valid.
TF_CAPI_EXPORT extern void TFE_DeleteCancellationManager(TFE_CancellationManager* manager);
// Calls all callbacks on the calling thread, then cancels the ops. A second call does nothing.
TF_CAPI_EXPORT extern void TFE_CancellationManagerStartCancel(TFE_CancellationManager* manager);
// IsCancelled: the manager was cancelled, and all callbacks have returned. IsCancelling: callbacks
// are being called.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager* manager);
TF_CAPI_EXPORT extern bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager* manager);
// A new token, for one callback. -1 for NULL.
TF_CAPI_EXPORT extern TFE_CancellationToken TFE_CancellationManagerGetToken(
    TFE_CancellationManager* manager);
// Registers a copy of the callback under the token, in the place of an earlier callback with the
// same token. `callback_name` is ignored. Returns false and registers nothing if the cancellation
// has begun, or if the manager or the callback is NULL.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerRegisterCallback(
    TFE_CancellationManager* manager, TFE_CancellationToken token,
    const TFE_CancelCallback* c_callback, const char* callback_name);
// Remove the callback of the token. Return true if the cancellation has not begun, even if the
// token has no callback; else false: the callback was called or will be. While callbacks are being
// called, Deregister waits until all have returned, so a callback must not call it; TryDeregister
// does not wait.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerDeregisterCallback(
    TFE_CancellationManager* manager, TFE_CancellationToken token);
TF_CAPI_EXPORT extern bool TFE_CancellationManagerTryDeregisterCallback(
    TFE_CancellationManager* manager, TFE_CancellationToken token);
// Sets the manager of later executions of the op. The op shares its ownership.
TF_CAPI_EXPORT extern void TFE_OpSetCancellationManager(
    TFE_Op* op, TFE_CancellationManager* cancellation_manager, TF_Status* status);

// --- Executors ---

// An executor executes ops in the order of their calls: each within its TFE_Execute, or, if
// `is_async`, on a thread of the executor's own. If `in_flight_nodes_limit` is above 0, TFE_Execute
// blocks while so many ops wait. `enable_streaming_enqueue` is ignored: it concerns other
// processes. An op on a custom device is always executed within its TFE_Execute, even while other
// ops wait.
//
// When an op of an asynchronous executor fails, all ops that wait behind it are discarded, and
// later TFE_Execute calls fail until TFE_ExecutorClearError; all of them have the error of that op,
// the later calls with a note behind its message. The result handles of a failed or discarded op
// keep the error, also after TFE_ExecutorClearError.
typedef struct TFE_Executor TFE_Executor;
TF_CAPI_EXPORT extern TFE_Executor* TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue,
                                                    int in_flight_nodes_limit);
// Frees this handle on the executor. If TFE_NewExecutor made the handle, waits until the queued ops
// have ended; threads that have the executor then use that of their context again.
TF_CAPI_EXPORT extern void TFE_DeleteExecutor(TFE_Executor* executor);
TF_CAPI_EXPORT extern bool TFE_ExecutorIsAsync(TFE_Executor* executor);
// Waits until the ops that are queued now have ended. `status` gets the error of the first op that
// has failed since the last TFE_ExecutorClearError, with the note of later calls behind its
// message.
TF_CAPI_EXPORT extern void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor,
                                                              TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ExecutorClearError(TFE_Executor* executor);
// Makes `executor` the executor of the calling thread in this context. NULL: the thread uses the
// executor of the context again.
TF_CAPI_EXPORT extern void TFE_ContextSetExecutorForThread(TFE_Context* ctx,
                                                           TFE_Executor* executor);
// A new handle on the executor of the calling thread, which the caller deletes.
TF_CAPI_EXPORT extern TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx);
// Waits for all executors that the context or its threads have had, in the order in which the
// context got them. Returns the error of the first one in this order that has one, and clears the
// errors of these executors.
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

// Fills `buf`, whose data must be NULL, with the job, replica and task of this process:
// "/job:localhost/replica:0/task:0".
TF_CAPI_EXPORT extern void TFE_HostAddressSpace(TFE_Context* ctx, TF_Buffer* buf);

// --- Memory of tensors ---

// The address of the tensor in the memory of its device, and the size of the tensor in bytes. Wait
// for the value. The address is valid until the handle is deleted. TF_INVALID_ARGUMENT for strings,
// resources and variants, which have no plain elements. Of a tensor on a custom device the address
// is the `data` of TFE_NewCustomDeviceTensorHandle, and the size is TF_INVALID_ARGUMENT.
TF_CAPI_EXPORT extern void* TFE_TensorHandleDevicePointer(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle* h,
                                                              TF_Status* status);

// A handle on a tensor at `data`, in the memory of the device (a name as for
// TFE_TensorHandleCopyToDevice, but not of a custom device). `len`: the bytes there, at least those
// of the tensor. Takes the memory over: calls `deallocator`, unless it is NULL, after an error, or
// when nobody uses the memory any more; not if there is no memory to keep account of it.
// TF_INVALID_ARGUMENT for an unknown device, for strings, resources and variants, for dimensions
// that are missing or negative, if `len` is too small, and if `data` is NULL though the tensor has
// elements.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromDeviceMemory(
    TFE_Context* ctx, const char* device_name, TF_DataType dtype, const int64_t* dims, int num_dims,
    void* data, size_t len, void (*deallocator)(void* data, size_t len, void* arg),
    void* deallocator_arg, TF_Status* status);

// --- Attributes of an op as a whole ---

typedef struct TFE_OpAttrs TFE_OpAttrs;
// The attributes of the op, those inferred from inputs too. The result refers to `op`, shows its
// later changes, and is valid as long as `op`.
TF_CAPI_EXPORT extern const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op* op);
// Sets those of `attrs` that `op` does not have yet.
TF_CAPI_EXPORT extern void TFE_OpAddAttrs(TFE_Op* op, const TFE_OpAttrs* attrs);
// Fills `buf`, whose data must be NULL, with a serialized NameAttrList: the op's name, its
// attributes, and the defaults of attributes that are not set.
TF_CAPI_EXPORT extern void TFE_OpAttrsSerialize(const TFE_OpAttrs* attrs, TF_Buffer* buf,
                                                TF_Status* status);
// Sets an attribute to a serialized AttrValue, unless it is set already. TF_INVALID_ARGUMENT if the
// bytes do not parse.
TF_CAPI_EXPORT extern void TFE_OpSetAttrValueProto(const TFE_Op* op, const char* attr_name,
                                                   const void* proto, size_t proto_len,
                                                   TF_Status* status);

// --- Custom devices: a program's own, by callbacks ---

#define TFE_CUSTOM_DEVICE_VERSION 4

// `device_info` of each callback is that of TFE_RegisterCustomDevice. A callback reports an error
// in its status; its result is then ignored. All callbacks but `pack` and
// `shall_pin_to_this_device` must be set. They may be called on several threads at once.
typedef struct TFE_CustomDevice {
  int version TFE_MEMBER_DEFAULT(TFE_CUSTOM_DEVICE_VERSION);
  // Copy a tensor to this device, and from this device to another one. The caller of the callback
  // owns the result.
  TFE_TensorHandle* (*copy_tensor_to_device)(TFE_Context* context, TFE_TensorHandle* tensor,
                                             TF_Status* status, void* device_info);
  TFE_TensorHandle* (*copy_tensor_from_device)(TFE_Context* context, TFE_TensorHandle* tensor,
                                               const char* target_device_name, TF_Status* status,
                                               void* device_info);
  // Executes an op on this device. The callback may read `op`, which is valid during the call.
  // `outputs` has room for *num_outputs handles. The callback fills it with new handles and sets
  // *num_outputs to their number.
  void (*execute)(const TFE_Op* op, int* num_outputs, TFE_TensorHandle** outputs, TF_Status* s,
                  void* device_info);
  // Frees `device_info`. The last callback that is called.
  void (*delete_device)(void* device_info);
  // Makes one handle of `num_handles` handles (TFE_CreatePackedTensorHandle). The first of them
  // that is on a custom device is on this one. NULL: TF_UNIMPLEMENTED.
  TFE_TensorHandle* (*pack)(TFE_Context* context, TFE_TensorHandle** handles, int num_handles,
                            TF_Status* s, void* device_info)TFE_MEMBER_DEFAULT(nullptr);
  // Whether an op with an input on this device runs on this device. False: it runs on the device
  // that it asks for. If this is NULL, or reports an error, the op's first resource decides: this
  // device if the resource is on it, else the device that the op asks for. Without a resource the
  // op runs on the device that it asks for, or on this one if it asks for none.
  bool (*shall_pin_to_this_device)(const TFE_Op* op, TF_Status* s) TFE_MEMBER_DEFAULT(nullptr);
} TFE_CustomDevice;

// Adds the device to the context. delete_device is called when the context is deleted and no handle
// is on the device any more; after an error, before the return, but not without memory for the
// device. `device_name` is a full name:
// "/job:localhost/replica:0/task:0/device:CUSTOM:0". TF_ALREADY_EXISTS if a device has the name,
// and for the empty name, which is the host's; TF_INVALID_ARGUMENT if the name is not a full one,
// the version is another one, or a callback is missing.
TF_CAPI_EXPORT extern void TFE_RegisterCustomDevice(TFE_Context* ctx, TFE_CustomDevice device,
                                                    const char* device_name, void* device_info,
                                                    TF_Status* status);
// Whether the context has a custom device with this full name.
TF_CAPI_EXPORT extern bool TFE_IsCustomDevice(TFE_Context* ctx, const char* device_name);

// The functions of a custom device on one of its tensors. `data` is that of
// TFE_NewCustomDeviceTensorHandle. `summarize` may be NULL.
typedef struct TFE_CustomDeviceTensorHandleMethods {
  int version TFE_MEMBER_DEFAULT(TFE_CUSTOM_DEVICE_VERSION);
  int (*num_dims)(void* data, TF_Status* status);
  int64_t (*dim)(void* data, int dim_index, TF_Status* status);
  void (*deallocator)(void* data);
  // A new buffer with a text for people, without the shape and the type; NULL after an error.
  TF_Buffer* (*summarize)(void* data, TF_Status* status)TFE_MEMBER_DEFAULT(nullptr);
} TFE_CustomDeviceTensorHandle;

// A handle on a tensor of the custom device with this full name. The handle owns `data`:
// methods.deallocator is called with the last handle on the tensor, and after an error.
// TF_INVALID_ARGUMENT for an unknown device, or if a method other than `summarize` is NULL. Neither
// `dtype` nor methods.version is checked.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewCustomDeviceTensorHandle(
    TFE_Context* ctx, const char* device_name, TF_DataType dtype, void* data,
    TFE_CustomDeviceTensorHandle methods, TF_Status* status);

// --- Functions ---

// Fills `buf`, whose data must be NULL, with the function's FunctionDef. TF_NOT_FOUND if the
// context has no such function.
TF_CAPI_EXPORT extern void TFE_ContextGetFunctionDef(TFE_Context* ctx, const char* function_name,
                                                     TF_Buffer* buf, TF_Status* status);
// Fills `buf`, whose data must be NULL, with an empty GraphDebugInfo: a FunctionDef does not say
// where in a program its nodes were made. TF_NOT_FOUND if the context has no such function.
TF_CAPI_EXPORT extern void TFE_ContextGetGraphDebugInfo(TFE_Context* ctx, const char* function_name,
                                                        TF_Buffer* buf, TF_Status* status);

// A copy of the function, which the caller deletes with TF_DeleteFunction. TF_NOT_FOUND if the
// context has no such function.
TF_CAPI_EXPORT extern TF_Function* TFE_ContextGetFunction(TFE_Context* ctx, const char* name,
                                                          TF_Status* status);

// --- Tensors ---

// A new host tensor with undefined elements, which the caller fills and deletes.
TF_CAPI_EXPORT extern TF_Tensor* TFE_AllocateHostTensor(TFE_Context* ctx, TF_DataType dtype,
                                                        const int64_t* dims, int num_dims,
                                                        TF_Status* status);
// As TFE_NewTensorHandle. TF_INVALID_ARGUMENT also if the context is NULL or deleted.
TF_CAPI_EXPORT TFE_TensorHandle* TFE_NewTensorHandleFromTensor(TFE_Context* ctx, TF_Tensor* t,
                                                               TF_Status* status);
// Makes one handle of *num_handles handles by the `pack` callback of the first custom device among
// them. TF_UNIMPLEMENTED if none is on a custom device, or that device has no such callback;
// TF_INVALID_ARGUMENT if there is no handle.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_CreatePackedTensorHandle(TFE_Context* ctx,
                                                                     TFE_TensorHandle** handles,
                                                                     int* num_handles,
                                                                     TF_Status* status);

// Soft placement: an op that asks for a device which does not exist, or has no kernel for the op,
// runs on another device instead of failing. Log placement: the device of an op that a kernel
// executes is written to stderr, once for each list of attributes, types and device; an op that
// calls functions is not. Both hold for later calls of TFE_Execute.
TF_CAPI_EXPORT void TFE_ContextSetSoftDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                                      TF_Status* status);
TF_CAPI_EXPORT void TFE_ContextSetLogDevicePlacement(TFE_Context* ctx, unsigned char enable,
                                                     TF_Status* status);
// Ignored, since they change no result: in TensorFlow they execute each op as a function of one
// node, and rewrite functions for XLA.
TF_CAPI_EXPORT void TFE_ContextSetRunEagerOpAsFunction(TFE_Context* ctx, unsigned char enable,
                                                       TF_Status* status);
TF_CAPI_EXPORT void TFE_ContextSetJitCompileRewrite(TFE_Context* ctx, unsigned char enable,
                                                    TF_Status* status);

// The type and the number of the device that TFE_TensorHandleDeviceName names: "CPU", 0. After an
// error NULL and -1. The text lives as long as the process.
TF_CAPI_EXPORT extern const char* TFE_TensorHandleDeviceType(TFE_TensorHandle* h,
                                                             TF_Status* status);
TF_CAPI_EXPORT extern int TFE_TensorHandleDeviceID(TFE_TensorHandle* h, TF_Status* status);
// Sets `status` to the error of the op that was to make the tensor. Does not wait: TF_OK while that
// op has not ended.
TF_CAPI_EXPORT extern void TFE_TensorHandleGetStatus(TFE_TensorHandle* h, TF_Status* status);

// Fills `buf`, whose data must be NULL, with nothing: the names of executed ops are not noted.
TF_CAPI_EXPORT extern void TFE_GetExecutedOpNames(TFE_Context* ctx, TF_Buffer* buf,
                                                  TF_Status* status);
// Does nothing if num_cpus is 1. TF_UNIMPLEMENTED for more: the host cannot be split into several
// devices. TF_INVALID_ARGUMENT for less.
TF_CAPI_EXPORT extern void TFE_SetLogicalCpuDevices(TFE_Context* ctx, int num_cpus,
                                                    const char* prefix, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
