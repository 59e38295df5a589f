// TensorFlow's C API for programs: graphs, functions, sessions, gradients, libraries of ops.
//
// Rules for all functions here, besides those of c_api_macros.h:
// * A function with a `status` sets it in each call, to TF_OK if all went well. A NULL pointer, an
//   index that there is not, or an object of another graph is TF_INVALID_ARGUMENT or
//   TF_OUT_OF_RANGE there. `status` itself may be NULL. Functions without a status return NULL, 0
//   or -1 instead, setters leave the error to the function that ends the work, and those that
//   change a graph do nothing. But a setter takes a device, prefix or target that is NULL as "",
//   and an import leaves out a mapping of a node whose name is NULL.
// * TF_New… and other functions that hand out an object give it to the caller, who releases it with
//   the TF_Delete… function of its type. Those accept NULL.
// * Functions are callable from any thread, several at a time for one TF_Graph or TF_Session. A
//   TF_OperationDescription, TF_ImportGraphDefOptions, TF_SessionOptions, TF_Status or TF_Buffer
//   belongs to one thread at a time.
// * "Serialized X" is the message X of TensorFlow's .proto files as binary bytes. A TF_Buffer that
//   is filled must be empty before: TF_NewBuffer gives one.
// * Sizes are in bytes; `num_`, `max_`, `n` and `len` of arrays count elements.
#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// The release of TensorFlow that has the interface of this host: "2.21.0". Static storage.
TF_CAPI_EXPORT extern const char* TF_Version(void);

// Parses a serialized TensorProto into new host memory. `to` becomes a handle on that memory, with
// the type and shape of the TensorProto. Other handles on the former buffer of `to` keep it. `from`
// is only read. On an error `to` stays as it was: TF_INVALID_ARGUMENT if the bytes do not parse, if
// no tensor can have the type or shape, or if sizes contradict each other; TF_UNIMPLEMENTED for
// resources and variants; TF_RESOURCE_EXHAUSTED if the elements take more than 64 GiB or memory is
// short.
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to,
                                              TF_Status* status);

// A view of bytes, which need not end in a NUL. The function that returns the view says how long
// the bytes live. The receiver frees nothing.
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

// ---------------------------------------------------------------- options of sessions

// How sessions are made. The same options may serve many sessions; each copies what it needs.
typedef struct TF_SessionOptions TF_SessionOptions;

TF_CAPI_EXPORT extern TF_SessionOptions* TF_NewSessionOptions(void);

// Where the session is to run: "" for this process. Another target makes TF_NewSession fail:
// TF_UNIMPLEMENTED for "grpc://…", TF_NOT_FOUND for any other.
TF_CAPI_EXPORT extern void TF_SetTarget(TF_SessionOptions* options, const char* target);

// Replaces the settings by those of a serialized ConfigProto. TF_INVALID_ARGUMENT if the bytes do
// not parse; the settings then stay. These fields count:
// * intra_op_parallelism_threads: CPU threads of a run; 0: the cores that this process may use.
//   Sessions that ask for the same number share them, but for use_per_session_threads.
// * device_count: by device type, the most devices. "CPU" may be up to 1,024.
// * allow_soft_placement: an operation for a device that there is not runs elsewhere. Off at first.
// * log_device_placement: TF_NewSession lists the devices, and runs list the device of each
//   operation that is new to the session, on stderr.
// * graph_options.rewrite_options: the passes. optimizer_options.opt_level L0: no pass but those
//   that rewrite_options switches on, or that do_function_inlining,
//   do_common_subexpression_elimination and do_constant_folding of optimizer_options name.
// * operation_timeout_in_ms: the limit of runs whose RunOptions have none.
// * session_inter_op_thread_pool: RunOptions.inter_op_thread_pool must name one of them.
// * experimental.session_metadata: comes back in RunMetadata.
// * experimental.executor_type: runs are TF_NOT_FOUND for any but "", "DEFAULT" and
//   "SINGLE_THREADED_EXECUTOR".
// * experimental.disable_output_partition_graphs: a run that asks for them is TF_INVALID_ARGUMENT.
// TF_NewSession warns on stderr, once a process, of other fields that a program may count on. Among
// them are inter_op_parallelism_threads, as the operations of a run share the threads of
// intra_op_parallelism_threads, several operations at the same time where that pays; and
// gpu_options, as plug-ins decide about the memory of their devices.
TF_CAPI_EXPORT extern void TF_SetConfig(TF_SessionOptions* options, const void* proto,
                                        size_t proto_len, TF_Status* status);

TF_CAPI_EXPORT extern void TF_DeleteSessionOptions(TF_SessionOptions*);

// ---------------------------------------------------------------- graphs and operations

// A graph of operations, which only grows. Thread-safe.
typedef struct TF_Graph TF_Graph;

TF_CAPI_EXPORT extern TF_Graph* TF_NewGraph(void);

// Gives the graph up. The graph is freed at once, or with the last session that uses it. Its
// operations must not be used any more.
TF_CAPI_EXPORT extern void TF_DeleteGraph(TF_Graph*);

// What a new operation is to be, until TF_FinishOperation.
typedef struct TF_OperationDescription TF_OperationDescription;

// An operation (node) of a graph. Belongs to the graph and keeps its address as long as the graph
// lives.
typedef struct TF_Operation TF_Operation;

// Input number `index` of an operation. Lists of tensors count one by one.
typedef struct TF_Input {
  TF_Operation* oper;
  int index;
} TF_Input;

// Output number `index` of an operation. Lists of tensors count one by one.
typedef struct TF_Output {
  TF_Operation* oper;
  int index;
} TF_Output;

// Operations with inputs and outputs, which a graph that has a copy of the function can call as an
// operation of the function's name.
typedef struct TF_Function TF_Function;

// No options exist: pass NULL.
typedef struct TF_FunctionOptions TF_FunctionOptions;

