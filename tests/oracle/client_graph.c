/* What the client C API answers about graphs: a line for each case, with the code and the message.
   client_api.sh compares the lines of this library with those of a TensorFlow package. Cases in
   which TensorFlow ends the process, or depends on the order of a hash map, are not here. */
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static TF_Status* status;
static TF_Graph* graph;

static void Show(const char* what) {
  printf("%s: %d %s\n", what, TF_GetCode(status), TF_Message(status));
  TF_SetStatus(status, TF_OK, "");
}

static TF_OperationDescription* New(const char* op, const char* name) {
  return TF_NewOperation(graph, op, name);
}

static TF_Operation* Finish(TF_OperationDescription* desc, const char* what) {
  TF_Operation* oper = TF_FinishOperation(desc, status);
  Show(what);
  return oper;
}

static TF_Operation* Placeholder(const char* name, TF_DataType type, int rank,
                                 const int64_t* dims) {
  TF_OperationDescription* desc = New("Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  if (rank >= -1) TF_SetAttrShape(desc, "shape", dims, rank);
  return Finish(desc, name);
}

static TF_Tensor* Ints(int n, const int32_t* values) {
  const int64_t dims[] = {n};
  TF_Tensor* t = TF_AllocateTensor(TF_INT32, dims, 1, n * sizeof(int32_t));
  memcpy(TF_TensorData(t), values, n * sizeof(int32_t));
  return t;
}

static TF_Output At(TF_Operation* oper, int index) {
  TF_Output output = {oper, index};
  return output;
}

/* All operations with their inputs. */
static void List(void) {
  size_t pos = 0;
  TF_Operation* oper;
  while ((oper = TF_GraphNextOperation(graph, &pos)) != NULL) {
    printf("  %s(%s)[%s]", TF_OperationName(oper), TF_OperationOpType(oper),
           TF_OperationDevice(oper));
    for (int i = 0; i < TF_OperationNumInputs(oper); ++i) {
      const TF_Input input = {oper, i};
      const TF_Output from = TF_OperationInput(input);
      printf(" %s:%d", TF_OperationName(from.oper), from.index);
    }
    TF_Operation* control[16];
    const int n = TF_OperationGetControlInputs(oper, control, 16);
    for (int i = 0; i < n; ++i) printf(" ^%s", TF_OperationName(control[i]));
    printf("\n");
  }
}

static void NewGraph(void) {
  TF_DeleteGraph(graph);
  graph = TF_NewGraph();
}

static void Building(void) {
  const int64_t matrix[] = {2, 3};
  TF_Operation* a = Placeholder("a", TF_FLOAT, 2, matrix);
  TF_Operation* b = Placeholder("b", TF_INT32, -2, NULL);
  TF_Operation* c = Placeholder("c", TF_FLOAT, 1, matrix);
  TF_OperationDescription* d = New("Add", "x");
  TF_AddInput(d, At(a, 0));
  TF_AddInput(d, At(b, 0));
  Finish(d, "types that differ");
  Finish(New("NoOp", "a"), "a name that is taken");
  Finish(New("Neg", "x"), "no input");
  d = New("Neg", "x");
  TF_AddInput(d, At(a, 0));
  TF_AddInput(d, At(a, 0));
  Finish(d, "two inputs");
  d = New("Neg", "x");
  TF_AddInput(d, At(a, 3));
  Finish(d, "an output that there is not");
  const TF_Output list[] = {At(a, 0), At(b, 0)};
  d = New("Neg", "x");
  TF_AddInputList(d, list, 1);
  Finish(d, "a list for one");
  d = New("AddN", "x");
  TF_AddInput(d, At(a, 0));
  Finish(d, "one for a list");
  d = New("AddN", "x");
  TF_AddInputList(d, list, 0);
  Finish(d, "an empty list");
  d = New("AddN", "x");
  TF_AddInputList(d, list, 2);
  Finish(d, "a list of two types");
  Finish(New("NoSuchOp", "x"), "an unknown op");
  d = New("MatMul", "x");
  TF_AddInput(d, At(a, 0));
  TF_AddInput(d, At(c, 0));
  Finish(d, "a rank that does not fit");
  d = New("MatMul", "x");
  TF_AddInput(d, At(a, 0));
  TF_AddInput(d, At(a, 0));
  TF_SetDevice(d, "/cpu:0");
  TF_AddControlInput(d, b);
  Finish(d, "sizes that do not fit");
  d = New("Neg", "x");
  TF_AddInput(d, At(a, 0));
  TF_SetAttrType(d, "T", TF_INT32);
  Finish(d, "an attribute against an input");
  d = New("Placeholder", "unknown_attr");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrInt(d, "foo", 3);
  Finish(d, "an attribute that the op does not have");
  Finish(New("Placeholder", "x"), "no attribute");
  d = New("Placeholder", "x");
  TF_SetAttrInt(d, "dtype", 3);
  Finish(d, "an attribute of another type");
  d = New("Placeholder", "x");
  TF_SetAttrType(d, "dtype", (TF_DataType)0);
  Finish(d, "type 0");
  d = New("Conv2D", "x");
  TF_AddInput(d, At(a, 0));
  TF_AddInput(d, At(a, 0));
  TF_SetAttrString(d, "padding", "FOO", 3);
  Finish(d, "a string that is not allowed");
  const int32_t sizes[] = {4, 5};
  TF_Tensor* value = Ints(2, sizes);
  d = New("Const", "k");
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_SetAttrTensor(d, "value", value, status);
  TF_Operation* k = Finish(d, "a constant");
  d = New("Reshape", "x");
  TF_AddInput(d, At(a, 0));
  TF_AddInput(d, At(k, 0));
  Finish(d, "a shape of other size");
  d = New("Const", "two_types");
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrTensor(d, "value", value, status);
  Finish(d, "a constant of two types");
  TF_DeleteTensor(value);
  d = New("ReadVariableOp", "x");
  TF_AddInput(d, At(a, 0));
  Finish(d, "a tensor for a handle");
  const int64_t other[] = {4, -1};
  TF_GraphSetTensorShape(graph, At(a, 0), other, 1, status);
  Show("merge another rank");
  TF_GraphSetTensorShape(graph, At(a, 0), other, 2, status);
  Show("merge another size");
  TF_GraphSetTensorShape(graph, At(a, 5), other, 2, status);
  Show("merge into nothing");
  int64_t read[2];
  TF_GraphGetTensorShape(graph, At(a, 0), read, 1, status);
  Show("read another rank");
  printf("%d\n", TF_OperationInputListLength(a, "no", status));
  Show("an argument that there is not");
  TF_Buffer* buffer = TF_NewBuffer();
  TF_GraphGetOpDef(graph, "NoSuchOp", buffer, status);
  Show("an op that there is not");
  TF_DeleteBuffer(buffer);
  List();
}

static void Attributes(void) {
  TF_Operation* a = Placeholder("a", TF_FLOAT, -1, NULL);
  int64_t number;
  void* strings[1];
  size_t lengths[1];
  char storage[1];
  TF_OperationGetAttrInt(a, "no", &number, status);
  Show("int that there is not");
  TF_OperationGetAttrInt(a, "dtype", &number, status);
  Show("int of a type");
  TF_OperationGetAttrIntList(a, "dtype", &number, 1, status);
  Show("list of a type");
  TF_OperationGetAttrString(a, "dtype", storage, 1, status);
  Show("string of a type");
  TF_OperationGetAttrStringList(a, "dtype", strings, lengths, 1, storage, 1, status);
  Show("strings of a type");
  TF_OperationGetAttrShape(a, "dtype", &number, 1, status);
  Show("shape of a type");
  TF_Tensor* tensor;
  TF_OperationGetAttrTensor(a, "dtype", &tensor, status);
  Show("tensor of a type");
  TF_Buffer* buffer = TF_NewBuffer();
  TF_OperationGetAttrTensorShapeProto(a, "dtype", buffer, status);
  Show("shape message of a type");
  TF_OperationGetAttrValueProto(a, "no", buffer, status);
  Show("value that there is not");
  TF_DeleteBuffer(buffer);
  const char* names[] = {"dtype", "shape", "no"};
  for (int i = 0; i < 3; ++i) {
    const TF_AttrMetadata data = TF_OperationGetAttrMetadata(a, names[i], status);
    if (TF_GetCode(status) == TF_OK)
      printf("%d %d %d\n", data.is_list, data.type, (int)data.total_size);
    Show(names[i]);
  }
}

/* --- Import: GraphDefs are written as bytes. */

static char bytes[1 << 16];
static size_t length;

static void Put(char** at, int field, const char* data, size_t n) {
  *(*at)++ = (char)(field * 8 + 2);
  for (; n >= 128 && data != NULL; n >>= 7) break;
  size_t rest = n;
  while (rest >= 128) {
    *(*at)++ = (char)(rest | 128);
    rest >>= 7;
  }
  *(*at)++ = (char)rest;
  memcpy(*at, data, n);
  *at += n;
}

/* Adds a node; `inputs` are separated by blanks, `attrs` are bytes of NodeDef fields. */
static void Node(const char* name, const char* op, const char* inputs, const char* attrs,
                 size_t attr_bytes) {
  char node[4096], words[512], *at = node, *end = bytes + length;
  Put(&at, 1, name, strlen(name));
  if (*op != '\0') Put(&at, 2, op, strlen(op));
  strcpy(words, inputs);
  for (char* word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
    Put(&at, 3, word, strlen(word));
  memcpy(at, attrs, attr_bytes);
  at += attr_bytes;
  Put(&end, 1, node, at - node);
  length = end - bytes;
}

static void Versions(int producer, int min_consumer) {
  char versions[16], *at = versions, *end = bytes + length;
  const int values[] = {producer, min_consumer};
  for (int i = 0; i < 2; ++i) {
    *at++ = (char)(8 * (i + 1));
    unsigned rest = values[i];
    for (; rest >= 128; rest >>= 7) *at++ = (char)(rest | 128);
    *at++ = (char)rest;
  }
  Put(&end, 4, versions, at - versions);
  length = end - bytes;
}

#define BYTES(text) text, sizeof(text) - 1
#define FLOAT_T BYTES("\x2a\x07\x0a\x01T\x12\x02\x30\x01")
#define FLOAT_DTYPE  \
  "\x2a\x0b\x0a\x05" \
  "dtype\x12\x02\x30\x01"

static TF_ImportGraphDefOptions* options;

static void NewOptions(void) {
  TF_DeleteImportGraphDefOptions(options);
  options = TF_NewImportGraphDefOptions();
}

/* Imports the nodes since the last import. */
static void Import(const char* what) {
  TF_Buffer* buffer = TF_NewBufferFromString(bytes, length);
  TF_ImportGraphDefResults* results =
      TF_GraphImportGraphDefWithResults(graph, buffer, options, status);
  Show(what);
  TF_DeleteBuffer(buffer);
  length = 0;
  if (results == NULL) return;
  int n;
  TF_Output* outputs;
  TF_ImportGraphDefResultsReturnOutputs(results, &n, &outputs);
  for (int i = 0; i < n; ++i)
    printf("  output %s:%d\n", TF_OperationName(outputs[i].oper), outputs[i].index);
  TF_Operation** opers;
  TF_ImportGraphDefResultsReturnOperations(results, &n, &opers);
  for (int i = 0; i < n; ++i) printf("  operation %s\n", TF_OperationName(opers[i]));
  const char** names;
  int* indexes;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &n, &names, &indexes);
  for (int i = 0; i < n; ++i) printf("  unused %d\n", indexes[i]);
  TF_DeleteImportGraphDefResults(results);
}

static void ShowVersions(void) {
  TF_Buffer* buffer = TF_NewBuffer();
  TF_GraphVersions(graph, buffer, status);
  printf("  versions");
  for (size_t i = 0; i < buffer->length; ++i)
    printf(" %02x", ((const unsigned char*)buffer->data)[i]);
  printf("\n");
  TF_DeleteBuffer(buffer);
}

static void Chain(void) {
  Node("x", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Node("y", "Neg", "x", FLOAT_T);
  Node("z", "Neg", "y ^x", FLOAT_T);
}

static void ImportRefused(void) {
  NewOptions();
  Node("a b", "NoOp", "", "", 0);
  Import("a malformed name");
  Node("_a", "NoOp", "", "", 0);
  Import("an internal name");
  Node("a", "NoOp", "", "", 0);
  Node("a", "NoOp", "", "", 0);
  Import("a name that stands twice");
  Node("a", "", "", "", 0);
  Import("no op");
  Node("a", "NoSuchOp", "", "", 0);
  Import("an unknown op");
  Node("n", "Neg", "q", FLOAT_T);
  Import("an unknown input");
  Node("k", "NoOp", "^q", "", 0);
  Import("an unknown control input");
  Node("p", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Node("n", "Neg", "p:1", FLOAT_T);
  Import("an output that there is not");
  Node("p", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Node("n", "Neg", "p", BYTES("\x2a\x07\x0a\x01T\x12\x02\x30\x03"));
  Import("another type");
  Node("p", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Node("n", "Neg", "^p p", FLOAT_T);
  Import("a control input before");
  Node("m", "Neg", "n", FLOAT_T);
  Node("n", "Neg", "m", FLOAT_T);
  Import("a cycle");
  Node("p", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Node("n", "Neg", "p p", FLOAT_T);
  Import("two inputs");
  Node("p", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Node("n", "Neg", "p", "", 0);
  Import("no attribute");
  Node("p", "NoOp", "", BYTES("\x2a\x17\x0a\x06_class\x12\x0d\x0a\x0b\x12\x09loc:@nope"));
  Import("an unknown neighbour");
  Node("y", "Placeholder", "", BYTES(FLOAT_DTYPE "\x2a\x14\x0a\x0e_output_shapes\x12\x02\x0a\x00"));
  Import("too few noted shapes");
  memcpy(bytes, "\x0a\x32", length = 2);
  Import("malformed bytes");
  List();
}

static void ImportKept(void) {
  NewOptions();
  Node("n", "Neg", "p", FLOAT_T);
  Node("p", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Import("inputs behind their readers");
  ShowVersions();
  Node("p", "NoOp", "", "", 0);
  Import("a name that is taken");
  Node("p/q", "NoOp", "", "", 0);
  Versions(3000, 0);
  Import("a later producer");
  ShowVersions();
  Node("r", "NoOp", "", "", 0);
  Versions(21, 12);
  Import("an older producer");
  ShowVersions();
  Node("s/t", "NoOp", "", "", 0);
  Import("no versions");
  ShowVersions();
  Node("s", "NoOp", "", "", 0);
  Import("a name that is a prefix");
  TF_ImportGraphDefOptionsSetUniquifyNames(options, 1);
  Chain();
  Node("s", "NoOp", "^x", "", 0);
  Node("p_1", "NoOp", "", "", 0);
  Node("p", "NoOp", "^p_1", "", 0);
  Import("unique names");
  List();
  Node(
      "o", "Placeholder", "",
      BYTES(FLOAT_DTYPE
            "\x2a\x1f\x0a\x0e_output_shapes\x12\x0d\x0a\x0b\x3a\x09\x12\x02\x08\x02\x12\x03\x08\x83"
            "\x01"));
  Import("noted shapes");
  TF_Operation* o = TF_GraphOperationByName(graph, "o");
  printf("  %d dimensions, %d attributes\n", TF_GraphGetTensorNumDims(graph, At(o, 0), status),
         TF_OperationGetNumAttrs(o));
  Node("odd", "Placeholder", "", BYTES("\x22\x05/bad?" FLOAT_DTYPE));
  Import("a malformed device");
  Node("zero", "Neg", "o:00", FLOAT_T);
  Node("o", "Placeholder", "", BYTES(FLOAT_DTYPE));
  Import("a port with two digits");
  List();
}

static void ImportMapped(void) {
  NewOptions();
  Chain();
  Import("a chain");
  TF_Operation *x = TF_GraphOperationByName(graph, "x"), *y = TF_GraphOperationByName(graph, "y"),
               *z = TF_GraphOperationByName(graph, "z");
  TF_ImportGraphDefOptionsSetPrefix(options, "i");
  TF_ImportGraphDefOptionsSetDefaultDevice(options, "/device:CPU:0");
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, At(z, 0));
  TF_ImportGraphDefOptionsAddInputMapping(options, "absent", 0, At(z, 0));
  TF_ImportGraphDefOptionsAddInputMapping(options, "y", 7, At(z, 0));
  TF_ImportGraphDefOptionsAddInputMapping(options, "z", 0, At(z, 0));
  TF_ImportGraphDefOptionsRemapControlDependency(options, "x", y);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "z", 0);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "y", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "y");
  Chain();
  Import("mapped");
  List();
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "c");
  TF_ImportGraphDefOptionsAddControlDependency(options, x);
  Chain();
  Import("after another");
  List();
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "c");
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 1);
  Chain();
  Import("a unique prefix");
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "no prefix");
  Chain();
  Import("a malformed prefix");
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "d");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "nope", 0);
  Chain();
  Import("an output that there is not");
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "d");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "y", 3);
  Chain();
  Import("a port that there is not");
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "d");
  TF_ImportGraphDefOptionsAddReturnOperation(options, "nope");
  Chain();
  Import("an operation that there is not");
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "d");
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, At(x, -1));
  Chain();
  Import("a control edge for data");
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "d");
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, At(x, 5));
  Chain();
  Import("mapped to nothing");
  TF_Output two[2];
  TF_Buffer* empty = TF_NewBuffer();
  TF_GraphImportGraphDefWithReturnOutputs(graph, empty, options, two, 2, status);
  Show("another number of outputs");
  TF_DeleteBuffer(empty);
  List();
}

