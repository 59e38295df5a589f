// TF_InitGraph: a pass that turns Relu(BiasAdd(value, bias)) into one ApuBiasRelu.
//
//     value, bias -> BiasAdd (CPU: the APU has no kernel for it) -> Relu (APU)
//     value, bias -> ApuBiasRelu (APU), under the Relu's name
//
// The pass rewrites only where the results stay the same: float, channels last, a BiasAdd that this
// Relu alone reads and that need not be preserved. The new node keeps the Relu's name, so the Relu
// may be fetched. The control inputs of both nodes move to the new one.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "apu_status.h"
#include "graph_def_wire.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/tf_datatype.h"

namespace apu {
namespace {

constexpr std::string_view kDevice = "/device:";

bool IsControl(std::string_view input) { return !input.empty() && input[0] == '^'; }

// "node", "node:1" and "^node" all name the node.
std::string_view NodeOf(std::string_view input) {
  if (IsControl(input)) return input.substr(1);
  return input.substr(0, input.rfind(':'));
}

bool IsPortZero(std::string_view input) {
  const size_t colon = input.rfind(':');
  return colon == input.npos || input.substr(colon) == ":0";
}

size_t DataInputs(const Node& node) {
  return static_cast<size_t>(
      std::count_if(node.inputs.begin(), node.inputs.end(),
                    [](std::string_view input) { return !IsControl(input); }));
}

// "/job:j/replica:0/task:0/device:APU:0" is task "/job:j/replica:0/task:0", type "APU".
std::string_view TaskOf(std::string_view device) { return device.substr(0, device.find(kDevice)); }

std::string_view TypeOf(std::string_view device) {
  const size_t start = device.find(kDevice);
  if (start == device.npos) return {};
  const std::string_view type = device.substr(start + kDevice.size());
  return type.substr(0, type.find(':'));
}

bool IsFloatRelu(const Node& node) {
  return node.op == "Relu" && TypeOf(node.device) == "APU" && DataInputs(node) == 1 &&
         !IsControl(node.inputs[0]) && node.TypeAttr("T") == TF_FLOAT;
}

bool IsFloatBiasAdd(const Node& node) {
  const std::string_view format = node.StringAttr("data_format");
  return node.op == "BiasAdd" && DataInputs(node) == 2 && !IsControl(node.inputs[0]) &&
         !IsControl(node.inputs[1]) && node.TypeAttr("T") == TF_FLOAT &&
         (format.empty() || format == "NHWC");
}

// The names of the nodes that the host wants kept: views of `storage`. Empty, with the error in
// `status`, if the host refuses.
std::unordered_set<std::string_view> NodesToPreserve(const TF_GrapplerItem* item,
                                                     std::string* storage, TF_Status* status) {
  int count = 0;
  size_t size = 0;
  TF_GetNodesToPreserveListSize(item, &count, &size, status);
  if (TF_GetCode(status) != TF_OK) return {};
  storage->resize(size);
  std::vector<char*> names(static_cast<size_t>(count));
  std::vector<size_t> lengths(names.size());
  TF_GetNodesToPreserveList(item, names.data(), lengths.data(), count, storage->data(), size,
                            status);
  if (TF_GetCode(status) != TF_OK) return {};
  std::unordered_set<std::string_view> result;
  for (size_t i = 0; i < names.size(); ++i) result.emplace(names[i], lengths[i]);
  return result;
}

// Finds the pairs and writes the new graph. Keeps views of `graph` and of its bytes.
class Rewrite {
 public:
  Rewrite(const Graph& graph, const std::unordered_set<std::string_view>& preserve)
      : graph_(graph) {
    for (const Node& node : graph.nodes) {
      by_name_.emplace(node.name, &node);
      for (const std::string_view input : node.inputs) ++uses_[NodeOf(input)];
    }
    for (const Node& node : graph.nodes) {
      const Node* bias_add = BiasAddOf(node);
      if (bias_add == nullptr || preserve.count(bias_add->name) != 0) continue;
      fused_.emplace(&node, bias_add);
      removed_.insert(bias_add);
    }
  }