// Merges a shape into what is known of the output's shape: each known dimension must agree.
// `num_dims` -1 is an unknown rank, -1 in `dims` an unknown dimension. Operations that have been
// added do not change. TF_INVALID_ARGUMENT if the shapes contradict each other.
TF_CAPI_EXPORT extern void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output,
                                                  const int64_t* dims, const int num_dims,
                                                  TF_Status* status);

// The rank of the output, or -1 if it is unknown or on an error.
TF_CAPI_EXPORT extern int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output,
                                                   TF_Status* status);

// Writes the dimensions of the output to `dims`, -1 for an unknown one. `num_dims` must be what
// TF_GraphGetTensorNumDims returns, else TF_INVALID_ARGUMENT. Nothing is written for a scalar and
// for an unknown rank.
TF_CAPI_EXPORT extern void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims,
                                                  int num_dims, TF_Status* status);

// TF_NewOperation that takes no lock: no other thread may use the graph during the call.
TF_CAPI_EXPORT extern TF_OperationDescription* TF_NewOperationLocked(TF_Graph* graph,
                                                                     const char* op_type,
                                                                     const char* oper_name);

// Begins an operation of this op and name. The op is a registered one or a function of the graph.
// Whatever is wrong shows in TF_FinishOperation, which must be called in any case: it releases the
// description. The graph must live until then.
TF_CAPI_EXPORT extern TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type,
                                                               const char* oper_name);

// The device that the operation asks for, "/device:CPU:0"; "" for none.
TF_CAPI_EXPORT extern void TF_SetDevice(TF_OperationDescription* desc, const char* device);

// Give the next argument of the op, in the order of the op's definition: TF_AddInput where the
// argument is one tensor, TF_AddInputList where it is a list, also of one. The attributes of types
// and numbers that follow from the inputs are set by these calls.
TF_CAPI_EXPORT extern void TF_AddInput(TF_OperationDescription* desc, TF_Output input);
TF_CAPI_EXPORT extern void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs,
                                           int num_inputs);

// The operation is to run after `input`.
TF_CAPI_EXPORT extern void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input);

// Asks for the device of `op`: adds "loc:@NAME" to the attribute _class.
TF_CAPI_EXPORT extern void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op);

// Set an attribute. Those that have a default, or follow from inputs, need not be set. A second
// value for an attribute must equal the first, but a second list for _class replaces the first.
// Values are copied. A string is `length` bytes and may hold NULs. Lists have `num_values`
// elements.
TF_CAPI_EXPORT extern void TF_SetAttrString(TF_OperationDescription* desc, const char* attr_name,
                                            const void* value, size_t length);
TF_CAPI_EXPORT extern void TF_SetAttrStringList(TF_OperationDescription* desc,
                                                const char* attr_name, const void* const* values,
                                                const size_t* lengths, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrInt(TF_OperationDescription* desc, const char* attr_name,
                                         int64_t value);
TF_CAPI_EXPORT extern void TF_SetAttrIntList(TF_OperationDescription* desc, const char* attr_name,
                                             const int64_t* values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrFloat(TF_OperationDescription* desc, const char* attr_name,
                                           float value);
TF_CAPI_EXPORT extern void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* attr_name,
                                               const float* values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrBool(TF_OperationDescription* desc, const char* attr_name,
                                          unsigned char value);
TF_CAPI_EXPORT extern void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* attr_name,
                                              const unsigned char* values, int num_values);
TF_CAPI_EXPORT extern void TF_SetAttrType(TF_OperationDescription* desc, const char* attr_name,
                                          TF_DataType value);
TF_CAPI_EXPORT extern void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* attr_name,
                                              const TF_DataType* values, int num_values);

// In the body of a function: the value of the function's attribute `placeholder` fills this one in.
TF_CAPI_EXPORT extern void TF_SetAttrPlaceholder(TF_OperationDescription* desc,
                                                 const char* attr_name, const char* placeholder);

// Names a function, in `length` bytes.
TF_CAPI_EXPORT extern void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* attr_name,
                                              const char* value, size_t length);

// `num_dims` -1 is an unknown rank, -1 in `dims` an unknown dimension. Of a list of shapes,
// `dims[i]` has `num_dims[i]` elements.
TF_CAPI_EXPORT extern void TF_SetAttrShape(TF_OperationDescription* desc, const char* attr_name,
                                           const int64_t* dims, int num_dims);
TF_CAPI_EXPORT extern void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* attr_name,
                                               const int64_t* const* dims, const int* num_dims,
                                               int num_shapes);

// Serialized TensorShapeProtos. TF_INVALID_ARGUMENT if one does not parse.
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc,
                                                      const char* attr_name, const void* proto,
                                                      size_t proto_len, TF_Status* status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc,
                                                          const char* attr_name,
                                                          const void* const* protos,
                                                          const size_t* proto_lens, int num_shapes,
                                                          TF_Status* status);

// The elements are copied. TF_UNIMPLEMENTED for resources and variants.
TF_CAPI_EXPORT extern void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name,
                                            TF_Tensor* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_SetAttrTensorList(TF_OperationDescription* desc,
                                                const char* attr_name, TF_Tensor* const* values,
                                                int num_values, TF_Status* status);

// A serialized AttrValue, of any type. TF_INVALID_ARGUMENT if it does not parse.
TF_CAPI_EXPORT extern void TF_SetAttrValueProto(TF_OperationDescription* desc,
                                                const char* attr_name, const void* proto,
                                                size_t proto_len, TF_Status* status);

// TF_FinishOperation that takes no lock: no other thread may use the graph during the call.
TF_CAPI_EXPORT extern TF_Operation* TF_FinishOperationLocked(TF_OperationDescription* desc,
                                                             TF_Status* status);

// Checks the operation, infers the shapes of its outputs and adds it to the graph. Releases `desc`
// in any case. NULL on an error, after which the graph is as it was: TF_INVALID_ARGUMENT for a name
// that is taken, an op that is not known, inputs, attributes or shapes that do not fit;
// TF_UNIMPLEMENTED for an op that is out of use.
TF_CAPI_EXPORT extern TF_Operation* TF_FinishOperation(TF_OperationDescription* desc,
                                                       TF_Status* status);

