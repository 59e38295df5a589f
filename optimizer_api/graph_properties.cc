// TF_GraphProperties: shapes and values that inference knows, as OpInfo.TensorProperties bytes.
#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/shape_wire.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"
#include "optimizer_api/aggressive_shapes.h"
#include "optimizer_api/grappler_item.h"

struct TF_GraphProperties {
  using Pool = tenon::Handles<TF_GraphProperties>;
  const TF_GrapplerItem* item = nullptr;
  std::optional<tenon::GraphShapes> shapes;
  bool input_values = false;
  bool output_values = false;
};

namespace tenon {
namespace {

constexpr char kPropertiesType[] = "TF_GraphProperties";

// Infers all shapes again. Without `assume_valid_feeds` a caller may feed any shape, so nothing is
// known of a fed output or of what follows from it.
absl::Status Infer(TF_GraphProperties& gp, bool assume_valid_feeds, bool aggressive) {
  const Graph& g = *gp.item->graph;
  ShapeOptions options;
  if (aggressive) {
    options.refine = [&](NodeId n, InferenceContext& context) {
      RefineAggressively(g, n, gp.item->item->evaluator, context);
    };
  }
  options.assume_valid_feeds = assume_valid_feeds;
  if (!assume_valid_feeds) {
    for (const std::string& feed : gp.item->item->feeds) {
      const NodeId n = g.FindNode(feed);
      for (int i = 0; n != kNoNode && i < g.num_outputs(n); ++i)
        options.feeds[{n, i}] = TensorInfo();
    }
  }
  TENON_ASSIGN_OR_RETURN(gp.shapes, GraphShapes::Infer(g, options));
  return absl::OkStatus();
}

// The message OpInfo.TensorProperties: dtype is field 1, shape 2, value 3.
std::string PropertiesWire(DataType dtype, const TensorInfo& info, bool with_value) {
  std::string out;
  WireWriter writer(&out);
  writer.Varint(1, static_cast<uint64_t>(dtype));
  writer.Bytes(2, ShapeToWire(info.shape));
  if (with_value && info.value != nullptr) {
    if (absl::StatusOr<std::string> value = TensorToWire(*info.value); value.ok())
      writer.Bytes(3, *value);
  }
  return out;
}

// Properties of every input, or every output, of the node; none for an unknown node.
std::vector<std::string> Properties(const TF_GraphProperties& gp, const char* name, bool inputs) {
  std::vector<std::string> list;
  const Graph& g = *gp.item->graph;
  const NodeId n = g.FindNode(name);
  if (n == kNoNode || !gp.shapes) return list;
  if (inputs) {
    for (const Output& in : g.data_inputs(n))
      list.push_back(PropertiesWire(g.output_type(in), gp.shapes->info(in), gp.input_values));
  } else {
    for (int i = 0; i < g.num_outputs(n); ++i) {
      list.push_back(
          PropertiesWire(g.output_type({n, i}), gp.shapes->info({n, i}), gp.output_values));
    }
  }
  return list;
}

// Fills as many buffers as there are properties and as there is room for.
absl::Status Fill(const std::vector<std::string>& list, TF_Buffer** buffers, int num_values) {
  const int n = std::min(num_values, static_cast<int>(list.size()));
  for (int i = 0; i < n; ++i) {
    if (buffers == nullptr || buffers[i] == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("argument 'properties[", i, "]' is NULL"));
    TENON_RETURN_IF_ERROR(FillBuffer(list[i], buffers[i]));
  }
  return absl::OkStatus();
}

// Whether the properties are there, and those of an item; else INVALID_ARGUMENT.
bool CanAsk(const TF_GraphProperties* properties, TF_Status* status) {
  return api::AllGiven({{"graph_properties", properties},
                        {"item", tenon::IsThere(properties) ? properties->item : nullptr}},
                       status);
}

}  // namespace
}  // namespace tenon

extern "C" {

TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item) try {
  return tenon::NewForPlugin<TF_GraphProperties>(tenon::kPropertiesType, item);
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_DeleteGraphProperties(TF_GraphProperties* graph_properties) {
  tenon::DeleteForPlugin(tenon::kPropertiesType, graph_properties);
}

void TF_InferStatically(TF_GraphProperties* graph_properties, TF_Bool assume_valid_feeds,
                        TF_Bool aggressive_shape_inference, TF_Bool include_input_tensor_values,
                        TF_Bool include_output_tensor_values, TF_Status* s) try {
  if (!tenon::CanAsk(graph_properties, s)) return;
  const absl::Status status =
      tenon::Infer(*graph_properties, assume_valid_feeds != 0, aggressive_shape_inference != 0);
  if (status.ok()) {
    graph_properties->input_values = include_input_tensor_values != 0;
    graph_properties->output_values = include_output_tensor_values != 0;
  }
  tenon::StatusToC(status, s);
} catch (...) {
  tenon::WithoutMemory(s);
}

void TF_GetInputPropertiesListSize(TF_GraphProperties* graph_properties, const char* name,
                                   int* num_values, TF_Status* status) try {
  if (!tenon::CanAsk(graph_properties, status)) return;
  if (!tenon::api::AllGiven({{"name", name}, {"num_values", num_values}}, status)) return;
  *num_values = static_cast<int>(tenon::Properties(*graph_properties, name, true).size());
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetOutputPropertiesListSize(TF_GraphProperties* graph_properties, const char* name,
                                    int* num_values, TF_Status* status) try {
  if (!tenon::CanAsk(graph_properties, status)) return;
  if (!tenon::api::AllGiven({{"name", name}, {"num_values", num_values}}, status)) return;
  *num_values = static_cast<int>(tenon::Properties(*graph_properties, name, false).size());
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetInputPropertiesList(TF_GraphProperties* graph_properties, const char* name,
                               TF_Buffer** properties, int num_values, TF_Status* status) try {
  if (!tenon::CanAsk(graph_properties, status)) return;
  if (!tenon::api::AllGiven({{"name", name}}, status)) return;
  tenon::StatusToC(
      tenon::Fill(tenon::Properties(*graph_properties, name, true), properties, num_values),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GetOutputPropertiesList(TF_GraphProperties* graph_properties, const char* name,
                                TF_Buffer** properties, int num_values, TF_Status* status) try {
  if (!tenon::CanAsk(graph_properties, status)) return;
  if (!tenon::api::AllGiven({{"name", name}}, status)) return;
  tenon::StatusToC(
      tenon::Fill(tenon::Properties(*graph_properties, name, false), properties, num_values),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