  bool found() const { return !fused_.empty(); }

  std::string Write() const {
    std::string out;
    for (const Node& node : graph_.nodes) {
      if (removed_.count(&node) != 0) continue;
      const auto pair = fused_.find(&node);
      AppendBytesField(
          &out, kGraphDefNode,
          pair == fused_.end() ? std::string(node.message) : FusedNode(node, *pair->second));
    }
    for (const std::string_view field : graph_.others) out.append(field);
    return out;
  }

 private:
  // The BiasAdd that can be merged into this node, if it is a Relu with one.
  const Node* BiasAddOf(const Node& relu) const {
    if (!IsFloatRelu(relu) || !IsPortZero(relu.inputs[0])) return nullptr;
    const auto found = by_name_.find(NodeOf(relu.inputs[0]));
    if (found == by_name_.end()) return nullptr;
    const Node& bias_add = *found->second;
    const bool merge = IsFloatBiasAdd(bias_add) && uses_.at(bias_add.name) == 1 &&
                       TaskOf(bias_add.device) == TaskOf(relu.device);
    return merge ? &bias_add : nullptr;
  }

  static std::string FusedNode(const Node& relu, const Node& bias_add) {
    std::string out;
    AppendBytesField(&out, kNodeDefName, relu.name);
    AppendBytesField(&out, kNodeDefOp, "ApuBiasRelu");
    for (const std::string_view input : Inputs(relu, bias_add)) {
      AppendBytesField(&out, kNodeDefInput, input);
    }
    AppendBytesField(&out, kNodeDefDevice, relu.device);
    for (const Node::Attr& attr : relu.attrs) {  // "T", and annotations like "_class"
      if (attr.name == "T" || attr.name.substr(0, 1) == "_") out.append(attr.raw);
    }
    for (const std::string_view field : relu.others) out.append(field);
    return out;
  }

  // value and bias, then the control inputs of both nodes, each once.
  static std::vector<std::string_view> Inputs(const Node& relu, const Node& bias_add) {
    std::vector<std::string_view> inputs(bias_add.inputs.begin(), bias_add.inputs.begin() + 2);
    for (const Node* node : {&bias_add, &relu}) {
      for (const std::string_view input : node->inputs) {
        const bool known = std::find(inputs.begin(), inputs.end(), input) != inputs.end();
        if (IsControl(input) && !known) inputs.push_back(input);
      }
    }
    return inputs;
  }

  const Graph& graph_;
  std::unordered_map<std::string_view, const Node*> by_name_;
  std::unordered_map<std::string_view, int> uses_;
  std::unordered_map<const Node*, const Node*> fused_;  // Relu -> BiasAdd
  std::unordered_set<const Node*> removed_;
};

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
    Graph graph;
    if (!ParseGraph({static_cast<const char*>(graph_in->data), graph_in->length}, &graph)) {
      TF_SetStatus(status, TF_INVALID_ARGUMENT, "APU: the graph is not a GraphDef");
      return;
    }
    std::string storage;
    const auto preserve = NodesToPreserve(item, &storage, status);
    if (TF_GetCode(status) != TF_OK) return;
    const Rewrite rewrite(graph, preserve);
    if (rewrite.found()) {
      SetBytes(rewrite.Write(), graph_out);
    } else {
      TF_SetStatus(status, TF_ABORTED, "APU: no Relu of a BiasAdd");
    }
  });
}

}  // namespace
}  // namespace apu

APU_ENTRY_POINT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = "APU";
  // The host's pass `remapping` would fuse the BiasAdd into the node before it, as an op that the
  // APU does not have.
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer_configs->remapping = TF_TriState_Off;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = apu::Optimize;
}