// The texts of an operation. They live as long as the graph, a text of TF_OperationDevice also
// after TF_SetRequestedDevice. The device is the one that was asked for, "" for none.
TF_CAPI_EXPORT extern const char* TF_OperationName(TF_Operation* oper);
TF_CAPI_EXPORT extern const char* TF_OperationOpType(TF_Operation* oper);
TF_CAPI_EXPORT extern const char* TF_OperationDevice(TF_Operation* oper);

// Inputs and outputs of an operation, control edges not counted. A type of 0 stands for an input or
// output that there is not. The ListLength functions return the number of tensors of the argument
// or result `arg_name` of the op, or -1 on an error: TF_INVALID_ARGUMENT for another name.
TF_CAPI_EXPORT extern int TF_OperationNumOutputs(TF_Operation* oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationOutputType(TF_Output oper_out);
TF_CAPI_EXPORT extern int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern int TF_OperationNumInputs(TF_Operation* oper);
TF_CAPI_EXPORT extern TF_DataType TF_OperationInputType(TF_Input oper_in);
TF_CAPI_EXPORT extern int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name,
                                                      TF_Status* status);

// The output that feeds the input; {NULL, -1} if there is no such input.
TF_CAPI_EXPORT extern TF_Output TF_OperationInput(TF_Input oper_in);

// Writes the outputs that feed the first `max_inputs` inputs.
TF_CAPI_EXPORT extern void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs,
                                                 int max_inputs);

// The inputs that the output feeds. Both functions return how many there are; the second one writes
// the first `max_consumers` of them, in the order in which the operations were added. `consumers`
// may be NULL: nothing is then written. Later operations may add to them. An output -1 stands for
// the control edges of the operation; the inputs are then -1 too.
TF_CAPI_EXPORT extern int TF_OperationOutputNumConsumers(TF_Output oper_out);
TF_CAPI_EXPORT extern int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input* consumers,
                                                      int max_consumers);

// The operations that this one runs after, and those that run after this one, by control edges. All
// four functions return how many there are; those with an array write the first `max_…` of them.
// The array may be NULL: nothing is then written.
TF_CAPI_EXPORT extern int TF_OperationNumControlInputs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlInputs(TF_Operation* oper,
                                                       TF_Operation** control_inputs,
                                                       int max_control_inputs);
TF_CAPI_EXPORT extern int TF_OperationNumControlOutputs(TF_Operation* oper);
TF_CAPI_EXPORT extern int TF_OperationGetControlOutputs(TF_Operation* oper,
                                                        TF_Operation** control_outputs,
                                                        int max_control_outputs);

// What the value of an attribute is.
typedef struct TF_AttrMetadata {
  unsigned char is_list;  // 1 for a list, else 0
  int64_t list_size;      // the number of elements; -1 if it is no list
  TF_AttrType type;       // of the value, or of the elements
  // The room that the value takes: of a string its bytes, of strings the sum of their bytes; of a
  // shape its rank, -1 if it is unknown; of shapes the sum of their known ranks; of an empty list,
  // and of all else, -1.
  int64_t total_size;
} TF_AttrMetadata;

// Describes the attribute. Here and below an attribute of another type is TF_INVALID_ARGUMENT. An
// attribute that the operation does not have is TF_NOT_FOUND in TF_OperationGetAttrInt, …Float,
// …Bool, …Type, …Shape, …ShapeList, …Tensor and …TensorList, and TF_INVALID_ARGUMENT in the others.
TF_CAPI_EXPORT extern TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper,
                                                                  const char* attr_name,
                                                                  TF_Status* status);

// Copy the value of an attribute. Of a string the first `max_length` bytes are copied, without a
// NUL; of a list the first `max_values` elements. The strings of a list go to `storage`, one behind
// the other; `values[i]` points to string i and `lengths[i]` is its size. TF_INVALID_ARGUMENT if
// `storage_size` is not enough; nothing is written then.
TF_CAPI_EXPORT extern void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name,
                                                     void* value, size_t max_length,
                                                     TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name,
                                                         void** values, size_t* lengths,
                                                         int max_values, void* storage,
                                                         size_t storage_size, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrInt(TF_Operation* oper, const char* attr_name,
                                                  int64_t* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrIntList(TF_Operation* oper, const char* attr_name,
                                                      int64_t* values, int max_values,
                                                      TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloat(TF_Operation* oper, const char* attr_name,
                                                    float* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* attr_name,
                                                        float* values, int max_values,
                                                        TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBool(TF_Operation* oper, const char* attr_name,
                                                   unsigned char* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* attr_name,
                                                       unsigned char* values, int max_values,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrType(TF_Operation* oper, const char* attr_name,
                                                   TF_DataType* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* attr_name,
                                                       TF_DataType* values, int max_values,
                                                       TF_Status* status);

// Copy the dimensions of a shape, -1 for an unknown one; at most `num_dims` of them. Of a list,
// shape i has `num_dims[i]` dimensions at `dims[i]`, or is of unknown rank if that is -1. The
// dimensions go to `storage`, which has room for `storage_size` numbers: TF_INVALID_ARGUMENT if
// that is not enough; nothing is written then.
TF_CAPI_EXPORT extern void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name,
                                                    int64_t* value, int num_dims,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name,
                                                        int64_t** dims, int* num_dims,
                                                        int num_shapes, int64_t* storage,
                                                        int storage_size, TF_Status* status);

// Serialized TensorShapeProtos, into empty buffers of the caller; for a list into new buffers,
// which the caller deletes.
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper,
                                                               const char* attr_name,
                                                               TF_Buffer* value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper,
                                                                   const char* attr_name,
                                                                   TF_Buffer** values,
                                                                   int max_values,
                                                                   TF_Status* status);

// New tensors, which the caller deletes. On an error no entry of `values` is set, and `*value` is
// NULL.
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name,
                                                     TF_Tensor** value, TF_Status* status);
TF_CAPI_EXPORT extern void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name,
                                                         TF_Tensor** values, int max_values,
                                                         TF_Status* status);

