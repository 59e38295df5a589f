#include "tests/executor/api/session/session_util.h"

namespace tenon::testing {

std::vector<std::string> CpuNames(const TF_DeviceList* list) {
  const StatusPtr status(TF_NewStatus());
  std::vector<std::string> names;
  for (int i = 0; i < TF_DeviceListCount(list); ++i) {
    if (std::string("CPU") == TF_DeviceListType(list, i, status.get()))
      names.emplace_back(TF_DeviceListName(list, i, status.get()));
  }
  return names;
}

OpenSession::OpenSession(TF_Graph* graph, const pb::ConfigProto& config) {
  const OptionsPtr options(TF_NewSessionOptions());
  const std::string bytes = config.SerializeAsString();
  TF_SetConfig(options.get(), bytes.data(), bytes.size(), status());
  EXPECT_EQ(TF_OK, code()) << message();
  session_ = TF_NewSession(graph, options.get(), status());
}

OpenSession::~OpenSession() { TF_DeleteSession(session_, status()); }

std::vector<TensorPtr> OpenSession::Run(const Call& call, const TF_Buffer* options,
                                        TF_Buffer* metadata) {
  std::vector<TF_Output> inputs;
  std::vector<TF_Tensor*> values, results(call.fetches.size());
  for (const auto& [input, value] : call.feeds) {
    inputs.push_back(input);
    values.push_back(const_cast<TF_Tensor*>(value));
  }
  TF_SessionRun(session_, options, inputs.data(), values.data(), static_cast<int>(inputs.size()),
                call.fetches.data(), results.data(), static_cast<int>(results.size()),
                call.targets.data(), static_cast<int>(call.targets.size()), metadata, status());
  std::vector<TensorPtr> owned;
  for (TF_Tensor* result : results) owned.emplace_back(result);
  return owned;
}

}  // namespace tenon::testing