/* --- Functions and loops. */

static TF_Function* Function(const char* what, int num_opers, TF_Operation** opers, int ninputs,
                             const TF_Output* inputs, int noutputs, const TF_Output* outputs,
                             const char* const* names) {
  TF_Function* function =
      TF_GraphToFunction(graph, "MyFunc", 1, num_opers, (const TF_Operation* const*)opers, ninputs,
                         inputs, noutputs, outputs, names, NULL, what, status);
  Show(what);
  if (function != NULL) printf("  %s\n", TF_FunctionName(function));
  return function;
}

static void Functions(void) {
  TF_Operation* a = Placeholder("A/b", TF_INT32, -2, NULL);
  TF_Operation* b = Placeholder("b", TF_INT32, -2, NULL);
  const int32_t ten[] = {10};
  TF_Tensor* value = Ints(1, ten);
  TF_OperationDescription* d = New("Const", "ten");
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_SetAttrTensor(d, "value", value, status);
  TF_Operation* constant = Finish(d, "ten");
  TF_DeleteTensor(value);
  const TF_Output pair[] = {At(a, 0), At(constant, 0)};
  d = New("AddN", "sum");
  TF_AddInputList(d, pair, 2);
  TF_Operation* sum = Finish(d, "sum");
  d = New("Neg", "neg");
  TF_AddInput(d, At(sum, 0));
  TF_AddControlInput(d, b);
  TF_Operation* neg = Finish(d, "neg");
  TF_Operation *body[] = {constant, sum}, *only_neg[] = {neg};
  const TF_Output in[] = {At(a, 0), At(a, 0)}, out[] = {At(sum, 0)}, none[] = {At(neg, 0)};
  const char* twice[] = {"x", "x"};
  TF_DeleteFunction(Function("a body", 2, body, 1, in, 1, out, NULL));
  TF_DeleteFunction(Function("no body", 0, NULL, 1, in, 1, in, NULL));
  Function("an input twice", 2, body, 2, in, 1, out, NULL);
  Function("an input that is missing", 1, &body[1], 1, in, 1, out, NULL);
  Function("an output from outside", 2, body, 1, in, 1, none, NULL);
  Function("a control edge from outside", 1, only_neg, 1, out, 1, none, NULL);
  Function("two outputs of one name", 0, NULL, 1, in, 2, in, twice);
  const TF_Output beyond[] = {At(a, 5)};
  Function("an input that there is not", 0, NULL, 1, beyond, 0, NULL, NULL);
  Function("an output that there is not", 0, NULL, 0, NULL, 1, beyond, NULL);
  TF_FunctionImportFunctionDef("\xff", 1, status);
  Show("malformed bytes");
  TF_Function* function = Function("attributes", 2, body, 1, in, 1, out, NULL);
  TF_FunctionSetAttrValueProto(function, "x", "\xff", 1, status);
  Show("a malformed attribute");
  TF_Buffer* buffer = TF_NewBuffer();
  TF_FunctionGetAttrValueProto(function, "no", buffer, status);
  Show("an attribute that there is not");
  TF_DeleteBuffer(buffer);
  TF_GraphCopyFunction(graph, function, NULL, status);
  Show("a copy");
  TF_GraphCopyFunction(graph, function, NULL, status);
  Show("the same copy");
  printf("%d\n", TF_GraphNumFunctions(graph));
  TF_GraphCopyFunction(graph, NULL, NULL, status);
  Show("a copy of nothing");
  ShowVersions();
  TF_DeleteFunction(function);
}