// The serialized AttrValue of an attribute of any type.
TF_CAPI_EXPORT extern void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name,
                                                         TF_Buffer* output_attr_value,
                                                         TF_Status* status);

// The number of attributes, those that have their defaults included. Attributes are numbered from 0
// in the order of their names.
TF_CAPI_EXPORT extern int TF_OperationGetNumAttrs(TF_Operation* oper);

// The length in bytes of the name of attribute `i`, without a NUL; -1 if there is none.
TF_CAPI_EXPORT extern int TF_OperationGetAttrNameLength(TF_Operation* oper, int i);

// Writes the name of attribute `i`, without a NUL. `output` has room for
// TF_OperationGetAttrNameLength bytes.
TF_CAPI_EXPORT extern void TF_OperationGetAttrName(TF_Operation* oper, int i, char* output,
                                                   TF_Status* status);

// The operation of this name; NULL if there is none.
TF_CAPI_EXPORT extern TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name);

// Walks over the operations in the order in which they were added: `*pos` is 0 at first, and each
// call moves it. NULL at the end.
TF_CAPI_EXPORT extern TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos);

// The graph as a serialized GraphDef, with functions and versions.
TF_CAPI_EXPORT extern void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def,
                                              TF_Status* status);

// The serialized OpDef of a registered op, or of a function of the graph. TF_NOT_FOUND if there is
// neither.
TF_CAPI_EXPORT extern void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name,
                                            TF_Buffer* output_op_def, TF_Status* status);

// The serialized VersionDef of the graph.
TF_CAPI_EXPORT extern void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def,
                                            TF_Status* status);

// ---------------------------------------------------------------- import

// How a GraphDef is added to a graph. Strings are copied; operations must be of the graph that the
// options are used for.
typedef struct TF_ImportGraphDefOptions TF_ImportGraphDefOptions;

TF_CAPI_EXPORT extern TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void);
TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts);

// Puts "PREFIX/" in front of the names of imported nodes.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts,
                                                             const char* prefix);

// The device of nodes that name none.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts,
                                                                    const char* device);

// Whether a node whose name is taken gets another name ("a_1"), instead of an error. Does nothing
// where a prefix is set and uniquify_prefix is on. Off at first.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts,
                                                                    unsigned char uniquify_names);

// Whether a prefix that is taken, as a name or as a prefix of names, becomes another one ("p_1").
// Off at first: imported nodes then join those under the prefix.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts,
                                                                     unsigned char uniquify_prefix);

// Imported nodes that read output `src_index` of the GraphDef's node `src_name` are to read `dst`.
// `src_index` -1 means a control input, and `dst.index` is then -1 too.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts,
                                                                   const char* src_name,
                                                                   int src_index, TF_Output dst);

// Imported nodes that run after the GraphDef's node `src_name` are to run after `dst`.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsRemapControlDependency(
    TF_ImportGraphDefOptions* opts, const char* src_name, TF_Operation* dst);

// Imported nodes are to run after `oper`.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddControlDependency(
    TF_ImportGraphDefOptions* opts, TF_Operation* oper);

// Adds an output, or an operation, of the GraphDef to those that the import returns. An output that
// an input mapping replaces is returned as what replaces it.
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts,
                                                                   const char* oper_name,
                                                                   int index);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOutputs(
    const TF_ImportGraphDefOptions* opts);
TF_CAPI_EXPORT extern void TF_ImportGraphDefOptionsAddReturnOperation(
    TF_ImportGraphDefOptions* opts, const char* oper_name);
TF_CAPI_EXPORT extern int TF_ImportGraphDefOptionsNumReturnOperations(
    const TF_ImportGraphDefOptions* opts);

// What an import returns. The arrays and strings belong to it.
typedef struct TF_ImportGraphDefResults TF_ImportGraphDefResults;

// The outputs and operations that the options asked for, in their order.
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results,
                                                                 int* num_outputs,
                                                                 TF_Output** outputs);
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsReturnOperations(
    TF_ImportGraphDefResults* results, int* num_opers, TF_Operation*** opers);

// The sources of input mappings that no imported node has used and that are no outputs of the
// GraphDef.
TF_CAPI_EXPORT extern void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults* results, int* num_missing_unused_input_mappings,
    const char*** src_names, int** src_indexes);

TF_CAPI_EXPORT extern void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results);

// Adds the nodes and functions of a serialized GraphDef to the graph. On an error the graph is as
// it was and the result is NULL: TF_INVALID_ARGUMENT for bytes that do not parse, for nodes that do
// not fit, for names that are taken; TF_NOT_FOUND for an unknown op; TF_UNIMPLEMENTED for an op
// that is out of use. `graph_def` is only read. If the host made its bytes, the graph may keep
// them: they must not change afterwards.
TF_CAPI_EXPORT extern TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Status* status);

// The same, and writes the outputs that the options ask for. `num_return_outputs` must be their
// number.
TF_CAPI_EXPORT extern void TF_GraphImportGraphDefWithReturnOutputs(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Output* return_outputs, int num_return_outputs, TF_Status* status);

// The same for options that ask for no outputs; returns nothing.
TF_CAPI_EXPORT extern void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def,
                                                  const TF_ImportGraphDefOptions* options,
                                                  TF_Status* status);

// ---------------------------------------------------------------- functions of a graph

// Adds a copy of `func` to the graph, and of `grad`, if it is not NULL, as the function that
// computes the gradient of `func`. A function that the graph has already, with the same definition,
// is no error. TF_INVALID_ARGUMENT if the graph has another function, an op or another gradient
// under the name; the graph is then as it was.
TF_CAPI_EXPORT extern void TF_GraphCopyFunction(TF_Graph* g, const TF_Function* func,
                                                const TF_Function* grad, TF_Status* status);

// The number of functions of the graph.
TF_CAPI_EXPORT extern int TF_GraphNumFunctions(TF_Graph* g);

