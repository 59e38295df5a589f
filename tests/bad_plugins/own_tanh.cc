// A pass for the CPU that makes each Tanh an OwnTanh, for which this has a kernel. It says on
// stderr what it is given. WRONG: the kernel computes half of it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace {

#ifdef WRONG
constexpr float kFactor = 0.5f;
#else
constexpr float kFactor = 1;
#endif

size_t ReadVarint(std::string_view bytes, size_t& at) {
  size_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

std::string Varint(size_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

struct Field {
  size_t number;
  std::string_view bytes;  // of a length-delimited one
  std::string_view raw;
};

std::vector<Field> Fields(std::string_view message) {
  std::vector<Field> fields;
  for (size_t at = 0; at < message.size();) {
    const size_t begin = at, tag = ReadVarint(message, at);
    std::string_view bytes;
    if ((tag & 7) == 0) ReadVarint(message, at);
    if ((tag & 7) == 1) at += 8;
    if ((tag & 7) == 5) at += 4;
    if ((tag & 7) == 2) {
      const size_t length = ReadVarint(message, at);
      bytes = message.substr(at, length);
      at += length;
    }
    fields.push_back({tag >> 3, bytes, message.substr(begin, at - begin)});
  }
  return fields;
}

std::string_view Find(const std::vector<Field>& fields, size_t number) {
  for (const Field& f : fields) {
    if (f.number == number) return f.bytes;
  }
  return {};
}

void TellFetches(const TF_GrapplerItem* item, TF_Status* status) {
  int count = 0;
  size_t size = 0;
  TF_GetFetchNodesListSize(item, &count, &size, status);
  std::vector<char*> names(count);
  std::vector<size_t> lengths(count);
  std::string storage(size, ' ');
  TF_GetFetchNodesList(item, names.data(), lengths.data(), count, storage.data(), size, status);
  for (int i = 0; i < count; ++i)
    std::fprintf(stderr, " %.*s", static_cast<int>(lengths[i]), names[i]);
}

void Optimize(void*, const TF_Buffer* in, const TF_GrapplerItem* item, TF_Buffer* out,
              TF_Status* status) {
  const std::string_view graph(static_cast<const char*>(in->data), in->length);
  std::fprintf(stderr, "own_tanh is given:");
  std::string answer;
  bool any = false;
  for (const Field& field : Fields(graph)) {
    const std::vector<Field> node = field.number == 1 ? Fields(field.bytes) : std::vector<Field>();
    const std::string_view op = Find(node, 2), name = Find(node, 1);
    if (op == "_Arg" || op == "_Retval" || op == "Placeholder") {
      std::fprintf(stderr, " %.*s(%.*s)", static_cast<int>(op.size()), op.data(),
                   static_cast<int>(name.size()), name.data());
    }
    if (op != "Tanh") {
      answer += field.raw;
      continue;
    }
    any = true;
    std::string own;
    for (const Field& part : node)
      own += part.number == 2 ? "\x12\x07OwnTanh" : std::string(part.raw);
    answer += "\x0a" + Varint(own.size()) + own;
  }
  std::fprintf(stderr, ", to be fetched:");
  TellFetches(item, status);
  std::fprintf(stderr, "\n");
  if (!any) return TF_SetStatus(status, TF_ABORTED, "there is no Tanh");
  void* data = std::malloc(answer.size());
  std::memcpy(data, answer.data(), answer.size());
  *out = {data, answer.size(), [](void* bytes, size_t) { std::free(bytes); }};
}

void Compute(void*, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = nullptr;
  TF_GetInput(ctx, 0, &x, status);
  int64_t dims[8] = {};
  for (int i = 0; i < TF_NumDims(x); ++i) dims[i] = TF_Dim(x, i);
  TF_Tensor* y =
      TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, TF_NumDims(x), TF_TensorByteSize(x), status);
  const auto* from = static_cast<const float*>(TF_TensorData(x));
  auto* to = static_cast<float*>(TF_TensorData(y));
  for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) to[i] = kFactor * std::tanh(from[i]);
  TF_DeleteTensor(y);
  TF_DeleteTensor(x);
  TF_DeleteStatus(status);
}

void SameShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(context, 0, shape, status);
  TF_ShapeInferenceContextSetOutput(context, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("OwnTanh");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float}");
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, SameShape);
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(
      "OwnTanh", TF_NewKernelBuilder("OwnTanh", "CPU", nullptr, Compute, nullptr), status);
  TF_DeleteStatus(status);
}

extern "C" __attribute__((visibility("default"))) void TF_InitGraph(
    TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->device_type = "CPU";
  params->optimizer->optimize_func = Optimize;
}
