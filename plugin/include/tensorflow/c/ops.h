// Ops: how a plug-in adds operations of its own, with shape functions.
//
// Ops may be registered from static constructors while the library is being loaded, or from
// TF_InitKernel. Graphs can use them once the load has succeeded. An op is described by text specs:
//   attribute  "T: {float, half} = DT_FLOAT"   "N: int >= 2"   "names: list(string) = []"
//              types: string int float bool type shape tensor func numbertype realnumbertype
//              quantizedtype; {a, b} for one of several types or, in quotes, strings; list(...) of
//              any of these; ">= n" is the least int or the least length of a list. Without it, N
//              of "N * T" and the length of a list that is an argument's type are at least 1
//   argument   "x: T"   "n: int32"   "xs: N * T"   "ys: Tlist"   "ref: Ref(T)"
#ifndef TENSORFLOW_C_OPS_H_
#define TENSORFLOW_C_OPS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_DimensionHandle TF_DimensionHandle;
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_ShapeHandle TF_ShapeHandle;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;

// --- Describing an op. A builder belongs to one thread ---

// A builder for an op of this name. Release it with TF_RegisterOpDefinition or
// TF_DeleteOpDefinitionBuilder.
TF_CAPI_EXPORT extern TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name);

// Registers the op and frees the builder, also on an error: the error of the first bad spec,
// TF_INVALID_ARGUMENT for a definition that contradicts itself, TF_ALREADY_EXISTS for a name that
// is taken. An error does not fail the load by itself; the host reports it as a warning. TensorFlow
// sets TF_OK always, and ends the process later.
TF_CAPI_EXPORT extern void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder,
                                                   TF_Status* status);

// Deletes a builder that is not registered. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder);

// Add an attribute, an input, an output. The order of inputs and of outputs is the order of the
// calls. An attribute that an argument names may be added later. Specs are copied; an error in a
// spec is reported at registration.
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder,
                                                         const char* attr_spec);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder,
                                                          const char* input_spec);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder,
                                                           const char* output_spec);

// Each sets its property to true, whatever the bool says (as TensorFlow does).
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* builder,
                                                                  bool is_commutative);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* builder,
                                                                bool is_aggregate);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* builder,
                                                               bool is_stateful);
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetAllowsUninitializedInput(
    TF_OpDefinitionBuilder* builder, bool allows_uninitialized_input);

// A graph of which the producer version is `version` or later is refused if it uses the op, with
// `explanation`, which may be NULL, in the message. A version below 1 refuses none.
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* builder,
                                                            int version, const char* explanation);

// Sets the shape function; a later call replaces it, and NULL is ignored. Without one the shapes of
// all outputs are unknown. The function is called whenever shapes are inferred, perhaps on several
// threads at once and several times for a node, with input shapes that may be unknown in part.
// `ctx` and `status` are valid during the call. An output that the function does not set has an
// unknown shape. An error in `status` rejects the node; any but TF_INVALID_ARGUMENT is also
// reported as a fault of the plug-in.
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext* ctx, TF_Status* status));

// --- Inside a shape function ---
//
// A handle is a cell for one shape or one dimension, which the caller makes and deletes. Functions
// copy values from cell to cell, so `result` may be the same cell as an argument. On an error
// `result` stays as it was. Inputs, outputs and dimensions are counted from 0.

TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx);

// A cell with a shape of unknown rank. Release it with TF_DeleteShapeHandle.
TF_CAPI_EXPORT extern TF_ShapeHandle* TF_NewShapeHandle(void);

// Puts the shape of input `i` into the cell. TF_INVALID_ARGUMENT if there is no such input.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* ctx, int i,
                                                            TF_ShapeHandle* handle,
                                                            TF_Status* status);

// Sets the shape of output `i` to that in the cell. TF_INVALID_ARGUMENT if there is no such output.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* ctx, int i,
                                                             TF_ShapeHandle* handle,
                                                             TF_Status* status);

// New cells with the shapes [] and [size]; a size above 2^63 - 1, as -1 becomes, gives an unknown
// dimension. The caller deletes them.
TF_CAPI_EXPORT extern TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext* ctx);
TF_CAPI_EXPORT extern TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(
    TF_ShapeInferenceContext* ctx, size_t size);

// A cell with a dimension of unknown size. Release it with TF_DeleteDimensionHandle.
TF_CAPI_EXPORT extern TF_DimensionHandle* TF_NewDimensionHandle(void);

// Sets *val to the node's value of a type attribute, or to the op's default. On an error *val is
// left alone: TF_NOT_FOUND if there is no such attribute, TF_INVALID_ARGUMENT if it is of another
// kind.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* ctx,
                                                                const char* attr_name,
                                                                TF_DataType* val,
                                                                TF_Status* status);

// The rank, -1 if unknown.
TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext* ctx,
                                                           TF_ShapeHandle* handle);

// 1 if the rank is known, else 0.
TF_CAPI_EXPORT extern int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* handle);

// Check that the shape in `handle` has exactly (at least, at most) `rank` dimensions, and put it
// into `result`. A shape of unknown rank passes: WithRank then puts a shape of `rank` unknown
// dimensions into `result`, the other two a shape of unknown rank. TF_INVALID_ARGUMENT if the shape
// has another rank, if `rank` is negative or above 2^31 - 1, or if WithRank would have to make more
// than 254 dimensions.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* handle, int64_t rank,
                                                            TF_ShapeHandle* result,
                                                            TF_Status* status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext* ctx,
                                                                   TF_ShapeHandle* handle,
                                                                   int64_t rank,
                                                                   TF_ShapeHandle* result,
                                                                   TF_Status* status);
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext* ctx,
                                                                  TF_ShapeHandle* handle,
                                                                  int64_t rank,
                                                                  TF_ShapeHandle* result,
                                                                  TF_Status* status);

// Puts dimension `i` into `result`; a negative `i` counts from the end, -1 is the last dimension.
// The dimension is unknown if the rank is unknown or if there is no such dimension.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext* ctx,
                                                       TF_ShapeHandle* shape_handle, int64_t i,
                                                       TF_DimensionHandle* result);

// Puts the dimensions [start, end) into `result`. A negative number counts from the end; a number
// above the rank counts as the rank. For a shape of unknown rank `result` has unknown rank.
// TF_INVALID_ARGUMENT if a number lies before the first dimension or start behind end.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* shape_handle,
                                                            int64_t start, int64_t end,
                                                            TF_ShapeHandle* result,
                                                            TF_Status* status);

// Makes the shapes of all outputs unknown. May itself serve as an op's shape function.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* ctx,
                                                                   TF_Status* status);

// 1 if the size is known, else 0.
TF_CAPI_EXPORT extern int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle);

// The size, -1 if unknown.
TF_CAPI_EXPORT extern int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle);

// Puts the dimensions of `first`, then those of `second`, into `result`; a shape of unknown rank if
// either rank is unknown. TF_INVALID_ARGUMENT if the shape has too many dimensions or elements.
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext* ctx,
                                                                     TF_ShapeHandle* first,
                                                                     TF_ShapeHandle* second,
                                                                     TF_ShapeHandle* result,
                                                                     TF_Status* status);

// Free a cell. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteShapeHandle(TF_ShapeHandle* handle);
TF_CAPI_EXPORT extern void TF_DeleteDimensionHandle(TF_DimensionHandle* handle);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_OPS_H_