// Writes copies of the first `max_func` functions, which the caller deletes. Returns how many were
// written.
TF_CAPI_EXPORT extern int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs, int max_func,
                                               TF_Status* status);

// The operation as a serialized NodeDef.
TF_CAPI_EXPORT extern void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def,
                                                 TF_Status* status);

// ---------------------------------------------------------------- loops

// A loop that is being built. The caller builds the condition and the body in two graphs of their
// own, from the inputs that TF_NewWhile made there, and then sets `cond_output`, `body_outputs` and
// `name`.
typedef struct TF_WhileParams {
  const int ninputs;  // the number of the loop's variables, and the length of all arrays here

  TF_Graph* const cond_graph;
  const TF_Output* const cond_inputs;
  TF_Output cond_output;  // a bool scalar: whether to go on

  TF_Graph* const body_graph;
  const TF_Output* const body_inputs;
  TF_Output* const body_outputs;  // the variables of the next pass

  const char* name;  // no other loop that TF_FinishWhile added to the graph may have it
} TF_WhileParams;

// Begins a loop in `g` whose variables start with `inputs`. After TF_OK the caller must call
// TF_FinishWhile or TF_AbortWhile, once; after an error neither. TF_INVALID_ARGUMENT if `ninputs`
// is 0.
TF_CAPI_EXPORT extern TF_WhileParams TF_NewWhile(TF_Graph* g, TF_Output* inputs, int ninputs,
                                                 TF_Status* status);

// Adds the loop to the graph and writes what its variables are at the end to `outputs`, which has
// room for `ninputs`. The operations are named "NAME/…", or "NAME_1/…" and so on where that is
// taken. Releases what `params` holds, also on an error, after which the graph is as it was:
// TF_INVALID_ARGUMENT for a field that is not set, for a name that another such loop has, and for a
// condition or a body of other types.
TF_CAPI_EXPORT extern void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status,
                                          TF_Output* outputs);

// Releases what `params` holds and adds no loop.
TF_CAPI_EXPORT extern void TF_AbortWhile(const TF_WhileParams* params);

// ---------------------------------------------------------------- gradients

// Adds the operations that compute the derivatives of the sum of `y` by each of `x`, and writes
// them to `dy`, which has room for `nx`: {NULL, -1} where `y` does not depend on the x, and where
// the operation of the x has no such output. `dx` has an output for each y, of its type and shape:
// the derivative, by this y, of the result that is to be differentiated in the end. NULL, for all
// or as the operation of one, stands for ones. The operations are named "gradients/…", or
// "gradients_1/…" and so on where that is taken. On an error the graph is as it was: TF_NOT_FOUND
// for an op that has no gradient, TF_UNIMPLEMENTED for a gradient that this host does not build,
// such as that of a y or by an x inside of a loop.
TF_CAPI_EXPORT void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx,
                                    TF_Output* dx, TF_Status* status, TF_Output* dy);

// The same, under the prefix "PREFIX/": TF_INVALID_ARGUMENT if it is taken, TF_INTERNAL if it is
// empty. NULL means the prefix above.
TF_CAPI_EXPORT void TF_AddGradientsWithPrefix(TF_Graph* g, const char* prefix, TF_Output* y, int ny,
                                              TF_Output* x, int nx, TF_Output* dx,
                                              TF_Status* status, TF_Output* dy);

// ---------------------------------------------------------------- functions

// Makes a function of operations of `fn_body`, which stays as it is.
//   fn_name: what the function is called. With `append_hash_to_fn_name`, "_" and a hash of the
//     definition come behind it.
//   num_opers, opers: the operations of the body; with -1 all of the graph but those that give
//     `inputs`. Those must then have one output.
//   inputs: outputs that become the arguments, no output twice. The arguments are named after their
//     operations, in lower case.
//   outputs, output_names: what the function returns, and under which names; NULL for names after
//     the operations.
//   opts: NULL. description: for people; may be NULL.
// Each input of an operation of the body must come from the body or be one of `inputs`. NULL on an
// error: TF_OUT_OF_RANGE for an output that there is not, TF_UNIMPLEMENTED for a placeholder in an
// attribute that the op does not define, TF_INVALID_ARGUMENT for all else.
TF_CAPI_EXPORT extern TF_Function* TF_GraphToFunction(
    const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names,
    const TF_FunctionOptions* opts, const char* description, TF_Status* status);

// The same with control outputs: operations of the body that each call runs. `control_output_names`
// names them; NULL for the names of the operations.
TF_CAPI_EXPORT extern TF_Function* TF_GraphToFunctionWithControlOutputs(
    const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names, int ncontrol_outputs,
    const TF_Operation* const* control_outputs, const char* const* control_output_names,
    const TF_FunctionOptions* opts, const char* description, TF_Status* status);

// The name; it lives as long as the function.
TF_CAPI_EXPORT extern const char* TF_FunctionName(TF_Function* func);

// The function as a serialized FunctionDef.
TF_CAPI_EXPORT extern void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def,
                                                    TF_Status* status);

// A new function of a serialized FunctionDef. NULL on an error: TF_INVALID_ARGUMENT if the bytes do
// not parse. The body is checked when a graph calls it.
TF_CAPI_EXPORT extern TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len,
                                                                TF_Status* status);

// Sets, or replaces, an attribute of the function, such as _noinline, given as a serialized
// AttrValue. TF_INVALID_ARGUMENT if the bytes do not parse. No other thread may use the function
// during the call.
TF_CAPI_EXPORT extern void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name,
                                                        const void* proto, size_t proto_len,
                                                        TF_Status* status);

// The serialized AttrValue of an attribute of the function. TF_INVALID_ARGUMENT if it has none of
// this name.
TF_CAPI_EXPORT extern void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name,
                                                        TF_Buffer* output_attr_value,
                                                        TF_Status* status);

// Releases the function; copies in graphs stay.
TF_CAPI_EXPORT extern void TF_DeleteFunction(TF_Function* func);

