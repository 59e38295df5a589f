// Graph passes: how a plug-in rewrites graphs that use its device.
//
// The plug-in exports TF_InitGraph. Its pass runs behind the host's own passes, after nodes are
// placed, on a serialized GraphDef, and only on graphs with a node on its device type. A body of a
// function is a graph of its own. Passes of several plug-ins run in the order in which the plug-ins
// were loaded. A user may order passes otherwise, or switch them off. The host adopts the pass's
// answer only if the answer is a valid graph that still serves the run: fetches, feeds and nodes to
// preserve are there, a fetch has its type, and devices of new and moved nodes exist and have
// kernels. Otherwise the host keeps the graph of before, reports the reason and goes on.
//
// Structs follow the rules of stream_executor.h: the host allocates them and presets struct_size,
// the plug-in fills in members.
#ifndef TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_
#define TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_status.h"

#define GO_MAJOR 0
#define GO_MINOR 0
#define GO_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_TriState {
  TF_TriState_Default = 0,
  TF_TriState_Off = 1,
  TF_TriState_On = 2,
} TF_TriState;

// The facts about the graph besides its nodes: fetches, feeds, nodes to keep. Owned by the host;
// valid during one call of optimize_func.
typedef struct TF_GrapplerItem TF_GrapplerItem;

// Switches off passes of the host, on graphs with nodes of this device type. Passes that run before
// nodes are placed (implementation_selector, and function_optimization where it inlines) are off
// for every graph of a session that has such a device. Each TF_TriState but the first has the name
// of a pass: Off switches the pass off, Default and On do nothing. On in disable_model_pruning
// switches model pruning off; Default and Off do nothing there. Of several plug-ins one is enough
// to switch a pass off. Members behind the plug-in's struct_size count as Default.
typedef struct TP_OptimizerConfigs {
  size_t struct_size;
  void* ext;
  TF_TriState disable_model_pruning;
  TF_TriState implementation_selector;
  TF_TriState function_optimization;
  TF_TriState common_subgraph_elimination;
  TF_TriState arithmetic_optimization;
  TF_TriState debug_stripper;
  TF_TriState constant_folding;
  TF_TriState shape_optimization;
  TF_TriState auto_mixed_precision;
  TF_TriState auto_mixed_precision_onednn_bfloat16;
  TF_TriState auto_mixed_precision_mkl;
  TF_TriState pin_to_host_optimization;
  TF_TriState layout_optimizer;
  TF_TriState remapping;
  TF_TriState loop_optimization;
  TF_TriState dependency_optimization;
  TF_TriState auto_parallel;
  TF_TriState memory_optimization;
  TF_TriState scoped_allocator_optimization;
} TP_OptimizerConfigs;

#define TP_OPTIMIZER_CONFIGS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TP_OptimizerConfigs, scoped_allocator_optimization)

typedef struct TP_Optimizer {
  size_t struct_size;
  void* ext;

  // Optional. Makes an object, which the other two functions then get; without it they get NULL.
  // Called once per optimized graph, before the first optimize_func. Any object may be returned,
  // NULL too.
  void* (*create_func)(void);

  // Required. Reads the serialized GraphDef `graph_in` and puts the rewritten one into `graph_out`.
  // `graph_in` belongs to the host and is valid during the call. All nodes have their attributes,
  // those with default values too; functions in its library have a signature and attributes, but no
  // nodes, and the host puts the nodes back. `graph_out` arrives empty: the plug-in sets all three
  // members. The host copies the bytes and then calls the deallocator once if it is not NULL, also
  // after an error.
  //
  // With TF_ABORTED, or with the bytes of `graph_in`, the graph stays as it is and nothing is
  // reported. With another error, without bytes, or with bytes that are no GraphDef or far larger
  // than `graph_in`, the graph stays as it is and the host reports why.
  //
  // May be called several times with one object: an optimization may have several rounds. Several
  // threads may optimize graphs at once, each with an object of its own.
  void (*optimize_func)(void* optimizer, const TF_Buffer* graph_in, const TF_GrapplerItem* item,
                        TF_Buffer* graph_out, TF_Status* status);

  // Optional: releases the object. Called once for each create_func that returned; never without
  // create_func.
  void (*destroy_func)(void* optimizer);
} TP_Optimizer;

#define TP_OPTIMIZER_STRUCT_SIZE TF_OFFSET_OF_END(TP_Optimizer, destroy_func)

typedef struct TP_OptimizerRegistrationParams {
  size_t struct_size;
  void* ext;

  int32_t major_version;  // the host's GO_MAJOR, GO_MINOR, GO_PATCH
  int32_t minor_version;
  int32_t patch_version;

  const char* device_type;                 // to set, required; static storage
  TP_OptimizerConfigs* optimizer_configs;  // to fill in
  TP_Optimizer* optimizer;                 // to fill in
} TP_OptimizerRegistrationParams;

#define TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TP_OptimizerRegistrationParams, optimizer)

