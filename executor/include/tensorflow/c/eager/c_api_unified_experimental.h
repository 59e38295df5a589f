// One interface to execute ops and to trace them. In an eager context an op runs at once. In a
// tracing context an op becomes a node of the function that is traced.
//
// The caller deletes the objects that functions named New, Create, AddFunctionParameter and
// Finalize return, and the tensors that TF_ExecuteOperation puts into a list. One thread at a time
// uses a context and the objects that were made with it. Errors come in `status`, which may be
// NULL. NULL where an object is needed is TF_INVALID_ARGUMENT; a function without a status then
// does nothing. A function that returns a pointer returns NULL after an error.
#ifndef TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_
#define TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_

#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

// An eager context, which executes ops, or a tracing context, which makes a function of them.
typedef struct TF_ExecutionContext TF_ExecutionContext;
// An eager tensor, or an output of a node that was traced.
typedef struct TF_AbstractTensor TF_AbstractTensor;
// An op with its attributes, but without inputs. It may be executed several times.
typedef struct TF_AbstractOp TF_AbstractOp;
// A function that was traced.
typedef struct TF_AbstractFunction TF_AbstractFunction;

// --- Contexts ---

// Chooses how TF_CreateFunction traces. Only "graphdef" is built. TF_UNIMPLEMENTED for "mlir",
// which TensorFlow has; TF_INVALID_ARGUMENT for any other name.
TF_CAPI_EXPORT extern void TF_SetTracingImplementation(const char* name, TF_Status* status);

// A tracing context for a function with this name.
TF_CAPI_EXPORT extern TF_ExecutionContext* TF_CreateFunction(const char* fn_name,
                                                             TF_Status* status);
// An eager context, which executes ops in a new TFE_Context with these options. Copies the options.
TF_CAPI_EXPORT extern TF_ExecutionContext* TF_NewEagerExecutionContext(TFE_ContextOptions* options,
                                                                       TF_Status* s);
TF_CAPI_EXPORT extern void TF_DeleteExecutionContext(TF_ExecutionContext* context);

// A num_dims of -1 means an unknown rank, a size of -1 an unknown dimension.
typedef struct TF_Shape {
  int num_dims;
  int64_t* dim_sizes;
} TF_Shape;

// Adds an argument to the function of a tracing context and returns it. Arguments come in the order
// of the calls. Copies `shape`. TF_INVALID_ARGUMENT in an eager context, for a num_dims below -1,
// and for dim_sizes that are NULL where num_dims is above 0.
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_AddFunctionParameter(TF_ExecutionContext* func,
                                                                 TF_DataType dtype, TF_Shape shape,
                                                                 TF_Status* s);

// --- Ops ---

TF_CAPI_EXPORT extern TF_AbstractOp* TF_NewAbstractOp(TF_ExecutionContext* ctx);
TF_CAPI_EXPORT extern void TF_DeleteAbstractOp(TF_AbstractOp* op);

// The type, which is the name of an op or function, is set before name and attributes: else
// TF_FAILED_PRECONDITION. In a tracing context the name is set once, and no type after it: else
// TF_FAILED_PRECONDITION. In an eager context a new type drops the attributes. The name becomes a
// part of the node's name; in an eager context it is TF_INVALID_ARGUMENT. Strings are copied.
TF_CAPI_EXPORT extern void TF_AbstractOpSetOpType(TF_AbstractOp* op, const char* const op_type,
                                                  TF_Status* s);
TF_CAPI_EXPORT extern void TF_AbstractOpSetOpName(TF_AbstractOp* op, const char* const op_name,
                                                  TF_Status* s);
TF_CAPI_EXPORT extern void TF_AbstractOpSetAttrType(TF_AbstractOp* op, const char* const attr_name,
                                                    TF_DataType value, TF_Status* s);

// Deletes the tensor and the TFE_TensorHandle that it owns, if it is an eager one.
TF_CAPI_EXPORT extern void TF_DeleteAbstractTensor(TF_AbstractTensor* tensor);

// --- Lists of outputs. A list does not own its tensors ---

typedef struct TF_OutputList TF_OutputList;
TF_CAPI_EXPORT extern TF_OutputList* TF_NewOutputList(void);
TF_CAPI_EXPORT extern void TF_DeleteOutputList(TF_OutputList* o);
// Sets the number of entries. New entries are NULL. Entries that are cut off are not deleted.
// TF_INVALID_ARGUMENT for a number below 0 or above 2^26.
TF_CAPI_EXPORT extern void TF_OutputListSetNumOutputs(TF_OutputList* o, int num_outputs,
                                                      TF_Status* status);
TF_CAPI_EXPORT extern int TF_OutputListNumOutputs(TF_OutputList* o);
// NULL for an index that the list does not have.
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_OutputListGet(TF_OutputList* o, int i);
TF_CAPI_EXPORT extern void TF_OutputListPushBack(TF_OutputList* o, TF_AbstractTensor* tensor,
                                                 TF_Status* status);

// Executes the op, or adds it to the function that is traced. Replaces the entries of the list by
// new tensors, one for each result; does not delete the former entries. In an eager context the
// list must have at least as many entries as the op has results (TF_OutputListSetNumOutputs).
// TF_FAILED_PRECONDITION for an op without a type. TF_INVALID_ARGUMENT for an input that is not of
// this kind of context, or was traced for another function, and for a list that is too short. After
// an error the list is unchanged.
TF_CAPI_EXPORT extern void TF_ExecuteOperation(TF_AbstractOp* op, int num_inputs,
                                               TF_AbstractTensor* const* inputs, TF_OutputList* o,
                                               TF_Status* s);

// --- Functions ---

// Makes a function of the ops that a tracing context has traced, with the tensors of the list as
// results. TF_INVALID_ARGUMENT for an entry that is NULL, deleted or not of this trace. Deletes
// `ctx`, also after an error. In an eager context TF_INVALID_ARGUMENT: `ctx` stays.
TF_CAPI_EXPORT extern TF_AbstractFunction* TF_FinalizeFunction(TF_ExecutionContext* ctx,
                                                               TF_OutputList* outputs,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteAbstractFunction(TF_AbstractFunction* function);
// Lets ops of the context call the function.
TF_CAPI_EXPORT extern void TF_ExecutionContextRegisterFunction(TF_ExecutionContext* context,
                                                               TF_AbstractFunction* function,
                                                               TF_Status* status);

// --- Between this interface and eager/c_api.h ---

// Takes the handle over: TF_DeleteAbstractTensor deletes `t`. After an error `t` stays the
// caller's.
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_CreateAbstractTensorFromEagerTensor(TFE_TensorHandle* t,
                                                                                TF_Status* s);
// The handle of an eager tensor, which belongs to `at`. TF_INVALID_ARGUMENT for a traced tensor.
TF_CAPI_EXPORT extern TFE_TensorHandle* TF_AbstractTensorGetEagerTensor(TF_AbstractTensor* at,
                                                                        TF_Status* s);
// The TFE_Context of an eager context, which owns it. TF_INVALID_ARGUMENT for a tracing context.
TF_CAPI_EXPORT extern TFE_Context* TF_ExecutionContextGetTFEContext(TF_ExecutionContext* context,
                                                                    TF_Status* s);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_