// Computes the output if it depends on constants and on known shapes alone, and on no control edge:
// returns 1 and a new tensor in `*result`. Else returns 0 and sets `*result` to NULL, which is no
// error. An error of a kernel on the way is an error here, and so are more than 1 GiB of results of
// one operation: TF_RESOURCE_EXHAUSTED.
TF_CAPI_EXPORT extern unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output,
                                                           TF_Tensor** result, TF_Status* status);

// ---------------------------------------------------------------- sessions

// Runs parts of a graph and keeps what lasts from run to run: variables, tables, queues.
// Thread-safe; runs go on at once.
typedef struct TF_Session TF_Session;

// A session of `graph`, which stays alive as long as the session, and may grow meanwhile. `opts`
// may be NULL. Its devices are the CPU and those of the plug-ins that are loaded now. NULL on an
// error.
TF_CAPI_EXPORT extern TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts,
                                                TF_Status* status);

// Reads a SavedModel, adds its graph to `graph`, which must be empty, and returns a session in
// which the variables are restored, the paths of assets fed and the initializers run. `export_dir`
// is the folder. `tags` are those of the wanted MetaGraphDef, all of them, in any order.
// `session_options` may be NULL. `run_options` (a serialized RunOptions, or NULL) counts for the
// runs that this takes. `meta_graph_def`, if it is not NULL, gets the serialized MetaGraphDef. On
// an error the result is NULL and the graph is as it was: TF_NOT_FOUND for a folder without a
// model, and for tags that no MetaGraphDef has, whose message lists the tags that there are;
// TF_OUT_OF_RANGE for a saved_model.pb that does not parse, TF_DATA_LOSS for such a
// saved_model.pbtxt; TF_INVALID_ARGUMENT for a graph that is not empty.
TF_CAPI_EXPORT extern TF_Session* TF_LoadSessionFromSavedModel(
    const TF_SessionOptions* session_options, const TF_Buffer* run_options, const char* export_dir,
    const char* const* tags, int tags_len, TF_Graph* graph, TF_Buffer* meta_graph_def,
    TF_Status* status);

// Ends the session: calls that begin a run fail from now on with TF_CANCELLED. So does a run in
// progress once it waits for another run or for a device, begins a pass of a loop, begins a further
// part of a large kernel or, if it has a timeout or a trace, ends an operation; other runs go on to
// their end. A second call does nothing.
TF_CAPI_EXPORT extern void TF_CloseSession(TF_Session*, TF_Status* status);

// Releases the session. No call for it may be in progress. A call with a deleted session is
// TF_INVALID_ARGUMENT, until the address is that of a new one.
TF_CAPI_EXPORT extern void TF_DeleteSession(TF_Session*, TF_Status* status);

// Computes `outputs`, and runs `target_opers`, with `input_values` in the place of `inputs`. Any
// output may be fed, once, but not also fetched: TF_INVALID_ARGUMENT. So is a call that fetches and
// runs nothing, a placeholder that is needed and not fed, and a target that is a placeholder.
// The caller keeps `input_values`, whose elements must not change during the call, and owns the
// tensors in `output_values`. These may share memory with inputs and constants: they must not be
// written. On an error all of `output_values` are NULL. A first call with these inputs, outputs and
// targets plans the run; later ones repeat it. TF_CANCELLED after TF_CloseSession.
// `run_options` (a serialized RunOptions) may be NULL. timeout_in_ms: TF_DEADLINE_EXCEEDED if the
// run takes longer. The run then ends after the kernel that is running at the latest, or at once if
// it waits for another run. trace_level: the metadata get the times of operations, from
// HARDWARE_TRACE on those of streams, too. output_partition_graphs: the metadata get the graphs
// that run, one for each device. `run_metadata`, an empty buffer, gets a serialized RunMetadata,
// also if the run fails; NULL: none is wanted.
TF_CAPI_EXPORT extern void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options,
                                         const TF_Output* inputs, TF_Tensor* const* input_values,
                                         int ninputs, const TF_Output* outputs,
                                         TF_Tensor** output_values, int noutputs,
                                         const TF_Operation* const* target_opers, int ntargets,
                                         TF_Buffer* run_metadata, TF_Status*);

// ---------------------------------------------------------------- partial runs

// Begins a run that gets its inputs in several calls of TF_SessionPRun. `*handle` becomes the name
// of the run, which the caller frees with TF_DeletePRunHandle; NULL on an error. Errors are those
// of TF_SessionRun for these inputs, outputs and targets. But a placeholder that is needed and is
// none of the inputs is an error of the first TF_SessionPRun, which ends the run.
TF_CAPI_EXPORT extern void TF_SessionPRunSetup(TF_Session*, const TF_Output* inputs, int ninputs,
                                               const TF_Output* outputs, int noutputs,
                                               const TF_Operation* const* target_opers,
                                               int ntargets, const char** handle, TF_Status*);

// Gives a run some of its inputs, and computes all that they and earlier ones allow, each operation
// once. Hands out `outputs`. Each input and each output of the setup has one call; targets need
// none. The run ends when all have been given and taken, and with an operation that fails.
// TF_INVALID_ARGUMENT for a handle without a run, for an input or output that was not set up or
// that a call had before, and for an output that needs inputs which are missing; the run then goes
// on as if there had been no call. A value of another type than its input is TF_INTERNAL in the
// next call that takes an output, at the latest in the last one, and ends the run. Calls for one
// handle take turns.
TF_CAPI_EXPORT extern void TF_SessionPRun(TF_Session*, const char* handle, const TF_Output* inputs,
                                          TF_Tensor* const* input_values, int ninputs,
                                          const TF_Output* outputs, TF_Tensor** output_values,
                                          int noutputs, const TF_Operation* const* target_opers,
                                          int ntargets, TF_Status*);

// Frees the name of a run. The run itself lasts until it ends, or its session is deleted.
TF_CAPI_EXPORT extern void TF_DeletePRunHandle(const char* handle);

// ---------------------------------------------------------------- sessions without a TF_Graph