static void Loops(void) {
  TF_Output variable = At(Placeholder("v", TF_INT32, -2, NULL), 0), result;
  TF_NewWhile(graph, &variable, 0, status);
  Show("no variables");
  TF_WhileParams params = TF_NewWhile(graph, &variable, 1, status);
  Show("a loop");
  TF_FinishWhile(&params, status, &result);
  Show("nothing set");
  for (int i = 0; i < 3; ++i) {
    TF_WhileParams p = TF_NewWhile(graph, &variable, 1, status);
    p.name = i == 1 ? NULL : "loop";
    p.body_outputs[0] = p.body_inputs[0];
    if (i == 0) p.body_outputs[0].oper = NULL;
    p.cond_output = p.cond_inputs[0];
    TF_FinishWhile(&p, status, &result);
    Show(i == 0 ? "no body" : i == 1 ? "no name" : "a condition that is no bool");
    if (i == 2) NewGraph();
  }
  variable = At(Placeholder("v", TF_INT32, -2, NULL), 0);
  for (int i = 0; i < 2; ++i) {
    TF_WhileParams p = TF_NewWhile(graph, &variable, 1, status);
    p.name = "loop";
    TF_OperationDescription* d = TF_NewOperation(p.cond_graph, "Less", "less");
    TF_AddInput(d, p.cond_inputs[0]);
    TF_AddInput(d, p.cond_inputs[0]);
    p.cond_output = At(TF_FinishOperation(d, status), 0);
    d = TF_NewOperation(p.body_graph, "Neg", "neg");
    TF_AddInput(d, p.body_inputs[0]);
    p.body_outputs[0] = At(TF_FinishOperation(d, status), 0);
    TF_FinishWhile(&p, status, &result);
    Show(i == 0 ? "a loop" : "a loop of the same name");
    if (i == 0) List();
  }
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  status = TF_NewStatus();
  void (*const parts[])(void) = {Building,     Attributes, ImportRefused, ImportKept,
                                 ImportMapped, Functions,  Loops};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    NewGraph();
    printf("--- part %d\n", (int)i);
    parts[i]();
  }
  TF_DeleteGraph(graph);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteStatus(status);
  return 0;
}
