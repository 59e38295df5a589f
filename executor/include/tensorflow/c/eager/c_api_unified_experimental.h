// One way to execute ops and to trace them: in an eager context an op runs at once, in the context
// of a function it becomes a node of that function.
//
// The caller deletes what functions named New, Create, AddFunctionParameter, Execute (the tensors
// in the list) and Finalize give. One thread at a time uses a context and what was made with it.
// Errors come in `status`. NULL where an object is needed is TF_INVALID_ARGUMENT; a function
// without a status then does nothing.
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

// Executes ops, or traces them.
typedef struct TF_ExecutionContext TF_ExecutionContext;
// An eager tensor, or an output of a node that was traced.
typedef struct TF_AbstractTensor TF_AbstractTensor;
// An op with its attributes, but without inputs. It may be executed several times.
typedef struct TF_AbstractOp TF_AbstractOp;
// A function that was traced.
typedef struct TF_AbstractFunction TF_AbstractFunction;

// --- Contexts ---

// Chooses how TF_CreateFunction traces. There is one way, "graphdef". TF_INVALID_ARGUMENT for
// another name; TF_UNIMPLEMENTED for "mlir", which TensorFlow has.
TF_CAPI_EXPORT extern void TF_SetTracingImplementation(const char* name, TF_Status* status);

// A context that traces a function of this name.
TF_CAPI_EXPORT extern TF_ExecutionContext* TF_CreateFunction(const char* fn_name,
                                                             TF_Status* status);
// A context that executes ops in a new TFE_Context with these options.
TF_CAPI_EXPORT extern TF_ExecutionContext* TF_NewEagerExecutionContext(TFE_ContextOptions* options,
                                                                       TF_Status* s);
TF_CAPI_EXPORT extern void TF_DeleteExecutionContext(TF_ExecutionContext* context);

// A rank of -1 is unknown, and so is a dimension of -1.
typedef struct TF_Shape {
  int num_dims;
  int64_t* dim_sizes;
} TF_Shape;

// Adds an argument to the function. TF_INVALID_ARGUMENT in an eager context.
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_AddFunctionParameter(TF_ExecutionContext* func,
                                                                 TF_DataType dtype, TF_Shape shape,
                                                                 TF_Status* s);

// --- Ops ---

TF_CAPI_EXPORT extern TF_AbstractOp* TF_NewAbstractOp(TF_ExecutionContext* ctx);
TF_CAPI_EXPORT extern void TF_DeleteAbstractOp(TF_AbstractOp* op);

// The type comes first, once when traced: TF_FAILED_PRECONDITION otherwise. Strings are copied. The
// name of a node is made unique in its function; an eager op has no name (TF_INVALID_ARGUMENT).
TF_CAPI_EXPORT extern void TF_AbstractOpSetOpType(TF_AbstractOp* op, const char* const op_type,
                                                  TF_Status* s);
TF_CAPI_EXPORT extern void TF_AbstractOpSetOpName(TF_AbstractOp* op, const char* const op_name,
                                                  TF_Status* s);
TF_CAPI_EXPORT extern void TF_AbstractOpSetAttrType(TF_AbstractOp* op, const char* const attr_name,
                                                    TF_DataType value, TF_Status* s);

// Deletes the tensor, and the eager handle behind it.
TF_CAPI_EXPORT extern void TF_DeleteAbstractTensor(TF_AbstractTensor* tensor);

// --- Lists of outputs. A list does not own its tensors ---

typedef struct TF_OutputList TF_OutputList;
TF_CAPI_EXPORT extern TF_OutputList* TF_NewOutputList(void);
TF_CAPI_EXPORT extern void TF_DeleteOutputList(TF_OutputList* o);
// Makes room for the results of an op that is executed; new entries are NULL until then.
TF_CAPI_EXPORT extern void TF_OutputListSetNumOutputs(TF_OutputList* o, int num_outputs,
                                                      TF_Status* status);
TF_CAPI_EXPORT extern int TF_OutputListNumOutputs(TF_OutputList* o);
// NULL for an index that the list does not have.
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_OutputListGet(TF_OutputList* o, int i);
TF_CAPI_EXPORT extern void TF_OutputListPushBack(TF_OutputList* o, TF_AbstractTensor* tensor,
                                                 TF_Status* status);

// Executes the op, or adds it to the function, and puts new tensors into the list. When executed,
// the list must have room (TF_OutputListSetNumOutputs); when traced, it gets the size that is
// needed.
TF_CAPI_EXPORT extern void TF_ExecuteOperation(TF_AbstractOp* op, int num_inputs,
                                               TF_AbstractTensor* const* inputs, TF_OutputList* o,
                                               TF_Status* s);

// --- Functions ---

// Makes a function of what was traced, with the tensors of the list as results. Deletes `ctx`,
// unless that is an eager context, which is TF_INVALID_ARGUMENT.
TF_CAPI_EXPORT extern TF_AbstractFunction* TF_FinalizeFunction(TF_ExecutionContext* ctx,
                                                               TF_OutputList* outputs,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteAbstractFunction(TF_AbstractFunction* function);
// Lets ops of the context call the function.
TF_CAPI_EXPORT extern void TF_ExecutionContextRegisterFunction(TF_ExecutionContext* context,
                                                               TF_AbstractFunction* function,
                                                               TF_Status* status);

// --- Between this interface and eager/c_api.h ---

// Takes the handle over: TF_DeleteAbstractTensor deletes it.
TF_CAPI_EXPORT extern TF_AbstractTensor* TF_CreateAbstractTensorFromEagerTensor(TFE_TensorHandle* t,
                                                                                TF_Status* s);
// The handle, which belongs to `at`. TF_INVALID_ARGUMENT for an output of a node.
TF_CAPI_EXPORT extern TFE_TensorHandle* TF_AbstractTensorGetEagerTensor(TF_AbstractTensor* at,
                                                                        TF_Status* s);
// The context, which belongs to `context`. TF_INVALID_ARGUMENT for one that traces.
TF_CAPI_EXPORT extern TFE_Context* TF_ExecutionContextGetTFEContext(TF_ExecutionContext* context,
                                                                    TF_Status* s);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_UNIFIED_EXPERIMENTAL_H_
