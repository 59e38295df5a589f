#include "plugin/plugin_shape_fn.h"

#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/status_macros.h"
#include "plugin/c_api/shape_handles.h"

namespace tenon {

absl::Status PluginShapeFn::operator()(InferenceContext& context) const {
  CStatus status;
  TF_ShapeInferenceContext handle{&context};
  const std::string node(context.node());
  constexpr char kCallback[] = "shape_inference_func";
  TENON_RETURN_IF_ERROR(PluginFault(
      CallPlugin(plugin.c_str(), kCallback, node.c_str(), [&] { fn(&handle, status.get()); })));
  absl::Status answer = status.ToStatus();
  if (answer.ok() || absl::IsInvalidArgument(answer)) return answer;
  return PluginFault(Attribute(std::move(answer), kCallback, plugin));
}

}  // namespace tenon
