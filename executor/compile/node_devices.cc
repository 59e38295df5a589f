#include "executor/compile/node_devices.h"

namespace tenon {

NodeDevices::NodeDevices(const CompileContext& context)
    : whole_(context),
      options_(context.options),
      devices_(context.devices.begin(), context.devices.end()),
      all_run_nodes_(!TakeCompilingOut(devices_, options_.placer)),
      context_{options_, devices_, context.host, context.kernels, context.fixed, context.ordinary} {
}

}  // namespace tenon
