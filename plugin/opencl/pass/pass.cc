// TF_InitGraph: the pass of this plug-in. It makes one node _OpenCLFused, or one of its kin
// (ops/fused.cc), of each group of elementwise nodes with what may stand at its end.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "../device/status.h"
#include "element_groups.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace opencl {
namespace {

std::string_view BytesOf(const TF_Buffer& buffer) {
  return {static_cast<const char*>(buffer.data), buffer.length};
}

// The names of the nodes that the host wants kept: views of `storage`.
std::unordered_set<std::string_view> NodesToPreserve(const TF_GrapplerItem* item,
                                                     std::string* storage) {
  const StatusPtr status(TF_NewStatus());
  int count = 0;
  size_t size = 0;
  TF_GetNodesToPreserveListSize(item, &count, &size, status.get());
  ThrowIfFailed(status);
  storage->resize(size);
  std::vector<char*> names(static_cast<size_t>(count));
  std::vector<size_t> lengths(names.size());
  TF_GetNodesToPreserveList(item, names.data(), lengths.data(), count, storage->data(), size,
                            status.get());
  ThrowIfFailed(status);
  std::unordered_set<std::string_view> result;
  for (size_t i = 0; i < names.size(); ++i) result.emplace(names[i], lengths[i]);
  return result;
}

// The device types that have a kernel of _OpenCLFused: OPENCL, or what the user renamed it to.
std::unordered_set<std::string> TypesWithKernel() {
  constexpr int kKernel = 1, kDeviceType = 2;  // of KernelList, of KernelDef
  const StatusPtr status(TF_NewStatus());
  const BufferPtr list(TF_GetRegisteredKernelsForOp("_OpenCLFused", status.get()));
  ThrowIfFailed(status);
  std::unordered_set<std::string> types;
  FieldReader reader(BytesOf(*list));
  for (Field kernel; reader.Next(&kernel);) {
    if (kernel.number != kKernel) continue;
    FieldReader fields(kernel.content);
    for (Field field; fields.Next(&field);) {
      if (field.number == kDeviceType) types.emplace(field.content);
    }
  }
  return types;
}

// The NodeDef of a group.
std::string FusedNode(const NodeView& root, const ElementGroup& group) {
  std::string node;
  AppendNames(&node, root.name, group.end.op, root.device);
  for (const std::string_view input : group.inputs) AppendInput(&node, input);
  AppendTypesAttr(&node, "Tin", group.input_types);
  AppendTypeAttr(&node, "T", group.result);
  AppendStringAttr(&node, "program", group.program);
  if (!group.end.end.empty()) AppendStringAttr(&node, "end", group.end.end);
  if (group.end.epsilon != 0) AppendFloatAttr(&node, "epsilon", group.end.epsilon);
  for (const NodeView::Attr& attr : root.attrs) {  // annotations
    if (attr.name.substr(0, 1) == "_") node.append(attr.whole);
  }
  for (const std::string_view field : root.others) node.append(field);
  return node;
}

std::string Rewritten(const GraphView& graph, const std::vector<ElementGroup>& groups) {
  std::vector<const ElementGroup*> group_of(graph.nodes.size());
  for (const ElementGroup& group : groups) {
    for (const size_t member : group.members) group_of[member] = &group;
  }
  std::string out;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (group_of[i] == nullptr) {
      out.append(graph.nodes[i].whole);
    } else if (group_of[i]->root == i) {
      AppendNode(&out, FusedNode(graph.nodes[i], *group_of[i]));
    }
  }
  for (const std::string_view field : graph.others) out.append(field);
  return out;
}

void SetBytes(const std::string& bytes, TF_Buffer* buffer) {
  void* data = std::malloc(bytes.size());
  if (data == nullptr) throw std::bad_alloc();
  std::memcpy(data, bytes.data(), bytes.size());
  buffer->data = data;
  buffer->length = bytes.size();
  buffer->data_deallocator = [](void* memory, size_t) { std::free(memory); };
}

void Optimize(void*, const TF_Buffer* graph_in, const TF_GrapplerItem* item, TF_Buffer* graph_out,
              TF_Status* status) {
  Guard(status, [&] {
    const GraphView graph = ParseGraph(BytesOf(*graph_in));
    std::string storage;
    const auto preserve = NodesToPreserve(item, &storage);
    const InferredShapes shapes(item);
    const std::vector<ElementGroup> groups =
        FindElementGroups(graph, shapes, TypesWithKernel(), preserve);
    if (groups.empty()) {
      TF_SetStatus(status, TF_ABORTED, "OpenCL: no elementwise nodes to join");
    } else {
      SetBytes(Rewritten(graph, groups), graph_out);
    }
  });
}

}  // namespace
}  // namespace opencl

OPENCL_ENTRY_POINT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = "OPENCL";
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = opencl::Optimize;
}