// A session that has the graph for itself and names its nodes by strings: "node", "node:1". Kept
// for old programs. What is said of TF_Session, TF_SessionRun and the functions for partial runs
// holds here, too; an array of names must hold no NULL.
typedef struct TF_DeprecatedSession TF_DeprecatedSession;

TF_CAPI_EXPORT extern TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions*,
                                                                    TF_Status* status);
TF_CAPI_EXPORT extern void TF_CloseDeprecatedSession(TF_DeprecatedSession*, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteDeprecatedSession(TF_DeprecatedSession*, TF_Status* status);

// Closes all sessions of the process, of both kinds. `containers` names the containers whose
// resources they are to forget. Nobody can see the resources of a closed session, so the names are
// only checked. A target of `opt` that TF_NewSession refuses is the same error here.
TF_CAPI_EXPORT extern void TF_Reset(const TF_SessionOptions* opt, const char** containers,
                                    int ncontainers, TF_Status* status);

// Adds the nodes and functions of a serialized GraphDef, whose inputs may be nodes of earlier
// calls. On an error nothing is added: TF_INVALID_ARGUMENT for bytes that do not parse, for a name
// that is taken, for an input that there is not; TF_NOT_FOUND for an unknown op; TF_CANCELLED for a
// session that is closed.
TF_CAPI_EXPORT extern void TF_ExtendGraph(TF_DeprecatedSession*, const void* proto,
                                          size_t proto_len, TF_Status*);

// TF_INVALID_ARGUMENT before the first TF_ExtendGraph and for an unknown node, but TF_NOT_FOUND for
// an unknown target.
TF_CAPI_EXPORT extern void TF_Run(TF_DeprecatedSession*, const TF_Buffer* run_options,
                                  const char** input_names, TF_Tensor** inputs, int ninputs,
                                  const char** output_names, TF_Tensor** outputs, int noutputs,
                                  const char** target_oper_names, int ntargets,
                                  TF_Buffer* run_metadata, TF_Status*);
TF_CAPI_EXPORT extern void TF_PRunSetup(TF_DeprecatedSession*, const char** input_names,
                                        int ninputs, const char** output_names, int noutputs,
                                        const char** target_oper_names, int ntargets,
                                        const char** handle, TF_Status*);
TF_CAPI_EXPORT extern void TF_PRun(TF_DeprecatedSession*, const char* handle,
                                   const char** input_names, TF_Tensor** inputs, int ninputs,
                                   const char** output_names, TF_Tensor** outputs, int noutputs,
                                   const char** target_oper_names, int ntargets, TF_Status*);

// ---------------------------------------------------------------- devices

// The devices of a session or of an eager context, in the order in which they serve: first the CPU.
typedef struct TF_DeviceList TF_DeviceList;

TF_CAPI_EXPORT extern TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status);
TF_CAPI_EXPORT extern TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session,
                                                                     TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteDeviceList(TF_DeviceList* list);

// -1 for NULL.
TF_CAPI_EXPORT extern int TF_DeviceListCount(const TF_DeviceList* list);

// "/job:localhost/replica:0/task:0/device:CPU:0" and "CPU". The texts belong to the list. For these
// and the next two functions: TF_INVALID_ARGUMENT, and NULL, -1 or 0, for an index that there is
// not.
TF_CAPI_EXPORT extern const char* TF_DeviceListName(const TF_DeviceList* list, int index,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern const char* TF_DeviceListType(const TF_DeviceList* list, int index,
                                                    TF_Status* status);

// The most bytes that tensors can take there; 0 if a plug-in does not say. For the CPU the memory
// of the machine, where TensorFlow says 256 MiB whatever there is.
TF_CAPI_EXPORT extern int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index,
                                                       TF_Status* status);

// A random number, not 0, that tells a device of this session or context from one of the same name
// in another one.
TF_CAPI_EXPORT extern uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index,
                                                        TF_Status* status);

// ---------------------------------------------------------------- libraries, ops and kernels

// A list of the ops that a library registered. It does not hold the library.
typedef struct TF_Library TF_Library;

// Opens a shared library that registers ops and kernels from its static constructors. Calls no
// entry point. Returns NULL on an error: TF_NOT_FOUND with the loader's words if the library cannot
// be opened, and for a name that is empty or NULL; TF_ALREADY_EXISTS if another load has meanwhile
// taken the name of one of its ops, TF_INVALID_ARGUMENT if an op states its facts wrongly,
// TF_FAILED_PRECONDITION if the library loads itself or needs the runtime of a sanitizer that the
// process lacks. A second call for the same file, also under another name, returns another handle
// with the same ops; after an error it tries again. The handle has no ops if the process had the
// library open before, as by TF_LoadPluggableDeviceLibrary: the constructors do not run again then.
// The library is never unloaded. Release the handle with TF_DeleteLibraryHandle.
TF_CAPI_EXPORT extern TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status);

// Serialized OpList of the ops that the library registered. The data belongs to `lib_handle` and
// lives as long: the buffer has no deallocator.
TF_CAPI_EXPORT extern TF_Buffer TF_GetOpList(TF_Library* lib_handle);

// Releases the handle; ops and kernels stay registered. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteLibraryHandle(TF_Library* lib_handle);

// Serialized OpList of every registered op, in a new buffer, which the caller deletes with
// TF_DeleteBuffer; NULL when memory is short. A plug-in that calls this function or the two for
// kernels while it is loaded also sees what it has registered so far.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllOpList(void);

// Descriptions of ops for generators of bindings, by op: ApiDef messages.
typedef struct TF_ApiDefMap TF_ApiDefMap;

// A map with an ApiDef for each op of a serialized OpList, made of the op's definition. NULL on an
// error: TF_INVALID_ARGUMENT if the bytes do not parse.
TF_CAPI_EXPORT extern TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status);

TF_CAPI_EXPORT extern void TF_DeleteApiDefMap(TF_ApiDefMap* apimap);

