#include "tests/executor/clusters/reference_util.h"

#include "executor/clusters/cluster_set.h"
#include "executor/proof/difference.h"
#include "executor/session/reports.h"
#include "gtest/gtest.h"
#include "plugin/host/loading/loader.h"
#include "tests/support/parse_graph.h"
#include "tests/support/paths.h"

namespace tenon::testing {

ReferencePlugin::ReferencePlugin(const std::vector<std::string>& options) {
  std::string path = Built("lib/plugins/libpjrt_reference.so");
  PluginOptions plugin_options;
  for (const std::string& option : options) {
    const size_t equals = option.find('=');
    plugin_options.client_options.push_back(
        pjrt::OptionOf(option.substr(0, equals), option.substr(equals + 1)));
  }
  const auto info = LoadPlugin(path, plugin_options);
  EXPECT_TRUE(info.ok()) << info.status();
  absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
  EXPECT_TRUE(devices.ok()) << devices.status();
  if (devices.ok()) devices_ = *std::move(devices);
}

ReferencePlugin::~ReferencePlugin() { ShutdownPlugins(); }

std::unique_ptr<Session> ReferencePlugin::Open(const std::string& text,
                                               const ClusterOptions& clusters,
                                               std::optional<uint64_t> order_seed) const {
  SessionOptions options;
  if (order_seed.has_value()) {
    options.order = NodeOrder::kSeed;
    options.order_seed = *order_seed;
  }
  options.threads = 1;
  options.opt_level = 0;
  options.clusters = clusters;
  options.clusters.mode = XlaMode::kAll;
  auto session = Session::Create(Parse(text), devices_, options);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

std::vector<ClusterRuns> RunsOf(const Executable& executable) {
  std::vector<ClusterRuns> runs;
  const ClusterSet* const clusters = ClustersOf(executable);
  for (size_t i = 0; clusters != nullptr && i < clusters->size(); ++i)
    runs.push_back(clusters->at(i).runs());
  return runs;
}

std::optional<std::string> Difference(const Tensor& right, const Tensor& is) {
  return FindDifference(right, is, Sameness::kBound);
}

}  // namespace tenon::testing
