// Graph passes: how a plug-in rewrites graphs that use its device.
//
// The plug-in exports TF_InitGraph. Its pass runs after the host's own, once nodes are placed, on a
// serialized GraphDef, and only on graphs with a node on its device type. What it returns is
// adopted only if it is a valid graph that still serves the run; otherwise the graph of before is
// kept and the reason is reported.
//
// Structs follow the rules of stream_executor.h: the host allocates and presets struct_size, the
// plug-in fills in.
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

// What is known about the graph besides its nodes: fetches, feeds, nodes to keep.
typedef struct TF_GrapplerItem TF_GrapplerItem;

// Wishes about the host's own passes on graphs with nodes of this device type. Only Off has an
// effect (for disable_model_pruning: only On): a plug-in can switch passes off, never on.
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

  // Optional: makes the object that the other two get, once per optimized graph.
  void* (*create_func)(void);

  // Required. Reads the serialized GraphDef `graph_in` and puts the rewritten one into `graph_out`
  // (which arrives empty), with a deallocator that the host calls when it has read it. TF_ABORTED
  // says that there was nothing to do.
  void (*optimize_func)(void* optimizer, const TF_Buffer* graph_in, const TF_GrapplerItem* item,
                        TF_Buffer* graph_out, TF_Status* status);

  // Optional: releases the object.
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

// Exported by the plug-in. Called once, on the thread that loads the library.
void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status);

// Below: what the host tells a pass. To be called from optimize_func only, on its thread.

// Size of the next function's answer: number of names, and bytes of all names together.
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item,
                                                         int* num_values, size_t* storage_size,
                                                         TF_Status* status);

// Names of nodes that must survive with their meaning: fetches, feeds and others, in no particular
// order. The bytes go into `storage`; values[i] points into it, without a NUL, lengths[i] bytes
// long. TF_INVALID_ARGUMENT if `storage` is too small.
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values,
                                                     size_t* lengths, int num_values, void* storage,
                                                     size_t storage_size, TF_Status* status);

// The same for the fetched tensors ("node:port"), in order.
TF_CAPI_EXPORT extern void TF_GetFetchNodesListSize(const TF_GrapplerItem* item, int* num_values,
                                                    size_t* storage_size, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetFetchNodesList(const TF_GrapplerItem* item, char** values,
                                                size_t* lengths, int num_values, void* storage,
                                                size_t storage_size, TF_Status* status);

// Inferred types, shapes and values.
typedef struct TF_GraphProperties TF_GraphProperties;

// Knows nothing until TF_InferStatically. `item` must outlive it. Release with the next function.
TF_CAPI_EXPORT extern TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item);
TF_CAPI_EXPORT extern void TF_DeleteGraphProperties(TF_GraphProperties* graph_properties);

// Infers the whole graph. With assume_valid_feeds a fed node keeps the shape that it declares,
// without it that shape is unknown. With aggressive_shape_inference small numbers are computed from
// known ones, and shapes that profiles have noted at nodes count. The last two ask for known values
// of inputs and outputs.
TF_CAPI_EXPORT extern void TF_InferStatically(TF_GraphProperties* graph_properties,
                                              TF_Bool assume_valid_feeds,
                                              TF_Bool aggressive_shape_inference,
                                              TF_Bool include_input_tensor_values,
                                              TF_Bool include_output_tensor_values, TF_Status* s);

// Number of inputs (outputs) of node `name`; 0 if there is no such node.
TF_CAPI_EXPORT extern void TF_GetInputPropertiesListSize(TF_GraphProperties* graph_properties,
                                                         const char* name, int* num_values,
                                                         TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesListSize(TF_GraphProperties* graph_properties,
                                                          const char* name, int* num_values,
                                                          TF_Status* status);

// Fills the caller's `num_values` empty buffers with serialized OpInfo.TensorProperties.
TF_CAPI_EXPORT extern void TF_GetInputPropertiesList(TF_GraphProperties* graph_properties,
                                                     const char* name, TF_Buffer** properties,
                                                     int num_values, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesList(TF_GraphProperties* graph_properties,
                                                      const char* name, TF_Buffer** properties,
                                                      int num_values, TF_Status* status);

// Registered ops together with the functions of a graph's library.
typedef struct TF_FunctionLibraryDefinition TF_FunctionLibraryDefinition;

// `graph_buf` is a serialized GraphDef; NULL on error. Release with the next function, any time.
TF_CAPI_EXPORT extern TF_FunctionLibraryDefinition* TF_NewFunctionLibraryDefinition(
    const TF_Buffer* graph_buf, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteFunctionLibraryDefinition(TF_FunctionLibraryDefinition* fn_lib);

// Serialized OpDef of an op, or the signature of a function, into the empty `buf`. TF_NOT_FOUND if
// there is neither.
TF_CAPI_EXPORT extern void TF_LookUpOpDef(TF_FunctionLibraryDefinition* fn_lib, const char* name,
                                          TF_Buffer* buf, TF_Status* s);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_
