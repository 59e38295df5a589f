// Short forms for tests of sessions of the client C API.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/config.pb.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon::testing {

using OptionsPtr = std::unique_ptr<TF_SessionOptions, Deleter<TF_DeleteSessionOptions>>;
using DeviceListPtr = std::unique_ptr<TF_DeviceList, Deleter<TF_DeleteDeviceList>>;

inline TensorPtr Float(float value) { return FloatTensor({}, {value}); }
inline TensorPtr Int(int32_t value) { return IntTensor({}, {value}); }

// The names of the listed devices whose type is CPU. Other types are there if some test of the
// process has loaded a plug-in.
std::vector<std::string> CpuNames(const TF_DeviceList* list);

// A session that may fail. Deletes itself.
class OpenSession {
 public:
  explicit OpenSession(TF_Graph* graph, const pb::ConfigProto& config = {});
  explicit OpenSession(TF_Session* session) : session_(session) {}
  ~OpenSession();
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  TF_Session* get() const { return session_; }
  TF_Code code() const { return TF_GetCode(status_.get()); }
  std::string message() const { return TF_Message(status_.get()); }
  TF_Status* status() { return status_.get(); }

  using Feeds = std::vector<std::pair<TF_Output, const TF_Tensor*>>;
  struct Call {
    Feeds feeds;
    std::vector<TF_Output> fetches;
    std::vector<const TF_Operation*> targets;
  };
  // Sets code and message.
  std::vector<TensorPtr> Run(const Call& call, const TF_Buffer* options = nullptr,
                             TF_Buffer* metadata = nullptr);

 private:
  StatusPtr status_{TF_NewStatus()};
  TF_Session* session_ = nullptr;
};

// The serialized message in a buffer.
template <typename Proto>
requires requires(const Proto& proto) { proto.SerializeAsString(); }
BufferPtr BufferOf(const Proto& proto) { return BufferOf(proto.SerializeAsString()); }

}  // namespace tenon::testing