// Exported by the plug-in. Called once per load, on the thread that loads the library. An error in
// `status`, or a required member that is NULL, fails the load.
void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status);

// The functions below are for optimize_func: an item, and properties made from it, must not be used
// after the call that got the item. Several threads may read one item. Those with a status set
// TF_INVALID_ARGUMENT for a NULL argument, unless it is an array of which no element is asked for.

// The sizes for TF_GetNodesToPreserveList: the number of names, and the bytes of all names
// together.
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item,
                                                         int* num_values, size_t* storage_size,
                                                         TF_Status* status);

// The names of the nodes that an answer must still have and that must compute the same: fetches and
// feeds without their port, nodes with the attribute _grappler_do_not_remove, and others; each
// once, in no particular order. Writes at most `num_values` names: the bytes one after another into
// `storage`, their address into values[i], their number into lengths[i], without a NUL.
// TF_INVALID_ARGUMENT if `storage` is too small; names before that point are written.
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values,
                                                     size_t* lengths, int num_values, void* storage,
                                                     size_t storage_size, TF_Status* status);

// The same for the fetches, in order: "node:port" for a tensor, "node" for a node that only runs
// and, in the body of a function, for each _Retval.
TF_CAPI_EXPORT extern void TF_GetFetchNodesListSize(const TF_GrapplerItem* item, int* num_values,
                                                    size_t* storage_size, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetFetchNodesList(const TF_GrapplerItem* item, char** values,
                                                size_t* lengths, int num_values, void* storage,
                                                size_t storage_size, TF_Status* status);

// Inferred types, shapes and values of the item's graph as optimize_func got it. One thread at a
// time.
typedef struct TF_GraphProperties TF_GraphProperties;

// Makes properties without content: until TF_InferStatically succeeds, every node has 0 inputs and
// outputs. `item` must outlive the result. Release it with TF_DeleteGraphProperties; NULL is
// allowed there.
TF_CAPI_EXPORT extern TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item);
TF_CAPI_EXPORT extern void TF_DeleteGraphProperties(TF_GraphProperties* graph_properties);

// Infers the whole graph, in place of the results of an earlier call, which stay after an error.
// With assume_valid_feeds a fed node has the shape that it declares; without it the shapes of all
// fed nodes and of all placeholders are unknown. With aggressive_shape_inference values of at most
// 17 elements are computed from known values, and shapes that TensorFlow's profiles have noted at
// nodes count. The last two flags put known values into the properties of inputs and of outputs.
TF_CAPI_EXPORT extern void TF_InferStatically(TF_GraphProperties* graph_properties,
                                              TF_Bool assume_valid_feeds,
                                              TF_Bool aggressive_shape_inference,
                                              TF_Bool include_input_tensor_values,
                                              TF_Bool include_output_tensor_values, TF_Status* s);

// Number of data inputs (outputs) of node `name`; 0 if there is no such node or nothing is inferred
// yet.
TF_CAPI_EXPORT extern void TF_GetInputPropertiesListSize(TF_GraphProperties* graph_properties,
                                                         const char* name, int* num_values,
                                                         TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesListSize(TF_GraphProperties* graph_properties,
                                                          const char* name, int* num_values,
                                                          TF_Status* status);

// Fills properties[i], an empty buffer of the caller, with the serialized OpInfo.TensorProperties
// of input (output) i: type, shape and, where asked for and known, value. Fills at most
// `num_values` buffers; further ones stay empty. TF_INVALID_ARGUMENT for a buffer that is not
// empty; those before it are filled.
TF_CAPI_EXPORT extern void TF_GetInputPropertiesList(TF_GraphProperties* graph_properties,
                                                     const char* name, TF_Buffer** properties,
                                                     int num_values, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesList(TF_GraphProperties* graph_properties,
                                                      const char* name, TF_Buffer** properties,
                                                      int num_values, TF_Status* status);

// Registered ops together with the functions of a graph's library. One thread at a time.
typedef struct TF_FunctionLibraryDefinition TF_FunctionLibraryDefinition;

// `graph_buf` is a serialized GraphDef, which is copied as far as needed. NULL on an error:
// TF_INVALID_ARGUMENT if the bytes do not parse. Release the result with
// TF_DeleteFunctionLibraryDefinition; NULL is allowed there. It may outlive optimize_func.
TF_CAPI_EXPORT extern TF_FunctionLibraryDefinition* TF_NewFunctionLibraryDefinition(
    const TF_Buffer* graph_buf, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteFunctionLibraryDefinition(TF_FunctionLibraryDefinition* fn_lib);

// Fills the empty buffer `buf` with the serialized OpDef of op `name`, or with the signature of the
// function `name`. TF_NOT_FOUND if there is neither, TF_INVALID_ARGUMENT if `buf` is not empty.
TF_CAPI_EXPORT extern void TF_LookUpOpDef(TF_FunctionLibraryDefinition* fn_lib, const char* name,
                                          TF_Buffer* buf, TF_Status* s);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_