// Merges the ApiDefs of `text`, an ApiDefs message in protobuf's text form in which long strings
// may stand as `<<END … END`. Of two values the later one counts. Ops that the map does not have
// are skipped. TF_INVALID_ARGUMENT if the text does not parse. TF_FAILED_PRECONDITION if the text
// contradicts an op, and once TF_ApiDefMapGet was called for the map. After a contradiction part of
// the text is merged.
TF_CAPI_EXPORT extern void TF_ApiDefMapPut(TF_ApiDefMap* api_def_map, const char* text,
                                           size_t text_len, TF_Status* status);

// The serialized ApiDef of an op, in a new buffer, which the caller deletes. NULL if the map has
// none, which is no error.
TF_CAPI_EXPORT extern TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* api_def_map, const char* name,
                                                 size_t name_len, TF_Status* status);

// Serialized KernelList of every registered kernel, the host's own and those of plug-ins, in a new
// buffer. Fails only where memory is short.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);

// The same for the op `name`; an empty list for an op without kernels, for an unknown op and for
// NULL.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status);

// ---------------------------------------------------------------- changes of a graph

// Makes `new_src` feed the input `dst`, in the place of what feeds it now. TF_OUT_OF_RANGE for an
// input or output that there is not, TF_INVALID_ARGUMENT for another type or a shape that does not
// fit. For this function and for those at the end of this header that change operations: a session
// that took the operation before does not see the change, and warns on stderr. A session takes all
// operations that the graph has when it plans a run, and in TF_ExtendSession.
TF_CAPI_EXPORT extern void TF_UpdateEdge(TF_Graph* graph, TF_Output new_src, TF_Input dst,
                                         TF_Status* status);

// Makes the session take what its graph has become, as each run with new feeds or fetches does.
TF_CAPI_EXPORT extern void TF_ExtendSession(TF_Session* session, TF_Status* status);

// In TensorFlow `graph_def` is an object of its C++ library, and no serialized message. NULL and
// TF_UNIMPLEMENTED.
TF_CAPI_EXPORT extern TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResultsNoSerialization(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Status* status);

// ---------------------------------------------------------------- servers

// A member of a cluster of processes. This host has none: TF_NewServer says TF_UNIMPLEMENTED.
typedef struct TF_Server TF_Server;

TF_CAPI_EXPORT extern TF_Server* TF_NewServer(const void* proto, size_t proto_len,
                                              TF_Status* status);
TF_CAPI_EXPORT extern void TF_ServerStart(TF_Server* server, TF_Status* status);
TF_CAPI_EXPORT extern void TF_ServerStop(TF_Server* server, TF_Status* status);
TF_CAPI_EXPORT extern void TF_ServerJoin(TF_Server* server, TF_Status* status);
TF_CAPI_EXPORT extern const char* TF_ServerTarget(TF_Server* server);
TF_CAPI_EXPORT extern void TF_DeleteServer(TF_Server* server);

// ---------------------------------------------------------------- messages and files

// Calls `listener` with what ops such as PrintV2 print to the log, instead of printing it. Several
// listeners get each message, in the order of the calls. A listener stays for the life of the
// process and may be called on any thread.
TF_CAPI_EXPORT extern void TF_RegisterLogListener(void (*listener)(const char*));

// Loads a plug-in for files. This host has no such plug-ins: TF_UNIMPLEMENTED, or TF_NOT_FOUND if
// there is no such file.
TF_CAPI_EXPORT extern void TF_RegisterFilesystemPlugin(const char* plugin_filename,
                                                       TF_Status* status);

// ---------------------------------------------------------------- what TensorFlow's Python uses

// Makes `op` run after `input`. An edge that is there already is not added again.
TF_CAPI_EXPORT extern void TF_AddOperationControlInput(TF_Graph* graph, TF_Operation* op,
                                                       TF_Operation* input);

// Sets, or replaces, an attribute of an operation, given as a serialized AttrValue.
// TF_INVALID_ARGUMENT if the bytes do not parse, or if the types of inputs and outputs do not
// follow from the attributes then; the operation stays as it was. Nothing else is checked.
TF_CAPI_EXPORT extern void TF_SetAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name,
                                      TF_Buffer* attr_value_proto, TF_Status* status);

// Removes an attribute, if the operation has it. TF_INVALID_ARGUMENT as of TF_SetAttr.
TF_CAPI_EXPORT extern void TF_ClearAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name,
                                        TF_Status* status);

// Sets the field experimental_type of the operation's NodeDef to a serialized FullTypeDef. Does
// nothing if that does not parse.
TF_CAPI_EXPORT extern void TF_SetFullType(TF_Graph* graph, TF_Operation* op,
                                          const TF_Buffer* full_type_proto);

// Replaces the device that the operation asks for.
TF_CAPI_EXPORT extern void TF_SetRequestedDevice(TF_Graph* graph, TF_Operation* op,
                                                 const char* device);

// Makes the operation run after no other one, but for its inputs.
TF_CAPI_EXPORT extern void TF_RemoveAllControlInputs(TF_Graph* graph, TF_Operation* op);

// Whether TF_FinishOperation refuses an op that has no shape function. Off at first.
TF_CAPI_EXPORT extern void TF_SetRequireShapeInferenceFns(TF_Graph* graph, bool require);

// What is known of the value behind an output of type resource or variant: a serialized
// CppShapeInferenceResult.HandleData, in a new buffer; NULL if nothing is known.
TF_CAPI_EXPORT extern TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph, TF_Output output);

// Sets what the function above returns. TF_INVALID_ARGUMENT if the bytes do not parse.
TF_CAPI_EXPORT extern void TF_SetHandleShapeAndType(TF_Graph* graph, TF_Output output,
                                                    const void* proto, size_t proto_len,
                                                    TF_Status* status);

// Adds `new_src` as one more input of `dst`, a While whose attribute T already has the input's
// type. TF_INTERNAL if `dst` is no While, TF_OUT_OF_RANGE if T has no type left,
// TF_INVALID_ARGUMENT if the type in T is another one.
TF_CAPI_EXPORT extern void TF_AddWhileInputHack(TF_Graph* graph, TF_Output new_src,
                                                TF_Operation* dst, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_C_API_H_
