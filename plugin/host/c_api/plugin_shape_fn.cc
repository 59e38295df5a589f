#include "plugin/host/c_api/plugin_shape_fn.h"

#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/host/c_api/shape_handles.h"

namespace tenon {

absl::Status PluginShapeFn::operator()(InferenceContext& context) const {
  CStatus status;
  TF_ShapeInferenceContext handle{&context};
  const std::string node(context.node());
  constexpr char kCallback[] = "shape_inference_func";
  TENON_RETURN_IF_ERROR(PluginFault(
      CallPlugin(plugin.c_str(), kCallback, node.c_str(), [&] { fn(&handle, status.get()); })));
  absl::Status answer = Attribute(status.ToStatus(), kCallback, plugin);
  // A refused node is the graph's fault: the message is for its author, not for the plug-in's.
  return absl::IsInvalidArgument(answer) ? answer : PluginFault(std::move(answer));
}

}  // namespace tenon
