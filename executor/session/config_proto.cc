// Writes the bytes of TensorFlow's ConfigProto, which kernels of plug-ins may ask for, without
// protobuf objects. Fields to which nothing in a session corresponds are left out.

#include "executor/session/config_proto.h"

#include <map>

#include "graph/wire/wire.h"

namespace tenon {
namespace {

// Field numbers of TensorFlow's messages.
namespace config {
enum : uint32_t {
  kDeviceCount = 1,
  kIntraOpThreads = 2,
  kInterOpThreads = 5,
  kAllowSoftPlacement = 7,
  kGraphOptions = 10
};
}  // namespace config
constexpr uint32_t kRewriteOptions = 10;  // of GraphOptions
namespace rewriter {
enum : uint32_t { kIterations = 12, kMinGraphNodes = 17, kDisabled = 19 };
}  // namespace rewriter

std::string RewriterConfig(const SessionOptions& options) {
  std::string proto;
  WireWriter writer(&proto);
  // The field is an enumeration of TensorFlow. Only its values 1 and 2 mean a number of iterations.
  if (options.pipeline.iterations == 1 || options.pipeline.iterations == 2)
    writer.Varint(rewriter::kIterations, static_cast<uint64_t>(options.pipeline.iterations));
  writer.Varint(rewriter::kMinGraphNodes, static_cast<uint64_t>(options.pipeline.min_graph_nodes));
  if (options.opt_level == 0) writer.Varint(rewriter::kDisabled, 1);
  return proto;
}

}  // namespace

std::string ConfigProto(const SessionOptions& options, absl::Span<Device* const> devices) {
  std::map<std::string_view, uint64_t> counts;
  for (const Device* device : devices) ++counts[device->type()];
  std::string proto;
  WireWriter writer(&proto);
  for (const auto& [type, count] : counts) {
    std::string entry;
    WireWriter(&entry).Bytes(1, type);
    WireWriter(&entry).Varint(2, count);
    writer.Bytes(config::kDeviceCount, entry);
  }
  writer.Varint(config::kIntraOpThreads, static_cast<uint64_t>(options.threads));
  writer.Varint(config::kInterOpThreads, 1);  // a run's steps follow each other on one thread
  if (options.placer.soft_placement) writer.Varint(config::kAllowSoftPlacement, 1);
  std::string graph_options;
  WireWriter(&graph_options).Bytes(kRewriteOptions, RewriterConfig(options));
  writer.Bytes(config::kGraphOptions, graph_options);
  return proto;
}

}  // namespace tenon
